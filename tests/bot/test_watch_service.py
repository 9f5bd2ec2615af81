"""The keeper: what its process finds is stored and told once, whatever dies."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from benchmarks.support.patience import PATIENCE
from bot.jobs import watch_service
from bot.jobs.watch_service import WatchService
from bot.state.runs import Run, RunRequest, Trigger
from bot.state.small_values import Status
from bot.state.state import State
from bot.state.watches import Watch, WatchFinding
from core.live.findings import LiveKind


class RememberingAnnouncer:
    """An announcer that remembers; it takes nothing as long as ``deaf``."""

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.runs: list[str] = []
        self.deaf = False
        self.attempts = 0

    def announce(self, watch: Watch, finding: WatchFinding) -> bool:  # noqa: ARG002 the protocol's
        self.attempts += 1
        if not self.deaf:
            self.kinds.append(finding.kind)
        return not self.deaf

    def thread(self, watch: Watch, finding: WatchFinding) -> str:  # noqa: ARG002 the protocol's
        return f"below {finding.subject}"

    def diagnosed(self, run: Run) -> None:
        self.runs.append(run.job)


@pytest.fixture
def announcer() -> RememberingAnnouncer:
    return RememberingAnnouncer()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "jobs" / "j"
    (folder / "logs").mkdir(parents=True)
    (folder / "job.json").write_text('{"status": "RUNNING"}')
    (folder / "logs" / "a.log").write_text("hello\n")
    return folder


@pytest.fixture
def start(state: State, announcer: RememberingAnnouncer, home: Path) -> Iterator[Callable[..., WatchService]]:
    running: list[WatchService] = []

    def begin(quiet: timedelta = watch_service.QUIET) -> WatchService:
        environment = {**os.environ, "FIRSTFAULT_JOBS": str(home.parent)}
        running.append(WatchService(state, announcer, environment=environment, quiet=quiet))
        running[-1].thread.start()
        return running[-1]

    yield begin
    for service in running:
        service.thread.stop(PATIENCE)


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def watched(state: State) -> Watch:
    watch, _ = state.watches.add(RunRequest("j", "T1", "C1", "U1", Trigger.COMMAND), limit=1)
    assert watch is not None
    return watch


def test_nothing_is_followed_while_nothing_is_watched(start: Callable[..., WatchService]) -> None:
    """A bot that watches nothing pays nothing."""
    running = start()
    until(running.thread.healthy)

    assert running._process is None


def test_a_failed_job_is_told_and_its_diagnosis_is_queued(
    state: State, announcer: RememberingAnnouncer, home: Path, start: Callable[..., WatchService]
) -> None:
    """Once, and the watch is over; nothing is followed any more."""
    watched(state)
    running = start()
    until(lambda: running._process)
    (home / "job.json").write_text('{"status": "FAILED"}')

    until(lambda: announcer.runs and not running._process)

    assert (announcer.kinds, announcer.runs) == (["failed"], ["j"])
    assert [run.trigger for run in state.runs.active("T1")] == [Trigger.WATCH]
    assert state.watches.open() == ()


def test_a_hang_that_never_ends_is_diagnosed_once_in_its_thread(
    state: State, announcer: RememberingAnnouncer, start: Callable[..., WatchService]
) -> None:
    """The job as it stands, below the alarm, and not before the alarm was told; the watch goes on."""
    watch = watched(state)
    announcer.deaf = True
    start()
    for kind in (LiveKind.SILENT, LiveKind.STANDS, LiveKind.STANDS):
        state.watches.note(WatchFinding(0, watch.id, kind, "node-01", "it says nothing"))
    until(lambda: announcer.attempts > 2)
    before = list(announcer.runs)

    announcer.deaf = False
    until(lambda: announcer.runs)
    until(lambda: not state.watches.untold())

    assert (before, announcer.kinds, announcer.runs) == ([], ["silent"], ["j"])
    assert [(run.thread_ts, run.trigger) for run in state.runs.active("T1")] == [("below node-01", Trigger.WATCH)]
    assert state.watches.open() == (state.watches.get(watch.id),)


def test_a_job_that_ends_while_it_is_diagnosed_is_diagnosed_again(
    state: State, announcer: RememberingAnnouncer, home: Path, start: Callable[..., WatchService]
) -> None:
    """What is being read may lack the end, so it answers for nobody who wants the end."""
    watch = watched(state)
    so_far = state.runs.ask(watch.request()).run
    assert state.runs.leases.claim("worker") == so_far.id
    running = start()
    (home / "job.json").write_text('{"status": "FAILED"}')
    until(lambda: running._settled)
    before = list(announcer.runs)

    state.runs.leases.conclude(so_far.id, "worker", Status.DONE)
    until(lambda: announcer.runs)

    assert (before, announcer.runs) == ([], ["j"])
    assert [run.id for run in state.runs.active("T1")] != [so_far.id]


def test_what_slack_does_not_take_is_told_later(
    state: State, announcer: RememberingAnnouncer, home: Path, start: Callable[..., WatchService]
) -> None:
    """Nothing found is lost; the diagnosis does not wait for it."""
    announcer.deaf = True
    watched(state)
    start()
    (home / "job.json").write_text('{"status": "FAILED"}')
    until(lambda: announcer.runs)

    announcer.deaf = False
    until(lambda: announcer.kinds)

    assert announcer.kinds == ["failed"]


def test_a_process_that_dies_is_started_again(
    state: State,
    announcer: RememberingAnnouncer,
    home: Path,
    start: Callable[..., WatchService],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Out of memory, or killed by somebody: the watch goes on."""
    monkeypatch.setattr(watch_service, "AGAIN_SECONDS", 0.1)
    watched(state)
    running = start()
    until(lambda: running._process)
    first = running._process
    assert first is not None
    os.kill(first.pid, signal.SIGKILL)
    until(lambda: running._process not in (None, first))
    (home / "job.json").write_text('{"status": "FAILED"}')

    until(lambda: announcer.runs)

    assert announcer.kinds == ["failed"]


def test_a_job_that_says_nothing_for_too_long_is_left(state: State, start: Callable[..., WatchService]) -> None:
    """A job that nobody ends in job.json must not be followed for ever."""
    watch = watched(state)

    start(quiet=timedelta(0))
    until(lambda: not state.watches.open())

    left = state.watches.get(watch.id)
    assert left is not None
    assert left.ended == watch_service.QUIET_ENDED


def test_of_two_bots_one_keeps_watch(state: State, start: Callable[..., WatchService]) -> None:
    """The other one takes over when the first ends."""
    watched(state)
    first = start()
    until(lambda: first._process)
    second = start()
    until(second.thread.healthy)
    alone = second._process is None

    first.thread.stop(PATIENCE)
    until(lambda: second._process)

    assert alone
