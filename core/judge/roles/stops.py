"""Stops from outside: what they explain, and what they do not because something had failed before."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.course.pace import SECOND
from core.course.patience import END_STEPS, patience
from core.events.table import EventTable
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.exits import Exits
from core.judge.roles.row_queries import TROUBLE, Rows, has_waited, onset, requests, without
from core.judge.survived_errors import GRACE
from core.logs.lines import NO_TIME
from core.model import Role
from core.parsed import Parsed
from core.shares import MAJORITY


def weigh_stops(parsed: Parsed, candidates: Sequence[Candidate], exits: Exits) -> Sequence[Candidate]:
    """A stop from outside explains what comes after it, and explains nothing when something had failed before.

    Who timed out before the stop had waited for long: what kept them waiting is older still. And what has no clock came
    when progress ended, if that was long before the stop. A launcher that tells above the stop of a process that ended
    with an error is stopped because of it, and so is one of which few ended by themselves.
    """
    table = parsed.table
    stops = [candidate for candidate in candidates if candidate.fact.stop and candidate.role is Role.ROOT]
    roots = [
        candidate
        for candidate in candidates
        if candidate.role is Role.ROOT and not candidate.fact.stop and candidate.fact.strength >= TROUBLE
    ]
    if not stops:
        return candidates
    stopped = min(onset(table, stop) for stop in _dated(table, stops))
    waited = [candidate for candidate in candidates if has_waited(candidate)]
    reach = 0 if _had_stalled(parsed, stopped[0]) else GRACE
    above = any(table.file[row] == table.file[stopped[1]] and row < stopped[1] for row in exits.failed)
    by_itself = any(_ended_by_itself(candidate, exits) for candidate in roots)
    if above or by_itself or any(_came_before(table, candidate, stopped, reach) for candidate in (*roots, *waited)):
        why, cleared = "something had failed before", frozenset(stops)
    else:
        why, cleared = "came after the stop", frozenset(roots)
    return [candidate.with_role(Role.TEARDOWN, why) if candidate in cleared else candidate for candidate in candidates]


def _dated(table: EventTable, stops: Sequence[Candidate]) -> Sequence[Candidate]:
    """The stops that tell when they came, if any of their kind does: one without a clock came after the line above."""
    clocked = {stop.fact.kind: stop for stop in stops if table.timed[stop.rows].all()}
    return [stop for stop in stops if stop.fact.kind not in clocked or table.timed[stop.rows].all()]


def promote_first_stop(table: EventTable, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """A launcher that is told to stop where the stop began is not clearing up: it is how the stop began."""
    stops = [
        candidate for candidate in candidates if candidate.fact.stop and candidate.role is Role.ROOT and candidate.nodes
    ]
    if not stops:
        return candidates
    began, _ = min(onset(table, stop) for stop in stops)
    nodes = {node for stop in stops for node in stop.nodes}
    places = [place for place, node in enumerate(table.nodes) if node in nodes]

    def elsewhere(rows: Rows) -> NDArray[np.bool_]:
        soon = (table.time[rows] >= began) & (table.time[rows] <= began + GRACE)
        return np.asarray(~(soon & np.isin(table.node[rows], places)), np.bool_)

    orders = frozenset(requests(candidates))

    def promote(candidate: Candidate) -> Candidate:
        if candidate.role is not Role.TEARDOWN or candidate not in orders or elsewhere(candidate.rows).all():
            return candidate
        return without(table, candidate, elsewhere, "").with_role(Role.ROOT, "the launcher that was stopped first")

    return [promote(candidate) for candidate in candidates]


def _had_stalled(parsed: Parsed, stopped: int) -> bool:
    """Whether the job had made no progress for long when it was stopped."""
    course = parsed.iterations.course.until(stopped)
    pace = course.pace()
    if pace is None:
        return False
    quiet = (stopped - int(course.times[-1])) / SECOND
    return quiet > patience(pace.progress, pace.progress, pace.longest, steps=END_STEPS)


def _ended_by_itself(candidate: Candidate, exits: Exits) -> bool:
    """Whether all who say it ended with an exit code of their own, while most ranks had to be ended by a signal."""
    signalled = sum(end.signal is not None for end in exits.of_rank.values())
    own = [rank for rank in candidate.ranks if (end := exits.of_rank.get(rank)) is not None and end.code]
    return 0 < len(own) == len(candidate.ranks) and signalled > len(exits.of_rank) * MAJORITY


def _came_before(table: EventTable, candidate: Candidate, stopped: tuple[int, int], reach: int) -> bool:
    """Whether a candidate came before a stop; one without a clock came after the words above it, perhaps long after.

    In the file of the stop the place tells.

    Args:
        stopped: time and row of the stop.
        reach: microseconds by which those words must be older than the stop.
    """
    beside = candidate.rows[table.file[candidate.rows] == table.file[stopped[1]]]
    if len(beside):
        return int(beside[0]) < stopped[1]
    time, row = onset(table, candidate)
    if candidate.fact.kind == Kind.CRASH and not table.timed[row]:
        return True  # who stops a job sends no SIGSEGV
    if candidate.fact.hardware and time == NO_TIME:
        return True  # nor does a stop break machines: a kernel counts from its start
    if stopped[0] == NO_TIME:
        return bool(table.timed[row])  # the stop ended all, and who tells of it has no clock
    return time < stopped[0] if table.timed[row] else 0 <= time < stopped[0] - reach
