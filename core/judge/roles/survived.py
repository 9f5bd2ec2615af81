"""Errors that the job survived are none, and a warning alone is none."""

from collections.abc import Sequence

from core.events.table import EventTable
from core.judge.candidates import Candidate
from core.model import Role

SURVIVED = 0.5  # share of its rows that the job survived beyond which a known event is no cause
WORTH_A_LOOK = 0.4  # strength from which on an unknown message may be a root; a warning alone is none


def demote_survived(table: EventTable, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Errors that were followed by progress, and mere warnings, are benign; unknown lines after one survival."""

    def demote(candidate: Candidate) -> Candidate:
        fact = candidate.fact
        periodic = not fact.known and not table.templates[candidate.event].block  # exceptions are no beat
        limit = 0.0 if periodic else SURVIVED
        if candidate.role in (Role.ROOT, Role.PROPAGATED) and candidate.survived > limit:
            return candidate.with_role(Role.BENIGN, "the job went on after it")
        if candidate.role is Role.ROOT and not fact.known and fact.strength < WORTH_A_LOOK:
            return candidate.with_role(Role.BENIGN, "a warning that nothing else supports")
        return candidate

    return [demote(candidate) for candidate in candidates]
