"""A clock that ``core.logs.lines`` does not read, because others stand before it or its date is written otherwise.

``[gpu-3] 13:09:54 INFO step 31``, ``rank=3; 1795370040.131; step 31``, ``22.11.2026 13:09:54 step 31``. A bare clock is
put in front of its line, behind the labels of a launcher, where it is read; of others the time is told beside it.
"""

import re
from collections.abc import Sequence
from functools import partial

from core.logs.wraps.peeled import Peeled, Wrap, evenly, has_known_clock
from core.logs.wraps.shared_files import HEAD
from core.logs.wraps.stamps import Stamp, epoch
from core.logs.wraps.tags import LABELS

_CLOCK = re.compile(
    rb"(?<![\w:./-])(?:(?P<first>[0-9]{1,2})[/.](?P<second>[0-9]{1,2})[/.]?(?P<year>(?<=[/.])[12][0-9]{3})?[ T])?"
    rb"(?P<clock>[0-9]{2}:[0-5][0-9]:[0-5][0-9](?:[.,][0-9]{1,9})?)(?![0-9:])"
    rb"|(?<![\w:.-])(?P<epoch>1[0-9]{9}\.[0-9]{1,9})(?![\w.])"
)
# A clock behind these words says how long something takes.
_LASTS = re.compile(rb"(?:elapsed|eta|remaining|left|took|duration|uptime|runtime|after|for|in)\W{0,3}$", re.IGNORECASE)
_LABELS = re.compile(LABELS)  # ``core.logs.lines`` reads a clock behind them
_BEFORE = 4  # words: a level, a logger, "worker", the speaker; further right the line talks about a time
_LEAST = 0.1  # of the lines: a traceback has none, nor have the rows of a table below it
_MOST = 0.8  # of the lines with a clock have one like this
_LEAST_LINES = 3
_MONTHS = 12


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """Such clocks, where nearly all lines with a clock have one."""
    tried = evenly(lines)
    found = [match for line in tried if (match := _find(line)) is not None]
    read = sum(has_known_clock(line) for line in tried)
    if len(found) < max(_LEAST_LINES, _LEAST * len(tried)) or len(found) < _MOST * (len(found) + read):
        return None
    day_first = any(int(match["first"] or 0) > _MONTHS for match in found)
    return Wrap("late clock", partial(_peel, day_first=day_first))


def _find(line: bytes) -> re.Match[bytes] | None:
    """The clock of a line that has none which is read."""
    match = _CLOCK.search(line, 0, HEAD)
    if match is None or has_known_clock(line):
        return None
    before = line[: match.start()]
    is_alone = line[match.start() - 1 : match.start()] + line[match.end() : match.end() + 1] in (b"()", b"[]")
    is_no_head = (len(before.split()) > _BEFORE and not is_alone) or _LASTS.search(before) is not None
    return None if is_no_head or _LABELS.fullmatch(before) else match


def _peel(line: bytes, *, day_first: bool) -> Peeled | None:
    match = _find(line)
    if match is None:
        return None
    if match["epoch"]:
        return Peeled(line, epoch(match["epoch"].decode()))
    clock = match["clock"].replace(b",", b".")
    if not match["first"]:
        before, behind = line[: match.start()], line[match.end() :]
        if before[-1:] == b"[" and behind[:1] == b"]":
            before, behind = before[:-1], behind[1:]
        labels = _LABELS.match(before)
        first = labels.end() if labels else 0
        return Peeled(before[:first] + clock + b" " + before[first:] + behind.lstrip(b" "))
    day, month = (int(match[name]) for name in (("first", "second") if day_first else ("second", "first")))
    whole, _, fraction = clock.partition(b".")
    if match["year"]:
        written = b"%s-%02d-%02dT%s" % (match["year"], month, day, clock)
    else:  # as glog has it, which tells no year either
        written = b"%02d%02d %s.%s" % (month, day, whole, fraction[:6] or b"0")
    return Peeled(line, Stamp(written))
