"""What the end-to-end tests hold: the real bot of ``firstfault serve``, in this process, in a local Slack."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import slacksim
from benchmarks.support import quick
from benchmarks.support.patience import PATIENCE
from benchmarks.support.stage import FINISHED, environment_of, running_bot
from bot.app import Bot
from bot.jobs.tasks import LOAD, TASKS
from bot.slack.manifest import EVENTS, scopes
from core.baseline import choose_baseline
from core.diagnose import diagnose
from slacksim import Channel, Limits, Member, Message, Outcome, Slack, Timing, User, Workspace
from slacksim.journal import Call
from sources.folder import JobsFolder
from tests.support import drawn_once

ALERTS = "C0ALERTS"
ELSEWHERE = "C0GENERAL"  # a channel that the bot is not in
SHARED, PARTNER = "C0SHARED", "T0PARTNER"  # a channel of Slack Connect, and the other organisation, of which dave is
# No child is held ready, and none looks for missing vectors: most bots of these tests end before anybody asks for it,
# and each child takes a second or two of a core. Bots with both are in tests/contract and tests/bot/test_serve.py.
_TASKS = {name: task for name, task in TASKS.items() if name != LOAD} | {
    "embed": quick.TASKS["embed"],
    "draw": drawn_once.TASK,
}
_ROOMS = 40
# Slack's own three seconds, and what happens after them, are the matter of tests/slacksim and tests/bot/slack.
_TIMING = Timing(ack=PATIENCE, trigger=PATIENCE, retries=(0.05, 0.1), ping=5.0)


def workspace() -> Workspace:
    """The demo's, with a channel for every test: what one asks, another is not told of."""
    plain = Workspace()
    everybody = plain.channels[0].members
    rooms = tuple(Channel(f"C0ROOM{number:02}", f"room-{number:02}", everybody) for number in range(_ROOMS))
    asked_for = replace(
        plain.app, scopes=tuple(scopes()), events=tuple(EVENTS)
    )  # 53: no more than the manifest asks for
    dave = Member("U0DAVE", "dave", "Dave Dent", team=PARTNER)
    shared = Channel(SHARED, "shared", (*everybody, dave.id))
    members = (*plain.members, dave)
    return Workspace(members=members, channels=(*plain.channels, shared, *rooms), app=asked_for)


@contextmanager
def local_slack(lacking: tuple[str, ...] = (), organisation: str = "") -> Iterator[Slack]:
    """A local Slack that counts no calls: how the bot lives within the limits is tested elsewhere.

    lacking: types of blocks that it does not have. organisation: that has installed the app for all its workspaces.
    """
    played = replace(workspace(), lacking=lacking, organisation=organisation)
    with slacksim.start(played, timing=_TIMING, limits=Limits(enforced=False)) as running:
        yield running


@contextmanager
def serving(slack: Slack, folders: "Folders", *, transport: str = "http", **settings: object) -> Iterator["Scene"]:
    """The bot as ``firstfault serve`` starts it, all of it from the environment, which its children inherit."""
    places = {name: getattr(folders, name) for name in ("state", "library", "cache", "jobs")}
    environment = environment_of(slack, **places, **settings) | {"DRAWN": str(folders.jobs.parent / "drawn")}
    with running_bot(slack, environment, _TASKS, transport=transport) as bot:
        if transport == "socket":
            slack.wait_for_connection(PATIENCE)
        yield Scene(slack, bot, folders)


@dataclass(frozen=True)
class Folders:
    """Where one bot keeps what it must not forget, and where its jobs are."""

    home: Path
    jobs: Path
    cache: Path

    @property
    def state(self) -> Path:
        return self.home / "state"

    @property
    def library(self) -> Path:
        return self.home / "library"


