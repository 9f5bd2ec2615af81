"""What crosses between the bot and the process that follows jobs: JSON lines in ASCII, checked by type.

That process reads hostile logs, so the bot believes nothing that it says beyond these types.
"""

import json
from dataclasses import asdict, dataclass
from typing import Literal

from pydantic import TypeAdapter

from bot.outgoing.redact import Redactor
from bot.state.small_values import to_text
from bot.text.harmless import storable
from core.live.findings import LiveFinding, LiveKind

MAX_LINE = 1 << 20  # bytes; a message has some kB at most (MAX_TEXT), so a longer one is none of ours
MAX_SAYS, MAX_TEXT = 1_000, 1_000  # characters; twice what Slack and the terminal show of them


@dataclass(frozen=True, slots=True)
class WatchOrder:
    """To the process: follow a job, or leave it."""

    do: Literal["watch", "leave"]
    watch: str
    job: str = ""


@dataclass(frozen=True, slots=True)
class FindingMessage:
    """A finding about a watched job; ``line`` is the raw log line that says so."""

    watch: str
    kind: LiveKind
    subject: str
    says: str
    file: str = ""
    number: int = 0
    line: str = ""


@dataclass(frozen=True, slots=True)
class LinesMessage:
    """The job has said so many lines by now; ``settled``: it is over, and all is said."""

    watch: str
    lines: int
    settled: bool = False


@dataclass(frozen=True, slots=True)
class TroubleMessage:
    """The job cannot be followed any more."""

    watch: str
    message: str


WatchMessage = FindingMessage | LinesMessage | TroubleMessage
_TOLD: TypeAdapter[WatchMessage] = TypeAdapter(WatchMessage)
_COMMAND = TypeAdapter(WatchOrder)


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


def to_line(message: WatchOrder | WatchMessage) -> bytes:
    """One line, with its newline."""
    return to_text(asdict(message)).encode("ascii") + b"\n"


class BadLine(ValueError):
    """Not a line of ours."""


def command_of(line: bytes) -> WatchOrder:
    """The command of a line."""
    try:
        return _COMMAND.validate_python(json.loads(line))
    except (ValueError, RecursionError) as error:  # pydantic's ValidationError is a ValueError
        raise BadLine(f"{len(line)} bytes that are no command") from error


def told_of(line: bytes) -> WatchMessage:
    """What the process told in a line."""
    try:
        return _TOLD.validate_python(json.loads(line))
    except (ValueError, RecursionError) as error:
        raise BadLine(f"{len(line)} bytes that are no message") from error
