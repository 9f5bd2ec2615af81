"""Which node is an end of every connection that broke."""

import pytest

from tests.support.jobs import at, four_nodes, steps, suspected

# NVIDIA/nccl src/transport/net_ib.cc (2.18)
BROKE = (
    "node-{own}:77:99 [0] transport/net_ib.cc:1296 NCCL WARN NET/IB : Got completion from peer 10.0.0.{other}<38560> "
    "with error 12, opcode 0, len 32768, vendor err 129"
)


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        ({0: 2, 1: 2, 2: 1, 3: 2}, ["node-2"]),
        ({0: 2, 1: 2, 3: 2}, ["node-2"]),
        ({0: 1, 1: 2, 2: 3, 3: 0}, []),
        ({0: 1, 1: 0}, []),
    ],
    ids=["all tell of node-2, and it of one", "it tells nothing", "a ring", "one pair"],
)
def test_the_node_at_which_all_broken_connections_meet_is_told(pairs: dict[int, int], told: list[str]) -> None:
    """Both ends say the same of each other, so that words alone accuse all."""
    said = {own: [at(31, BROKE.format(own=own, other=other))] for own, other in pairs.items()}
    one = four_nodes(said, usual=steps(30, total=900))

    assert suspected(one) == told
