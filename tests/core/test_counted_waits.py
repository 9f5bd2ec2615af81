"""Who alone counts the seconds of a wait of its own since a job stands still."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.nodes.rank_levels import is_wait
from tests.support.jobs import at, four_nodes

READS = "reader.py:130] no bytes from /fuse/records/part-00411.rec for {} s, still in read()"
REDUCES = "still in optimizer all-reduce of step 21 after {} s"


def hangs(says: dict[int, str], *, late: float = 0.0) -> Job:
    """Four nodes that stop after 20 steps; some then count in words of theirs how long they wait."""
    told = {
        node: [at(21 + late + waited, text.format(waited)) for waited in range(60, 720, 60)]
        for node, text in says.items()
    }
    usual = [at(n, f"step {n} loss 2.5") for n in range(1, 21)]
    return four_nodes(told, usual=usual, status=Status.CANCELLED, end="2026-11-21T04:14:00Z")


@pytest.mark.parametrize(
    "says",
    [{2: READS}, {0: REDUCES, 1: REDUCES, 2: READS, 3: REDUCES}],
    ids=["nobody else speaks", "all others wait for it"],
)
def test_the_only_one_that_waits_for_something_of_its_own_is_the_suspect(says: dict[int, str]) -> None:
    """No rule knows its words."""
    found = diagnose(hangs(says), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "node-2 alone counts the seconds of a wait of its own" in " ".join(found.nodes[0].reasons)


@pytest.mark.parametrize(
    ("says", "late"),
    [({1: READS, 2: READS}, 0.0), (dict.fromkeys(range(4), REDUCES), 0.0), ({2: "alive for {} seconds"}, 300.0)],
    ids=["two of them", "all wait for each other", "since another moment"],
)
def test_counts_that_tell_nobody_from_the_others_accuse_nobody(says: dict[int, str], late: float) -> None:
    """Several may wait for the same storage; and a count of something else began at another time."""
    assert not [node for node in diagnose(hangs(says, late=late), []).nodes if "counts the seconds" in node.because]


def test_a_wait_for_data_is_a_wait_for_no_rank() -> None:
    """The words of collectives are those of who waits for others."""
    assert not is_wait("loader_wait waited_s=30")
    assert is_wait("waiting at barrier for 30 s")


def test_who_counts_before_the_first_iteration_waits_for_all_others() -> None:
    """The first rank's own watchdog tells that the job has not begun."""
    told = {0: [at(waited, f"watchdog: no progress in setup for {waited} s") for waited in range(60, 720, 60)]}
    job = four_nodes(told, usual=[at(0, "setting up")], status=Status.CANCELLED, end="2026-11-21T04:14:00Z")

    assert not [node for node in diagnose(job, []).nodes if "counts the seconds" in node.because]
