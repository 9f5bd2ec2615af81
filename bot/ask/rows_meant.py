"""The rows that a question's names leave of some rows: of who is named, at the iteration that is named."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bot.ask.question import Question
from bot.ask.subject import Subject
from core.events.row_text import read_rows

MAX_ROWS = 400  # of a kind of message that are read for names


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
