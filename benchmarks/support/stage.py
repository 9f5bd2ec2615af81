"""What these tests hold: a local Slack, bots in this process or in others, and what must be there in the end."""

import json
import os
import shutil
import threading
import time
import urllib.error
import urllib.request
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import slacksim
from benchmarks.support import quick
from benchmarks.support.forked_children import ForkedProcess, started
from benchmarks.support.patience import PATIENCE
from benchmarks.support.processes import hang_up
from bot.app import Bot
from bot.jobs.tasks import TASKS as REAL
from bot.settings import load_settings
from bot.slack.connect import Socket
from bot.state.leases import LEASE
from bot.state.runs import Run
from bot.state.state import State, open_state
from slacksim import Channel, Limits, Message, Slack, Snapshot, Timing, User, Workspace

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
FINISHED = "Run again"  # the button of a message that is over
VERSION = "0.1.0"
ROOMS = tuple(f"C0ROOM{number:02}" for number in range(20))  # channels: posts are limited by channel
TIMING = Timing(retries=(0.05, 3.0, 6.0, 9.0), ping=2.0)  # Slack's own retries are minutes
PATIENT = replace(TIMING, ack=30.0, trigger=PATIENCE)  # for who tests what is answered, and not how soon
DETAILS = "Ask here, without a mention"  # stands below the evidence


def workspace() -> Workspace:
    plain = Workspace()
    members = plain.channels[0].members
    rooms = tuple(Channel(room, room.lower(), members) for room in ROOMS)
    return Workspace(channels=(*plain.channels, *rooms))


@contextmanager
def local_slack(*, limits: bool = False, timing: Timing = TIMING) -> Iterator[Slack]:
    with slacksim.start(workspace(), timing=timing, limits=Limits(enforced=limits)) as running:
        yield running


def environment_of(slack: Slack, **places: object) -> dict[str, str]:
    """The settings of a bot in this Slack; places: its folders, and whatever else is set."""
    app = slack.workspace.app
    told = {
        "SLACK_API_URL": slack.api_url,
        "SLACK_BOT_TOKEN": app.bot_token,
        "SLACK_APP_TOKEN": app.app_token,
        "SLACK_SIGNING_SECRET": app.signing_secret,
        "LISTEN": "127.0.0.1:0",
        "HEALTH": "127.0.0.1:0",
        "APPROVERS": "U0ALICE",
    }
    return _variables({**told, **places})


def _variables(settings: Mapping[str, object]) -> dict[str, str]:
    return {f"FIRSTFAULT_{name.upper()}": str(value) for name, value in settings.items()}


