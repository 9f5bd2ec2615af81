"""Whether a run says itself that it is done: the last word of a rank that counted its iterations."""

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from core.course.iterations import Iterations
from core.events.row_text import read_rows
from core.events.table import EventTable
from core.job import LogFile
from core.outcomes import Outcome, outcome_of

MAX_ROWS = 64  # last words that are read for the number of the last iteration
# In any program's words, beside that number: "finished 600 iterations", "event=done steps=240"
_OVER = re.compile(r"\b(?:finished|completed?|done)\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3}){1,4}(?![\w.])|(?<![\w.])\d{1,12}(?![\w.,]\d)")


def says_done(table: EventTable, files: Mapping[str, LogFile], iterations: Iterations) -> bool:
    """Whether a rank said, below its last iteration in the same file, that its work is done.

    In words that are known, or in any that say so of the last iteration by its number.
    """
    samples = [template.sample for template in table.templates]
    known = [event for event, sample in enumerate(samples) if outcome_of(sample) is Outcome.DONE]
    if not len(iterations.marks):
        return False
    if len(_last_words(table, iterations, known)):
        return True
    told = [event for event, sample in enumerate(samples) if "<NUM>" in sample and _OVER.search(sample)]
    rows = _last_words(table, iterations, told)[-MAX_ROWS:]
    texts = read_rows(files, table, rows).values()
    return any(int(number.replace(",", "")) == iterations.last for text in texts for number in _NUMBER.findall(text))


def _last_words(table: EventTable, iterations: Iterations, events: list[int]) -> NDArray[np.intp]:
    """The rows of some messages that stand below the last iteration of their file."""
    last = np.full(len(table.files), len(table), np.intp)
    files = table.file_of_voice[iterations.voices]
    last[np.unique(files)] = -1
    np.maximum.at(last, files, iterations.marks)
    own = list(table.rows_of(events).values()) if events else []
    rows = np.sort(np.concatenate([np.zeros(0, np.intp), *own]))
    return np.asarray(rows[rows > last[table.file[rows]]], np.intp)
