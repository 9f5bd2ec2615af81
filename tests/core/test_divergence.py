"""A loss that comes down and rises again until the end, and what only looks like it."""

import pytest

from core.course.divergence import find_divergence
from core.diagnose import diagnose
from core.job import Status
from core.model import Confidence, Scope, Series
from tests.support.jobs import at, four_nodes

FALL = [10.0 - 0.25 * n for n in range(30)]
RISE = [2.6 + 0.25 * n for n in range(20)]


def test_a_stop_after_the_loss_had_turned_is_not_harmless() -> None:
    """Whoever cancelled it had a reason; no node is special."""
    said = [at(n, f"step {n} loss: {loss:.3f}") for n, loss in enumerate([*FALL, *RISE], start=1)]
    order = at(51, "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:00:51 ***")

    found = diagnose(four_nodes({0: said}, others={"slurm.out": [order]}, status=Status.CANCELLED), [])

    assert (found.scope, found.nodes) == (Scope.JOB, ())
    assert "The loss rose again" in found.headline
    assert found.confidence is not Confidence.ESTABLISHED


@pytest.mark.parametrize(
    "values",
    [
        FALL,
        [*FALL, *[2.7 + 0.05 * (n % 7) for n in range(20)]],
        [*FALL, 9.0, *[2.5] * 19],
        [
            0.53,
            0.56,
            2.1,
            1.0,
            0.39,
            0.67,
            0.4,
            1.41,
            0.53,
            1.33,
            0.4,
            0.91,
            0.56,
            2.23,
            1.55,
            0.75,
            1.42,
            2.0,
            0.46,
            0.93,
            0.88,
            0.53,
        ],
        [*FALL, *RISE[::4], 9.0, 9.5][:34],
        [*FALL, *RISE[:19], float("nan")],
        [*[-value for value in FALL], *[-value for value in RISE]],
        [3.0, 9.0],
    ],
    ids=["falls", "noise", "a hard batch", "noise alone", "may yet come down", "no number", "a reward", "too few"],
)
def test_a_loss_that_is_near_its_best_has_not_diverged(values: list[float]) -> None:
    """By how much of its fall is lost, and for how long."""
    iterations = tuple(range(1, len(values) + 1))

    assert find_divergence([Series("loss", iterations, tuple(values))]) is None
