"""Which node is an end of every connection that broke."""

import pytest

from tests.support.jobs import at, four_nodes, signs_of, steps

# open-mpi/ompi opal/mca/btl/openib/btl_openib_component.c (4.0)
BROKE = (
    "[node-{own}][[4412,1],3][btl_openib_component.c:3650:handle_wc] from node-{own} to: node-{other} error polling "
    "LP CQ with status RETRY EXCEEDED ERROR status number 12 for wr_id 5d1"
)


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        ({0: 2, 1: 2, 2: 1, 3: 2}, ["node-2"]),
        ({0: 2, 1: 2, 3: 2}, []),
        ({0: 1, 1: 2, 2: 3, 3: 0}, []),
        ({0: 1, 1: 0}, []),
    ],
    ids=["all tell of node-2, and it of one", "its silence tells more", "a ring", "one pair"],
)
def test_the_node_at_which_all_broken_connections_meet_is_told(pairs: dict[int, int], told: list[str]) -> None:
    """Both ends say the same of each other, so that words alone accuse all."""
    said = {own: [at(31, BROKE.format(own=own, other=other))] for own, other in pairs.items()}
    one = four_nodes(said, usual=steps(30, total=900))

    assert [sign.node for sign in signs_of(one) if "meet at" in sign.because] == told
