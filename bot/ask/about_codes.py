"""Answers about the numbers in messages: an Xid, a completion status, an errno, the works of a process group.

What a number means stands in ``codes.toml``, each kind with its source; where the job's lines hold it they are shown.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.ask.told_diagnosis import what_failed
from bot.ask.wanted_value import asks
from bot.ask.word_lists import word_lists
from bot.text import wording
from core.answer.search import seek

MAX_CODES = 2  # that one question names
TERSE = 7  # words of a question that is hardly more than the code: "status=12 vendor err 129 ???"


@dataclass(frozen=True, slots=True)
class CodeTable:
    """A kind of numbers: as ``codes.toml`` describes its fields."""

    asked: re.Pattern[str]
    line: str
    name: str
    means: Mapping[str, str]
    needs: bool
    otherwise: str


def codes(subject: Subject, question: Question) -> Lines | None:
    """What the numbers that a question names mean, and where they stand; None where it asks for no meaning of any."""
    if not (asks(question, "meaning") or len(question.text.split()) <= TERSE) or asks(question, "is_there"):
        return None
    sentences: list[str] = []
    shown: list[str] = []
    for table, code in _named(question.text):
        found = seek(subject.parsed, [re.compile(table.line.replace("CODE", code).encode(), re.IGNORECASE)], "it")
        means = table.means.get(code, table.otherwise)
        if not means or (table.needs and not found.lines):
            continue
        where = f" {wording.counted(found.total, 'line')} of this job hold it." if found.lines else ""
        where = where or f" No line of this job holds {table.name} {code}."
        sentences.append(cited(f"{table.name} {code}: {means}.{where}"))
        shown += quoted(found, 1)
    if not sentences:
        return None
    return [*sentences[:MAX_CODES], *dict.fromkeys(shown), what_failed(subject)]


def _named(text: str) -> Iterator[tuple[CodeTable, str]]:
    """The codes that a question names, by the kinds in their order; a number counts for its first kind."""
    taken: set[int] = set()
    for table in tables():
        for match in table.asked.finditer(text):
            if match.start(1) not in taken:
                taken.add(match.start(1))
                yield table, match[1]


@cache
def tables() -> tuple[CodeTable, ...]:
    """All kinds of numbers, those with a word of their own first."""
    entries = word_lists("codes")
    return tuple(
        CodeTable(
            re.compile(entry["asked"], re.IGNORECASE),
            entry["line"],
            entry["name"],
            entry["means"],
            entry.get("needs", False),
            entry.get("otherwise", ""),
        )
        for entry in entries.values()
    )
