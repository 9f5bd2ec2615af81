"""What crosses between the bot and its child processes: JSON lines in ASCII, checked by type, never pickles.

A child reads hostile logs, so the bot believes nothing that it says beyond these types.
"""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter

from bot.outgoing.errors import Failure
from bot.outgoing.redact import Redactor
from bot.state.answers import SavedAnswer
from bot.state.small_values import to_text
from bot.text.harmless import storable
from core.errors import Audience
from core.live.findings import LiveFinding, LiveKind

MAX_LINE = 64 << 20  # bytes; a diagnosis of 4,096 nodes has about 2 MB
MAX_SAYS, MAX_TEXT = 1_000, 1_000  # characters of a finding; twice what Slack and the terminal show of them


@dataclass(frozen=True, slots=True)
class Diagnose:
    """To the child: diagnose a job."""

    job: str


@dataclass(frozen=True, slots=True)
class TellHistory:
    """To the child: where the time of a run of training went; ``job``: its name, or one of its jobs."""

    job: str


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """One question of the same thread, and the reply that it got."""

    user: str
    text: str
    reply: str


@dataclass(frozen=True, slots=True)
class Ask:
    """To the child: a follow-up question, what was diagnosed, and what was said before."""

    text: str
    answer: SavedAnswer
    conversation: tuple[EarlierTurn, ...] = ()


@dataclass(frozen=True, slots=True)
class Draw:
    """To the child: draw report and plot of what was diagnosed into ``folder``, naming the ``version``."""

    answer: SavedAnswer
    folder: str
    version: str = ""


@dataclass(frozen=True, slots=True)
class Embed:
    """To the child: make the vectors that the fault library lacks."""


@dataclass(frozen=True, slots=True)
class FollowJobs:
    """To the child: follow jobs as ``WatchOrder`` after ``WatchOrder`` names them, until nobody orders any more."""


@dataclass(frozen=True, slots=True)
class ChildOrder:
    """To the child: what to do (``package.module:function``).

    temporary: the folder of its temporary files; empty: that with which it was started.
    """

    target: str
    body: Diagnose | TellHistory | Ask | Draw | Embed | FollowJobs
    temporary: str = ""


@dataclass(frozen=True, slots=True)
class ProgressMessage:
    """From the child: how far a step is."""

    step: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class AnswerMessage:
    """From the child: the answer as far as it is known."""

    answer: SavedAnswer
    final: bool


@dataclass(frozen=True, slots=True)
class ReplyMessage:
    """From the child: the reply to a question, or what was embedded; the last message."""

    text: str


@dataclass(frozen=True, slots=True)
class FailureMessage:
    """From the child: there is no answer, and why; the last message. ``trace`` is for our log only."""

    failure: Failure
    trace: str = ""
    audience: Audience = Audience.OPERATOR


@dataclass(frozen=True, slots=True)
class WatchOrder:
    """To a child that follows jobs: follow one, or leave it."""

    do: Literal["watch", "leave"]
    watch: str
    job: str = ""


@dataclass(frozen=True, slots=True)
class FindingMessage:
    """From a child that follows jobs: a finding; ``line`` is the raw log line that says so."""

    watch: str
    kind: LiveKind
    subject: str
    says: str
    file: str = ""
    number: int = 0
    line: str = ""


@dataclass(frozen=True, slots=True)
class LinesMessage:
    """From it: the job has said so many lines by now; ``settled``: it is over, and all is said."""

    watch: str
    lines: int
    settled: bool = False


@dataclass(frozen=True, slots=True)
class TroubleMessage:
    """From it: the job cannot be followed any more."""

    watch: str
    message: str


Message = (
    ProgressMessage | AnswerMessage | ReplyMessage | FailureMessage | FindingMessage | LinesMessage | TroubleMessage
)
AnyMessage = ChildOrder | WatchOrder | Message
_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(ChildOrder, Diagnose, TellHistory, Ask, Draw, Embed, FollowJobs),
        *(ProgressMessage, AnswerMessage, ReplyMessage, FailureMessage),
        *(WatchOrder, FindingMessage, LinesMessage, TroubleMessage),
    )
}


class BadMessage(ValueError):
    """A line that holds none of these messages."""


def is_last(message: Message) -> bool:
    """Whether nothing comes after it."""
    return isinstance(message, ReplyMessage | FailureMessage) or (isinstance(message, AnswerMessage) and message.final)


def to_line(message: AnyMessage) -> bytes:
    """One line, with its newline."""
    name = type(message).__name__
    body = type(message.body).__name__ if isinstance(message, ChildOrder) else ""
    return to_text([name, body, _adapter(name).dump_python(message)]).encode("ascii") + b"\n"


def of_line(line: bytes) -> AnyMessage:
    """The message of a line."""
    try:
        name, body, plain = json.loads(line)
        if body:
            plain["body"] = _adapter(body).validate_python(plain["body"])
        message: AnyMessage = _adapter(name).validate_python(plain)
        return message
    except (ValueError, TypeError, KeyError, RecursionError) as error:  # pydantic's ValidationError is a ValueError
        raise BadMessage(f"{len(line)} bytes that are no message") from error


def found(watch: str, finding: LiveFinding) -> FindingMessage:
    """A finding as it is told and stored: cut to what is shown, without secrets."""
    place, clean = finding.line, Redactor().redact
    says = clean(storable(finding.says[:MAX_SAYS]))[:MAX_SAYS]
    if place is None:
        return FindingMessage(watch, finding.kind, finding.subject[:MAX_TEXT], says)
    line = clean(storable(place.text[: 2 * MAX_TEXT]))[:MAX_TEXT]  # cut afterwards: half a key is not known as one
    return FindingMessage(
        watch, finding.kind, finding.subject[:MAX_TEXT], says, place.file[:MAX_TEXT], place.line, line
    )


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(_KINDS[name])
