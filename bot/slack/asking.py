"""Ways to ask: the command, a mention, the shortcut, a direct message, a question in a thread of the bot."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.slack.boundary import Tell, answering, attempt, responding, whispering
from bot.slack.parts import Parts
from bot.slack.words import Verb, Wish, asks_for_diagnosis, job_in, read_command
from bot.state.runs import Asking, Trigger

Payload = Mapping[str, Any]
_SPEECH = (None, "thread_broadcast", "file_share")  # subtypes of messages that a person has written


@dataclass(frozen=True, slots=True)
class Place:
    """Where somebody asks."""

    team: str
    channel: str
    thread: str = ""


class Asks:
    """Command, mention, shortcut."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def command(self, ack: Callable[[], None], command: Payload, respond: Callable[..., None]) -> None:
        """The slash command; all it answers is private but the diagnosis itself."""
        ack()
        self._ask(
            text=str(command.get("text", "")),
            place=Place(command["team_id"], command["channel_id"]),
            user=command["user_id"],
            trigger=Trigger.COMMAND,
            tell=self._private(respond, command["channel_id"], command["user_id"]),
        )

    def mention(self, event: Payload, body: Payload) -> None:
        """A mention; within a thread of the bot it is a question, unless it is a command."""
        team, channel, user = body["team_id"], event["channel"], event.get("user", "")
        thread = str(event.get("thread_ts", ""))
        if _by_machine(event) or not self._parts.state.seen.first_time(team, channel, event["ts"], "mention"):
            return
        text = str(event.get("text", ""))
        if thread and self._parts.state.threads.run_of(team, channel, thread) and asks_for_diagnosis(text) is None:
            return  # the same message comes as a message of the thread
        self._ask(
            text=text,
            place=Place(team, channel, thread),
            user=user,
            trigger=Trigger.MENTION,
            tell=whispering(self._parts.client, channel, user, thread),
        )

    def shortcut(self, ack: Callable[[], None], shortcut: Payload, respond: Callable[..., None]) -> None:
        """The shortcut on a message that names a job; the answer goes into its thread."""
        ack()
        message, channel, user = shortcut["message"], shortcut["channel"]["id"], shortcut["user"]["id"]
        thread = str(message.get("thread_ts") or message["ts"])
        self._ask(
            text=job_in(str(message.get("text", ""))),
            place=Place(shortcut["team"]["id"], channel, thread),
            user=user,
            trigger=Trigger.SHORTCUT,
            tell=self._private(respond, channel, user, thread),
        )

    def _ask(self, *, text: str, place: Place, user: str, trigger: Trigger, tell: Tell) -> None:
        _serve(self._parts, read_command(text), place, user, trigger, tell)

    def _private(self, respond: Callable[..., None], channel: str, user: str, thread: str = "") -> Tell:
        return responding(respond, whispering(self._parts.client, channel, user, thread))


class Messages:
    """Messages: direct ones, and questions in the bot's own threads."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def remember(self, event: Payload, body: Payload, next: Callable[[], Any]) -> Any:  # noqa: A002 Bolt's name
        """Before Slack is told that the message has arrived, a question is in the queue."""
        thread = str(event.get("thread_ts", ""))
        text = str(event.get("text", ""))
        if thread and text.strip() and not _by_machine(event) and asks_for_diagnosis(text) is None:
            user = str(event.get("user", ""))
            self._parts.state.threads.add(
                body["team_id"], event["channel"], thread, ts=event["ts"], user=user, text=text
            )
        return next()

    def message(self, event: Payload, body: Payload) -> None:
        """A question is in the queue already; a direct message may be a command."""
        if _by_machine(event):
            return
        self._parts.wake()
        team, channel, thread = body["team_id"], event["channel"], str(event.get("thread_ts", ""))
        text = str(event.get("text", ""))
        own = thread and self._parts.state.threads.run_of(team, channel, thread)
        if event.get("channel_type") != "im" or (own and asks_for_diagnosis(text) is None):
            return
        if self._parts.state.seen.first_time(team, channel, event["ts"], "message"):
            tell = answering(self._parts.client, channel, thread)
            self._ask(text=text, place=Place(team, channel, thread), user=event.get("user", ""), tell=tell)

    def _ask(self, *, text: str, place: Place, user: str, tell: Tell) -> None:
        wish = read_command(text)
        if wish.verb is Verb.NOTHING and (job := job_in(text)):
            wish = read_command(job)
        _serve(self._parts, wish, place, user, Trigger.MESSAGE, tell)


def _serve(parts: Parts, wish: Wish, place: Place, user: str, trigger: Trigger, tell: Tell) -> None:
    asking = Asking(wish.job, place.team, place.channel, user, trigger, place.thread)
    attempt(lambda: parts.desk.serve(wish, asking), tell)


def _by_machine(event: Payload) -> bool:
    """Whether no person said it just now: bots, edits, deletions, joins."""
    return bool(event.get("bot_id") or event.get("hidden") or event.get("subtype") not in _SPEECH)
