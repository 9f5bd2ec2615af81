"""Whether a run says itself that it is done: the last word of a rank that counted its iterations."""

import numpy as np

from core.course.iterations import Iterations
from core.events.table import EventTable
from core.outcomes import Outcome, outcome_of


def says_done(table: EventTable, iterations: Iterations) -> bool:
    """Whether a rank said, below its last iteration in the same file, that its work is done."""
    events = [place for place, template in enumerate(table.templates) if outcome_of(template.sample) is Outcome.DONE]
    if not events or not len(iterations.marks):
        return False
    last = np.full(len(table.files), len(table), np.intp)
    files = table.file_of_voice[iterations.voices]
    last[np.unique(files)] = -1
    np.maximum.at(last, files, iterations.marks)
    rows = np.concatenate(list(table.rows_of(events).values()) or [np.zeros(0, np.intp)])
    return bool(np.any(rows > last[table.file[rows]]))
