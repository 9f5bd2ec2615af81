"""Exceptions that nobody knows: whoever names another one in them tells of that one."""

import pytest

from core.diagnose import diagnose
from core.model import Role, Scope
from tests.support.jobs import at, four_nodes, judged, raised, steps, suspected

CLOSED = "RingError: left neighbour 10.61.0.11 closed the ring"


def test_an_exception_that_names_an_address_tells_of_a_peer() -> None:
    """It does not accuse who raises it."""
    told = judged(four_nodes({1: [*steps(3), at(9, "x"), *raised(CLOSED)]}))
    own = judged(four_nodes({1: [*steps(3), at(9, "x"), *raised("RingError: shape is [3, 4]")]}))

    assert [one.role for one in told if one.fact.kind == "peer lost"] == [Role.PROPAGATED]
    assert [one.role for one in own if one.fact.kind == "exception"] == [Role.ROOT]


def test_an_exception_that_names_another_node_leads_to_it() -> None:
    """All others say that one is gone, in words of their own."""
    said = {n: [*steps(3), at(9, "x"), *raised("RingError: node-2 went away")] for n in (0, 1, 3)}
    found = diagnose(four_nodes(said | {2: steps(3)}), [])

    assert (found.scope, [one.node for one in found.nodes]) == (Scope.NODE, ["node-2"])


def test_its_own_address_or_that_of_itself_is_no_peers() -> None:
    """localhost is everybody's."""
    own = judged(four_nodes({1: [*steps(3), at(9, "x"), *raised("BindError: cannot listen on 127.0.0.1:8080")]}))

    assert {one.role for one in own if one.fact.kind == "exception"} == {Role.ROOT}


# NVIDIA/nccl src/transport/net_ib.cc (2.21)
RETRIED = (
    "NET/IB : Got completion from peer 10.9.1.7<51008> with status=12 opcode=0 len=0 vendor err 129 (Recv) hca mlx5_0"
)


@pytest.mark.parametrize(("failing", "accused"), [((0, 1, 3), ["node-2"]), ((0, 1, 2, 3), [])])
def test_transfers_that_several_retried_in_vain_lead_to_who_has_nothing_to_say(
    failing: tuple[int, ...], accused: list[str]
) -> None:
    """The other side did not answer; where all say so, nobody is special."""
    warned = [at(40, f"node-x:41:52 [0] transport/net_ib.cc:2271 NCCL WARN {RETRIED}")]
    assert suspected(four_nodes(dict.fromkeys(failing, warned), usual=steps(9))) == accused
