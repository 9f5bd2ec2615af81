"""Echoes: what a scheduler or a rank says, in words that nobody knows, because others had failed before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.events.table import EventTable
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.roles.row_queries import LATE, NEVER, TROUBLE, first_of_ranks, has_waited, is_trouble, rows_of
from core.logs.origins import Program
from core.model import Role
from core.parsed import Parsed
from core.shares import MAJORITY

_OF_DRIVERS = frozenset({Kind.EXCEPTION, Kind.KILLED})  # Ray's RayTaskError and ActorDiedError, Spark's own exception
_OF_OTHERS = frozenset({Kind.UNREACHABLE, Kind.RENDEZVOUS, Kind.STORE_LOST})  # of who is gone this is said again
SURE = 0.8  # strength of a direct trace; what is weaker is said by machines that are well, too
_MEETING = frozenset({Kind.RENDEZVOUS, Kind.UNREACHABLE})  # they wait in vain for one that has failed


def clear_echoes(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """What a scheduler complains of in words that nobody knows, after ranks had failed, reports that they did.

    And what a rank raises in such words after it had complained of others, or, of a job that had trained, that it
    cannot reach them: it fails because they did.
    """
    before = _what_came_before(parsed, candidates)

    def clear(candidate: Candidate) -> Candidate:
        if candidate.role is not Role.ROOT:
            return candidate
        if before.ranks_failed(candidate):
            return candidate.with_role(Role.TEARDOWN, "said after ranks had failed")
        if before.another_raised(candidate):
            return candidate.with_role(Role.PROPAGATED, "another one had failed before they could meet")
        if before.it_complained(candidate):
            return candidate.with_role(Role.PROPAGATED, "it had complained of others before")
        if before.ranks_gave_up(candidate):
            return candidate.with_role(Role.PROPAGATED, "most ranks had waited in vain before")
        return candidate

    return [clear(candidate) for candidate in candidates]


@dataclass(frozen=True, slots=True, eq=False)
class _Before:
    """What had come before a candidate, in microseconds.

    trained: whether the job had. failed: when a rank first failed in known words. raised: when a process first raised
    what is not about its peers. raisers: nodes of processes that raised such, at a time that nobody tells. hindered:
    who had a fault of its own in known words, and when: its nodes, none where a scheduler tells of it. undated: the
    same of what has no clock, by the row that tells it. complained: when
    each rank first complained of others. gave_up: when most ranks had said that they waited in vain.
    """

    table: EventTable
    trained: bool
    failed: int
    raised: int
    raisers: frozenset[str]
    hindered: Sequence[tuple[frozenset[str], int]]
    undated: Sequence[tuple[frozenset[str], int]]
    complained: Mapping[int, int]
    gave_up: int

    def ranks_failed(self, candidate: Candidate) -> bool:
        """Whether a scheduler complains in words of its own after ranks had failed."""
        if candidate.fact.kind not in (Kind.ERROR, Kind.WARNING):
            return False
        programs = {self.table.origins[voice].program for voice in np.unique(self.table.voice[candidate.rows]).tolist()}
        return programs == {Program.SCHEDULER} and _first(self.table, [candidate]) >= self.failed

    def another_raised(self, candidate: Candidate) -> bool:
        """Whether it waited for one that had raised an exception before, or that a known fault had kept away."""
        if candidate.fact.kind not in _MEETING or self.trained:
            return False
        waited = _first(self.table, [candidate]) - LATE
        others = [first for nodes, first in self.hindered if nodes.isdisjoint(candidate.nodes)]
        undated = bool(others) and not self.table.timed[candidate.rows].any()
        hindered = undated or min(others, default=NEVER) <= waited
        hindered |= self._hindered_above(candidate)
        return self.raised <= waited or hindered or self._raised_elsewhere(candidate)

    def _hindered_above(self, candidate: Candidate) -> bool:
        """Whether such a fault is told above it in its file, without a clock: a launcher that could not log in."""
        file, first = self.table.file, int(candidate.rows.min())
        return any(
            row < first and file[row] == file[first] and nodes.isdisjoint(candidate.nodes)
            for nodes, row in self.undated
        )

    def _raised_elsewhere(self, candidate: Candidate) -> bool:
        """Whether others raised one, where no clock tells who was first: who has ended comes to no meeting."""
        apart = bool(candidate.nodes and self.raisers) and self.raisers.isdisjoint(candidate.nodes)
        return apart and not self.table.timed[candidate.rows].any()

    def it_complained(self, candidate: Candidate) -> bool:
        """Whether each rank that says it had complained of others before."""
        if not self.complained:  # thousands of columns need not be asked
            return False
        if candidate.fact.known and not (self.trained and candidate.fact.kind in _OF_OTHERS):
            return False
        spoken_at = zip(self.table.rank[candidate.rows].tolist(), self.table.time[candidate.rows].tolist(), strict=True)
        return all(rank >= 0 and self.complained.get(rank, NEVER) <= time for rank, time in spoken_at)

    def ranks_gave_up(self, candidate: Candidate) -> bool:
        """Whether a driver tells how a process ended, after most ranks had waited in vain: their watchdogs end them."""
        tells = candidate.fact.kind in _OF_DRIVERS and not candidate.ranks
        return tells and self.gave_up <= _first(self.table, [candidate])


def _what_came_before(parsed: Parsed, candidates: Sequence[Candidate]) -> _Before:
    table = parsed.table
    waiting = [candidate for candidate in candidates if is_trouble(candidate) and candidate.role is Role.PROPAGATED]
    raised = [candidate for candidate in candidates if _raised(table, candidate)]
    undated = [candidate for candidate in raised if not table.timed[candidate.rows].any()]
    return _Before(
        table,
        trained=parsed.iterations.last is not None,
        failed=_first(table, [candidate for candidate in candidates if is_trouble(candidate) and candidate.ranks]),
        raised=_first(table, raised),
        raisers=frozenset(node for candidate in undated for node in candidate.nodes),
        hindered=[
            (frozenset(candidate.nodes), _first(table, [candidate]))
            for candidate in candidates
            if _hinders(candidate) and table.timed[candidate.rows].any()
        ],
        undated=[
            (frozenset(candidate.nodes), int(candidate.rows.min()))
            for candidate in candidates
            if _hinders(candidate) and not table.timed[candidate.rows].any()
        ],
        complained=first_of_ranks(table, waiting),
        gave_up=_most(table, [candidate for candidate in candidates if has_waited(candidate)]),
    )


def _most(table: EventTable, candidates: Sequence[Candidate]) -> int:
    """When more than half of the ranks had said any of these."""
    first, needed = sorted(first_of_ranks(table, candidates).values()), int(len(table.ranks) * MAJORITY)
    return first[needed] if len(first) > max(needed, 1) else NEVER


def _first(table: EventTable, candidates: Sequence[Candidate]) -> int:
    rows = rows_of(candidates)
    return int(table.time[rows].min()) if len(rows) else NEVER


def _raised(table: EventTable, candidate: Candidate) -> bool:
    """Whether a process raised an exception that is not about its peers."""
    return table.templates[candidate.event].block and _is_its_own(candidate) and candidate.fact.strength >= TROUBLE


def _hinders(candidate: Candidate) -> bool:
    """Whether it is a fault that keeps a process from starting, or from meeting the others, in words that are known."""
    fact = candidate.fact
    return fact.known and not fact.stop and fact.strength >= SURE and _is_its_own(candidate)


def _is_its_own(candidate: Candidate) -> bool:
    return candidate.role is Role.ROOT and candidate.fact.kind not in _OF_OTHERS | _MEETING
