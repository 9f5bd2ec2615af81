"""How much was said before and after some rows that points to no failure: a job that goes on talks on."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.events.table import EventTable, rows_by
from core.events.table_rows import TablePart
from core.logs.file_rows import HEAD
from core.memory import Memory


@dataclass(frozen=True, slots=True, eq=False)
class Calm:
    """Of each of some rows, sorted, the messages of its voice and of its file, in all and before it."""

    rows: NDArray[np.intp]
    of_voice: NDArray[np.int64]
    of_file: NDArray[np.int64]
    of_voice_before: NDArray[np.int64]
    of_file_before: NDArray[np.int64]

    def of(self, rows: NDArray[np.intp]) -> "Calm":
        """The counts of some of the rows."""
        places = np.searchsorted(self.rows, rows)
        return Calm(*(column[places] for column in self.columns()))

    def columns(self) -> tuple[NDArray[Any], ...]:
        """Its arrays in the order of the fields, as ``core.memory`` keeps them."""
        return tuple(getattr(self, column.name) for column in fields(self))


def count_calm(
    table: EventTable, rows: NDArray[np.intp], is_calm: NDArray[np.bool_], memory: Memory | None = None
) -> Calm:
    """Count, in one pass over the files that hold the rows.

    Args:
        rows: sorted.
        is_calm: whether an event points to no failure; those of the rows do not.
    """
    if memory is None:
        return _count(table, rows, is_calm)
    question = f"calm {np.flatnonzero(is_calm).tolist()} {rows.tolist()}"
    return Calm(*memory.arrays(question, lambda: _count(table, rows, is_calm).columns()))


def _count(table: EventTable, rows: NDArray[np.intp], is_calm: NDArray[np.bool_]) -> Calm:
    counts = table.counts
    of_voice = np.bincount(counts.voice, counts.heads * is_calm[counts.event], minlength=len(table.origins)).astype(
        np.int64
    )
    of_file = np.bincount(table.file_of_voice, of_voice, minlength=len(table.files)).astype(np.int64)
    voice = table.voice[rows]
    of_voice_before, of_file_before = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    for file, places in rows_by(table.file, rows):
        first, at = int(np.searchsorted(rows, places[0])), 0
        before = _Before(len(table.scans[file].prefixes))
        for part in table.parts_of_file(file):
            stop = int(np.searchsorted(places, part.start + len(part.rows)))
            part_places = slice(first + at, first + stop)
            of_voice_before[part_places], of_file_before[part_places] = before.read(
                table, part, places[at:stop], is_calm
            )
            at = stop
    return Calm(rows, of_voice[voice], of_file[table.file_of_voice[voice]], of_voice_before, of_file_before)


class _Before:
    """What the parts of a file that were read hold."""

    def __init__(self, prefixes: int) -> None:
        self._of_prefix = np.zeros(prefixes, np.int64)

    def read(
        self, table: EventTable, part: TablePart, rows: NDArray[np.intp], is_calm: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How much stands before each of these rows of the next part, of its voice and of all."""
        places, prefixes = rows - part.start, len(self._of_prefix)
        message, marks = part.rows.message[:], part.rows.marks[:]
        calm = np.flatnonzero(is_calm[table.events[part.file]][message] & (marks & HEAD != 0))
        before = np.searchsorted(calm, places) + self._of_prefix.sum()
        if prefixes == 1:
            self._of_prefix += len(calm)
            return before, before
        width, prefix = len(part.rows) + 1, part.rows.prefix[:]
        keys = np.sort(prefix[calm] * width + calm)
        own = prefix[places]
        of_voice = np.searchsorted(keys, own * width + places) - np.searchsorted(keys, own * width)
        of_voice += self._of_prefix[own]
        self._of_prefix += np.bincount(prefix[calm], minlength=prefixes)
        return of_voice, before
