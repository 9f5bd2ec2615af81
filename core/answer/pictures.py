"""What the plots of a report show: suspects by node, events over time and nodes, numbers over iterations."""

from collections.abc import Mapping, Sequence

import numpy as np

from core.answer.activity import activity
from core.events.table import rows_by
from core.judge.candidates import Candidate
from core.judge.ending import Ending
from core.judge.rank_rows import last_words
from core.model import FirstPlot, Mark, NodeBar, Pictures, StackBar
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
