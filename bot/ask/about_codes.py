"""Answers about the numbers in messages: an Xid, a completion status, an errno, the works of a process group.

What a number means stands in ``codes.toml``, each kind with its source; where the job's lines hold it they are shown.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.ask.told_diagnosis import what_failed
from bot.ask.wanted_value import asks
from bot.ask.word_lists import word_lists
from bot.text import wording
from core.answer.job_lookup import found_rows
from core.answer.search import matching, seek
from core.events.row_text import read_rows

MAX_CODES = 2  # that one question names
MAX_ROWS = 4_000  # lines of process groups that are read
MAX_LISTED = 4  # groups of ranks that are told apart
TERSE = 7  # words of a question that is hardly more than the code: "status=12 vendor err 129 ???"
# torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp (2.4 and later), the watchdog's report
_WORKS = re.compile(rb"last enqueued work:? {0,2}(-?[0-9]{1,12}), last completed work:? {0,2}(-?[0-9]{1,12})")
_OF_WORKS = (
    "Of each process group the watchdog tells the number of the last collective that was put into its queue (enqueued) "
    "and of the last that finished (completed)."
)
_ASKS_WORKS = re.compile(r"last (?:enqueued|completed)(?: nccl)? work|\benqueued\b.{0,60}\bcompleted\b", re.IGNORECASE)


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
    if _ASKS_WORKS.search(question.text) and (told := _works(subject)):
        return told
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


def _works(subject: Subject) -> Lines:
    """What the last enqueued and completed works of the ranks say: which collective was the first not to finish."""
    parsed, table = subject.parsed, subject.parsed.table
    rows, _ = matching(parsed, [_WORKS], words=(b"last enqueued work",))
    by_works: dict[tuple[int, int], set[str]] = defaultdict(set)
    first: dict[tuple[int, int], int] = {}
    for row, text in read_rows(parsed.files, table, np.array(rows[:MAX_ROWS], np.intp)).items():
        match = _WORKS.search(text.encode())
        origin = subject.origin(row)
        if match:
            works = int(match[1]), int(match[2])
            by_works[works].add(f"rank {origin.rank}" if origin.rank is not None else origin.node or "nobody named")
            first.setdefault(works, row)
    if not by_works:
        return []
    groups = sorted(by_works.items(), key=lambda item: (item[0][1], item[0]))
    who = [
        f"{_ranks(names)} finished {done:,} of {put:,} that were enqueued, so {done + 1:,} is the first that hung"
        for (put, done), names in groups[:MAX_LISTED]
    ]
    same = "; all say the same, which points to nobody alone" if len(groups) == 1 and len(groups[0][1]) > 1 else ""
    shown = found_rows(parsed, "", [first[groups[0][0]]])
    return [cited(f"{'; '.join(who)}{same}."), cited(_OF_WORKS), *quoted(shown, 1, _WORKS)]


def _ranks(names: set[str]) -> str:
    numbers = sorted(int(name[5:]) for name in names if name.startswith("rank "))
    others = sorted(name for name in names if not name.startswith("rank "))
    return wording.sentence(" and ".join([*([wording.ranks(numbers)] if numbers else []), *others])).rstrip(".")
