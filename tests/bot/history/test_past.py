"""What earlier attempts of a run say of the next step, in the diagnosis of the last one."""

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from bot.fetch.jobs import Request
from bot.investigate import investigate
from bot.settings import Settings
from core.model import Action, NextStep
from tests.support.attempts import ERROR, Log

BAD = "ValueError: bad value"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(cache=tmp_path / "cache", state=tmp_path / "state")


def run_of(folder: Path, attempts: Sequence[tuple[range, str, str]]) -> str:
    """Job folders a0, a1, ... of one run: iterations, error, arguments. The jobs folder."""
    log = Log()
    for number, (iterations, error, arguments) in enumerate(attempts):
        log = Log(log.now + timedelta(seconds=60))
        log.attempt(iterations, error)
        log.write(folder / f"a{number}", run="llama", status="FAILED", arguments=arguments)
    return str(folder)


def after_checks(jobs: str, job: str) -> None:
    """Somebody writes down that all nodes passed their checks when this attempt had ended."""
    path = Path(jobs) / job / "job.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"checked": True}), encoding="utf-8")


def next_of(jobs: str, job: str, settings: Settings) -> NextStep:
    step = investigate(Request(job, jobs), settings).diagnosis.next
    assert step is not None
    return step


def test_a_crash_loop_is_told_to_stop(tmp_path: Path, settings: Settings) -> None:
    """The fourth attempt without a new checkpoint, and nobody is found; the second is still checked."""
    jobs = run_of(tmp_path / "jobs", [(range(31, 36), ERROR, "--lr 1")] * 5)

    assert next_of(jobs, "a1", settings).action is Action.CHECK
    step = next_of(jobs, "a4", settings)
    assert (step.action, "stop retrying" in step.because) == (Action.NONE, True)


def test_what_follows_when_the_checks_pass(tmp_path: Path, settings: Settings) -> None:
    """Once again as it is; then, when it fails in the same way, back to what ran with other arguments, or a replay."""
    bad = (range(11, 30), ERROR, "--lr 2")
    same = run_of(tmp_path / "same", [bad] * 3)
    changed = run_of(tmp_path / "changed", [(range(1, 15), BAD, "--lr 1"), bad, bad])
    lone = run_of(tmp_path / "lone", [bad])

    assert next_of(lone, "a0", settings).action is Action.CHECK
    for jobs, job in ((lone, "a0"), (same, "a1"), (changed, "a1")):
        after_checks(jobs, job)
        assert next_of(jobs, job, settings).action is Action.REATTEMPT
    assert next_of(same, "a2", settings).action is Action.REPLAY
    assert next_of(changed, "a2", settings).action is Action.ROLLBACK


def test_the_first_attempt_of_a_crash_loop_counts_too(tmp_path: Path, settings: Settings) -> None:
    """It went on from an older checkpoint and made no new one."""
    jobs = run_of(tmp_path / "jobs", [(range(31, 36), ERROR, "--lr 1")] * 4)
    assert next_of(jobs, "a3", settings).because.startswith("The last 4 attempts made no new")


def test_a_loop_of_many_jobs_is_counted(tmp_path: Path, settings: Settings) -> None:
    """Nine after the one that saved last; the answer told of six at most, for no more were read."""
    jobs = run_of(tmp_path / "jobs", [(range(1, 41), ERROR, "--lr 1"), *[(range(31, 36), ERROR, "--lr 1")] * 9])
    assert "The last 9 attempts made no new checkpoint" in next_of(jobs, "a9", settings).because


def test_the_frame_of_the_own_code_is_named(tmp_path: Path, settings: Settings) -> None:
    """Below it are those of libraries; and the lines that are cited hold none of them."""
    log = Log()
    log.attempt(range(1, 6))
    log.lines += [
        "Traceback (most recent call last):",
        '  File "/work/gpt/train.py", line 12, in main',
        "    step()",
        '  File "/work/gpt/loss.py", line 37, in masked',
        "    return F.mse(a, b)",
        '  File "/opt/venv/lib/python3.11/site-packages/torch/nn/functional.py", line 9, in mse',
        "    raise ValueError(a)",
        BAD,
    ]
    log.write(tmp_path / "jobs" / "one", status="FAILED")

    assert "(loss.py:37 in masked)" in next_of(str(tmp_path / "jobs"), "one", settings).because


def test_attempts_that_gain_checkpoints_are_no_crash_loop(tmp_path: Path, settings: Settings) -> None:
    """It fails again and again, and gets on."""
    jobs = run_of(tmp_path / "jobs", [(range(10 * n + 1, 10 * n + 15), ERROR, "--lr 1") for n in range(4)])

    assert next_of(jobs, "a3", settings).action is Action.CHECK


def test_a_fault_of_the_program_that_came_with_a_change_is_rolled_back(tmp_path: Path, settings: Settings) -> None:
    """The change is named; without one, and where the fault was there before, it is fixed."""
    good = (range(1, 15), ERROR, "--lr 1 --seed 1")
    new = run_of(tmp_path / "new", [good, (range(11, 14), BAD, "--lr 2 --seed 2")])
    old = run_of(tmp_path / "old", [(range(1, 15), BAD, "--lr 1"), (range(11, 14), BAD, "--lr 2")])
    same = run_of(tmp_path / "same", [good, (range(11, 14), BAD, "--lr 1 --seed 2")])

    step = next_of(new, "a1", settings)
    assert (step.action, "since a0 (lr 1 to 2): go back to what a0 ran with" in step.because) == (Action.ROLLBACK, True)
    assert next_of(old, "a1", settings).action is Action.FIX
    assert next_of(same, "a1", settings).action is Action.FIX


def test_another_exception_is_another_failure(tmp_path: Path, settings: Settings) -> None:
    """What the good attempt ended in was another one, so the change counts; the words for both are the same."""
    good = (range(1, 15), BAD, "--lr 1")
    jobs = run_of(tmp_path / "jobs", [good, (range(11, 14), "TypeError: not a tensor", "--lr 2")])

    assert next_of(jobs, "a1", settings).action is Action.ROLLBACK


def test_a_change_counts_only_if_the_failure_came_at_the_first_attempt_with_it(
    tmp_path: Path, settings: Settings
) -> None:
    """With the change it first failed otherwise: then the change explains this failure no better than before."""
    good, other = (range(1, 15), ERROR, "--lr 1"), (range(11, 13), "TypeError: not a tensor", "--lr 2")
    jobs = run_of(tmp_path / "jobs", [good, other, (range(11, 14), BAD, "--lr 2")])

    assert next_of(jobs, "a1", settings).action is Action.ROLLBACK
    assert next_of(jobs, "a2", settings).action is Action.FIX


def test_several_attempts_in_one_log_are_a_past_too(tmp_path: Path, settings: Settings) -> None:
    """A launcher that restarts in the same file loops as well."""
    log = Log()
    log.attempt(range(1, 16), ERROR)
    for _ in range(4):
        log.now += timedelta(seconds=60)
        log.attempt(range(11, 16), ERROR)
    log.write(tmp_path / "jobs" / "loop", status="FAILED")

    assert "stop retrying" in next_of(str(tmp_path / "jobs"), "loop", settings).because
