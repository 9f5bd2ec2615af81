"""A clock of twelve hours: ``03:04:10 PM step 31``, ``11/24/2026 3:04:10 PM``, ``Nov 24, 2026 3:04:10 PM Main run``.

The last one is that of java.util.logging's SimpleFormatter (CLDR's English; newer ones have a narrow blank before AM).
A bare clock is put in front of its line as one of twenty-four hours, behind the labels of a launcher, where
``core.logs.lines`` reads it; of one with a date the time is told beside the line.
"""

import re
from collections.abc import Sequence

from core.logs.wraps.peeled import Peeled, Wrap, evenly, has_known_clock
from core.logs.wraps.stamps import MONTHS, Stamp
from core.logs.wraps.tags import LABELS

_CLOCK = re.compile(
    rb"(?P<labels>(?:" + LABELS + rb")?)(?P<open>[\[(]?)"
    rb"(?:(?:(?P<name>" + b"|".join(MONTHS) + rb") (?P<named_day>[0-9]{1,2}), (?P<named_year>[12][0-9]{3})"
    rb"|(?P<year>[12][0-9]{3})[-/](?P<month>[0-9]{1,2})[-/](?P<day>[0-9]{1,2})"
    rb"|(?P<first>[0-9]{1,2})/(?P<second>[0-9]{1,2})/(?P<last>[12][0-9]{3})),? )?"
    rb"(?P<hour>1[0-2]|0?[0-9]):(?P<rest>[0-5][0-9]:[0-5][0-9](?:[.,][0-9]{1,9})?)(?: |\xe2\x80\xaf)?"
    rb"(?P<half>[AaPp])[Mm](?P<close>[\])]?)(?![\w:])[ \t]?"
)
_LEAST = 0.2  # of the lines: a traceback has none, and java.util.logging has one in every second line
_MOST = 0.8  # of the lines with a clock have one like this
_LEAST_LINES = 3  # as for compact clocks
_NOON = 12  # hours


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """Such clocks, where nearly all lines with a clock have one."""
    tried = evenly(lines)
    found = [_CLOCK.match(line) is not None for line in tried]
    read = sum(has_known_clock(line) for line, own in zip(tried, found, strict=True) if not own)
    is_usual = sum(found) >= max(_LEAST_LINES, _LEAST * len(tried), _MOST * (sum(found) + read))
    return Wrap("half-day clock", peel) if is_usual else None


def peel(line: bytes) -> Peeled | None:
    """What was said at such a time."""
    match = _CLOCK.match(line)
    if match is None:
        return None
    hour = int(match["hour"]) % _NOON + (_NOON if match["half"] in b"Pp" else 0)
    clock = b"%02d:%s" % (hour, match["rest"].replace(b",", b"."))
    behind = line[match.end() :]
    date = _date(match)
    if date is None:
        return Peeled(match["labels"] + clock + b" " + behind)
    return Peeled(match["labels"] + behind, Stamp(b"%s-%02d-%02dT%s" % (*date, clock)))


def _date(match: re.Match[bytes]) -> tuple[bytes, int, int] | None:
    """Year, month and day; None where none is told."""
    if match["name"]:
        return match["named_year"], MONTHS.index(match["name"]) + 1, int(match["named_day"])
    if match["year"]:
        return match["year"], int(match["month"]), int(match["day"])
    return (match["last"], int(match["first"]), int(match["second"])) if match["last"] else None
