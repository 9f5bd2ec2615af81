"""What ``core.l4.method`` found, as a diagnosis; none of our own weighing (``core.answer.verdict``) is in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.answer.build_diagnosis import coverage, facts, skipped
from core.answer.job_lookup import by_time
from core.course.stages import STAGES
from core.events.row_text import cite_rows
from core.events.table import EventTable
from core.model import (
    Confidence,
    Diagnosis,
    EventEvidence,
    IterationEvidence,
    Line,
    NodeEvidence,
    Pictures,
    Role,
    Scope,
    Skipped,
    Stage,
)
from core.parsed import Parsed

MAX_LINES = 3  # cited lines an event
_OWN_STEPS = ("spatial", "temporal")  # L4 says itself whether these could run


@dataclass(frozen=True, slots=True)
class NodeAnomaly:
    """A node and its anomaly (0..1; 0.5: like all others).

    events: event -> (count here, median count of all nodes), the furthest off first.
    """

    node: str
    anomaly: float
    events: Mapping[int, tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Named:
    """An event (place in the table's templates) that is reported, and why."""

    event: int
    score: float
    because: str


def answer(
    parsed: Parsed,
    scope: Scope,
    suspects: Sequence[NodeAnomaly],
    named: Sequence[Named],
    strange: tuple[IterationEvidence, ...] | Skipped,
    *steps: Skipped,
) -> Diagnosis:
    """The diagnosis; ``steps`` could not run."""
    events = _events(parsed, named)
    ids = {event.event: event.id for event in events}
    nodes = tuple(_node(f"N{n}", parsed.table, suspect, ids) for n, suspect in enumerate(suspects, start=1))
    others = tuple(step for step in skipped(parsed) if step.step not in _OWN_STEPS)
    return Diagnosis(
        job=parsed.job.id,
        method="l4",
        scope=scope,
        confidence=Confidence.WEAK,  # the paper weighs nothing
        headline=_headline(scope, nodes, len(events)),
        events=events,
        nodes=nodes,
        stage=_last_stage(parsed),
        iterations=() if isinstance(strange, Skipped) else strange,
        skipped=(*others, *steps, strange) if isinstance(strange, Skipped) else (*others, *steps),
        coverage=coverage(parsed),
        pictures=Pictures(series=parsed.iterations.series),
        facts=facts(parsed),
    )


def _events(parsed: Parsed, named: Sequence[Named]) -> tuple[EventEvidence, ...]:
    table = parsed.table
    rows_of_event = table.rows_of([item.event for item in named])
    rows_of = {item.event: by_time(table, rows_of_event[item.event]) for item in named}
    first = {event: int(table.time[rows[0]]) for event, rows in rows_of.items()}
    ordered = sorted(named, key=lambda named: (-named.score, first[named.event], table.templates[named.event].text))
    texts = cite_rows(parsed.files, table, [row for rows in rows_of.values() for row in rows[:MAX_LINES].tolist()])
    return tuple(_event(f"E{n}", parsed, item, rows_of[item.event], texts) for n, item in enumerate(ordered, start=1))


def _event(name: str, parsed: Parsed, named: Named, rows: NDArray[np.intp], texts: Mapping[int, str]) -> EventEvidence:
    table, first = parsed.table, int(rows[0])
    template = table.templates[named.event]
    cited = [row for row in rows[:MAX_LINES].tolist() if row in texts]
    return EventEvidence(
        id=name,
        score=named.score,
        because=named.because,
        lines=tuple(Line(table.files[table.file[row]], int(table.line[row]), texts[row]) for row in cited),
        event=template.id,
        template=template.text,
        role=Role.ROOT,
        count=len(rows),
        nodes=tuple(table.nodes[place] for place in np.unique(table.node[rows]).tolist() if place >= 0),
        stage=STAGES[int(parsed.stages[first])],
        first_time=int(table.time[first]) if table.time[first] >= 0 else None,
    )


def _node(name: str, table: EventTable, suspect: NodeAnomaly, ids: Mapping[str, str]) -> NodeEvidence:
    ranks = {origin.rank for origin in table.origins if suspect.node in (origin.node, f"rank {origin.rank}")}
    counted = f"{len(suspect.events)} events are more or less frequent there than on the median node"
    return NodeEvidence(
        id=name,
        score=suspect.anomaly,
        because=f"{suspect.node} has an anomaly of {suspect.anomaly:.2f}, where 0.5 is none: {counted}.",
        node=suspect.node,
        ranks=tuple(sorted(rank for rank in ranks if rank is not None)),
        events=tuple(ids[table.templates[event].id] for event in suspect.events),
    )


def _last_stage(parsed: Parsed) -> Stage:
    """Stage of the last row with the latest time."""
    latest, row = None, 0
    for first, time in parsed.table.time.parts():
        if len(time) and (latest is None or time.max() >= latest):
            latest = time.max()
            row = first + int(np.flatnonzero(time == latest)[-1])
    return Stage.UNKNOWN if latest is None else STAGES[int(parsed.stages[row])]


def _headline(scope: Scope, nodes: Sequence[NodeEvidence], events: int) -> str:
    if scope is Scope.NODE:
        return f"Look at {', '.join(node.node for node in nodes)}: {events} events set it apart."
    if scope is Scope.JOB:
        named = f"{events} events that successful jobs do not often log" if events else "no event sets one apart"
        return f"No node stands out: {named}."
    return "Nothing but what successful jobs log." if scope is Scope.NONE else "There is nothing to compare with."
