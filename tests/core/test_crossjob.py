"""Cross-job: what good jobs explain is no candidate, by how often each speaker says it and not by its mere presence."""

import pytest

from core.job import Job, Status
from core.judge.candidates import Candidate, find_candidates
from core.model import Role
from tests.support.jobs import at, four_nodes, job, lines, lost, parse, raised, steps

PUSH = "ERROR push to the gateway failed: quota exceeded"


def candidates(one: Job, *baseline: Job) -> list[Candidate]:
    return list(find_candidates(parse(one, *baseline)))


def good(texts: list[str], job_id: str = "s1") -> Job:
    """A job that completed; its node-0 says these lines."""
    return four_nodes({0: texts}, job_id=job_id, status=Status.COMPLETED)


def test_without_a_baseline_every_suspicious_line_is_a_candidate() -> None:
    """Nothing explains it; what is not suspicious by wording or rule is none."""
    (only,) = candidates(four_nodes({1: ["hello", PUSH, "done"]}))

    assert (only.nodes, only.ranks, len(only.rows), only.excess) == (("node-1",), (1,), 1, 1.0)


def test_what_good_jobs_never_say_is_all_excess() -> None:
    """A line that is new in this job keeps all of its occurrences."""
    (only,) = candidates(four_nodes({0: [PUSH] * 3}), good(["fine"]), good([], "s2"))

    assert (len(only.rows), only.excess) == (3, 1.0)


@pytest.mark.parametrize(
    ("usual", "said", "kept"), [(2, 1, 0), (2, 4, 0), (2, 5, 3), (1, 2, 0), (1, 3, 2), (20, 31, 0), (20, 60, 40)]
)
def test_a_speaker_may_say_it_half_as_often_again_as_in_good_jobs(usual: int, said: int, kept: int) -> None:
    """The rate decides: the first times are as normal as the last, only what goes beyond them is excess."""
    found = candidates(four_nodes({0: [PUSH] * said}), good([PUSH] * usual))

    assert [len(one.rows) for one in found] == ([kept] if kept else [])
    assert all(0 < one.excess < 1 for one in found)


def test_the_most_of_several_good_jobs_counts() -> None:
    """One good job with many retries shows that many are survived."""
    assert candidates(four_nodes({0: [PUSH] * 9}), good([PUSH]), good([PUSH] * 6, "s2")) == []


def test_each_speaker_has_its_own_count() -> None:
    """Four ranks that say it once are as normal as one; one rank that says it four times is not."""
    everybody = {n: [PUSH] for n in range(4)}

    assert candidates(four_nodes(everybody), good([PUSH])) == []
    assert [one.nodes for one in candidates(four_nodes({0: [PUSH] * 8}), good([PUSH]))] == [("node-0",)]


def test_what_is_normal_on_one_node_is_normal_on_another() -> None:
    """In good jobs another node of the same cohort, or even another program, said it."""
    assert candidates(four_nodes({2: [PUSH]}), good([PUSH])) == []
    assert candidates(four_nodes({}, others={"node-3/slurmd.log": [PUSH]}), good([PUSH])) == []


def test_a_stop_is_never_explained_away() -> None:
    """Good jobs are stopped too, after their own end; a job that failed was not at its end."""
    stop = at(9, "slurmstepd: error: *** JOB 7 ON node-0 CANCELLED AT 2026-11-21T04:00:00 DUE TO TIME LIMIT ***")

    (only,) = candidates(four_nodes({}, others={"slurm.out": [stop]}), good([stop]))

    assert only.fact.stop
    assert only.role is Role.ROOT


def test_a_failure_that_a_good_job_survived_is_still_one_when_it_comes_more_often() -> None:
    """The very line that another job recovered from can be this job's end."""
    found = candidates(four_nodes(dict.fromkeys(range(3), lost(3))), good(["fine"]))

    assert [(one.fact.kind, len(one.rows)) for one in found] == [("peer lost", 3)]


@pytest.mark.parametrize(("iteration", "went_on"), [(5, True), (17, True), (18, False), (20, False)])
def test_an_error_is_survived_when_iterations_follow(iteration: int, went_on: bool) -> None:
    """Three more iterations, because prefetch and asynchronous saving delay what is seen."""
    said = [*steps(iteration), at(iteration, PUSH), *steps(20, first=iteration + 1)]

    (only,) = candidates(four_nodes({2: said}))

    assert only.survived == float(went_on)


@pytest.mark.parametrize(("more", "went_on"), [(60, True), (3, False)])
def test_without_iterations_an_error_is_survived_when_much_is_said_after_it(more: int, went_on: bool) -> None:
    """A process that goes on talking was not stopped."""
    (only,) = candidates(four_nodes({2: [PUSH, *(f"loading shard {n}" for n in range(more))]}))

    assert only.survived == float(went_on)


