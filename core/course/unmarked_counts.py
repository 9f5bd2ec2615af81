"""What ranks count that say no marker: a leader draws a bar, and each rank prints the times of its own part."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.course.counters import find_counter
from core.course.iterations import Iterations
from core.course.markers import read_counter
from core.events.table import EventTable, rows_by
from core.job import LogFile

ALONG = 0.5  # of the iterations of the job, that who counts them in words of its own must have come to


@dataclass(frozen=True, slots=True, eq=False)
class UnmarkedCounts:
    """Lines that count the iterations of ranks that say no marker: rows, sorted, and of each the iteration and rank."""

    rows: NDArray[np.intp]
    numbers: NDArray[np.int64]
    ranks: NDArray[np.int32]


def find_beside(table: EventTable, files: Mapping[str, LogFile], iterations: Iterations, most: int) -> UnmarkedCounts:
    """The iterations that such ranks count, where they go about as far as the job.

    Args:
        most: lines that are read at most, the last ones of each voice.
    """
    nothing = np.zeros(0, np.intp)
    ranks = table.rank_of_voice
    silent = np.flatnonzero((ranks >= 0) & ~np.isin(ranks, ranks[iterations.voices]))
    counted = frozenset(iterations.numbers.tolist())
    counter = find_counter(table, files, silent, counted) if len(silent) and counted else None
    if counter is None:
        return UnmarkedCounts(nothing, np.zeros(0, np.int64), np.zeros(0, np.int32))
    found = read_counter(table, files, most, counter)
    last = max(counted)
    along = [
        mine
        for _, mine in rows_by(ranks[found.voices], np.flatnonzero(np.isin(found.voices, silent)))
        if ALONG * last <= found.numbers[mine].max() <= last + _interval(found.numbers[mine])
    ]
    found = found.only(np.sort(np.concatenate([nothing, *along])))
    return UnmarkedCounts(found.rows, found.numbers, ranks[found.voices])


def _interval(numbers: NDArray[np.int64]) -> int:
    """Iterations between two of these, as a rule."""
    steps = np.diff(np.unique(numbers))
    return int(np.median(steps)) if len(steps) else 0
