"""Workers stop, die, and are replaced; nothing is lost and nothing is told twice."""

import os
import signal
import sqlite3
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from benchmarks.support.patience import PATIENCE
from benchmarks.support.processes import alive
from bot.jobs import worker as worker_module
from bot.jobs.lease_keeper import EndReason, LeaseKeeper
from bot.state.small_values import Status
from bot.state.state import State, open_state
from tests.support.states import Hands, ask, now
from tests.support.workers import LEASE, Recorder, alone, shared_state, slack, starts, until, working

pytestmark = pytest.mark.usefixtures("forked")  # as a bot starts them they are in test_diagnoses.py


def test_a_stop_finishes_what_can_be_finished(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """Within the grace period a run ends as usual, and nothing new begins."""
    run, later = ask(state, "gate"), ask(state, "quick")
    with working(state, tmp_path, recorder) as worker:
        recorder.first("answered")
        (tmp_path / "starts.go").touch()
        worker.stop(20)

    assert now(state, run).status is Status.DONE
    assert now(state, run).told
    assert now(state, later).status is Status.QUEUED


def test_a_stop_hands_back_what_takes_longer(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """It waits for the next worker at once, and the attempt does not count."""
    run = ask(state, "hang")
    with working(state, tmp_path, recorder) as worker:
        recorder.first("answered")
        worker.stop(0)
        stopped = now(state, run)

    assert (stopped.status, stopped.attempts, stopped.lease_owner) == (Status.QUEUED, 0, None)
    assert not alive(starts(tmp_path)[0][1])
    assert recorder.of("failed", "final", "cancelled") == []


def test_what_was_not_told_is_told_later(tmp_path: Path, recorder: Recorder) -> None:
    """A final answer that Slack did not take comes again after the pause, without a second diagnosis."""
    clock = Hands()
    state = open_state(tmp_path / "state.db", clock=clock)
    run = ask(state, "quick")
    recorder.raises = {"final"}
    with working(state, tmp_path, recorder):
        recorder.first("final")
        until(lambda: now(state, run).lease_owner is None)
        assert not now(state, run).told
        recorder.raises = set()
        clock.forward(seconds=5)
        until(lambda: now(state, run).told)

    assert len(recorder.of("final")) == 2
    assert len(starts(tmp_path)) == 1
    state.close()


def test_a_worker_outlives_a_locked_state(
    tmp_path: Path, recorder: Recorder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """While the state does not answer the worker says so and waits; then it goes on."""
    monkeypatch.setattr(worker_module, "TROUBLE_SECONDS", 0.1)
    state = open_state(tmp_path / "state.db", busy_seconds=0.05)
    ask(state, "quick")
    other = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with working(state, tmp_path, recorder) as worker:
        until(lambda: "another process holds it locked" in caplog.text)
        assert worker.healthy()
        other.execute("ROLLBACK")
        recorder.first("final")
    other.close()
    state.close()


def test_health_comes_from_living_threads(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """A worker that was stopped is not healthy, and one that works knows what it works on."""
    run = ask(state, "hang")
    with working(state, tmp_path, recorder) as worker:
        recorder.first("answered")
        assert worker.healthy()
        assert [lease.id for lease in worker._watch.leases()] == [run.id]
        worker.stop(0)
        assert not worker.healthy()


def test_numbers_are_counted(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """A dashboard sees outcomes with seconds, and how many wait."""
    ask(state, "quick")
    ask(state, "refuse")
    ask(state, "hang")
    ask(state, "waiting")

    with working(state, tmp_path, recorder):
        until(lambda: ("diagnose", "waiting", 1) in recorder.counted)

    outcomes = {
        entry[1]: entry[2] for entry in recorder.counted if entry[:2] in (("diagnose", "done"), ("diagnose", "failed"))
    }
    assert set(outcomes) == {"done", "failed"}
    assert 0 < outcomes["done"] < outcomes["failed"]


@pytest.mark.slow
def test_a_dead_worker_is_replaced(tmp_path: Path) -> None:
    """kill -9 of the bot in the middle of a run: its child ends with it, and another worker finishes the run once."""
    state = shared_state(tmp_path)
    run = ask(state, "gate")
    with alone(tmp_path) as first:
        until(lambda: state.runs.answer(run.id) is not None)
        child = starts(tmp_path)[0][1]

        first.send_signal(signal.SIGKILL)
        until(lambda: not alive(child))

        (tmp_path / "starts.go").touch()
        with alone(tmp_path), alone(tmp_path):
            until(lambda: now(state, run).told)

    assert now(state, run).status is Status.DONE
    assert (now(state, run).attempts, now(state, run).begun) == (0, 2)
    assert [post["job"] for post in slack(tmp_path)] == ["gate"]
    assert len(starts(tmp_path)) == 2
    state.close()


@pytest.mark.slow
def test_a_run_outlives_any_number_of_bots(tmp_path: Path) -> None:
    """Five bots are killed while they work on it: none of that is the run's fault, and the sixth answers."""
    state = shared_state(tmp_path)
    run = ask(state, "gate")
    for number in range(5):
        with alone(tmp_path) as bot:
            until(lambda number=number: len(starts(tmp_path)) == number + 1)  # type: ignore[misc]
            bot.send_signal(signal.SIGKILL)
    (tmp_path / "starts.go").touch()
    with alone(tmp_path):
        until(lambda: now(state, run).told)

    assert (now(state, run).status, now(state, run).attempts) == (Status.DONE, 0)
    assert [post["job"] for post in slack(tmp_path)] == ["gate"]
    state.close()


def test_a_child_that_was_told_to_end_is_no_death(state: State, tmp_path: Path, recorder: Recorder) -> None:
    """A service manager that stops all processes at once sends SIGTERM to children too."""
    run = ask(state, "gate")
    with working(state, tmp_path, recorder):
        for number in range(3):
            until(lambda number=number: len(starts(tmp_path)) == number + 1)  # type: ignore[misc]
            os.kill(starts(tmp_path)[-1][1], signal.SIGTERM)
        until(lambda: len(starts(tmp_path)) == 4)
        (tmp_path / "starts.go").touch()
        recorder.first("final")

    assert now(state, run).attempts == 0


@pytest.mark.parametrize("behaviour", ["dies before it posts", "dies when it has posted"])
def test_an_answer_is_posted_once_whenever_a_worker_dies(tmp_path: Path, behaviour: str) -> None:
    """Killed just before or just after the post: one message, and no second diagnosis."""
    state = shared_state(tmp_path)
    run = ask(state, "quick")
    with alone(tmp_path, behaviour) as first:
        first.wait(PATIENCE)
        state.database.execute("UPDATE posts SET mine_until = intended_at")  # a minute has passed
        with alone(tmp_path):
            until(lambda: now(state, run).told)

    assert [post["job"] for post in slack(tmp_path)] == ["quick"]
    assert len(starts(tmp_path)) == 1
    state.close()


@pytest.mark.slow
def test_two_workers_share_the_work(tmp_path: Path) -> None:
    """Each of many runs is begun once and posted once."""
    state = shared_state(tmp_path)
    jobs = [f"quick-{number}" for number in range(8)]
    with alone(tmp_path), alone(tmp_path):
        for job in jobs:
            ask(state, job)
        until(lambda: [run.told for run in state.runs.recent("T1", limit=8)] == [True] * 8)  # recent: what is over

    assert {(run.job, run.status, run.failure) for run in state.runs.recent("T1", limit=8)} == {
        (job, Status.DONE, None) for job in jobs
    }
    assert sorted(job for job, _ in starts(tmp_path)) == sorted(jobs)
    assert sorted(post["job"] for post in slack(tmp_path)) == sorted(jobs)
    assert {row["begun"] for row in state.database.query("SELECT begun FROM runs")} == {1}
    state.close()


def test_a_worker_that_slept_through_its_lease_says_nothing(tmp_path: Path) -> None:
    """A machine that was paused wakes up, finds its run with another, and leaves it there."""
    state = shared_state(tmp_path)
    run = ask(state, "gate")
    with alone(tmp_path) as sleeper:
        until(lambda: state.runs.answer(run.id) is not None)
        sleeper.send_signal(signal.SIGSTOP)
        with alone(tmp_path):
            until(lambda: now(state, run).begun == 2)
            until(lambda: len(starts(tmp_path)) == 2)
            sleeper.send_signal(signal.SIGCONT)
            sleepers_child = starts(tmp_path)[0][1]
            until(lambda: not alive(sleepers_child))
            (tmp_path / "starts.go").touch()
            until(lambda: now(state, run).told)

    assert len(slack(tmp_path)) == 1
    assert (now(state, run).attempts, now(state, run).begun) == (0, 2)
    state.close()


@pytest.mark.slow
def test_a_lease_outlasts_many_times_itself(tmp_path: Path) -> None:
    """A run that takes longer than a lease stays with its worker as long as that lives."""
    state = shared_state(tmp_path)
    run = ask(state, "gate")
    with alone(tmp_path), alone(tmp_path):
        until(lambda: state.runs.answer(run.id) is not None)
        begun = time.monotonic()
        until(lambda: time.monotonic() - begun > 2 * LEASE.total_seconds())
        (tmp_path / "starts.go").touch()
        until(lambda: now(state, run).told)

    assert now(state, run).begun == 1
    assert len(starts(tmp_path)) == 1
    state.close()


def test_a_row_that_another_slot_has_claimed_is_lost(state: State) -> None:
    """After a lease that could not be renewed in time: the second slot goes on, and the first ends without an error."""
    watch = LeaseKeeper("w1", state.clock, state.runs.cancelled)
    with ExitStack() as second:
        with watch.hold("r-1", state.runs.leases) as before:
            after = second.enter_context(watch.hold("r-1", state.runs.leases))
            assert (before.why, after.why) == (EndReason.LOST, None)
        assert watch.leases() == (after,)
    assert watch.leases() == ()
