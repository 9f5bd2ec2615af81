"""Clock readings, told by where their digits stand; the shapes are those of ``core.logs.lines``.

The caller has looked at 32 bytes from the first digit on: bit i of ``run`` says that byte i is a digit. A text ends
before a newline or carriage return, which no shape holds, so nothing here needs to know where.
"""

import numpy as np

from core.logs.kernel.letters import as_word
from core.logs.kernel.machine import byte, compiled, digits_end, word
from core.logs.lines import BARE, CENTURY, LAST_MONTH, NO_TIME, SHORT_YEAR

NO_CLOCK, CLOCK, ISO, GLOG, US, MONTH_DAY, UNIX, NAMED, SHORT_DATE, ABSL = range(10)  # styles; CLOCK alone has no date

_SPACE, _PLUS, _COMMA, _DASH, _DOT, _SLASH, _ZERO, _ONE, _TWO, _COLON, _T, _Z, _UNDERSCORE = b" +,-./012:TZ_"
_MONTHS = np.frombuffer(b"Jan\0Feb\0Mar\0Apr\0May\0Jun\0Jul\0Aug\0Sep\0Oct\0Nov\0Dec\0", dtype="<u4").astype(np.int64)


def _shape(example: str) -> tuple[int, int]:
    """The bits of all the example's bytes, and of its digits."""
    return (1 << len(example)) - 1, sum(1 << place for place, letter in enumerate(example) if letter == "9")


_ISO_ALL, _ISO = _shape("9999-99-99 99:99:99")
_US_ALL, _US = _shape("99/99/9999 99:99:99")
_MONTH_DAY_ALL, _MONTH_DAY = _shape("99-99 99:99:99")
_CLOCK_ALL, _CLOCK = _shape("99:99:99")
_GLOG_ALL, _GLOG = _shape("99:99:99.9")
_SHORT_ALL, _SHORT = _shape("9:99:99")
_SHORT_DATE_ALL, _SHORT_DATE = _shape("99/99/99 99:99:99")
_ABSL_ALL, _ABSL = _shape("9999 99:99:9999999999.9")
_ZEROS = as_word(b"0000 00:")


@compiled
def clock_at(text: int, at: int, run: int, length: int, after: int) -> tuple[int, int]:
    """Style and end of the clock reading at a run of digits and the byte after it, or NO_CLOCK."""
    if after == _COLON:
        return _bare(at, run, length)
    if length == 2 and after in (_SPACE, _DASH, _SLASH):
        end = _named_end(at)
        if end:
            return NAMED, end
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
    """11/21/2026 03:47:22, 26/11/21 03:47:22, or 11-21 03:47:22."""
    if after == _SLASH:
        if run & _US_ALL == _US and byte(at + 5) == _SLASH and byte(at + 10) == _SPACE and _colons(at + 11):
            return US, at + 19
        is_short = run & _SHORT_DATE_ALL == _SHORT_DATE and byte(at + 5) == _SLASH and byte(at + 8) == _SPACE
        if is_short and _colons(at + 9):
            return SHORT_DATE, at + 17
    elif after == _DASH and run & _MONTH_DAY_ALL == _MONTH_DAY and byte(at + 5) == _SPACE and _colons(at + 6):
        return MONTH_DAY, at + 14
    return NO_CLOCK, 0


@compiled
def _named_end(at: int) -> int:
    """The end of 21-Nov-26 03:47:22 or 21/Nov/2026:03:47:22; 0 where there is none."""
    if month_at(at + 3) == 0 or byte(at + 6) not in (_SPACE, _DASH, _SLASH):
        return 0
    clock = digits_end(at + 7) + 1
    is_long = clock == at + 12 and byte(at + 7) in (_ONE, _TWO)
    if not (is_long or clock == at + 10) or byte(clock - 1) not in (_SPACE, _COLON) or not _colons(clock):
        return 0
    whole = digits_end(clock) == clock + 2 and digits_end(clock + 3) == clock + 5 and digits_end(clock + 6) >= clock + 8
    return clock + 8 if whole else 0


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
    if run & _ABSL_ALL == _ABSL and word(at) == _ZEROS and _is_absl(at):
        return ABSL, digits_end(at + 22)
    clock = at + length + 1
    if (run >> (length + 1)) & _GLOG_ALL == _GLOG and _colons(clock) and byte(clock + 8) == _DOT:
        return GLOG, digits_end(clock + 9)
    return NO_CLOCK, 0


