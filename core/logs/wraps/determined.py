"""Determined's log of a task: ``[2026-03-04T18:40:12.818610Z] 9a46dc42 [rank=0] || INFO: text``; its master has blanks.

determined-ai/determined master/pkg/model/task_log.go (0.38): the time, the first eight letters of the container's
identifier, and the rank, where there are any.
"""

import re
from collections.abc import Sequence

from core.logs.wraps.peeled import Peeled, Wrap, evenly
from core.logs.wraps.stamps import iso

_LINE = re.compile(
    rb"\[(?P<time>\d{4}-\d\d-\d\dT[0-9:.]{8,18}Z)\] {1,2}(?P<container>[0-9a-f]{8}| {8}) {1,2}"
    rb"(?:\[rank=(?P<rank>\d{1,6})\] )?\|\| ?"
)
_MOST = 0.9  # of the lines; the master writes no others


def peel(line: bytes) -> Peeled | None:
    """What a process wrote, where and when."""
    match = _LINE.match(line)
    if match is None:
        return None
    container, rank = match["container"].strip(), match["rank"]
    return Peeled(
        line[match.end() :],
        iso(match["time"]),
        nodes=(container,) if container else (),
        rank=None if rank is None else int(rank),
        unit=container,
    )


def fit(lines: Sequence[bytes]) -> Wrap | None:
    """Nearly all lines begin so."""
    tried = evenly(lines)
    return Wrap("Determined", peel) if sum(map(_matches, tried)) >= max(1, _MOST * len(tried)) else None


def _matches(line: bytes) -> bool:
    return _LINE.match(line) is not None
