"""Who logged when: lines by rank, or by node, over the time of the job, in few cells however large the job is."""

import numpy as np
from numpy.typing import NDArray

from core.events.table import EventTable
from core.model import Activity, ActivityLane

LANES, COLUMNS = 32, 48  # cells of the picture: a phone shows 48 of 7 pixels beside a name
MAX_ROWS = 1_000_000  # rows that are counted, evenly chosen: which cells are empty shows with far fewer


def activity(table: EventTable) -> Activity | None:
    """The cells of the picture; None for a job with one speaker or without two moments."""
    by_rank = len(table.ranks) > 1 and not table.ranks_are_nodes
    speakers = np.array(table.ranks if by_rank else range(len(table.nodes)), np.int64)
    if len(speakers) < 2 or not len(table):
        return None
    step = -(-len(table) // MAX_ROWS)
    times, voices = np.asarray(table.time[::step]), np.asarray((table.rank if by_rank else table.node)[::step])
    heard = (times >= 0) & (voices >= 0)
    if not heard.any() or times[heard].min() == times[heard].max():
        return None
    times, places = times[heard], np.searchsorted(speakers, voices[heard])
    first, last = int(times.min()), int(times.max())
    columns = np.minimum((times - first) * COLUMNS // (last - first), COLUMNS - 1)
    cells = np.bincount(places * COLUMNS + columns, minlength=len(speakers) * COLUMNS).reshape(-1, COLUMNS)
    ends = np.full(len(speakers), -1, np.int64)
    np.maximum.at(ends, places, times)
    size = -(-len(speakers) // LANES)
    names = [f"rank {rank}" for rank in speakers] if by_rank else list(table.nodes)
    lanes = tuple(
        _lane(names[at : at + size], cells[at : at + size], ends[at : at + size])
        for at in range(0, len(speakers), size)
    )
    return Activity(first, last, lanes, lane_of=size, every=step)


def _lane(names: list[str], cells: NDArray[np.int64], ends: NDArray[np.int64]) -> ActivityLane:
    """Of several speakers the one that fell silent first: it is what somebody looks for."""
    shown = int(np.lexsort((cells.sum(axis=1), ends))[0])
    end = int(ends[shown])
    beside = (names[0], names[-1]) if len(names) > 1 else ()
    return ActivityLane(names[shown], tuple(cells[shown].tolist()), end if end >= 0 else None, beside)
