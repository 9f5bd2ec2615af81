"""Clock readings, told by where their digits stand; the shapes are those of ``core.logs.lines``.

The caller has looked at 32 bytes from the first digit on: bit i of ``run`` says that byte i is a digit. A text ends
before a newline or carriage return, which no shape holds, so nothing here needs to know where.
"""

import numpy as np

from core.logs.kernel.letters import as_word
from core.logs.kernel.machine import byte, compiled, digits_end, word
from core.logs.lines import BARE, NO_TIME

NO_CLOCK, CLOCK, ISO, GLOG, US, MONTH_DAY, UNIX = range(7)  # styles; CLOCK alone has no date

_SPACE, _PLUS, _COMMA, _DASH, _DOT, _SLASH, _ONE, _TWO, _COLON, _T, _Z, _UNDERSCORE = b" +,-./12:TZ_"
_MONTHS = np.frombuffer(b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ", dtype="<u4").astype(np.int64)


def _shape(example: str) -> tuple[int, int]:
    """The bits of all the example's bytes, and of its digits."""
    return (1 << len(example)) - 1, sum(1 << place for place, letter in enumerate(example) if letter == "9")


_ISO_ALL, _ISO = _shape("9999-99-99 99:99:99")
_US_ALL, _US = _shape("99/99/9999 99:99:99")
_MONTH_DAY_ALL, _MONTH_DAY = _shape("99-99 99:99:99")
_CLOCK_ALL, _CLOCK = _shape("99:99:99")
_GLOG_ALL, _GLOG = _shape("99:99:99.9")
_SHORT_ALL, _SHORT = _shape("9:99:99")


@compiled
def clock_at(text: int, at: int, run: int, length: int, after: int) -> tuple[int, int]:
    """Style and end of the clock reading at a run of digits and the byte after it, or NO_CLOCK."""
    if after == _COLON:
        return _bare(at, run, length)
    if after == _SPACE:
        return _unix(text, at, run, length) if length <= 2 else _glog(at, run, length)
    if length == 4:
        return _iso(at, run, after)
    if length == 2:
        return _short_date(at, run, after)
    return NO_CLOCK, 0


@compiled
def _colons(at: int) -> bool:
    return byte(at + 2) == _COLON and byte(at + 5) == _COLON


@compiled
def _short_date(at: int, run: int, after: int) -> tuple[int, int]:
    """11/21/2026 03:47:22, or 11-21 03:47:22."""
    if after == _SLASH:
        if run & _US_ALL == _US and byte(at + 5) == _SLASH and byte(at + 10) == _SPACE and _colons(at + 11):
            return US, at + 19
    elif after == _DASH and run & _MONTH_DAY_ALL == _MONTH_DAY and byte(at + 5) == _SPACE and _colons(at + 6):
        return MONTH_DAY, at + 14
    return NO_CLOCK, 0


@compiled
def _bare(at: int, run: int, length: int) -> tuple[int, int]:
    """12:34:56 with a fraction or without."""
    if length == 2 and run & _CLOCK_ALL == _CLOCK and byte(at + 5) == _COLON:
        end = at + 8
    elif length == 1 and run & _SHORT_ALL == _SHORT and byte(at + 4) == _COLON:
        end = at + 7
    else:
        return NO_CLOCK, 0
    return CLOCK, _fraction_end(end)


@compiled
def _fraction_end(at: int) -> int:
    """The end of .123 or ,123; the same place when there is none."""
    if byte(at) in (_DOT, _COMMA):
        end = digits_end(at + 1)
        return end if end > at + 1 else at
    return at


@compiled
def _glog(at: int, run: int, length: int) -> tuple[int, int]:
    """1121 03:54:48.334874352, the month with one digit or two."""
    if length > 4:
        return NO_CLOCK, 0
    clock = at + length + 1
    if (run >> (length + 1)) & _GLOG_ALL == _GLOG and _colons(clock) and byte(clock + 8) == _DOT:
        return GLOG, digits_end(clock + 9)
    return NO_CLOCK, 0


@compiled
def _unix(text: int, at: int, run: int, length: int) -> tuple[int, int]:
    """23 16:24:18 2025 after the name of a month; the year may be missing."""
    clock = at + length + 1
    if (run >> (length + 1)) & _CLOCK_ALL != _CLOCK or not _colons(clock) or month_before(text, at) == 0:
        return NO_CLOCK, 0
    end = clock + 8
    if byte(end) == _SPACE and byte(end + 1) in (_ONE, _TWO) and digits_end(end + 1) == end + 5:
        end += 5
    return UNIX, end


@compiled
def month_before(text: int, at: int) -> int:
    """The month whose name and one or two spaces stand before, 0 for none."""
    if at - text > 4 and byte(at - 2) == _SPACE:
        at -= 1
    if at - text < 4:
        return 0
    name = word(at - 4) & 0xFFFFFFFF
    for month in range(12):
        if name == _MONTHS[month]:
            return month + 1
    return 0


@compiled
def _iso(at: int, run: int, after: int) -> tuple[int, int]:
    """2026-11-21 03:55:34,384 2026/11/21T03:55:34.123Z, 2025-06-19-09:28:35.212.164 and their kin."""
    if run & _ISO_ALL != _ISO or after not in (_DASH, _SLASH) or byte(at + 7) not in (_DASH, _SLASH):
        return NO_CLOCK, 0
    if byte(at + 10) not in (_SPACE, _T, _UNDERSCORE, _DASH) or not _colons(at + 11):
        return NO_CLOCK, 0
    end = _fraction_end(at + 19)
    if end > at + 19 and byte(end) == _DOT:  # HCCL writes milliseconds and microseconds as two groups: 35.212.164
        end = _fraction_end(end)
    return ISO, _zone_end(end)


@compiled
def _zone_end(at: int) -> int:
    """The end of Z, +01:00 or +0100; the same place when there is none."""
    if byte(at) == _Z:
        return at + 1
    if byte(at) not in (_PLUS, _DASH):
        return at
    if digits_end(at + 1) == at + 5:
        return at + 5
    if digits_end(at + 1) == at + 3 and byte(at + 3) == _COLON and digits_end(at + 4) == at + 6:
        return at + 6
    return at


# --- reading ------------------------------------------------------------------------------------------------------


@compiled
def read_clock(style: int, text: int, at: int, end: int, year: int) -> int:
    """The microseconds since 1970 that a dated reading means."""
    if style == ISO:
        return _epoch(_two(at) * 100 + _two(at + 2), _two(at + 5), _two(at + 8), at + 11) + _iso_tail(at + 19, end)
    if style == US:
        return _epoch(_two(at + 6) * 100 + _two(at + 8), _two(at), _two(at + 3), at + 11)
    if style == MONTH_DAY:
        return _epoch(year, _two(at), _two(at + 3), at + 6)
    space = digits_end(at)
    if style == GLOG:
        month = _two(at) if space - at == 4 else byte(at) - 0x30
        return _epoch(year, month, _two(space - 2), space + 1) + _micros(space + 10, end)
    day = _two(at) if space - at == 2 else byte(at) - 0x30
    if end == space + 14:
        year = _two(end - 4) * 100 + _two(end - 2)
    return _epoch(year, month_before(text, at), day, space + 1)


@compiled
def _two(at: int) -> int:
    return (byte(at) - 0x30) * 10 + byte(at + 1) - 0x30


@compiled
def _micros(at: int, end: int) -> int:
    """The first six digits up to the end, dots between them left out; zeros for those that are missing."""
    value, count = 0, 0
    while count < 6 and at < end:
        if byte(at) != _DOT:
            value, count = value * 10 + byte(at) - 0x30, count + 1
        at += 1
    while count < 6:
        value, count = value * 10, count + 1
    return value


@compiled
def _iso_tail(at: int, end: int) -> int:
    """Fraction less zone, in microseconds."""
    zone = at
    while zone < end and byte(zone) not in (_PLUS, _DASH, _Z):
        zone += 1
    micros = _micros(at + 1, zone)
    if zone == end or byte(zone) == _Z:
        return micros
    minutes = _two(zone + 1) * 60 + _two(end - 2)
    return micros - minutes * 60_000_000 if byte(zone) == _PLUS else micros + minutes * 60_000_000


@compiled
def _epoch(year: int, month: int, day: int, clock: int) -> int:
    """As ``core.logs.lines._epoch``; the clock is hh:mm:ss at an address."""
    shifted = year - 1 if month <= 2 else year
    era = shifted // 400
    of_era = shifted - era * 400
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    days = era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
    return (days * 86400 + _two(clock) * 3600 + _two(clock + 3) * 60 + _two(clock + 6)) * 1_000_000


@compiled
def read_bare(at: int, end: int) -> int:
    """As ``core.logs.lines._read_bare``."""
    hours, minutes, seconds = _two(at), _two(at + 3), _two(at + 6)
    if byte(at + 2) != _COLON or hours > 23 or minutes > 59 or seconds > 59:
        return NO_TIME
    return BARE + (hours * 3600 + minutes * 60 + seconds) * 1_000_000 + _micros(at + 9, end)


# --- milliseconds -------------------------------------------------------------------------------------------------

MILLIS_DIGITS = 13
_MILLIS_KEY = as_word(b'time_ms"')


@compiled
def is_millis(text: int, at: int) -> bool:
    """Whether ``time_ms": `` stands before, and thirteen digits that start with 1 from here on."""
    if at - text < 10 or word(at - 10) != _MILLIS_KEY or byte(at - 2) != _COLON or byte(at - 1) != _SPACE:
        return False
    return byte(at) == _ONE and digits_end(at) == at + MILLIS_DIGITS


@compiled
def read_millis(at: int) -> int:
    """The microseconds that so many milliseconds are."""
    value = 0
    for place in range(at, at + MILLIS_DIGITS):
        value = value * 10 + byte(place) - 0x30
    return value * 1000
