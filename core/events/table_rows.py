"""Rows of a table: those that stay with their files, part by part, and those that are in memory."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.logs.file_rows import Rows


@dataclass(frozen=True, slots=True, eq=False)
class TablePart:
    """Rows of a file that follow each other; start: the first of them in the table; voice: the first of the file."""

    file: int
    start: int
    voice: int
    rows: Rows


@dataclass(frozen=True, slots=True, eq=False)
class HeldRows:
    """Head rows of some events with what stands in their columns, in memory (``core.events.rows_in_memory``).

    events: sorted. rows: sorted; the other columns as in ``core.events.table.EventTable``, message: a number for its
    text, marks: as in ``core.logs.file_rows.Rows``.
    """

    events: NDArray[np.uint32]
    rows: NDArray[np.intp]
    line: NDArray[np.uint32]
    offset: NDArray[np.int64]
    time: NDArray[np.int64]
    voice: NDArray[np.uint32]
    message: NDArray[np.uint32]
    marks: NDArray[np.uint8]

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All of it, in the order in which it is made of them."""
        return (self.events, self.rows, self.line, self.offset, self.time, self.voice, self.message, self.marks)


@dataclass(frozen=True, slots=True, eq=False)
class SettledTimes:
    """Rows, sorted, and the time that each has in truth."""

    rows: NDArray[np.intp]
    time: NDArray[np.int64]

    def over(self, other: "SettledTimes | None") -> "SettledTimes":
        """Both; of a row that stands in both this one."""
        if other is None:
            return self
        kept = ~np.isin(other.rows, self.rows)
        rows, time = np.append(self.rows, other.rows[kept]), np.append(self.time, other.time[kept])
        order = np.argsort(rows)
        return SettledTimes(rows[order], time[order])

    def put(self, rows: NDArray[np.intp], time: NDArray[np.int64]) -> NDArray[np.int64]:
        """The times of some rows with the settled ones among them."""
        places = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[places] == rows, self.time[places], time)
