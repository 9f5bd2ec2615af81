"""Rows and times that the rules about roles ask for."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.events.table import EventTable
from core.failure_kinds import Kind
from core.judge.candidates import Candidate, said_by
from core.logs.origins import Program
from core.model import Role

LEAD = 100_000  # microseconds: clocks of a cluster are nearer to each other, and a loss is noticed no sooner
LATE = 5_000_000  # microseconds after others failed: peers notice a death sooner, gloo and torchrun poll by the second
TROUBLE = 0.5  # strength from which on an event is trouble by itself: exceptions and what peers report, not warnings
NEVER = np.iinfo(np.int64).max
WATCHDOG = "watchdog thread terminated with exception"  # ProcessGroupNCCL.cpp: std::terminate follows, and SIGABRT

Rows = NDArray[np.intp]
Chosen = Callable[[Rows], NDArray[np.bool_]]  # which of these rows


def is_trouble(candidate: Candidate) -> bool:
    """Whether it tells by itself that something failed, and not only that somebody ends."""
    tells = candidate.role in (Role.ROOT, Role.PROPAGATED) and candidate.fact.kind not in (
        Kind.STORE_LOST,
        Kind.TERMINATED,
    )
    return tells and not candidate.fact.stop and candidate.fact.strength >= TROUBLE


def has_waited(candidate: Candidate) -> bool:
    """Whether it says that a peer was waited for in vain, or is a watchdog that ends its process for a lost peer."""
    if candidate.role is not Role.PROPAGATED:
        return False
    ends = candidate.fact.kind == Kind.PEER_LOST and WATCHDOG in candidate.text
    return ends or candidate.fact.kind == Kind.PEER_SILENT


def requests(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those that tell of a request to stop."""
    return [candidate for candidate in candidates if candidate.fact.told_to_stop or candidate.fact.asks_to_stop]


def rows_of(candidates: Sequence[Candidate]) -> Rows:
    """Rows of all of these, sorted."""
    return np.sort(np.concatenate([np.zeros(0, np.intp), *(candidate.rows for candidate in candidates)]))


def are_schedulers(table: EventTable) -> NDArray[np.bool_]:
    """Whether each voice is that of a scheduler."""
    return np.array([origin.program is Program.SCHEDULER for origin in table.origins] or [False], np.bool_)


def without(table: EventTable, candidate: Candidate, ending: Chosen, why: str) -> Candidate:
    """The candidate without the rows of an ending; as teardown when nothing else is left."""
    rows = candidate.rows[~ending(candidate.rows)]
    if len(rows) == 0:
        return candidate.with_role(Role.TEARDOWN, why)
    nodes, ranks = said_by(table, table.voice[rows])
    return replace(
        candidate, rows=rows, count=candidate.count * len(rows) // len(candidate.rows), nodes=nodes, ranks=ranks
    )


def first_of_ranks(table: EventTable, candidates: Sequence[Candidate]) -> dict[int, int]:
    """When each rank first said one of these."""
    first: dict[int, int] = {}
    rows = rows_of(candidates)  # all at once: there may be thousands of candidates
    for rank, time in zip(table.rank[rows].tolist(), table.time[rows].tolist(), strict=True):
        if rank >= 0:
            first[rank] = min(first.get(rank, time), time)
    return first


def first_times(table: EventTable, candidates: Sequence[Candidate]) -> NDArray[np.int64]:
    """First time of any of these on each node, by its place in the table; the last one is that of no node."""
    first = np.full(len(table.nodes) + 1, NEVER, np.int64)
    rows = rows_of(candidates)  # all at once, as above
    np.minimum.at(first, table.node[rows], table.time[rows])
    return first


def first_of_files(table: EventTable, rows: Rows) -> Rows:
    """The first of some rows, sorted, in each file, by its place in the table; -1 where there is none."""
    first = np.full(len(table.files) + 1, -1, np.intp)
    first[table.file[rows[::-1]]] = rows[::-1]  # the last that is written stays
    return first


def after(table: EventTable, rows: Rows, since: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows come at or after the time of their node; those of no node never do."""
    known = table.node[rows] >= 0
    return np.asarray(known & (since[table.node[rows]] <= table.time[rows]), np.bool_)


def onset(table: EventTable, candidate: Candidate) -> tuple[int, int]:
    """Time and row of a candidate's first row; where clocks do not tell, the place in the file does."""
    row = candidate.rows[np.lexsort((candidate.rows, table.time[candidate.rows]))[0]]
    return int(table.time[row]), int(row)
