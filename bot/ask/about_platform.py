"""Answers from the events of Kubernetes: why a pod waits, does not start or lost its place; images and machines.

``kubectl get events`` prints type, reason, object and message in columns; the message of a warning is the answer.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bot.ask.subject import Subject
from bot.text.harmless import shorten
from core.answer.search import matching
from core.events.row_text import read_rows
from core.parsed import Parsed

MAX_ROWS = 4_000  # events that are read
MAX_MESSAGE = 360  # characters of a message in a sentence: those of a failed pull tell the reason at their end
# kubernetes/kubectl pkg/cmd/events and printers (1.29): LAST SEEN, TYPE, REASON, OBJECT, MESSAGE
_EVENT = re.compile(
    r"\b(?P<type>Normal|Warning)\s{1,20}(?P<reason>[A-Z]\w{2,60})\s{1,60}(?P<kind>[a-z]{2,40})/(?P<name>[\w.-]{1,120})\s{1,80}"
    r"(?P<message>\S.{0,2000})"
)
_LINE = re.compile(rb"\b(?:Normal|Warning)\s{1,20}[A-Z]\w{2,60}\s{1,60}[a-z]{2,40}/[\w.-]")
_ASSIGNED = re.compile(r"Successfully assigned \S{1,160} to ([\w.-]{1,120})")


@dataclass(frozen=True, slots=True)
class PlatformEvent:
    """An event: its row, type (Normal, Warning), reason, the object's name, and the message."""

    row: int
    type: str
    reason: str
    name: str
    message: str


def unplaced(subject: Subject) -> list[str]:
    """What the scheduler says of pods that it could not place until the end, a sentence each."""
    every = events(subject.parsed)
    last = {event.name: event for event in every if event.reason in ("FailedScheduling", "Scheduled")}
    waiting = [event for event in last.values() if event.reason == "FailedScheduling"]
    return [f"But {event.name} could not be placed at the end: {_message(event)}." for event in waiting]


def machine_of(subject: Subject, pod: str) -> str:
    """The machine on which a pod was placed, by job.json or by the scheduler's event; empty where nothing tells."""
    extra = subject.parsed.job.manifest.extra
    every = [value[pod] for value in extra.values() if isinstance(value, Mapping) and isinstance(value.get(pod), str)]
    known = [name for name in every if any(letter.isalpha() for letter in name) and name != pod]  # no bare address
    if known:
        return str(known[0])
    assigned = [
        match[1] for event in events(subject.parsed) if event.name == pod and (match := _ASSIGNED.search(event.message))
    ]
    return assigned[-1] if assigned else ""


def events(parsed: Parsed) -> tuple[PlatformEvent, ...]:
    """All such events of a job in the order of their lines."""
    rows, _ = matching(parsed, [_LINE], words=(b"normal ", b"warning "))
    texts = read_rows(parsed.files, parsed.table, np.array(rows[:MAX_ROWS], np.intp))
    found = ((row, _EVENT.search(text)) for row, text in sorted(texts.items()))
    return tuple(
        PlatformEvent(row, match["type"], match["reason"], match["name"], " ".join(match["message"].split()))
        for row, match in found
        if match
    )


def _message(event: PlatformEvent) -> str:
    return f"“{shorten(event.message, MAX_MESSAGE)}”"
