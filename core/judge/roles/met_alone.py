"""What nobody is to blame for where all meet it, and who meets it alone: credentials that one machine has."""

from collections.abc import Sequence
from dataclasses import replace

from core.facts import Blame
from core.judge.candidates import Candidate
from core.kinds import Kind
from core.model import Role
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS, few_of


def blame_who_met_it_alone(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates; refused credentials blame their speaker where most others only tell that they lost a peer."""
    nodes = len(parsed.nodes)
    lost_a_peer = {node for one in candidates if one.role is Role.PROPAGATED for node in one.nodes}

    def met_alone(one: Candidate) -> bool:
        is_refused = one.role is Role.ROOT and one.fact.kind == Kind.PERMISSION and one.fact.blame is Blame.NOBODY
        few = 0 < len(one.nodes) <= few_of(nodes)
        return is_refused and few and len(lost_a_peer - set(one.nodes)) > (nodes - len(one.nodes)) * MAJORITY

    if nodes < MIN_RANKS:
        return candidates
    return [replace(one, fact=replace(one.fact, blame=Blame.SELF)) if met_alone(one) else one for one in candidates]
