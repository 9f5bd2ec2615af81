"""The bot watches a running job: it speaks by itself, once, and then diagnoses."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread

import pytest

from benchmarks.support.patience import PATIENCE
from benchmarks.support.stage import eventually
from bot.state.watches import WatchFinding
from core.live.findings import LiveKind
from slacksim import Message, Slack
from tests.support.scene import Folders, Scene, serving
from tests.support.scene_jobs import KEY

RANKS, PACED = 4, 10
VERDICT = "[2026-11-21T03:57:52.811] _job_complete: JobId=4711 WEXITSTATUS 1\n"
TRACEBACK = f'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nValueError: bad token {KEY}\n'


class RunningJob:
    """A job whose ranks say an iteration twice a second, until they are told to be quiet."""

    def __init__(self, home: Path) -> None:
        self.id = home.name
        self._home = home
        (home / "logs").mkdir(parents=True)
        self.set_status("RUNNING")
        self._quiet: set[int] = set()
        self._ended = Event()
        self._paced = Event()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def set_status(self, status: str) -> None:
        manifest = {"job_id": self.id, "status": status, "world_size": RANKS, "model": "toy", "framework": "toy 1.0"}
        (self._home / "job.json").write_text(json.dumps(manifest), encoding="utf-8")

    def silence(self, *ranks: int) -> None:
        """When everybody has shown how often it speaks."""
        assert self._paced.wait(PATIENCE)
        self._quiet |= set(ranks)

    def fail(self) -> None:
        self.end()
        self._say("rank_2.log", TRACEBACK)
        self._say("slurmctld.log", VERDICT)

    def end(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        iteration = 0
        while not self._ended.wait(0.5):
            iteration += 1
            now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S},{iteration % 1_000:03}"
            for rank in {*range(RANKS)} - self._quiet:
                self._say(f"rank_{rank}.log", f"{now} iteration {iteration} timers (ms): forward-compute: 12.5\n")
            if iteration == PACED:
                self._paced.set()

    def _say(self, name: str, text: str) -> None:
        with (self._home / "logs" / name).open("a", encoding="utf-8") as log:
            log.write(text)


@pytest.fixture
def job(folders: Folders, request: pytest.FixtureRequest) -> Iterator[RunningJob]:
    number = sum(map(ord, request.node.name))
    running = RunningJob(folders.jobs / f"w{number}")
    yield running
    running.end()


@pytest.mark.slow
def test_a_watched_job_that_fails_is_told_and_then_diagnosed(scene: Scene, job: RunningJob, room: str) -> None:
    """The failure at once, with its line but no secret of it; then the diagnosis as if somebody had asked."""
    scene.ask(f"watch {job.id}", room)
    _posted(scene, room, "lets me watch")

    job.fail()
    alarm = _posted(scene, room, f"{job.id} has failed")
    answer = _posted(scene, room, "Run again")

    assert KEY not in alarm.all_text
    assert "ValueError" in answer.all_text
    assert [_kind(text) for text in _texts(scene, room)] == ["watch", "failed", "answer"]
    assert scene.bot.state.watches.open() == ()


@pytest.mark.slow
def test_a_silent_rank_is_told_until_somebody_ends_the_watch(scene: Scene, job: RunningJob, room: str) -> None:
    """`status` lists what is watched; after `unwatch` the bot says nothing more."""
    scene.ask(f"watch {job.id}", room)
    _posted(scene, room, "lets me watch")
    job.silence(3)

    alarm = _posted(scene, room, "has gone silent")
    scene.ask("status", room)
    listed = scene.told("alice", "is watched, since")
    scene.ask(f"unwatch {job.id}", room)
    ended = scene.told("alice", "is not watched any more")
    job.fail()

    assert "Rank 3: no word for" in alarm.all_text
    assert (listed.channel, ended.channel) == (room, room)
    assert scene.bot.state.watches.open() == ()
    assert [_kind(text) for text in _texts(scene, room)] == ["watch", "silent"]


@pytest.mark.slow
def test_an_alarm_that_stands_is_answered_below_it(scene: Scene, job: RunningJob, room: str) -> None:
    """The diagnosis so far is in the thread of the alarm, once; the channel sees no more than the alarm."""
    scene.ask(f"watch {job.id}", room)
    _posted(scene, room, "lets me watch")
    job.silence(3)
    alarm = _posted(scene, room, "has gone silent")
    (watch,) = [one for one in scene.bot.state.watches.open() if one.job == job.id]

    for _ in range(2):  # what the process that follows the job says after two minutes, and after each new start
        scene.bot.state.watches.note(WatchFinding(0, watch.id, LiveKind.STANDS, "rank 3", "the alarm has stood"))
    answer = _posted(scene, room, "Run again")
    scene.ask(f"unwatch {job.id}", room)

    assert answer.thread_ts == alarm.ts
    assert [_kind(text) for text in _texts(scene, room)] == ["watch", "silent"]


@pytest.mark.slow
def test_a_watched_job_that_completes_is_told_and_left(scene: Scene, job: RunningJob, room: str) -> None:
    """No diagnosis of what went well; a mention asks for a watch like the command."""
    scene.user("alice").say(f"@firstfault watch {job.id}", room)
    _posted(scene, room, "lets me watch")

    job.set_status("COMPLETED")
    _posted(scene, room, f"{job.id} has completed")

    eventually(lambda: not scene.bot.state.watches.open(), "the end of the watch")
    assert [_kind(text) for text in _texts(scene, room)] == ["watch", "completed"]


@pytest.mark.slow
def test_a_watch_survives_a_restart_and_says_nothing_twice(
    slack: Slack, folders: Folders, job: RunningJob, tmp_path: Path, room: str
) -> None:
    """The next bot goes on: what it finds again was told before, what is new is told."""
    elsewhere = replace(folders, home=tmp_path)
    with serving(slack, elsewhere) as first:
        first.ask(f"watch {job.id}", room)
        _posted(first, room, "lets me watch")
        job.silence(3)
        _posted(first, room, "has gone silent")

    with serving(slack, elsewhere) as second:
        eventually(lambda: second.bot._watch_service._followed, "that the watch goes on")
        job.fail()
        _posted(second, room, "Run again")

        assert [_kind(text) for text in _texts(second, room)] == ["watch", "silent", "failed", "answer"]


@pytest.mark.slow
def test_what_cannot_be_watched_is_said_privately(slack: Slack, folders: Folders, tmp_path: Path, room: str) -> None:
    """Unknown, over, watched already, too many: nothing of it is posted."""
    one, two = RunningJob(folders.jobs / "w1"), RunningJob(folders.jobs / "w2")
    with serving(slack, replace(folders, home=tmp_path), watches=1) as scene:
        for words, answer in (
            ("watch nope", "There is no job nope"),
            ("watch f07", "is over: FAILED"),
            ("unwatch w1", "is not watched in this channel"),
        ):
            scene.ask(words, room)
            scene.told("alice", answer)
        before = _texts(scene, room)
        scene.ask("watch w1", room)
        _posted(scene, room, "lets me watch")
        for words, answer in (("watch w1", "is watched here already"), ("watch w2", "I watch 1 job already")):
            scene.ask(words, room)
            scene.told("alice", answer)
        scene.ask("unwatch w1", room, by="bob")
        scene.told("bob", "they or an approver may end the watch")

        assert before == []
        assert [_kind(text) for text in _texts(scene, room)] == ["watch"]
    one.end()
    two.end()


def _posted(scene: Scene, room: str, words: str) -> Message:
    """The message in the channel that holds these words."""
    return scene.slack.wait_for(
        lambda now: next((one for one in now.messages(room) if one.by_app and words in one.all_text), None),
        PATIENCE,
        f"{words!r} in {room}",
    )


def _texts(scene: Scene, room: str) -> list[str]:
    return [one.all_text for one in scene.slack.snapshot().messages(room) if one.by_app and not one.is_reply]


def _kind(text: str) -> str:
    words = {"lets me watch": "watch", "gone silent": "silent", "has failed": "failed", "has completed": "completed"}
    return next((kind for said, kind in words.items() if said in text), "answer")
