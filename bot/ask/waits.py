"""Lines that tell of a wait or a time-out, and how long the longest was."""

import re

from bot.ask.question import Question
from bot.ask.reply_lines import cited, quoted
from bot.ask.subject import Subject
from bot.text import wording
from core.answer import job_lookup
from core.answer.search import seek
from core.live.findings import duration


def waits(subject: Subject, question: Question) -> list[str]:
    """Lines that tell of a wait or a time-out, of who is named where those say so; the longest wait that they tell."""
    rank = question.ranks[0] if question.ranks else None
    node = question.nodes[0] if question.nodes and rank is None else None
    found = seek(subject.parsed, [_WAITS], "a wait or a time-out", node=node, rank=rank)
    if not found.lines and (node or rank is not None):
        found = seek(subject.parsed, [_WAITS], "a wait or a time-out")
    if not found.lines:
        return []
    timed = [(seconds, at) for at, line in enumerate(found.lines) if (seconds := _waited(line.text)) is not None]
    longest, at = max(timed, key=lambda item: (item[0], -item[1]), default=(None, 0))
    who = wording.names(dict.fromkeys(filter(None, found.who)), 4, 80)
    of = f" by {who}" if who else ""
    length = f", the longest of {duration(longest)}" if longest is not None else ""
    shown = job_lookup.LookResult("", found.lines[at:], found.who[at:], found.clock[at:])
    return [
        cited(f"Some waited: {wording.counted(found.total, 'line')}{of} tell of a wait or a time-out{length}."),
        *quoted(shown, 1, _WAITS),
    ]


def _waited(text: str) -> float | None:
    """The seconds that a line says somebody waited; None where it says none."""
    match = _WAIT_LENGTH.search(text)
    if match is None:
        return None
    unit = (match[2] or "s").casefold()
    return float(match[1]) * (0.001 if unit.startswith(("ms", "milli")) else 60.0 if unit.startswith("m") else 1.0)


# As gloo ("Timed out waiting 12000ms") and c10d ("ran for 600031 milliseconds before timing out") say it
_WAITS = re.compile(
    rb"timed out|timing out|\bwaited\b|still waiting|\bwaiting (?:for )?[0-9]|\b(?:gave|gives|giving) up\b"
    rb"|watchdog caught|no heartbeat for"
    rb"|deadline exceeded|\bstill (?:in|at|inside|blocked|stuck|running)\b[^\n]{0,60}\b(?:after|for|since) [0-9]",
    re.IGNORECASE,
)
_WAIT_LENGTH = re.compile(
    r"\b(?:waiting|waited|ran for|(?:timed out|gave up) after|after waiting|heartbeat for|no response for"
    r"|still (?:in|at|inside|blocked|stuck|running)\b.{0,60}?\b(?:after|for))(?: for| after)? "
    r"([0-9]{1,12}(?:\.[0-9]{1,6})?) ?(ms|milliseconds?|s|secs?|seconds?|min|minutes?)\b",
    re.IGNORECASE,
)
