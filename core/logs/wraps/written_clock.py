"""A clock that ``core.logs.lines`` does not read, because others stand before it or it is written otherwise.

``[gpu-3] 13:09:54 INFO step 31``, ``rank=3; 1795370040.131; step 31``, ``22.11.2026 13:09:54 step 31``,
``2026-Nov-22 13:09:54.25 step 31`` (Boost.Log), ``Nov 22, 2026 1:09:54 PM Main run`` (java.util.logging; newer ones
have a narrow blank before PM), ``Sun Nov 22 13:09:54 UTC 2026 step 31`` (date). A clock without a date is put in front
of its line, behind the labels of a launcher, where it is read; of others the time is told beside the line.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial

from core.logs.lines import CENTURY, LAST_MONTH, clock_form
from core.logs.wraps.peeled import Peeled, Wrap, evenly, has_known_clock
from core.logs.wraps.shared_files import HEAD
from core.logs.wraps.stamps import MONTHS, Stamp, epoch
from core.logs.wraps.tags import LABELS

_NAMES = dict(zip(MONTHS, range(1, 13), strict=True)) | {b"Mai": 5, b"Okt": 10, b"Dez": 12}  # German ones that differ
_MONTH = b"|".join(sorted(_NAMES))
_PART = b"(?:" + _MONTH + rb"|20[0-9]{2}|[0-9]{1,2})"  # of a date
# With the signs of Chinese, Japanese and Korean: of year and month, day, hour, minute, second
_OF_PARTS = ("[\u5e74\u6708\ub144\uc6d4]", "[\u65e5\uc77c]", "[\u65f6\u6642\uc2dc]", "[\u5206\ubd84]", "[\u79d2\ucd08]")
_SIGN_OF_YEAR, _SIGN_OF_DAY, _SIGN_OF_HOUR, _SIGN_OF_MINUTE, _SIGN_OF_SECOND = (
    b"(?:" + b"|".join(sign.encode() for sign in signs[1:-1]) + b")" for signs in _OF_PARTS
)
_SIGNS = rb"(?:[-/ ]|[.,] ?|" + _SIGN_OF_YEAR + rb" ?){1,2}"
_WEEKDAY = b"(?:(?!(?:" + _MONTH + rb")\b)[A-Z][a-z]{1,2}[.,]? {1,2})?"
_DATE = (
    rb"20[0-9]{2}(?:0[1-9]|1[0-2])[0-3][0-9]"
    rb"|" + _PART + rb"(?:" + _SIGNS + _PART + rb"){1,2}(?:\.|" + _SIGN_OF_DAY + rb")?"
)
_BETWEEN = rb"(?:(?<=20[0-9]{2}):|[T_-]|,? {1,2}| ?[,;|@] ?| at |\] ?\[)"
_TIME = (
    rb"(?P<hour>2[0-3]|[01]?[0-9])(?P<sign>[:.h-]|" + _SIGN_OF_HOUR + rb" ?)(?P<minute>[0-5][0-9])"
    rb"(?:(?:[:.m-]|" + _SIGN_OF_MINUTE + rb" ?)(?P<second>[0-5][0-9])(?:[.,](?P<fraction>[0-9]{1,9}))?"
    rb"(?:s|" + _SIGN_OF_SECOND + rb")?)?"
    rb"(?:(?: |\xe2\x80\xaf)?(?P<half>[AaPp])[Mm])?"
)
_BEHIND = rb"(?: ?(?P<zone>Z|UTC|GMT)\b)?(?: (?P<local>[A-Z]{3,5} )?(?P<year>20[0-9]{2})\b)?"  # of a zone's name, too
_CLOCK = re.compile(
    rb"(?<![\w:./-])(?:"
    + _WEEKDAY
    + rb"(?P<date>"
    + _DATE
    + rb")"
    + _BETWEEN
    + rb")?"
    + _TIME
    + _BEHIND
    + rb"(?![\w:])"
    rb"|(?<![\w:.-])(?P<epoch>1[0-9]{9}\.[0-9]{1,9})(?![\w.])"
)
_PARTS = re.compile(_PART)
# A clock behind these words says how long something takes.
_LASTS = re.compile(rb"(?:elapsed|eta|remaining|left|took|duration|uptime|runtime|after|for|in)\W{0,3}$", re.IGNORECASE)
_LABELS = re.compile(LABELS)  # ``core.logs.lines`` reads a clock behind them
_BEFORE = 4  # words: a level, a logger, "worker", the speaker; further right the line talks about a time
_LEAST = 0.1  # of the lines: a traceback has none, nor have the rows of a table below it
_MOST = 0.8  # of the lines with a clock have one like this
_LEAST_LINES = 3  # as for compact clocks
_NOON = 12  # hours
_TRIED = 128  # lines whose clocks are asked for again


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """Such clocks, where nearly all lines with a clock have one."""
    tried = evenly(lines)
    found = [match for line in tried if (match := _find(line)) is not None]
    if len(found) < max(_LEAST_LINES, _LEAST * len(tried)):
        return None
    read = sum(has_known_clock(line) and _find(line) is None for line in tried)
    if len(found) < _MOST * (len(found) + read):
        return None
    firsts = [part for match in found if match["date"] and (part := _PARTS.match(match["date"])) is not None]
    day_first = any(part[0].isdigit() and LAST_MONTH < int(part[0]) < CENTURY for part in firsts)
    return Wrap("written clock", partial(_peel, day_first=day_first))


@lru_cache(maxsize=_TRIED)
def _find(line: bytes) -> re.Match[bytes] | None:
    """The clock of a line that is not read as it stands."""
    match = _CLOCK.search(line, 0, HEAD)
    if match is None or not (match["epoch"] or _is_whole(match)) or _is_read(line, match):
        return None
    before = line[: match.start()]
    is_alone = line[match.start() - 1 : match.start()] + line[match.end() : match.end() + 1] in (b"()", b"[]")
    is_no_head = (len(before.split()) > _BEFORE and not is_alone) or _LASTS.search(before) is not None
    return None if is_no_head else match


def _is_whole(match: re.Match[bytes]) -> bool:
    """Whether it must be a clock: without a date it has seconds and colons, or tells the half of its day."""
    if match["date"] is None:
        return (
            match["sign"] == b":" and match["second"] is not None and (len(match["hour"]) == 2 or bool(match["half"]))
        )
    has_year = b"20" in match["date"] or match["year"] is not None
    is_clock = match["sign"] == b":" or not match["sign"].isascii()
    return has_year or (is_clock and match["second"] is not None)


def _is_read(line: bytes, match: re.Match[bytes]) -> bool:
    """Whether ``core.logs.lines`` reads the same."""
    if match["half"] is not None:
        return False
    if match["date"] is None:
        return has_known_clock(line) or (
            match["epoch"] is None and _LABELS.fullmatch(line[: match.start()]) is not None
        )
    form = clock_form(match[0]).removesuffix(" zoned")
    has_year = len(_PARTS.findall(match["date"])) > 2
    is_zoned = bool(match["zone"] or match["local"])  # in front of the year
    return {"": False, "clock": False, "monthday": not has_year, "unix": not match["year"] or not is_zoned}.get(
        form, True
    )


def _peel(line: bytes, *, day_first: bool) -> Peeled | None:
    match = _find(line)
    if match is None:
        return None
    if match["epoch"]:
        return Peeled(line, epoch(match["epoch"].decode()))
    before, behind = line[: match.start()], line[_end(match) :]
    if before[-1:] + behind[:1] in (b"[]", b"()"):
        before, behind = before[:-1], behind[1:]
    labels = _LABELS.match(before)
    first = labels.end() if labels else 0
    clock = _clock(match)
    if not match["date"]:
        return Peeled(before[:first] + clock + b" " + before[first:] + behind.lstrip(b" "))
    date = _date(match, day_first=day_first)
    text = before + behind.lstrip(b" :") if not before[first:].strip() else line
    return Peeled(text, Stamp(_joined(*date, clock, match["zone"]), match["zone"] is not None)) if date else None


def _has_late_year(match: re.Match[bytes]) -> bool:
    """Whether the number behind the clock is the year of its date: behind one that has its own, or none, it is not."""
    return bool(match["year"] and match["date"]) and len(_PARTS.findall(match["date"])) == 2


def _end(match: re.Match[bytes]) -> int:
    """Where the clock ends, without a number behind it that is no year."""
    if not match["year"] or _has_late_year(match):
        return match.end()
    return match.start("local" if match["local"] else "year")


def _clock(match: re.Match[bytes]) -> bytes:
    """Of twenty-four hours."""
    hour = int(match["hour"])
    if match["half"]:
        hour = hour % _NOON + (_NOON if match["half"] in b"Pp" else 0)
    fraction = b"." + match["fraction"][:6] if match["fraction"] else b""
    return b"%02d:%s:%s%s" % (hour, match["minute"], match["second"] or b"00", fraction)


def _date(match: re.Match[bytes], *, day_first: bool) -> tuple[int, int, int] | None:
    """Year (0: not told), month and day; None where there is no such day."""
    parts = _PARTS.findall(match["date"])
    if len(parts) == 1 or match["date"].isdigit():
        written = match["date"]
        parts = [written[:4], written[4:6], written[6:]]
    numbers = [_NAMES.get(part) or int(part) for part in parts]
    if _has_late_year(match):
        numbers.append(int(match["year"]))
    if len(numbers) > 2 and len(parts[0]) != 4:  # the year comes first or last
        numbers = [numbers[2] % CENTURY + CENTURY, *numbers[:2]]
    year, first, second = (0, *numbers[:2]) if len(numbers) == 2 else numbers
    named = next((place for place, part in enumerate(parts) if part in _NAMES), None)
    is_day = parts[0] not in _NAMES if named is not None else (day_first or b"/" not in match["date"])
    is_day &= match["date"].isascii()  # the sign of the month stands behind it
    month, day = (second, first) if len(parts[0]) != 4 and is_day else (first, second)
    try:
        datetime(year or CENTURY, month, day, tzinfo=UTC)  # 2000 had a 29 February
    except ValueError:
        return None
    return year, month, day


def _joined(year: int, month: int, day: int, clock: bytes, zone: bytes | None) -> bytes:
    """In a form that ``core.logs.lines`` reads; without a year as glog has it, which tells none either."""
    if year:
        return b"%04d-%02d-%02dT%s%s" % (year, month, day, clock, b"Z" if zone else b"")
    whole, _, fraction = clock.partition(b".")
    return b"%02d%02d %s.%s" % (month, day, whole, fraction or b"0")
