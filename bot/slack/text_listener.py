"""Ways to ask: the command, a mention, the shortcut, a direct message, a question in a thread of the bot."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.ask.chatter import is_chatter
from bot.slack.alerts import is_over
from bot.slack.blocks import Message
from bot.slack.boundary import Tell, answering, attempt, to_person, whispering
from bot.slack.commands import FOLLOWING, asks_for_diagnosis, job_in
from bot.slack.envelopes import EnvelopeKind
from bot.slack.inbox_readers import RetryLater
from bot.slack.listener_context import ListenerContext
from bot.state.inbox import Envelope, Once
from bot.state.runs import Run, RunRequest, Trigger
from core.errors import FirstfaultError

Payload = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Conversation:
    """The channel and thread where somebody asks."""

    team: str
    channel: str
    user: str
    thread: str = ""


class TextListener:
    """Everything that people write; each takes the body of an envelope."""

    def __init__(self, context: ListenerContext) -> None:
        self._context = context

    def concerns_us(self, envelope: Envelope) -> bool:
        """Whether a message is for the bot: direct, or in a thread of its own, even of one that is being posted."""
        body = envelope.body
        if envelope.kind == EnvelopeKind.ALERT:
            return body["channel"] in self._context.alert_channels and not is_over(body["text"])
        return body.get("channel_type") == "im" or self._thread_run(body) is not None or self._may_be_ours(body)

    def command(self, body: Payload, once: Once) -> None:
        """The slash command; all it answers is private but the diagnosis itself."""
        place = _Conversation(body["team_id"], body["channel_id"], body["user_id"])
        tell = to_person(self._context.client, {**body, "channel": place.channel, "user": place.user})
        self._serve(str(body.get("text", "")), place, Trigger.COMMAND, tell, once)

    def mention(self, body: Payload, once: Once) -> None:
        """A mention; within a thread of the bot it is a question, unless it is a command."""
        text, thread = body["text"], body.get("thread_ts", "")
        if self._thread_run(body) is not None and asks_for_diagnosis(text) is None:
            return  # the same message comes as a message of the thread
        if self._context.me and not mentions(text, self._context.me):
            return  # of a group of people, where every message comes: somebody else is meant
        place = _Conversation(body["team"], body["channel"], body.get("user", ""), thread)
        tell = whispering(self._context.client, place.channel, place.user, thread)
        self._serve(text, place, Trigger.MENTION, tell, once)

    def shortcut(self, body: Payload, once: Once) -> None:
        """The shortcut on a message that names a job; the answer goes into its thread."""
        message = body["message"]
        thread = str(message.get("thread_ts") or message["ts"])
        place = _Conversation(body["team"], body["channel"], body["user"], thread)
        text = str(message.get("text", ""))
        job = self._context.requests.named_in(text) or job_in(text)
        self._serve(job, place, Trigger.SHORTCUT, to_person(self._context.client, body, thread), once)

    def message(self, body: Payload, once: Once) -> None:
        """A question in a thread of the bot goes into the queue; another direct message may be a command."""
        text, thread = body["text"], body.get("thread_ts", "")
        if asks_for_diagnosis(text) is None:
            if (run_id := self._thread_run(body)) is not None:
                self._question(body, run_id)
                return
            if self._may_be_ours(body):
                raise RetryLater
        if body.get("channel_type") == "im":
            if is_chatter(text, self._context.me):
                return
            place = _Conversation(body["team"], body["channel"], body.get("user", ""), thread)
            tell = answering(self._context.client, place.channel, thread)
            self._serve(text, place, Trigger.MESSAGE, tell, once)

    def alert(self, body: Payload, once: Once) -> None:
        """A job that another program names is diagnosed in the thread of its message; nobody is told that none is."""
        try:
            job = self._context.requests.known_in(body["text"])
        except FirstfaultError as trouble:
            raise RetryLater from trouble  # a job that an alert names is not forgotten while jobs cannot be listed
        if job:
            place = _Conversation(body["team"], body["channel"], "", body["ts"])
            self._serve(job, place, Trigger.ALERT, _to_nobody, once)

    def _question(self, body: Payload, run_id: str) -> None:
        """Adding it twice adds it once; what people say to each other is none."""
        run = self._context.state.runs.get(run_id)
        direct, now = body.get("channel_type") == "im", self._context.state.clock()
        if run is None or not is_asked(body["text"], run, me=self._context.me, direct=direct, at=now):
            return
        team, channel, user = body["team"], body["channel"], body.get("user", "")
        threads, thread = self._context.state.threads, body["thread_ts"]
        question = threads.add(team, channel, thread, ts=body["ts"], user=user, text=body["text"])
        self._context.wake()
        if question is not None:
            self._context.heard(question)

    def _thread_run(self, body: Payload) -> str | None:
        """The run that the thread is about, if it is one of the bot's."""
        thread = body.get("thread_ts")
        return self._context.state.threads.run_of(body["team"], body["channel"], thread) if thread else None

    def _may_be_ours(self, body: Payload) -> bool:
        """Whether a message of the bot stands in the channel, or will at once, that the state does not know yet."""
        return bool(body.get("thread_ts")) and self._context.state.runs.is_posting(body["team"], body["channel"])

    def _serve(self, text: str, place: _Conversation, trigger: Trigger, tell: Tell, once: Once) -> None:
        def serve() -> Message | None:
            command = self._context.requests.meant(text)
            request = RunRequest(command.job, place.team, place.channel, place.user, trigger, place.thread)
            if command.verb in FOLLOWING:
                return self._context.following.serve(command.verb, request, once)
            return self._context.requests.serve(command, request, once)

        attempt(serve, tell, patient=once.patient)


def _to_nobody(_: Message) -> None:
    """Drop an answer: another program reads none."""


LAPSE = timedelta(hours=24)  # after the answer: whoever comes back to the thread later means somebody else
_MENTION = re.compile(r"<@([UW][A-Z0-9]{2,20})(?:\|[^>]{0,200})?>")


def mentions(text: str, who: str) -> bool:
    """Whether the text mentions this user."""
    return bool(who) and who in _MENTION.findall(text)


def is_asked(text: str, run: Run, *, me: str, direct: bool, at: datetime) -> bool:
    """Whether a message in the thread of a run is a question.

    In a thread that people began, and a day after the answer, only a mention is.
    """
    if is_chatter(text, me):
        return False
    lapsed = run.finished_at is not None and at - run.finished_at > LAPSE
    return direct or mentions(text, me) or not (run.thread_ts or lapsed)
