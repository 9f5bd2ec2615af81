"""Endings: a stop from outside says who pulled the plug; progress until then says whether the job was well."""

from typing import Any

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.judge.ending import Ending, find_ending
from core.model import Confidence, Scope
from tests.core.jobs import at, four_nodes, judged, parse, raised, steps

CANCELLED = "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:00:{second} ***"


def stopped(made: list[str], seconds: float, **known: Any) -> Job:
    """A job that made these iterations and was cancelled so many seconds after its start."""
    order = {"slurm.out": [at(seconds, "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:00:00 ***")]}
    return four_nodes({}, usual=made, others=order, **known)


def ending(one: Job, *baseline: Job) -> Ending:
    return find_ending(parse(one, *baseline), judged(one, *baseline))


def paced(*spans: tuple[int, float]) -> list[str]:
    """Iterations: so many, so many seconds each, one span after the other."""
    lines, clock, number = [], 0.0, 0
    for count, seconds in spans:
        for _ in range(count):
            clock, number = clock + seconds, number + 1
            lines.append(at(clock, f"iteration {number:8d}/     900 | lm loss: 5.0E+00 |"))
    return lines


@pytest.mark.parametrize(("seconds", "hung"), [(31, False), (38, False), (45, True), (300, True)])
def test_a_job_that_made_no_progress_before_it_was_stopped_hung(seconds: float, hung: bool) -> None:
    """At a second an iteration ten seconds without one are no accident; the answer is never that nothing is broken."""
    one = stopped(steps(30, total=900), seconds)

    assert ending(one).hung is hung
    assert diagnose(one, []).headline.startswith("Not a fault") is not hung


def test_a_pause_as_long_as_the_job_made_before_is_no_hang() -> None:
    """Evaluation and saving take their time, each time."""
    made = paced((20, 1.0), (1, 25.0), (20, 1.0))

    assert not ending(stopped(made, 65 + 40)).hung
    assert ending(stopped(made, 65 + 60)).hung


def test_what_goes_on_failing_while_a_job_hangs_is_not_what_broke() -> None:
    """A pusher is refused more often than in good jobs, for the job is older; who did not end when told to is named."""
    push = "[ERROR] metrics push failed: quota exceeded"
    pushes = [at(6 * n, push) for n in range(1, 20)]
    good = four_nodes({}, usual=[*pushes[:4], *steps(30, total=30)], status=Status.COMPLETED, job_id="good")
    ended = [f"srun: error: node-{n}: task {n}: Terminated" for n in (0, 1, 3)]
    order = at(119, "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:01:59 DUE TO TIME LIMIT ***")
    hung = four_nodes({}, usual=sorted([*pushes, *steps(30, total=900)]), others={"slurm.out": [order, *ended]})

    found = diagnose(hung, [good])

    assert "the job hung" in found.headline
    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["node-2"])


def test_a_pause_that_a_good_job_made_is_no_hang() -> None:
    """What is normal is also told by the job's successful neighbours."""
    good = four_nodes({}, usual=paced((20, 1.0), (1, 25.0), (20, 1.0)), status=Status.COMPLETED, job_id="good")
    one = stopped(paced((30, 1.0)), 30 + 40)

    assert ending(one).hung
    assert not ending(one, good).hung


def test_a_slowdown_begins_where_the_steps_leave_their_level() -> None:
    """The iteration that is reported is the onset, not the last one."""
    one = stopped(paced((40, 0.5), (12, 4.0)), 40 * 0.5 + 12 * 4.0 + 1)

    slow = ending(one).slow
    diagnosis = diagnose(one, [])

    assert slow is not None
    assert (slow.iteration, slow.before, slow.after) == (41, 0.5, 4.0)
    assert diagnosis.iterations[0].iteration == 41
    assert "slow from iteration 41 on" in diagnosis.headline


def test_one_long_pause_is_no_slowdown() -> None:
    """A checkpoint in the middle leaves the level as it was."""
    assert ending(stopped(paced((20, 0.5), (1, 30.0), (20, 0.5)), 51)).slow is None