@contextmanager
def running_bot(
    slack: Slack, environment: Mapping[str, str], tasks: Mapping[str, str], *, transport: str, lease: timedelta = LEASE
) -> Iterator[Bot]:
    """The bot as ``firstfault serve`` starts it, in this process; its children inherit the environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**environment, "FIRSTFAULT_SLACK_TRANSPORT": transport}.items():
            patch.setenv(name, value)
        bot = Bot(load_settings(), version=VERSION, tasks=tasks, lease=lease)
        try:
            bot.start()
            if transport == "http":
                slack.use_http(f"http://127.0.0.1:{bot.request_port}/slack/events")
            yield bot
        finally:
            if isinstance(bot._transport, Socket):
                hang_up(slack, bot._transport._handler.client)  # its own way takes four seconds
            bot.stop(0)


_LOOKED_AT: dict[Path, State] = {}


def looked_at(folder: Path) -> State:
    """The state there, for who looks again and again; until another one is looked at.

    To open it checks all of it and takes its lock: 4 ms, in which no bot writes.
    """
    if folder not in _LOOKED_AT:
        while _LOOKED_AT:
            _LOOKED_AT.popitem()[1].close()
        _LOOKED_AT[folder] = open_state(folder / "state.db")
    return _LOOKED_AT[folder]


@dataclass(frozen=True)
class Stage:
    """One Slack, one state, one folder of jobs; ``environment`` is what bots and their children see."""

    slack: Slack
    home: Path
    environment: Mapping[str, str]

    @property
    def alice(self) -> User:
        return self.slack.user("alice")

    @property
    def state(self) -> Path:
        return Path(self.environment["FIRSTFAULT_STATE"])

    @property
    def jobs(self) -> Path:
        return Path(self.environment["FIRSTFAULT_JOBS"])

    def job(self, name: str) -> str:
        """A job that may be asked for."""
        place = self.jobs / name
        (place / "logs").mkdir(parents=True, exist_ok=True)
        log = place / "logs" / "rank_0.log"
        log.write_text("RuntimeError: it failed\n", encoding="ascii")  # a job without logs is not queued
        (place / "job.json").write_text(json.dumps({"job_id": name, "status": "FAILED"}), encoding="ascii")
        return name

    def real_job(self, name: str, example: Path) -> str:
        """An example under another name."""
        own, new = (f'"job_id": "{job}"'.encode() for job in (example.name, name))
        self.jobs.joinpath(name).mkdir()
        for file in sorted(example.rglob("*")):
            place = self.jobs / name / file.relative_to(example)
            if file.is_dir():
                place.mkdir()
            else:
                place.write_bytes(file.read_bytes().replace(own, new))
        return name

    def let_go(self, job: str) -> None:
        """A ``gate`` job ends now."""
        (self.home / job).touch()

    def starts(self, job: str) -> list[int]:
        """The processes that worked on it."""
        file = self.home / quick.STARTS
        lines = file.read_text(encoding="ascii").splitlines() if file.exists() else []
        return [int(line.split()[1]) for line in lines if line.split()[0] == job]

    # --- bots ---

    @contextmanager
    def bot(
        self, *, transport: str = "http", real: bool = False, lease: timedelta = LEASE, **settings: object
    ) -> Iterator[Bot]:
        """In this process."""
        environment = {**self.environment, **_variables(settings)}
        tasks = REAL if real else quick.TASKS
        with running_bot(self.slack, environment, tasks, transport=transport, lease=lease) as bot:
            yield bot

    @contextmanager
    def other_bot(self, *, fresh: bool = False, **settings: object) -> Iterator[ForkedProcess]:
        """In a process of its own, connected; fresh: not forked, whatever its children are."""
        environment = {**os.environ, **self.environment, **_variables(settings), "PYTHONPATH": str(ROOT)}
        number = self.slack.snapshot().connections + 1
        with (
            (self.home / "log").open("ab") as log,
            started("benchmarks.support.hasty_bot", env=environment, cwd=self.home, stderr=log, fresh=fresh) as process,
        ):
            self.slack.wait_for_connection(PATIENCE, number)
            yield process

    # --- what is there ---

    def run(self, job: str) -> Run | None:
        """The newest run about it, as the state on the disk has it."""
        state = looked_at(self.state)
        rows = state.database.query("SELECT id FROM runs WHERE job = ? ORDER BY seq DESC LIMIT 1", job)
        return state.runs.get(rows[0]["id"]) if rows else None

    def wait_told(self, *jobs: str) -> None:
        """Until everything was said about these jobs."""
        left = deque(jobs)

        def told() -> bool:
            while left:  # who was seen told stays so: to look at all again would take a core as long as this waits
                run = self.run(left[0])
                if run is None or not run.told or self.to_draw(run):
                    return False
                left.popleft()
            return True

        eventually(told, f"{', '.join(jobs)} told")

    def to_draw(self, run: Run) -> bool:
        """Whether its pictures are still to come."""
        rows = looked_at(self.state).database.query("SELECT 1 FROM drawings WHERE run = ? AND told = 0", run.id)
        return bool(rows)

    def parents(self, job: str) -> tuple[Message, ...]:
        """Messages about a job that stand in a channel, and not in a thread."""
        return _about(self.slack.snapshot(), job)

    def parent(self, job: str) -> Message:
        return self.wait_for_words(job, "")

    def wait_for_words(self, job: str, words: str) -> Message:
        """The newest message about the job, once it holds these words."""

        def holds(now: Snapshot) -> Message | None:
            found = _about(now, job)
            return found[-1] if found and words in found[-1].all_text else None

        return self.slack.wait_for(holds, PATIENCE, f"{words!r} about {job}")

    def details(self, job: str) -> Message:
        """The evidence below the message, with buttons for raw lines."""

        def details(now: Snapshot) -> Message | None:
            return next((m for m in now.everything if m.is_reply and DETAILS in m.all_text and job in m.text), None)

        return self.slack.wait_for(details, PATIENCE, f"the evidence of {job}")

    def thread(self, job: str) -> Counter[str]:
        """What the bot said below it, by kind."""
        (parent,) = self.parents(job)
        messages = [m for m in self.slack.snapshot().thread(parent) if m.by_app]
        return Counter(kind_of(message) for message in messages)


def _about(now: Snapshot, job: str) -> tuple[Message, ...]:
    mine = (m for m in now.everything if m.by_app and not m.is_reply and not m.only_for)
    return tuple(message for message in mine if job in message.all_text)


WHOLE = Counter({"details": 1, "faults": 1, "report": 1})  # the thread below an answer


def assert_said_once(stage: Stage, *jobs: str) -> None:
    """One message for each job, finished, and each thing once in its thread."""
    for job in jobs:
        (parent,) = stage.parents(job)
        assert FINISHED in parent.all_text
        assert stage.thread(job) == WHOLE


def eventually(condition: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Wait for something that is no change of Slack."""
    end, pause = time.monotonic() + seconds, threading.Event()
    while not condition():
        assert time.monotonic() < end, f"not seen: {what}"
        pause.wait(0.05)


def health(port: int | None) -> tuple[int, dict[str, bool]]:
    """The status of /healthz, and its parts."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=PATIENCE) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def metric(port: int | None, name: str) -> float:
    """One line of /metrics, by its name and labels."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE) as answer:
        lines: list[str] = answer.read().decode().splitlines()
    found = [line for line in lines if line.startswith(name + " ")]
    return float(found[0].split()[-1]) if found else 0.0


def kind_of(message: Message) -> str:
    if message.files:
        return "report"
    text: Any = message.all_text
    if DETAILS in text:
        return "details"
    return "faults" if "known fault" in text else text


def make_stage(slack: Slack, shared: Path, home: Path) -> Stage:
    shutil.copy(shared / quick.ANSWER, home)
    shutil.copytree(shared / "library", home / "library")  # its vectors are made: a minute of one core
    (home / "jobs").mkdir()
    places = {name: home / name for name in ("jobs", "state", "library")}
    return Stage(slack, home, {"QUICK": str(home), **environment_of(slack, **places, cache=shared / "cache")})
