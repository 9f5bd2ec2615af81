"""What people ask for and jobs seldom log: temperatures, who did something, who is on call; refused in one sentence.

Nothing is refused unsearched: where a line does speak of it, the line is shown.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as package_files

from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.ask.wanted_value import asks
from bot.text import wording
from core.answer.search import seek


@dataclass(frozen=True, slots=True)
class Unlogged:
    """A thing that is seldom logged: how people ask for it, what a line that tells it holds, how an answer names it.

    beside: the intent whose answer is the nearest thing that the logs do tell; empty where there is none.
    """

    asked: re.Pattern[str]
    pattern: re.Pattern[bytes]
    name: str
    beside: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal or the lines that make it needless. told: whether lines tell of it; beside: as of ``Unlogged``."""

    lines: Lines
    answered: bool
    beside: str = ""


def refused(subject: Subject, question: Question) -> Refusal | None:
    """What is said of a thing that is seldom logged; None where the question asks for no such thing."""
    text = f"{question.text.casefold()}\n{question.plain}"
    refusal = next((item for item in unlogged() if item.asked.search(text)), None)
    if refusal is None:
        return None
    node = question.nodes[0] if question.nodes else None
    about = f"a line about {refusal.name}"
    found = seek(subject.parsed, [refusal.pattern], about, node=node, latest=asks(question, "final"))
    if found.lines:
        first = f"{wording.counted(found.total, 'line')} may tell of {refusal.name}:"
        return Refusal([cited(first), *quoted(found, 3, refusal.pattern)], answered=True)
    where = f" of {node}" if node else ""
    read = f"{wording.counted(subject.diagnosis.coverage.lines, 'line')} were searched"
    says = f"I cannot tell: I looked for {refusal.name} and found no line{where} about it ({read})."
    return Refusal([cited(says)], answered=False, beside=refusal.beside)


@cache
def unlogged() -> tuple[Unlogged, ...]:
    """All such things, the special ones before the general ones."""
    entries = tomllib.loads(package_files("bot.ask").joinpath("unlogged.toml").read_text(encoding="utf-8"))
    return tuple(
        Unlogged(
            re.compile("|".join(entry["asked"])),
            re.compile(entry["said"].encode(), re.IGNORECASE),
            entry["name"],
            entry.get("beside", ""),
        )
        for entry in entries.values()
    )
