"""Iterations that are counted anew in each epoch: which one of the whole run the last one was."""

import pytest

from core.course.epochs import iterations_of_epochs_before
from core.diagnose import diagnose
from core.job import Status
from tests.support.jobs import at, job, lines, parse

LIGHTNING = "Epoch {epoch}:  50%|##        | {number}/{length} [00:20<00:20,  1.10it/s, v_num=1150]"
PADDLE = "[2026/04/02 10:17:52] ppcls INFO: [Train][Epoch {later}/120][Iter: {number}/{length}]lr: 0.1, loss: 5.1"
THROUGH = "{clock}epoch {later} iteration {total}/1000 took 0.2 s"


def run(line: str, epochs: int, last: int, length: int = 20, first: int = 0) -> str:
    """A log that prints each iteration; of the last epoch up to one."""
    counted = [
        (epoch, number)
        for epoch in range(first, epochs)
        for number in range(1, (last if epoch == epochs - 1 else length) + 1)
    ]
    said = [
        line.format(
            epoch=epoch,
            later=epoch + 1,
            number=number,
            length=length,
            total=epoch * length + number,
            clock=at(epoch * length + number, ""),
        )
        for epoch, number in counted
    ]
    return lines(*said)


@pytest.mark.parametrize("line", [LIGHTNING, PADDLE])
@pytest.mark.parametrize(("epochs", "before"), [(1, 0), (2, 20), (4, 60)])
def test_what_came_before_the_last_epoch_is_counted(line: str, epochs: int, before: int) -> None:
    """Lightning calls the first epoch 0, PaddleClas 1."""
    parsed = parse(job({"train.log": run(line, epochs, 7)}))

    assert parsed.iterations.last is not None
    assert iterations_of_epochs_before(parsed.table, parsed.files, parsed.iterations) == before


def test_a_count_that_goes_on_over_epochs_is_taken_as_it_is() -> None:
    """An epoch beside it changes nothing."""
    parsed = parse(job({"train.log": run(THROUGH, 3, 7)}))

    assert parsed.iterations.last == 47
    assert iterations_of_epochs_before(parsed.table, parsed.files, parsed.iterations) == 0


def test_a_run_that_was_resumed_in_a_later_epoch_tells_no_sum() -> None:
    """Where the first epoch is not in the log nobody knows what it was called."""
    parsed = parse(job({"train.log": run(LIGHTNING, 9, 7, first=6)}))

    assert iterations_of_epochs_before(parsed.table, parsed.files, parsed.iterations) == 0


def test_the_answer_tells_both_numbers() -> None:
    """The sum is the iteration; the sentence has the number that the log prints."""
    found = diagnose(job({"train.log": run(PADDLE, 3, 7)}, status=Status.FAILED), [])

    assert found.iterations[0].iteration == 47
    assert "Iteration 7 is the last" in found.iterations[0].because
