"""A number that training prints and that is no number any more, until the end: nothing has been learned since."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.course.iterations import Iterations
from core.events.table import EventTable
from core.job import LogFile
from core.text import read_rows

MIN_TIMES = 3  # lines in a row, the last ones: a step whose gradients overflow is skipped, and the next is well
MOST_LINES = 2_000  # the last ones of each speaker: where it began, if that is not longer ago
MOST_VOICES = 4  # those that tell most; all compute the same loss
_BROKEN = re.compile(r"([A-Za-z][\w./-]{0,40})[\"']? ?[:=]? ?[\"']?nan\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Broken:
    """A number by its name, the first iteration from which on it is nan, and the row that says so."""

    name: str
    iteration: int
    row: int


def find_broken(table: EventTable, files: Mapping[str, LogFile], iterations: Iterations) -> Broken | None:
    """The number that broke first and stayed so until the last line that tells it; None while all are numbers."""
    voices, times = np.unique(iterations.voices, return_counts=True)
    found = []
    for voice in voices[np.lexsort((voices, -times))][:MOST_VOICES].tolist():
        at = np.flatnonzero(iterations.voices == voice)[-MOST_LINES:]
        rows, numbers = iterations.marks[at].tolist(), iterations.numbers[at].tolist()
        if not _BROKEN.search(" ".join(read_rows(files, table, rows[-MIN_TIMES:]).values())):
            continue
        texts = read_rows(files, table, rows)
        named = [{match[1] for match in _BROKEN.finditer(texts.get(row, ""))} for row in rows]
        for name in sorted(set.intersection(*named[-MIN_TIMES:]) if len(named) >= MIN_TIMES else ()):
            last_well = max((place for place, names in enumerate(named) if name not in names), default=-1)
            if last_well >= 0:
                found.append(Broken(name, numbers[last_well + 1], rows[last_well + 1]))
    return min(found, key=lambda one: (one.iteration, one.name), default=None)
