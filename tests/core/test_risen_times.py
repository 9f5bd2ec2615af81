"""A time that became longer on all ranks alike, by less than their clock shows, before somebody stopped the job."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Confidence, Scope
from tests.support.jobs import at, job, lines

NODES = {f"calc{n:03}": (n,) for n in (2, 37, 41, 109)}


def computed(after: float) -> Job:
    """Four nodes print in French what each second step computed; since half of them that took longer.

    What else the program does between two lines takes as long, and differs from one to the next.
    """
    said: dict[str, list[str]] = {node: [] for node in NODES}
    clock = 0.0
    for step in range(2, 258, 2):
        took = (after if step > 128 else 1.0) + 0.01 * (step * 37 % 7)
        clock += took + 0.7 * (step * 61 % 11)
        for texts in said.values():
            loss = 3.8 - step / 300
            texts.append(at(clock, f"pas {step} perte {loss:.4f} (calcul {took:.2f} attente 0.14)"))
    files = {f"{node}.log": lines(*texts) for node, texts in said.items()}
    stop = "slurmstepd: error: *** JOB 77 ON calc002 CANCELLED AT 2026-11-21T05:00:00 ***"
    files["slurm.out"] = lines(at(clock + 1, stop))
    return job(dict(files), nodes=tuple(NODES), node_ranks=NODES, status=Status.CANCELLED)


@pytest.mark.parametrize(("after", "scope"), [(1.45, Scope.JOB), (1.0, Scope.NONE)])
def test_a_stop_after_steps_had_become_longer_for_all_is_not_cleared(after: float, scope: Scope) -> None:
    """The clock shows no slowdown, and yet it may be why somebody stopped it."""
    found = diagnose(computed(after), [])

    assert found.scope is scope
    assert (found.confidence is Confidence.WEAK) == (scope is Scope.JOB)
    assert any("calcul went from 1.03 to 1.48" in why.lower() for why in found.why) == (scope is Scope.JOB)