@compiled
def _is_absl(at: int) -> bool:
    """Whether seconds of the epoch stand where absl writes those of the minute."""
    return byte(at + 8) == _ZERO and byte(at + 9) == _ZERO and byte(at + 10) == _COLON and byte(at + 21) == _DOT


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
    return month_at(at - 4) if byte(at - 1) == _SPACE else 0


@compiled
def month_at(at: int) -> int:
    """The month whose name stands there, 0 for none."""
    name = word(at) & 0xFFFFFF
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
    if style == ABSL:
        return _seconds(at + 11) * 1_000_000 + _micros(at + 22, end)
    return (
        _with_a_year(style, at, end, year) if style in (US, SHORT_DATE, NAMED) else _without(style, text, at, end, year)
    )


@compiled
def _with_a_year(style: int, at: int, end: int, year: int) -> int:
    if style == US:
        return _in_digits(_two(at + 6) * 100 + _two(at + 8), _two(at), _two(at + 3), at + 11)
    if style == NAMED:
        years = _two(at + 7)
        full = years * 100 + _two(at + 9) if end - at > SHORT_YEAR else CENTURY + years
        return _epoch(full, month_at(at + 3), _two(at), end - 8)
    first, third = CENTURY + _two(at), CENTURY + _two(at + 6)
    if (third == year and first != year) or _two(at + 3) > LAST_MONTH:
        return _in_digits(third, _two(at), _two(at + 3), at + 9)
    return _epoch(first, _two(at + 3), third - CENTURY, at + 9)


@compiled
def _without(style: int, text: int, at: int, end: int, year: int) -> int:
    """Of a clock that may have no year."""
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
def _seconds(at: int) -> int:
    """Ten digits."""
    value = 0
    for place in range(at, at + 10):
        value = value * 10 + byte(place) - 0x30
    return value


@compiled
def _in_digits(year: int, first: int, second: int, clock: int) -> int:
    """American, unless there is no such month."""
    if first > LAST_MONTH >= second:
        return _epoch(year, second, first, clock)
    return _epoch(year, first, second, clock)


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


# --- seconds since 1970 -------------------------------------------------------------------------------------------

EPOCH_DIGITS = 12  # at least, with the point and one behind it
_MAX_FRACTION = 9  # digits behind the point: nanoseconds, as in core.logs.lines
_TS_KEY, _T_KEY, _TIME_KEY = as_word(b"ts="), as_word(b"t="), as_word(b"time=")
_OPEN, _OPEN_SQUARE = b"(["


@compiled
def is_epoch(text: int, at: int, end: int) -> bool:
    """Whether the number there is one of seconds since 1970, with a fraction, and the text begins with it."""
    if byte(at) != _ONE or digits_end(at) != at + 10 or byte(at + 10) != _DOT or digits_end(at + 11) != end:
        return False
    if end - at - 11 > _MAX_FRACTION or end == at + 11:
        return False
    before = at - text
    if before == 1:
        return byte(text) == _OPEN or byte(text) == _OPEN_SQUARE
    if before == 2:
        return word(text) & 0xFFFF == _T_KEY
    if before == 3:
        return word(text) & 0xFFFFFF == _TS_KEY
    return before == 0 or (before == 5 and word(text) & 0xFFFFFFFFFF == _TIME_KEY)


@compiled
def read_epoch(at: int, end: int) -> int:
    """The microseconds that so many seconds are."""
    return _seconds(at) * 1_000_000 + _micros(at + 11, end)


# --- milliseconds -------------------------------------------------------------------------------------------------

MILLIS_DIGITS = 13  # of milliseconds since 1970, until 2286
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
