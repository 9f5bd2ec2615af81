"""Echoes: what a scheduler or a rank says, in words that nobody knows, because others had failed before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.events.table import EventTable
from core.judge.candidates import Candidate
from core.judge.roles.rows import LATE, NEVER, TROUBLE, first_of_ranks, is_trouble, rows_of
from core.kinds import Kind
from core.logs.origins import Program
from core.model import Role
from core.parsed import Parsed

_OF_OTHERS = frozenset({Kind.UNREACHABLE, Kind.RENDEZVOUS, Kind.STORE_LOST})  # of who is gone this is said again
_MEETING = frozenset({Kind.RENDEZVOUS, Kind.UNREACHABLE})  # they wait in vain for one that has failed


def clear_echoes(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """What a scheduler complains of in words that nobody knows, after ranks had failed, reports that they did.

    And what a rank raises in such words after it had complained of others, or, of a job that had trained, that it
    cannot reach them: it fails because they did.
    """
    before = _what_came_before(parsed, candidates)

    def clear(one: Candidate) -> Candidate:
        if one.role is not Role.ROOT:
            return one
        if before.ranks_failed(one):
            return one.with_role(Role.TEARDOWN, "said after ranks had failed")
        if before.another_raised(one):
            return one.with_role(Role.PROPAGATED, "another one had failed before they could meet")
        if before.it_complained(one):
            return one.with_role(Role.PROPAGATED, "it had complained of others before")
        return one

    return [clear(one) for one in candidates]


@dataclass(frozen=True, slots=True, eq=False)
class _Before:
    """What had come before a candidate, in microseconds.

    trained: whether the job had. failed: when a rank first failed in known words. raised: when a process first raised
    what is not about its peers. complained: when each rank first complained of others.
    """

    table: EventTable
    trained: bool
    failed: int
    raised: int
    complained: Mapping[int, int]

    def ranks_failed(self, one: Candidate) -> bool:
        """Whether a scheduler complains in words of its own after ranks had failed."""
        if one.fact.kind not in (Kind.ERROR, Kind.WARNING):
            return False
        programs = {self.table.origins[voice].program for voice in np.unique(self.table.voice[one.rows]).tolist()}
        return programs == {Program.SCHEDULER} and _first(self.table, [one]) >= self.failed

    def another_raised(self, one: Candidate) -> bool:
        """Whether it waited for one that had raised an exception before."""
        met = one.fact.kind in _MEETING and not self.trained
        return met and self.raised + LATE <= _first(self.table, [one])

    def it_complained(self, one: Candidate) -> bool:
        """Whether each rank that says it had complained of others before."""
        if one.fact.known and not (self.trained and one.fact.kind in _OF_OTHERS):
            return False
        said = zip(self.table.rank[one.rows].tolist(), self.table.time[one.rows].tolist(), strict=True)
        return all(rank >= 0 and self.complained.get(rank, NEVER) <= time for rank, time in said)


def _what_came_before(parsed: Parsed, candidates: Sequence[Candidate]) -> _Before:
    table = parsed.table
    waiting = [one for one in candidates if is_trouble(one) and one.role is Role.PROPAGATED]
    return _Before(
        table,
        trained=parsed.iterations.last is not None,
        failed=_first(table, [one for one in candidates if is_trouble(one) and one.ranks]),
        raised=_first(table, [one for one in candidates if _raised(table, one)]),
        complained=first_of_ranks(table, waiting),
    )


def _first(table: EventTable, candidates: Sequence[Candidate]) -> int:
    rows = rows_of(candidates)
    return int(table.time[rows].min()) if len(rows) else NEVER


def _raised(table: EventTable, one: Candidate) -> bool:
    """Whether a process raised an exception that is not about its peers."""
    peers = one.fact.kind in _OF_OTHERS | _MEETING
    return one.role is Role.ROOT and table.templates[one.event].block and not peers and one.fact.strength >= TROUBLE
