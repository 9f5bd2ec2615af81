"""Jobs that completed though processes of theirs were killed on the way."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Diagnosis, Scope
from tests.support.jobs import four_nodes, steps

KILLED = (
    "E1121 04:00:12.843000 71 torch/distributed/elastic/multiprocessing/api.py:906] "
    "failed (exitcode: -9) local_rank: 0 (pid: 75) of binary: /venv/python"
)


def completed(codes: dict[str, int], last: int = 30, others: dict[str, list[str]] | None = None) -> Job:
    """A job of 30 iterations of which node-2 made so many."""
    made = steps(30, total=30)
    says = {rank: made[:last] if rank == 2 else made for rank in range(4)}
    return four_nodes(says, status=Status.COMPLETED, exit_codes=codes, others=others or {})


def nodes(found: Diagnosis) -> list[str]:
    return [node.node for node in found.nodes]


def test_a_node_that_was_killed_and_that_the_others_went_on_without_is_named() -> None:
    """Since the iteration that it told last."""
    found = diagnose(completed({"node-0": 0, "node-1": 0, "node-2": 137, "node-3": 0}, last=12), [])

    assert (found.scope, nodes(found)) == (Scope.NODE, ["node-2"])
    assert "ended by SIGKILL, and the job completed without it, from iteration 12 on" in found.headline


def test_a_process_that_was_started_again_is_told_and_nobody_is_accused() -> None:
    """Its launcher reports the kill, and its node ended as the others did."""
    said = {"node-2/launch.log": [KILLED]}
    found = diagnose(completed(dict.fromkeys(("node-0", "node-1", "node-2", "node-3"), 0), others=said), [])

    assert (found.scope, nodes(found)) == (Scope.NONE, [])
    assert (
        found.headline == "The job completed; on the way a process on node-2 was ended by SIGKILL, and started again."
    )


@pytest.mark.parametrize("codes", [{"node-2": 143}, {"node-2": 1}, {"node-0": 137, "node-1": 137, "node-2": 137}])
def test_who_was_told_to_end_is_not_lost(codes: dict[str, int]) -> None:
    """By SIGTERM, with a code of its own, or most of them at the end."""
    found = diagnose(completed(dict.fromkeys(("node-0", "node-1", "node-3"), 0) | codes), [])

    assert (found.scope, found.headline) == (Scope.NONE, "The job completed; there is nothing to diagnose.")


BEGINS = ("loading weights", "reading shard 2", "joined the others")


@pytest.mark.parametrize(("again", "expected"), [(BEGINS, []), ((), ["node-2"])])
def test_who_says_again_what_it_said_first_was_started_again(again: tuple[str, ...], expected: list[str]) -> None:
    """Below the report of its end; whose restart nobody reports."""
    killed = "run.sh: line 3:  4727 Killed                  python train.py"  # bash
    made = steps(30, total=30)
    says = dict.fromkeys((0, 1, 3), made) | {2: [*BEGINS, *made[:12], killed, *again]}
    found = diagnose(four_nodes(says, status=Status.COMPLETED), [])

    assert nodes(found) == expected