def test_a_job_three_times_as_slow_as_good_ones_was_slow_from_the_beginning() -> None:
    """Without a past of its own it is compared with its neighbours."""
    good = four_nodes({}, usual=paced((60, 0.5)), status=Status.COMPLETED, job_id="good")
    one = stopped(paced((60, 1.6)), 97)

    slow = ending(one, good).slow

    assert slow is not None
    assert (slow.iteration, slow.than_good_jobs) == (1, True)


def test_a_steady_job_that_was_cancelled_without_a_word_is_healthy() -> None:
    """No scheduler's line says so; job.json and its own pace do."""
    one = four_nodes({}, usual=steps(30, total=900), status=Status.CANCELLED)

    found = diagnose(one, [])

    assert (found.scope, found.confidence) == (Scope.NONE, Confidence.ESTABLISHED)
    assert "made progress at its pace" in found.headline


def test_a_steady_job_that_failed_without_a_word_is_not_cleared() -> None:
    """A log that ends is no proof of health when the scheduler says that the job failed."""
    found = diagnose(four_nodes({}, usual=steps(30, total=900), status=Status.FAILED), [])

    assert found.scope is Scope.UNKNOWN


def test_the_end_in_job_json_counts_in_the_zone_of_the_logs() -> None:
    """Logs tell local time, job.json universal time; zones differ by whole half hours."""
    zone: dict[str, Any] = {"start": "2026-11-21T08:59:55Z", "status": Status.CANCELLED}  # logs begin at 04:00:01

    late = four_nodes({}, usual=steps(30, total=900), end="2026-11-21T09:02:00Z", **zone)
    soon = four_nodes({}, usual=steps(30, total=900), end="2026-11-21T09:00:33Z", **zone)

    assert ending(late).hung
    assert ending(soon).steady


def test_the_clock_of_a_progress_bar_counts_where_lines_have_none() -> None:
    """tqdm tells how long it has run; what came before its first line had a clock."""
    bars = [f"{n}%|#| {n}/100 [00:{n:02d}<01:00, 1.0it/s]" for n in range(1, 31)]
    one = four_nodes({0: [at(0, "training"), *bars]}, others={"slurm.out": [at(90, CANCELLED.format(second="00"))]})

    assert ending(one).quiet == pytest.approx(90 - 29, abs=2)
    assert ending(one).hung


def test_a_rank_that_alone_lacks_the_last_line_of_the_others_is_stuck_there() -> None:
    """In a checkpoint that never ended, one rank never said that it had saved its part."""
    saved = {n: [at(31, "saved shard of iteration 30")] for n in (0, 1, 3)}
    order = [at(90, CANCELLED.format(second="00"))]

    found = diagnose(four_nodes(saved, usual=steps(30, total=900), others={"slurm.out": order}), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "never came to" in found.nodes[0].because


def test_what_one_rank_measures_of_its_own_work_names_it() -> None:
    """Its data take longer; the others only wait longer, and the whole step takes as long everywhere."""

    def rank(n: int) -> list[str]:
        lines = []
        for i in range(1, 61):
            slow = i > 40
            clock = i * 0.5 if not slow else 20 + (i - 40) * 3
            data, wait = (2.6, 0.3) if slow and n == 2 else (0.1, 2.8 if slow else 0.3)
            lines.append(
                at(clock, f"iteration {i:8d}/     900 | lm loss: 5.0 | data_time: {data} | wait_time: {wait} |")
            )
        return lines

    order = {"slurm.out": [at(81, CANCELLED.format(second="21"))]}
    found = diagnose(four_nodes({n: rank(n) for n in range(4)}, others=order), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "data_time rose" in found.nodes[0].because


def test_an_exception_explains_a_hang_before_a_stop() -> None:
    """What broke is told; that the others waited until somebody ended them is not the headline."""
    failed = {2: [at(31, "x"), *raised("OSError: [Errno 5] Input/output error")]}
    order = {"slurm.out": [at(120, CANCELLED.format(second="00"))]}

    found = diagnose(four_nodes(failed, usual=steps(30, total=900), others=order), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "storage" in found.headline
