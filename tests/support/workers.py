"""Workers for the tests: in this process with a listener that writes down, or alone with one that plays Slack."""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.support.forked_children import ForkedProcess, started
from benchmarks.support.patience import PATIENCE
from bot.jobs.work_context import Limits
from bot.jobs.worker import Worker
from bot.outgoing.errors import Failure
from bot.slack.health import Metrics
from bot.state.answers import SavedAnswer
from bot.state.posts import PostState
from bot.state.runs import Run
from bot.state.state import State, open_state
from bot.state.threads import ThreadQuestion
from tests.support.places import ROOT
from tests.support.worker_tasks import TASKS

LEASE = timedelta(
    seconds=4
)  # of workers alone: their successors shall not wait for half a minute, nor a busy one lose it


@dataclass
class Recorder:
    """A listener that writes down what it is told, and raises where it is told to."""

    told: list[tuple[Any, ...]] = field(default_factory=list)
    raises: set[str] = field(default_factory=set)
    counted: list[tuple[Any, ...]] = field(default_factory=list)

    def progress(self, run: Run, step: str, done: int, total: int) -> None:
        self._note("progress", run.id, step, done, total)

    def answered(self, run: Run, answer: SavedAnswer, *, final: bool) -> None:
        self._note("final" if final else "answered", run.id, run, answer)

    def drawn(self, run: Run, answer: SavedAnswer) -> None:
        self._note("drawn", run.id, answer)

    def failed(self, run: Run, failure: Failure) -> None:
        self._note("failed", run.id, failure)

    def cancelled(self, run: Run) -> None:
        self._note("cancelled", run.id, run)

    def replied(self, question: ThreadQuestion) -> None:
        self._note("replied", question.id, question.reply)

    def not_replied(self, question: ThreadQuestion, failure: Failure) -> None:
        self._note("not replied", question.id, failure)

    def finished(self, task: str, outcome: str, seconds: float) -> None:
        self.counted.append((task, outcome, seconds))

    def waiting(self, task: str, number: int) -> None:
        self.counted.append((task, "waiting", number))

    def child_died(self, task: str) -> None:
        self.counted.append((task, "died"))

    def of(self, *kinds: str) -> list[tuple[Any, ...]]:
        return [call for call in list(self.told) if call[0] in kinds]

    def first(self, kind: str) -> tuple[Any, ...]:
        """The first call of this kind, waited for."""
        endings = ("failed",) if kind in ("answered", "final") else ()
        until(lambda: bool(self.of(kind, *endings)))
        assert self.of(kind), self.of(*endings)
        return self.of(kind)[0]

    def _note(self, kind: str, *rest: Any) -> None:
        self.told.append((kind, *rest))
        if kind in self.raises:
            raise ConnectionError("Slack is down")


def until(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("what was waited for did not come")
        time.sleep(0.005)


def starts(tmp_path: Path) -> list[tuple[str, int]]:
    """Which job was begun in which process."""
    path = tmp_path / "starts"
    lines = path.read_text(encoding="ascii").splitlines() if path.exists() else []
    return [(line.split()[0], int(line.split()[1])) for line in lines]


def environment(tmp_path: Path) -> dict[str, str]:
    """Library and cache are of all tests: a new library embeds its seeds, which takes longer than a diagnosis."""
    shared = {f"FIRSTFAULT_{name}": str(tmp_path.parent / name.lower()) for name in ("LIBRARY", "CACHE")}
    return {**os.environ, **shared, "STARTS": str(tmp_path / "starts")}


@contextmanager
def working(
    state: State, tmp_path: Path, recorder: Recorder, *, limits: Limits | None = None, **others: Any
) -> Iterator[Worker]:
    """A worker in this process; at the end nothing of it may be left."""
    before = set(threading.enumerate())
    worker = Worker(
        state,
        recorder,
        files=tmp_path / "files",
        limits=limits or Limits(poll_seconds=0.05),
        counters=recorder,
        **{"tasks": TASKS, "environment": environment(tmp_path), **others},
    )
    worker.start()
    try:
        yield worker
    finally:
        worker.stop(0)
        assert set(threading.enumerate()) <= before


@contextmanager
def alone(tmp_path: Path, *behaviour: str) -> Iterator[ForkedProcess]:
    """A worker in a process of its own, on the state that ``shared_state`` opens."""
    words = ("tests.support.workers", str(tmp_path), *behaviour)
    with (
        (tmp_path / "alone.log").open("ab") as log,
        started(*words, env=environment(tmp_path), cwd=ROOT, stderr=log) as process,
    ):
        assert process.stdout.readline() == b"ready\n"
        yield process


def shared_state(tmp_path: Path) -> State:
    return open_state(tmp_path / "state.db", lease=LEASE)


def slack(tmp_path: Path) -> list[dict[str, str]]:
    """What was posted by workers alone."""
    path = tmp_path / "slack"
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()] if path.exists() else []


class _Slack(Recorder):
    """Posts each final answer to a file, by the rules of ``State.posts``."""

    def __init__(self, state: State, tmp_path: Path, behaviour: str) -> None:
        super().__init__()
        self._state = state
        self._tmp_path = tmp_path
        self._behaviour = behaviour

    def answered(self, run: Run, answer: SavedAnswer, *, final: bool) -> None:
        if not final:
            return
        if self._behaviour == "dies before it posts":
            os.kill(os.getpid(), signal.SIGKILL)
        post = self._state.posts.intend(run.id, "answer")
        if post.intention is PostState.PENDING:
            raise ConnectionError("somebody else is posting")
        known = [one["ts"] for one in slack(self._tmp_path) if one["token"] == post.token]
        if post.intention in (PostState.NEW, PostState.DOUBTFUL) and not known:
            known = [f"{time.time():.6f}"]
            with (self._tmp_path / "slack").open("a", encoding="ascii") as file:
                file.write(json.dumps({"job": answer.job, "token": post.token, "ts": known[0]}) + "\n")
        if self._behaviour == "dies when it has posted":
            os.kill(os.getpid(), signal.SIGKILL)
        self._state.posts.posted(run.id, "answer", known[0] if known else str(post.ts))


def main() -> None:
    tmp_path, behaviour = Path(sys.argv[1]), "".join(sys.argv[2:])
    state = shared_state(tmp_path)
    worker = Worker(
        state,
        _Slack(state, tmp_path, behaviour),
        files=tmp_path / "files",
        counters=Metrics(),
        limits=Limits(poll_seconds=0.05),
        tasks=TASKS,
    )
    worker.start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main()
