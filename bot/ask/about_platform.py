"""Answers from the events of Kubernetes: why a pod waits, does not start or lost its place; images and machines.

``kubectl get events`` prints type, reason, object and message in columns; the message of a warning is the answer.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.ask.told_diagnosis import what_failed
from bot.ask.wanted_value import yes_or_no
from bot.text.harmless import shorten
from core.answer.job_lookup import found_rows
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
_ASKS_MACHINE = re.compile(
    r"\b(?:which|what|welche\w{0,2}) (?:\w{1,12} )?(?:machine|node|host|server|vm|instance|maschine|knoten)\b"
    r".{0,40}\b(?:on|run\w{0,4}|placed|assigned|auf|lief|is|ist|was)\b"
)
# What a question is about, and the reasons and messages that tell of it; what comes after it when it went well
_ABOUT = (
    (re.compile(r"\bimages?\b|\bpull"), re.compile(r"pull|image", re.IGNORECASE), ("Pulled", "Started")),
    (
        re.compile(r"\bmount|\bvolume|\bpvc\b"),
        re.compile(r"mount|volume", re.IGNORECASE),
        ("SuccessfulMountVolume", "Pulled", "Created", "Started"),
    ),
    (re.compile(r"\bpending\b|\bschedul|\bplaced\b"), re.compile(r"Schedul|nodes are available"), ("Scheduled",)),
    (re.compile(r"\bevict"), re.compile(r"evict", re.IGNORECASE), ("Scheduled",)),
    (re.compile(r"\bpre.?empt"), re.compile(r"preempt", re.IGNORECASE), ("Scheduled",)),
    (
        re.compile(r"(?:n.?t|\bnot|\bnever|\bwhy)\b.{0,40}\b(?:start|com\w{1,3} up\b|join|run)"),
        re.compile(r""),
        ("Started",),
    ),
)


@dataclass(frozen=True, slots=True)
class PlatformEvent:
    """An event: its row, type (Normal, Warning), reason, the object's name, and the message."""

    row: int
    type: str
    reason: str
    name: str
    message: str


def platform(subject: Subject, question: Question) -> Lines | None:
    """What the events of an object say; None where there are none, or none of what is asked for."""
    if _ASKS_MACHINE.search(question.text.casefold()):
        known = {node: machine for node in question.nodes if (machine := machine_of(subject, node))}
        return (
            [cited(f"{'; '.join(f'{node} ran on {machine}' for node, machine in known.items())}.")] if known else None
        )
    every = events(subject.parsed)
    about = next(
        (item for item in _ABOUT if item[0].search(question.plain) or item[0].search(question.text.casefold())), None
    )
    if not every or about is None:
        return None
    general = about[1].pattern and not (question.nodes or question.ranks)
    mine = [event for event in every if _is_meant(event, question)] or (every if general else ())
    warnings = [
        event for event in mine if event.type == "Warning" and about[1].search(f"{event.reason} {event.message}")
    ]
    if not warnings:
        told = [event for event in mine if about[1].pattern and about[1].search(f"{event.reason} {event.message}")]
        if not told:
            return None
        yes = "Yes, " if yes_or_no(question) and told[-1].reason in about[2] else ""
        return [cited(f"{yes}{told[-1].name}: {told[-1].reason}, {_message(told[-1])}."), *_shown(subject, told[-1])]
    first = max(warnings, key=lambda event: len(event.message))
    later = [event for event in mine if event.row > first.row and event.name == first.name and event.reason in about[2]]
    says = f"{first.name}: {first.reason}, {_message(first)}"
    placed = first.reason != "FailedScheduling" and first.name in subject.parsed.nodes
    if placed and (machine := machine_of(subject, first.name)):
        says += f"; its machine is {machine}"
    went = f"It went well afterwards: {later[-1].reason}, {_message(later[-1])}." if later else ""
    others = [event for event in warnings if event.reason != first.reason]
    also = dict.fromkeys(f"{event.reason}, {shorten(event.message, 120)}" for event in others[-2:])
    more = f"Also of it: {'; '.join(also)}."
    return [
        cited(f"{says}."),
        *([went] if went else []),
        *([cited(more)] if others else []),
        *_shown(subject, first),
        what_failed(subject),
    ]


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


def _is_meant(event: PlatformEvent, question: Question) -> bool:
    """Whether an event is of an object that a question names, whole or by the end of its name: "worker 1"."""
    text = re.sub(r"(?<=[a-z]) (?=[0-9])", "-", question.text.casefold())
    parts = event.name.casefold().split("-")
    ends = ["-".join(parts[at:]) for at in range(len(parts)) if any(part.isalpha() for part in parts[at:])]
    return event.name in question.nodes or not set(ends).isdisjoint(re.findall(r"[a-z0-9-]{1,120}", text))


def _message(event: PlatformEvent) -> str:
    return f"“{shorten(event.message, MAX_MESSAGE)}”"


def _shown(subject: Subject, event: PlatformEvent) -> list[str]:
    return quoted(found_rows(subject.parsed, "", [event.row]), 1)