@dataclass(frozen=True)
class Scene:
    """The bot and its Slack, with the words in which tests tell a story."""

    slack: Slack
    bot: Bot
    folders: Folders

    def user(self, name: str) -> User:
        return self.slack.user(name)

    def ask(self, job: str, room: str = ALERTS, *, by: str = "alice") -> Outcome:
        return self.user(by).command(f"/diagnose {job}", room)

    def parent(self, job: str, room: str = ALERTS) -> Message:
        """The newest message about the job, whatever it says by now."""
        return self.slack.wait_for(lambda now: self._about(now, job, room), PATIENCE, f"a message about {job}")

    def shown(self, message: Message) -> Message:
        """The message as it is now."""
        return self.slack.snapshot().message(message.channel, message.ts)

    def until(self, message: Message, words: str) -> Message:
        """The message, once it holds these words."""

        def holds(now: slacksim.Snapshot) -> Message | None:
            shown = now.message(message.channel, message.ts)
            return shown if words in shown.all_text else None

        return self.slack.wait_for(holds, PATIENCE, f"{words!r} in {message.ts}")

    def answer(self, job: str, room: str = ALERTS) -> Message:
        """The message about the job, once it is over."""
        return self.until(self.parent(job, room), FINISHED)

    def answer_after(self, before: Message, job: str) -> Message:
        """The message of a later run, once it is over."""

        def found(now: slacksim.Snapshot) -> Message | None:
            newest = self._about(now, job, before.channel)
            return newest if newest and newest.ts > before.ts and FINISHED in newest.all_text else None

        return self.slack.wait_for(found, PATIENCE, f"a second answer about {job}")

    def diagnosed(self, job: str, room: str = ALERTS, *, by: str = "alice") -> Message:
        """Ask for a job, and wait for all that is said of it: the answer, and in its thread the report."""
        self.ask(job, room, by=by)
        return self.in_full(job, room)

    def in_full(self, job: str, room: str = ALERTS) -> Message:
        """The answer, once all that is said of the job is there."""
        answer = self.answer(job, room)
        self.details(answer)
        return self.shown(answer)

    def details(self, message: Message) -> Message:
        """What stands below the answer: its evidence, with buttons for raw lines."""
        return self.in_thread(message, "Ask here, without a mention")

    def in_thread(self, message: Message, words: str) -> Message:
        """The newest message of the bot in the thread that holds these words."""

        def found(now: slacksim.Snapshot) -> Message | None:
            replies = [reply for reply in now.thread(message) if reply.by_app and words in reply.all_text]
            return replies[-1] if replies else None

        return self.slack.wait_for(found, PATIENCE, f"{words!r} in the thread of {message.ts}")

    def cited_first(self, job: str) -> str:
        """The first line of the first evidence, as the core has it: what the window of raw lines must show."""
        source = JobsFolder(self.folders.jobs)
        asked, known = source.job(job), [source.manifest(job_id) for job_id in source.job_ids()]
        good = [source.job(job_id) for job_id in choose_baseline(asked.manifest, known)]
        return diagnose(asked, good).events[0].lines[0].text

    def copied(self, message: Message) -> Message:
        """The message as it was given, as one more in its channel: what somebody still has on the screen."""
        server = self.slack._server
        return server.call(lambda: server.state.put(replace(message, ts=server.state.new_ts())))

    @staticmethod
    def for_all(message: Message) -> Message:
        """What was for one person's eyes, as if everybody had it."""
        return replace(message, only_for=None)

    def told(self, name: str, words: str) -> Message:
        """What only this person sees."""
        return self.user(name).wait_for_ephemeral(words, PATIENCE)

    def posts(self, room: str) -> tuple[Call, ...]:
        """Every message that the bot posted in the channel."""
        return tuple(
            call for call in self.slack.journal.calls("chat.postMessage", "ok") if call.args["channel"] == room
        )

    def edits(self, message: Message) -> tuple[Call, ...]:
        """Every edit of the message, oldest first."""
        calls = self.slack.journal.calls("chat.update", "ok")
        return tuple(call for call in calls if call.args["ts"] == message.ts)

    @staticmethod
    def _about(now: slacksim.Snapshot, job: str, room: str) -> Message | None:
        spoken = [message for message in now.messages(room) if message.by_app and job in message.text]
        return next((message for message in reversed(spoken) if not message.is_reply), None)


def text_of(call: Call) -> str:
    """All that a person could read of a message as it was posted or edited."""
    return Message("", "", "", str(call.args.get("text", "")), tuple(call.args.get("blocks") or ())).all_text
