"""Which day a clock without a date means: ``04:42:25 step 31``.

It counts in files that have no better clock. The dates of other lines of the file say which day it is, else the job's
start; within a file a clock goes on from line to line, and where it falls back by more than half a day, midnight has
passed. One that begins at midnight in a job that does not tells how long the program has run: it counts from the job's
start on.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from core.logs.lines import BARE, DAY, NO_TIME

Times = NDArray[np.int64]

_MINUTE, _HOUR = 60_000_000, 3_600_000_000  # microseconds


def is_bare(time: Times) -> NDArray[np.bool_]:
    """Which times count from BARE on."""
    return time < BARE + DAY


class Days:
    """The days of one file, chunk by chunk."""

    def __init__(self, chunks: Iterable[Times], start: int) -> None:
        """Look at all times of a file. start: of the job, in microseconds; NO_TIME when nobody knows."""
        bare = dated = 0
        first = BARE + DAY
        known = start
        for time in chunks:
            bares = is_bare(time)
            clocks = time[~bares & (time != NO_TIME)]
            first = int(time[bares][0]) if bares.any() and not bare else first
            bare, dated = bare + int(bares.sum()), dated + len(clocks)
            known = int(clocks[0]) if len(clocks) and dated == len(clocks) else known
        self._counts = bare > dated and known != NO_TIME  # a better clock stands before most lines
        self._known = known
        self._zero = start % DAY if self._counts and _is_elapsed(first - BARE, start) else 0

    def dated(self, time: Times) -> Times:
        """These times with dates, NO_TIME for those that do not count."""
        bares = is_bare(time)
        if not bares.any():
            return time
        if not self._counts:
            return np.where(bares, NO_TIME, time)
        at = np.flatnonzero(time != NO_TIME)
        clocks = np.where(bares[at], time[at] - BARE + self._zero, time[at])
        steps = np.diff(clocks % DAY, prepend=self._known % DAY)
        steps = (steps + DAY // 2) % DAY - DAY // 2  # the shorter way round
        since = np.cumsum(steps)
        base = self._base(clocks - since, ~bares[at])
        dated = time.copy()
        dated[at] = np.where(bares[at], since + base, clocks)
        self._known = int(dated[at[-1]])
        return dated

    def first_of(self, time: Times) -> int:
        """The first time of the file, when it is among these; NO_TIME when none of them is one."""
        clocks = time[(time != NO_TIME) & (self._counts | ~is_bare(time))]
        if not len(clocks):
            return NO_TIME
        first = int(clocks[0])
        return self._nearest(first - BARE + self._zero) if first < BARE + DAY else first

    def _nearest(self, clock: int) -> int:
        """The time nearest to what is known at which it is so late."""
        return self._known + (clock - self._known + DAY // 2) % DAY - DAY // 2

    def _base(self, bases: Times, is_dated: NDArray[np.bool_]) -> Times:
        """What each clock counts from: the last date above it, else what was known before."""
        last = np.maximum.accumulate(np.where(is_dated, np.arange(len(bases)), -1))
        return np.where(last < 0, self._known, bases[np.maximum(last, 0)])


def _is_elapsed(first: int, start: int) -> bool:
    """Whether the first clock of a file tells how long the program has run, not how late it is.

    It is a minute at most, and in no zone, of which nearly all are whole hours apart, the job's start.
    """
    return first < _MINUTE and start != NO_TIME and _MINUTE < (start - first) % _HOUR < _HOUR - _MINUTE
