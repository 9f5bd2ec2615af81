"""Iterations that are counted anew in each epoch: which one of the whole run the last one was."""

import pytest

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

    assert (parsed.iterations.last, parsed.iterations.epochs.within(before + 7)) == (before + 7, 7)


def test_a_count_that_goes_on_over_epochs_is_taken_as_it_is() -> None:
    """An epoch beside it changes nothing."""
    parsed = parse(job({"train.log": run(THROUGH, 3, 7)}))

    assert (parsed.iterations.last, parsed.iterations.epochs.length) == (47, 0)


def test_a_run_that_was_resumed_in_a_later_epoch_counts_from_its_own_first_one() -> None:
    """Where the first epoch is not in the log nobody knows what it was called."""
    parsed = parse(job({"train.log": run(LIGHTNING, 9, 7, first=6)}))

    assert parsed.iterations.last == 47


# Counts without a total: MXNet's module API, and two scripts of people's own
UNTOLD = [
    "{clock}INFO Epoch[{epoch}] Batch [{number}]\tSpeed: 320.11 samples/sec\taccuracy=0.5",
    "{clock}epoch: {later} step: {number}, loss is 5.1",
    "{clock}pass {epoch} mb {number} cost=5.1",
]


@pytest.mark.parametrize("line", UNTOLD)
def test_another_number_that_rises_with_each_fall_is_that_of_the_epoch(line: str) -> None:
    """Nothing else tells an epoch from a job that failed and began anew."""
    parsed = parse(job({"train.log": run(line, 4, 7)}))

    assert (parsed.iterations.last, parsed.iterations.began, len(parsed.iterations.course)) == (67, None, 67)


def test_a_job_that_began_anew_is_no_epoch() -> None:
    """A crash at the same step each time prints no epoch that rises: the last run alone counts."""
    crashed = "".join(run("{clock}step {number} loss is 5.1", 1, last) for last in (20, 20, 7))
    parsed = parse(job({"train.log": crashed}))

    assert (parsed.iterations.last, parsed.iterations.epochs.length) == (7, 0)


def test_a_count_from_zero_has_as_many_iterations_as_its_last_one_and_one() -> None:
    """Keras and mmengine differ in what they begin with; 19 of 20 is the last that counts from 0."""
    said = [f"{at(20 * epoch + n, '')}epoch {epoch} batch {n} loss 5.1" for epoch in range(3) for n in range(20)]
    parsed = parse(job({"train.log": lines(*said)}))

    assert (parsed.iterations.epochs.length, parsed.iterations.last) == (20, 59)


@pytest.mark.parametrize("slow_from", [1000, 47])
def test_a_pace_is_that_of_all_epochs(slow_from: int) -> None:
    """Steps that take three times as long since an earlier epoch are seen, and those that do not are steady."""
    clock, said = 0.0, list[str]()
    for number in range(1, 68):
        clock += 6 if number >= slow_from else 2
        said.append(f"{at(clock, '')}epoch {(number - 1) // 20} batch {(number - 1) % 20 + 1} loss 5.1")
    found = diagnose(job({"train.log": lines(*said)}, status=Status.CANCELLED), [])

    assert (slow_from in {since.iteration for since in found.iterations}) == (slow_from < 1000)


def test_ranks_that_end_an_epoch_at_different_times_in_one_file_are_one_count() -> None:
    """Two ranks write 19, 20, 1, 20, 1, 2: the second one is behind, and no epoch passes twice."""
    said = [(2 * (20 * epoch + n) + 3 * rank, epoch, n) for epoch in range(3) for n in range(1, 21) for rank in (0, 1)]
    text = lines(*(f"{at(clock, '')}epoch {epoch} batch {n} loss 5.1" for clock, epoch, n in sorted(said)))
    parsed = parse(job({"train.log": text}))

    assert parsed.iterations.last == 60


def test_the_answer_tells_both_numbers() -> None:
    """The sum is the iteration; the sentence has the number that the log prints too."""
    found = diagnose(job({"train.log": run(PADDLE, 3, 7)}, status=Status.FAILED), [])

    assert found.iterations[0].iteration == 47
    assert "Iteration 47 (7 of its epoch) is the last" in found.iterations[0].because
