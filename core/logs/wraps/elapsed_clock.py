"""A clock that tells how long the program has run: ``[ 12.345] step 31``, ``+72.5s``, ``12.3 |``, ``1:12.52``.

It is put before its line as a clock that began at midnight, behind the labels of a launcher, where
``core.logs.lines`` reads it and ``core.logs.bare_clocks`` finds out when that was. Any number may stand there; it is a
time where it is marked as one, nearly all lines begin with it, and it never falls by much.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from core.logs.wraps.peeled import Peeled, Wrap, evenly, has_known_clock
from core.logs.wraps.tags import LABELS

_CLOCK = re.compile(
    rb"(?P<labels>(?:" + LABELS + rb")?)(?P<open>[\[(<]?)[ ]{0,8}(?P<sign>(?:[Tt]?\+)?)[ ]{0,8}"
    rb"(?:(?P<hours>[0-9]):(?P<of_hour>[0-5][0-9]):(?P<whole>[0-5][0-9](?:\.[0-9]{1,9})?)"
    rb"|(?P<minutes>[0-9]{1,4}):(?P<of_minute>[0-5][0-9]\.[0-9]{1,9})|(?P<seconds>[0-9]{1,6}\.[0-9]{1,9}))"
    rb"[ ]?(?P<unit>(?:s(?:ec)?)?)(?P<close>[\])>]?)"
    rb"(?:[:,;][ \t]{0,8}|[ \t]{0,8}(?P<bar>\|)[ \t]{0,8}|[ \t]{1,8}-?[ \t]{0,8})(?=\S)"
)
_LEAST = 0.2  # of the lines: a traceback has none, and may be most of a short file
_MOST = 0.8  # of the lines with a clock: libraries that a program uses write their own
_LEAST_LINES = 5  # more than for clocks with a date: any number may stand there
_RISING = 0.95  # of them are not before the one above of the same label; a measure falls as often as it rises
_DAY = 86_400  # seconds: what has run for longer is told by the clocks of others


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """Such clocks, where nearly all lines with a clock have one, and it rises."""
    found = [elapsed for line in lines if (elapsed := _read(line)) is not None]
    if len(found) < _LEAST_LINES:
        return None
    tried = evenly(lines)
    own = sum(_read(line) is not None for line in tried)
    read = sum(has_known_clock(line) for line in tried)
    if own < max(_LEAST * len(tried), _MOST * (own + read)):
        return None
    of_label: dict[bytes, list[float]] = defaultdict(list)
    for label, seconds in found:
        of_label[label].append(seconds)
    steps = [after - before for times in of_label.values() for before, after in pairwise(times)]
    rising = sum(step >= 0 for step in steps)
    return Wrap("elapsed clock", peel) if any(steps) and rising >= _RISING * len(steps) else None


def peel(line: bytes) -> Peeled | None:
    """The line with its clock as one of a day that the program began with."""
    match, elapsed = _CLOCK.match(line), _read(line)
    if match is None or elapsed is None:
        return None
    labels, seconds = elapsed
    minutes, rest = divmod(seconds, 60)
    clock = b"%02d:%02d:%09.6f " % (minutes // 60, minutes % 60, rest)
    return Peeled(labels + clock + line[match.end() :])


def _read(line: bytes) -> tuple[bytes, float] | None:
    """Labels of a line, and seconds since its program began; None of a number that nothing marks as a time."""
    match = _CLOCK.match(line)
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    if match["hours"]:
        return match["labels"], int(match["hours"]) * 3600 + int(match["of_hour"]) * 60 + float(match["whole"])
    if not (match["minutes"] or match["sign"] or match["unit"] or match["open"] or match["bar"]):
        return None
    seconds = int(match["minutes"]) * 60 + float(match["of_minute"]) if match["minutes"] else float(match["seconds"])
    return (match["labels"], seconds) if seconds < _DAY else None
