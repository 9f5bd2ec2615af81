"""Jobs of which nobody has an answer: whom they concern, and what is told of them before that is said."""

import pytest

from core.diagnose import diagnose
from core.job import Status
from core.model import Confidence, Scope
from tests.support.jobs import at, job, lines

NODES = tuple(f"gpu-{n}" for n in range(4))


def logs(nodes: tuple[str, ...] = NODES, work: tuple[float, float] = (0.3, 0.3)) -> dict[str, str]:
    """Machines that count to 40 and end; the seconds that their work takes in the first and the second half."""
    return {
        f"{node}.log": lines(
            *(at(k, f"INFO step {k} work {work[k > 20] + k % 3 / 100:.2f} s loss 2.5") for k in range(1, 41))
        )
        for node in nodes
    }


def test_what_ended_a_job_whose_nodes_are_alike_to_their_end_concerned_all_of_them() -> None:
    """Their logs end without an error, a stop or a silent node: no node can be the reason more than another."""
    found = diagnose(job(logs(), nodes=NODES, status=Status.FAILED), [])

    assert (found.scope, found.confidence, found.nodes) == (Scope.JOB, Confidence.WEAK, ())
    assert (
        found.headline == "The job ended without a word of why during training, after iteration 40; no node stands out."
    )


def test_where_the_log_of_a_node_is_missing_nobody_knows() -> None:
    """It may be the one that broke."""
    found = diagnose(job(logs(NODES[:3]), nodes=NODES, status=Status.FAILED), [])

    assert found.scope is not Scope.JOB


@pytest.mark.parametrize("status", [Status.FAILED, Status.RUNNING])
def test_a_time_that_all_print_and_that_became_longer_is_told_first(status: Status) -> None:
    """By less than a clock of whole seconds shows."""
    found = diagnose(job(logs(work=(0.2, 0.5)), nodes=NODES, status=status), [])

    assert (found.scope, found.nodes) == (Scope.JOB, ())
    assert "steps had become longer" in found.headline
    assert "Work went from 0.2" in found.why[0]
