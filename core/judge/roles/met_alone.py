"""What nobody is to blame for where all meet it, and who meets it alone: credentials that one machine has, its disk."""

from collections.abc import Sequence
from dataclasses import replace

from core.facts import Blame
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.model import Role
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS, few_of


def blame_who_met_it_alone(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates; refused credentials blame their speaker where most others only tell that they lost a peer."""
    nodes = len(parsed.nodes)
    lost_a_peer = {node for candidate in candidates if candidate.role is Role.PROPAGATED for node in candidate.nodes}

    def met_alone(candidate: Candidate) -> bool:
        is_refused = (
            candidate.role is Role.ROOT
            and candidate.fact.kind == Kind.PERMISSION
            and candidate.fact.blame is Blame.NOBODY
        )
        few = 0 < len(candidate.nodes) <= few_of(nodes)
        return (
            is_refused and few and len(lost_a_peer - set(candidate.nodes)) > (nodes - len(candidate.nodes)) * MAJORITY
        )

    if nodes < MIN_RANKS:
        return candidates
    return [
        replace(candidate, fact=replace(candidate.fact, blame=Blame.SELF)) if met_alone(candidate) else candidate
        for candidate in candidates
    ]


def blame_no_rank_for_its_machine(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates; of a job on one machine a full disk is that of all its ranks, whichever of them wrote."""
    if parsed.unit != "rank" or not parsed.launched.is_one_machine:
        return candidates
    return [
        replace(candidate, fact=replace(candidate.fact, blame=Blame.NOBODY))
        if candidate.fact.kind == Kind.DISK_FULL
        else candidate
        for candidate in candidates
    ]