def test_an_exception_that_comes_again_at_the_end_was_not_survived() -> None:
    """Several tries in one file: each of them failed by it."""
    tries = [line for n in range(3) for line in (*raised("KeyError: 'lr'"), *(f"starting {n}.{m}" for m in range(40)))]

    (first,) = candidates(four_nodes({0: tries}))
    (again,) = candidates(four_nodes({0: [*tries, *raised("KeyError: 'lr'")]}))

    assert first.survived == 1.0
    assert again.survived == 0.0


def test_errors_of_an_earlier_run_in_the_same_file_were_survived() -> None:
    """The job was started again after them, and counted anew."""
    first, again = [*steps(30), at(31, PUSH)], [at(100 + n, f"iteration {n}/ 100 | lm loss: 5.0") for n in range(1, 6)]

    (only,) = candidates(job({"train.log": lines(*first, *again)}))

    assert only.survived == 1.0


def survival(one: Job, kind: str) -> float:
    """The share of the rows of this kind that the job survived."""
    (only,) = (found for found in candidates(one) if found.fact.kind == kind)
    return only.survived


FAST = 0.2  # seconds an iteration takes: within the grace of a stop there are many
STOP = "slurmstepd: error: *** JOB 7 ON node-0 CANCELLED AT 2026-11-21T04:00:00 DUE TO TIME LIMIT ***"


@pytest.mark.parametrize(("stopped", "went_on"), [(15, False), (11, False), (9, True)])
def test_fast_iterations_go_on_until_a_stop_takes_hold(stopped: float, went_on: bool) -> None:
    """Programs have half a minute to end themselves; what trains on for longer was not stopped."""
    training = four_nodes({}, usual=steps(200, seconds=FAST), others={"slurm.out": [at(stopped, STOP)]})

    assert survival(training, "time limit") == float(went_on)


@pytest.mark.parametrize(("seconds", "went_on"), [(4.9, False), (5.1, True)])
def test_others_iterate_until_they_notice_that_one_has_died(seconds: float, went_on: bool) -> None:
    """An exception ends a process; the iterations of the others within five seconds of it survive nothing."""
    last = 200 * FAST
    said = [*(at(last - seconds, line) for line in raised("ValueError: boom")), at(last - seconds + 2, "y")]
    died = four_nodes({n: steps(200, seconds=FAST) for n in range(3)} | {3: said})

    assert survival(died, "exception") == float(went_on)


def test_an_exception_below_the_last_clock_of_its_file_came_at_any_time() -> None:
    """A console beside the log that has the clocks: the line above it may be of the start of the program."""
    died = four_nodes({n: steps(200, seconds=FAST) for n in range(3)} | {3: [at(0, "up"), *raised("ValueError: boom")]})

    assert survival(died, "exception") == 0.0


def test_what_follows_an_exception_at_once_is_more_of_it() -> None:
    """A text of many lines, such as the array that an exception quotes, is no sign that the process went on."""
    array = [at(9, f"[{n}.25, {n}.5]") for n in range(60)]
    died = four_nodes({2: [at(9, line) for line in raised("ValueError: cannot convert [[0.25, 0.5],")] + array})

    assert survival(died, "exception") == 0.0


def test_a_line_that_is_no_exception_is_survived_by_fast_iterations() -> None:
    """It ended no process, so there is nothing to notice."""
    said = [*steps(190, seconds=FAST), at(190 * FAST, PUSH), *steps(200, first=191, seconds=FAST)]

    assert survival(four_nodes({2: said}), "error") == 1.0


REFUSED = "OSError: [Errno 113] No route to host"


@pytest.mark.parametrize(("level", "went_on"), [("ERROR", False), ("WARNING", True)])
def test_before_any_iteration_an_error_that_was_retried_until_the_end_was_not_survived(
    level: str, went_on: bool
) -> None:
    """However much was said between the tries; of a warning the last one proves nothing."""
    tries = [line for n in range(4) for line in (f"{level} {REFUSED}", *(f"waiting {n}.{m}" for m in range(40)))]

    given_up = four_nodes({1: [*tries, f"{level} {REFUSED}"]})

    assert (survival(given_up, "network link") > 0) == went_on


def test_an_error_that_was_retried_with_success_was_survived() -> None:
    """The last try was followed by as much as the first one."""
    tries = [line for n in range(4) for line in (f"ERROR {REFUSED}", *(f"waiting {n}.{m}" for m in range(40)))]

    assert survival(four_nodes({1: tries}), "network link") == 1.0


def test_an_unknown_error_before_any_iteration_is_survived_by_what_is_said_after_it() -> None:
    """Only of faults that are known is it known that they end a start."""
    tries = [line for n in range(4) for line in (PUSH, *(f"waiting {n}.{m}" for m in range(40)))]

    assert survival(four_nodes({1: [*tries, PUSH]}), "error") == 0.8


def test_candidates_come_in_one_order() -> None:
    """The order of files changes neither them nor their order."""
    one = four_nodes({n: [PUSH, *lost(3), f"WARNING {'abcd'[n]} failed"] for n in range(3)})

    found = candidates(one)

    assert [candidate.event for candidate in found] == sorted(candidate.event for candidate in found)
    assert len(found) >= 3
