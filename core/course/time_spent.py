"""Where each rank spends its time: the seconds an iteration that pass behind each of its messages.

Of a step that became slower everyone's clock shows it. The slow rank loses the time behind the message that precedes
its own work, and the others behind the one that precedes their waiting for it.
"""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from core.course.pace import SECOND, Course
from core.events.table import EventTable

STEPS = 64  # marks of progress on either side of the onset that are looked at: enough for a mean
MIN_MARKS = 2  # of one, a checkpoint may be all there is to it
MIN_TIMES = 3  # a message that a rank says less often does not belong to its steps

Spent = Mapping[int, Mapping[int, tuple[float, float]]]  # event -> rank -> seconds an iteration before and after


def find_spent(table: EventTable, course: Course, onset: int) -> Spent:
    """Seconds that pass behind each event in an iteration, of each rank that says it, before and after the onset.

    Args:
        onset: the first slow iteration.
    """
    place = int(np.searchsorted(course.numbers, onset))
    first, last = max(0, place - 1 - STEPS), min(len(course) - 1, place - 1 + STEPS)
    if place - 1 - first < MIN_MARKS or last - (place - 1) < MIN_MARKS:
        return {}
    since, turned, until = (int(course.times[at]) for at in (first, place - 1, last))
    steps = np.diff(course.numbers[[first, place - 1, last]])
    rank, event, time = _said(table, since, until)
    order = np.lexsort((np.arange(len(time)), time, rank))
    rank, event, time = rank[order], event[order], time[order]
    ends = np.append(np.where(rank[1:] == rank[:-1], time[1:], until), [until] * min(1, len(time)))
    found: dict[int, dict[int, tuple[float, float]]] = defaultdict(dict)
    before = np.clip(np.minimum(ends, turned) - time, 0, None)
    after = np.clip(ends - np.maximum(time, turned), 0, None)
    pairs, which = np.unique(np.stack([event, rank]), axis=1, return_inverse=True)
    times = np.bincount(which.ravel())
    seconds = [np.bincount(which.ravel(), side, minlength=pairs.shape[1]) / SECOND for side in (before, after)]
    for (one, who), usual, slow, often in zip(pairs.T.tolist(), *seconds, times.tolist(), strict=True):
        if often >= MIN_TIMES:
            found[one][who] = float(usual / steps[0]), float(slow / steps[1])
    return dict(found)


def _said(table: EventTable, since: int, until: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Rank, event and time of each message of a rank that has a clock of its own, between two moments."""
    voices = np.flatnonzero(table.is_rank & (table.rank_of_voice >= 0))
    parts = [np.zeros((3, 0), np.int64)]
    for rows in table.each_row_of(voices.tolist()):
        time = table.time[rows]
        near = rows[(time >= since) & (time < until)]
        near = near[table.head[near] & table.timed[near]]
        parts.append(np.stack([table.rank[near].astype(np.int64), table.event[near], table.time[near]]))
    rank, event, time = np.concatenate(parts, axis=1)
    return rank, event, time
