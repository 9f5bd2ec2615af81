"""What few ranks go on to say in a job that hangs: a loop that never ends is no error, and yet the fault speaks."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.course.pace import SECOND
from core.events.table import EventTable, rows_by
from core.facts import Blame, Fact
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.ending import Ending
from core.model import Role
from core.parsed import Parsed
from core.shares import MIN_RANKS, few_of

MIN_TIMES = 5  # a line is repeated when it comes so often; a few belong to what was under way
AFTER = 2 * SECOND  # the last lines of a step come within seconds of its marker
# Who waits for others counts them, and says for how long: "eval-gather: 15/16 in after 60 s"
_WAITS = re.compile(r"<NUM>/<NUM>.{0,40}\b(?:after|for|since)\b.{0,24}<NUM> ?(?:s|sec|seconds|m|min)\b", re.IGNORECASE)
_REPEATS = Fact(
    Role.ROOT,
    Blame.SELF,
    Kind.ENDLESS_LOOP,
    0.7,
    "it repeats this while the others wait for it",
    "Look at what this rank does there: data that its filter refuses, a retry without an end, a lock that it polls.",
)


def find_stalled(
    parsed: Parsed, candidates: Sequence[Candidate], ending: Ending, stacks: Sequence[Candidate] = ()
) -> tuple[Candidate, ...]:
    """The candidates, with what few ranks repeat since a job that hung made its last progress.

    Args:
        stacks: dumps in the logs of processes that stand apart; they join the candidates.
    """
    candidates = (*candidates, *stacks)
    table = parsed.table
    if not ending.hung or ending.progressed is None or len(table.ranks) < MIN_RANKS:
        return candidates
    rows = _since(table, ending)
    talking = sorted({int(rank) for rank in table.rank[rows]})
    if not talking or len(talking) > few_of(len(table.ranks)) or _do_other_work(table, talking):
        return candidates
    known = {candidate.event for candidate in candidates}
    repeated = [
        _candidate(table, event, own)
        for event, own in rows_by(table.event, rows)
        if event not in known and len(own) >= MIN_TIMES and not _WAITS.search(table.templates[event].sample)
    ]
    best = sorted(repeated, key=lambda candidate: (-candidate.count, candidate.text))[:1]
    return (*candidates, *best)


def _do_other_work(table: EventTable, talking: Sequence[int]) -> bool:
    """Whether these ranks say nothing that any other does: a server that says what it waits for is not stuck in it."""
    of_voice = table.rank_of_voice[table.counts.voice]
    own = np.isin(of_voice, talking)
    return not np.isin(table.counts.event[own], table.counts.event[~own & (of_voice >= 0)]).any()


def _since(table: EventTable, ending: Ending) -> NDArray[np.intp]:
    """Head rows of ranks after the last progress, before the stop."""
    progressed = ending.progressed or 0
    went_on = (table.spoke.last > progressed) & (table.spoke.first <= progressed)  # else its clock has another zone
    voices = np.flatnonzero(table.is_rank & (table.rank_of_voice >= 0) & went_on)
    rows = table.rows_of_voices(voices.tolist())
    time = table.time[rows]
    until = ending.stopped if ending.stopped is not None else np.iinfo(np.int64).max
    rows = rows[(time > (ending.progressed or 0) + AFTER) & (time < until)]
    heads: NDArray[np.intp] = rows[table.head[rows]]
    return heads


def _candidate(table: EventTable, event: int, rows: NDArray[np.intp]) -> Candidate:
    origins = [table.origins[voice] for voice in np.unique(table.voice[rows]).tolist()]
    template = table.templates[event]
    return Candidate(
        event=event,
        text=template.sample,
        fact=_REPEATS,
        rows=rows,
        count=len(rows),
        excess=1.0,
        survived=0.0,
        nodes=tuple(sorted({origin.node for origin in origins if origin.node})),
        ranks=tuple(sorted({origin.rank for origin in origins if origin.rank is not None})),
        role=Role.ROOT,
    )
