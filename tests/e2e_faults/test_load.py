"""Many people at once, and many runs one after the other."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.crowd import resident
from benchmarks.support.stage import (
    PATIENT,
    ROOMS,
    Stage,
    assert_said_once,
    eventually,
    local_slack,
    make_stage,
    metric,
)
from slacksim import Outcome

CROWD = 50
FILES_A_THREAD, OTHER_FILES = 3, 40  # a connection to the state has three; sockets, pipes of children, epoll, the log
SMALL = 110 << 20  # bytes; measured 75 MB, and 300 with the model


def test_a_crowd_asks_at_once(shared: Path, tmp_path: Path) -> None:
    """Fifty commands in one moment, within Slack's limits and while jobs run: all acknowledged, and queued once.

    How soon, benchmarks/crowd.py measures: nobody knows what else this machine does now.
    """
    with local_slack(limits=True, timing=PATIENT) as slack:
        stage = make_stage(slack, shared, tmp_path)
        jobs = [stage.job(f"gate-{number:02}") for number in range(CROWD)]
        with stage.bot(transport="socket", runs=2) as bot, ThreadPoolExecutor(CROWD) as people:
            slack.wait_for_connection()

            def ask(number: int) -> Outcome:
                return stage.alice.command(f"/diagnose {jobs[number]}", ROOMS[number % 10])

            outcomes = list(people.map(ask, range(CROWD)))
            runs = eventually_runs(stage, jobs)
            for job in jobs:
                stage.parent(job)
            assert all(outcome.acknowledged for outcome in outcomes)
            assert len(set(runs)) == CROWD
            assert {job: len(stage.parents(job)) for job in jobs} == dict.fromkeys(jobs, 1)
            eventually(
                lambda: metric(bot.health_port, 'firstfault_tasks_waiting{task="diagnose"}') == CROWD - 2, "the queue"
            )
            acks = "firstfault_acknowledgement_duration_seconds"
            number = metric(bot.health_port, f"{acks}_count")
            assert number >= CROWD  # and the events of what the bot has posted
            assert metric(bot.health_port, f"{acks}_sum") / number > 0.0001


@pytest.mark.slow
def test_a_crowd_is_answered(shared: Path, tmp_path: Path) -> None:
    """Every one of twelve commands in three channels gets its one answer, at the speed that Slack allows."""
    with local_slack(limits=True, timing=PATIENT) as slack:
        stage = make_stage(slack, shared, tmp_path)
        jobs = [stage.job(f"quick-{number:02}") for number in range(12)]
        with stage.bot(runs=2), ThreadPoolExecutor(12) as people:
            list(people.map(stage.alice.command, [f"/diagnose {job}" for job in jobs], ROOMS[:3] * 4))
            stage.wait_told(*jobs)
        assert_said_once(stage, *jobs)
        assert [len(stage.starts(job)) for job in jobs] == [1] * 12


def test_the_bot_stays_small(stage: Stage) -> None:
    """It never holds the embedding model: not at the start, not for a diagnosis, not to archive what was approved."""
    with stage.other_bot(fresh=True) as process:
        _diagnose(stage, range(1))
        stage.alice.click(stage.parent("quick-000"), "ff_approve")
        stage.wait_for_words("quick-000", "Fault pattern")
        assert resident(process.pid) < SMALL


@pytest.mark.slow
def test_runs_leave_nothing_behind(stage: Stage) -> None:
    """Sixteen runs after the first eight do not make the bot larger by more than a few megabytes, nor leave files open.

    Its children are forked from another process; ``benchmarks.crowd`` looks at 300 in a row that are started.
    """
    with stage.other_bot(fresh=True, runs=2) as process:
        _diagnose(stage, range(8))
        before, open_before = resident(process.pid), _open_files(process.pid)
        _diagnose(stage, range(8, 24))
        grown = resident(process.pid) - before
        still_open = _open_files(process.pid)
        assert grown < 8 << 20
        assert still_open <= OTHER_FILES
        assert still_open - open_before < 12  # one left by each run would be sixteen


def _open_files(pid: int) -> int:
    """Beside those of threads, which may be more than before."""
    threads = len(list(Path(f"/proc/{pid}/task").iterdir()))
    return len(list(Path(f"/proc/{pid}/fd").iterdir())) - FILES_A_THREAD * threads


def eventually_runs(stage: Stage, jobs: list[str]) -> list[str]:
    def ids() -> list[str]:
        runs = [stage.run(job) for job in jobs]
        return [run.id for run in runs if run is not None]

    eventually(lambda: len(ids()) == len(jobs), "all runs in the queue")
    return ids()


def _diagnose(stage: Stage, numbers: range) -> None:
    jobs = [stage.job(f"quick-{number:03}") for number in numbers]
    for number, job in enumerate(jobs):
        stage.alice.command(f"/diagnose {job}", ROOMS[number % len(ROOMS)])
    stage.wait_told(*jobs)
