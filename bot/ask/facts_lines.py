"""Facts from the lines: what each kind of message says, and who says what where speakers say different things."""

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bot.ask.fact import Fact
from bot.ask.question import Question
from bot.ask.reply_lines import any_of, quoted
from bot.ask.subject import Subject
from bot.ask.terms import terms_of
from bot.text import wording
from core.answer.job_lookup import LookResult, by_time, found_rows
from core.events.row_text import read_rows

MAX_ROWS = 400  # of a kind of message that are read
MAX_SAID = 3  # different things that are shown of one kind
TAIL = 80  # characters at the end of a line that tell one value from another: what stands before is who and when
_CLOCKS = re.compile(r"(?<![0-9:])([0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9])?)(?![0-9:])")


def fact_of_event(subject: Subject, event: int, question: Question, words: frozenset[str]) -> Fact | None:
    """What a kind of message says: of who is named, at the iteration that is named, else in the end.

    Args:
        words: of the question; of a block of lines the one that holds most of them is shown.
    """
    table = subject.parsed.table
    every = table.rows_of([event]).get(event, np.zeros(0, np.intp))
    rows = rows_meant(subject, every, question)
    if not len(rows):
        return None
    rows = by_time(table, rows)
    rows = np.concatenate([rows[: MAX_ROWS // 2], rows[max(MAX_ROWS // 2, len(rows) - MAX_ROWS // 2) :]])
    groups = _said(subject, rows)
    chosen = groups if len(groups) <= MAX_SAID else groups[-2:]
    lines: list[str] = []
    for mine in chosen:
        found = found_rows(subject.parsed, "", [int(mine[0])])
        if not found.lines:
            continue
        at = max(range(len(found.lines)), key=lambda place: (len(words & terms_of(found.lines[place].text)), -place))
        who = _who(subject, mine) if len(mine) > 1 else found.who[at]
        shown = LookResult("", (found.lines[at],), (who,), (found.clock[at],))
        lines += quoted(shown, 1, any_of(word for word in words if not word.startswith("=")))
    return Fact("", lines=tuple(lines)) if lines else None


def rows_meant(subject: Subject, rows: NDArray[np.intp], question: Question, *, at: bool = True) -> NDArray[np.intp]:
    """The rows that a question's names leave; none where it names who says no such thing. at: its iteration too."""
    parsed, table = subject.parsed, subject.parsed.table
    if question.ranks:
        rows = rows[np.isin(table.rank_of_voice[table.voice[rows]], question.ranks)]
    elif question.nodes:
        places = [table.nodes.index(node) for node in question.nodes if node in table.nodes]
        own = rows[np.isin(table.node_of_voice[table.voice[rows]], places)]
        rows = own if len(own) else _naming(subject, rows, question.nodes)
    if at and question.iterations and len(rows):
        there = rows[parsed.iterations.of_row[rows] == question.iterations[0]]
        rows = there if len(there) else rows
    return rows


def _naming(subject: Subject, rows: NDArray[np.intp], nodes: Sequence[str]) -> NDArray[np.intp]:
    """Rows that somebody else wrote about nodes."""
    texts = read_rows(subject.parsed.files, subject.parsed.table, rows[:MAX_ROWS])
    return np.array([row for row, text in texts.items() if any(node in text for node in nodes)], np.intp)


def _said(subject: Subject, rows: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """The rows of each different end of a line, in the order of their first clocks."""
    table = subject.parsed.table
    texts = read_rows(subject.parsed.files, table, rows)
    groups: dict[str, list[int]] = defaultdict(list)
    for row in rows.tolist():
        if row in texts:
            groups[_CLOCKS.sub("", texts[row].strip()[-TAIL:])].append(row)
    return [np.array(mine, np.intp) for mine in groups.values()]


def _who(subject: Subject, rows: NDArray[np.intp]) -> str:
    """Who wrote some rows: their ranks, else their nodes."""
    table = subject.parsed.table
    origins = [table.origins[voice] for voice in np.unique(table.voice[rows]).tolist()]
    ranks = sorted({origin.rank for origin in origins if origin.rank is not None})
    nodes = sorted({origin.node for origin in origins if origin.node})
    return wording.ranks(ranks) if ranks else wording.names(nodes, 3)
