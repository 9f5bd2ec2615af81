"""The iteration that an error names itself, and the lines that tell first of a stop from outside."""

import pytest

from core.course.iterations import NO_ITERATION, named_iteration
from core.diagnose import diagnose
from core.job import Status
from core.model import Role, Scope, Stage
from tests.support.jobs import at, job, lines, steps

NAN = "FloatingPointError: train_loss is not finite at step {}: inf"
CAUGHT = "[rank: {}] Received SIGTERM: 15"  # Lightning


@pytest.mark.parametrize(
    ("said", "named"),
    [
        (NAN.format(38), 38),
        ("ArithmeticError: error is inf in round 6", 6),
        ("AssertionError: found NaN in local grad norm. Device: cpu, node: node-01, iteration: 3", 3),
        ("RuntimeError: batch 17 of 32 tokens", 17),
        ("ValueError: the config asks for epoch 3", None),
        ("RuntimeError: step 3/4 of the build failed", None),
        ("OSError: cannot write a batch 16 MiB long", None),
        ("RuntimeError: stepsize 3 is too large", None),
    ],
)
def test_an_error_names_its_iteration(said: str, named: int | None) -> None:
    """The words that count iterations, with the number behind them; no epochs, parts of a whole, or sizes."""
    assert named_iteration([said], NO_ITERATION, 0) == named


@pytest.mark.parametrize(("named", "kept"), [(30, True), (38, True), (40, True), (41, False), (12, False)])
def test_what_cannot_be_the_iteration_of_the_error_is_none(named: int, *, kept: bool) -> None:
    """The error comes after the last printed iteration and before the next one would be printed."""
    assert (named_iteration([NAN.format(named)], 30, 10) == named) is kept


def test_the_named_iteration_leads() -> None:
    """Logs that print every tenth iteration know less than the error."""
    tenth = steps(100)[9::10][:3]
    answer = diagnose(job({"train.log": lines(*tenth, at(34.5, NAN.format(34)))}), [])

    assert [one.iteration for one in answer.iterations][:2] == [34, 30]
    assert "in iteration 34" in answer.headline


def test_who_names_an_iteration_trains() -> None:
    """Also where no line counts iterations."""
    answer = diagnose(job({"train.log": lines(at(0, "NCCL version 2.27.3"), at(9, NAN.format(3)))}), [])

    assert answer.stage is Stage.TRAINING
    assert [one.iteration for one in answer.iterations] == [3]


def test_of_a_stop_the_lines_that_told_first_are_shown() -> None:
    """Nothing failed, so the orders to stop are the event that a reader looks for."""
    said = lines(*steps(30), *(at(30.2 + rank / 10, CAUGHT.format(rank)) for rank in range(2)))

    answer = diagnose(job({"train.log": said}, status=Status.CANCELLED), [])

    assert answer.scope is Scope.NONE
    assert [(one.role, "SIGTERM" in one.lines[0].text) for one in answer.events] == [(Role.ROOT, True)]
