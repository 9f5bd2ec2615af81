"""What the plots of a report show: suspects by node, events over time and nodes, numbers over iterations."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.events.table import EventTable, rows_by
from core.judge.candidates import Candidate
from core.judge.ending import Ending
from core.judge.rank_rows import last_words
from core.model import Activity, ActivityLane, FirstPlot, Mark, NodeBar, Pictures, StackBar
from core.nodes.sign import Suspicion
from core.parsed import Parsed

MAX_MARKS = 4000  # points; more cannot be told apart
NO_NODE = "scheduler"  # lane of events that belong to no node
PACE = "time per iteration (ms)"  # as core/rules/iterations.toml calls it; a loss tells nothing of how fast a job is


def pictures(
    parsed: Parsed,
    telling: Sequence[Candidate],
    ids: Mapping[int, str],
    suspects: Sequence[Suspicion],
    *,
    ending: Ending,
    stacks: tuple[StackBar, ...],
) -> Pictures:
    """The data of all plots."""
    paced = ending.slow is not None and any(series.name == PACE for series in parsed.iterations.series)
    first = FirstPlot.SILENCE if ending.hung else FirstPlot.PACE if paced else FirstPlot.NONE
    return Pictures(
        _bars(parsed, suspects),
        _marks(parsed, telling, ids),
        parsed.iterations.series,
        activity(parsed.table),
        stacks,
        first,
    )


def _bars(parsed: Parsed, suspects: Sequence[Suspicion]) -> tuple[NodeBar, ...]:
    table, reached = parsed.table, parsed.iterations.of_rank
    scores = {suspect.node: suspect.score for suspect in suspects}
    words = last_words(table)
    ranks_of: dict[str, set[int]] = {node: set() for node in table.nodes}
    for origin in table.origins:
        if origin.node and origin.rank is not None:
            ranks_of[origin.node].add(origin.rank)
    bars = []
    spoke = table.spoke
    for place, voices in rows_by(table.node_of_voice, np.flatnonzero((table.node_of_voice >= 0) & (spoke.rows > 0))):
        node = table.nodes[place]
        timed = voices[spoke.last[voices] >= 0]
        ends = [words[rank] for rank in sorted(ranks_of[node]) if rank in words] or spoke.last[timed].tolist()
        bars.append(
            NodeBar(
                node=node,
                score=scores.get(node, 0.0),
                first=int(spoke.first[timed].min()) if len(timed) else None,
                last=max(ends, default=None),
                lines=int(spoke.rows[voices].sum()),
                last_iteration=max((reached[rank] for rank in ranks_of[node] if rank in reached), default=None),
            )
        )
    return tuple(bars)


def _marks(parsed: Parsed, telling: Sequence[Candidate], ids: Mapping[int, str]) -> tuple[Mark, ...]:
    table = parsed.table
    marks: list[Mark] = []
    for candidate in telling:
        rows = candidate.rows[:MAX_MARKS]
        places = zip(table.node[rows].tolist(), table.time[rows].tolist(), strict=True)
        marks += [
            Mark(ids[candidate.event], table.nodes[node] if node >= 0 else NO_NODE, time)
            for node, time in places
            if time >= 0
        ]
    return tuple(marks[:MAX_MARKS])


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
