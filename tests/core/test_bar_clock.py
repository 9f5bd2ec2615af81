"""Progress bars beside job.json: the only clocks of some jobs."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.judge.bar_clock import ending_by_bar
from core.judge.ending import find_ending
from tests.support.jobs import job as made
from tests.support.jobs import judged, lines, parse


def drawn(end: str, *, status: Status = Status.CANCELLED, start: str | None = "2026-11-21T04:00:00Z") -> Job:
    """Two ranks whose bars reached 200 steps in 3 minutes 20, and nothing with a clock."""
    bar = [f"train:  {n // 4}%|##| {n}/800 [{n // 60:02d}:{n % 60:02d}<10:00,  1.00s/it]" for n in range(1, 201)]
    files: dict[str, str | bytes] = {f"rank_{rank}.log": lines(*bar) for rank in range(2)}
    return made(files, status=status, start=start, end=end)


@pytest.mark.parametrize(
    ("end", "hung", "vague"),
    [
        ("2026-11-21T04:03:50Z", False, False),  # 30 s for the set-up
        ("2026-11-21T04:10:00Z", True, True),  # 6 minutes: a large model is loaded, or it hung
        ("2026-11-21T04:40:00Z", True, False),  # no set-up takes half an hour
    ],
)
def test_what_the_set_up_cannot_have_taken_is_a_hang(end: str, hung: bool, vague: bool) -> None:
    """The bar counts from its own beginning, job.json from that of the job."""
    one = drawn(end)
    found = find_ending(parse(one), judged(one))

    assert (found.hung or found.vague, found.vague) == (hung, vague)


@pytest.mark.parametrize(
    "one", [drawn("2026-11-21T04:40:00Z", start=None), drawn("2026-11-21T04:40:00Z", status=Status.COMPLETED)]
)
def test_without_a_start_or_of_a_job_that_completed_it_tells_nothing(one: Job) -> None:
    """There is nothing to compare the bar with, or nothing to explain."""
    assert ending_by_bar(parse(one)) is None


@pytest.mark.parametrize(("seconds", "slow"), [(3.0, True), (2.05, False)])
def test_a_bar_that_is_slower_than_those_of_good_jobs_is_no_job_that_is_well(seconds: float, slow: bool) -> None:
    """Nothing has a clock but the bars: whoever cancels a job that takes half as long again may know why."""

    def run(name: str, each: float, status: Status) -> Job:
        ran = [round(n * each) for n in range(1, 201)]
        bar = [f"train:  {n // 2}%|##| {n}/200 [{s // 60:02d}:{s % 60:02d}<10:00]" for n, s in enumerate(ran, start=1)]
        end = (
            []
            if status is Status.COMPLETED
            else ["slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2026-11-21T05:00:00 ***"]
        )
        files: dict[str, str | bytes] = {f"rank_{rank}.log": lines(*bar) for rank in range(2)}
        return made(files | {"slurm.out": lines(*end)}, job_id=name, status=status, settings_id="x")

    found = diagnose(run("j1", seconds, Status.CANCELLED), [run("g1", 2.0, Status.COMPLETED)])

    assert ("slow" in found.headline) is slow
