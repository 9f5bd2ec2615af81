"""Where stages begin: the lines that open one, and of how many there are no more than fit into memory.

By position a line counts only where it changes the stage of its file. By the clock of the job every one counts; of more
than ``MOST`` the last ones, where jobs end, and before those the last one in each of equal spans of time.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.course.pace import SECOND
from core.events.table import EventTable
from core.events.table_rows import TablePart
from core.logs.lines import NO_TIME
from core.model import Stage

_PLACES = {stage: place for place, stage in enumerate(Stage)}
MOST = 1 << 20  # openers that are held: of a job of ten days half a million, and before them two in three seconds
_BEFORE_TRAINING = [_PLACES[item] for item in (Stage.INITIALIZATION, Stage.MODEL_LOADING, Stage.DATA_LOADING)]
_TRAINING = _PLACES[Stage.TRAINING]


@dataclass(frozen=True, slots=True, eq=False)
class Openers:
    """Stages (their places) that begin at a time of the job, sorted, and those that begin at rows of files, sorted."""

    clock: NDArray[np.int64]
    by_clock: NDArray[np.int8]
    rows: NDArray[np.intp]
    by_place: NDArray[np.int8]

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Its arrays in the order of the fields, as ``core.memory`` keeps them."""
        return (self.clock, self.by_clock, self.rows, self.by_place)


def find_openers(table: EventTable, marks: NDArray[np.intp], of_event: NDArray[np.int8]) -> Openers:
    """The beginnings of stages in a job.

    Args:
        marks: rows that say that an iteration is complete; training, whatever their words are.
        of_event: of each event the stage that it opens; -1 for none.
    """
    clock, again = _Clock(), _Again(table, marks)
    found, stages = [np.zeros(0, np.intp)], [np.zeros(0, np.int8)]
    for part in table.parts:
        rows, opened = _in_part(table, part, marks, of_event)
        kept = ~again.of(part, rows, opened)
        rows, opened = rows[kept], opened[kept]
        clock.add(_in_order(table, rows), opened)
        changes = turns(opened)
        found.append(rows[changes])
        stages.append(opened[changes])
    rows, opened = np.concatenate(found), np.concatenate(stages)
    changes = turns(opened) | turns(table.file[rows])
    return Openers(*clock.turns(), rows[changes], opened[changes])


def turns(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a value differs from the one before it."""
    return np.append([True], values[1:] != values[:-1])[: len(values)]


def _in_order(table: EventTable, rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """Times of rows of a file; one without a clock is no earlier than what stands above it in the same second.

    A clock of whole seconds that it carries on may be that of another logger than the one of the row above.
    """
    times = table.time[rows]
    above = np.append([NO_TIME], np.maximum.accumulate(times)[:-1])[: len(times)]
    later = ~table.timed[rows] & (times != NO_TIME) & (times < above) & (above - times < SECOND)
    return np.where(later, above, times)


def _in_part(
    table: EventTable, part: TablePart, marks: NDArray[np.intp], of_event: NDArray[np.int8]
) -> tuple[NDArray[np.intp], NDArray[np.int8]]:
    """Rows of a part that open a stage, and which one."""
    mine = marks[slice(*np.searchsorted(marks, [part.start, part.start + len(part.rows)]))]
    places = table.heads_in(part, of_event >= 0)
    heads = places + part.start
    at = np.searchsorted(heads, mine)
    others = mine[np.append(heads, -1)[at] != mine]  # most marks open training by their words too
    rows = np.sort(np.concatenate([heads, others])) if len(others) else heads
    opened = np.zeros(len(rows), np.int8)
    opened[np.searchsorted(rows, heads)] = of_event[table.events[part.file][part.rows.message[places]]]
    opened[np.searchsorted(rows, mine)] = _TRAINING
    return rows, opened


class _Again:
    """What loads after the first iteration of the last run: it has loaded before, and opens no stage."""

    def __init__(self, table: EventTable, marks: NDArray[np.intp]) -> None:
        self._table, self._first = table, int(marks[np.argmin(table.time[marks])]) if len(marks) else None
        self._time = NO_TIME if self._first is None else int(table.time[self._first])

    def of(self, part: TablePart, rows: NDArray[np.intp], opened: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Whether each row loads anew, and so opens no stage."""
        if self._first is None:
            return np.zeros(len(rows), np.bool_)
        if part.file == self._table.file[self._first]:
            later = rows > self._first
        else:
            later = (self._table.time[rows] > self._time) & (self._time != NO_TIME)
        return np.asarray(later & np.isin(opened, _BEFORE_TRAINING), np.bool_)


class _Clock:
    """Openers by time; they come in the order of their rows, and of equal times the last one counts."""

    def __init__(self) -> None:
        self._time, self._opened = [np.zeros(0, np.int64)], [np.zeros(0, np.int8)]
        self._held, self._span = 0, 1

    def add(self, time: NDArray[np.int64], opened: NDArray[np.int8]) -> None:
        """Take more openers, in the order of their rows."""
        self._time.append(time)
        self._opened.append(opened)
        self._held += len(time)
        if self._held > 2 * MOST:
            self._thin()

    def turns(self) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """When the stage changes, and to which one."""
        self._thin()
        changes = turns(self._opened[0])
        return self._time[0][changes], self._opened[0][changes]

    def _thin(self) -> None:
        time, opened = np.concatenate(self._time), np.concatenate(self._opened)
        order = np.argsort(time, kind="stable")
        time, opened = time[order], opened[order]
        kept = np.append(time[1:] != time[:-1], [True])[: len(time)]
        if np.count_nonzero(kept) > MOST:
            old = slice(0, len(time) - MOST // 2)
            kept[old] = self._last_of_spans(time[old], MOST // 2)
        self._time, self._opened, self._held = [time[kept]], [opened[kept]], int(np.count_nonzero(kept))

    def _last_of_spans(self, time: NDArray[np.int64], most: int) -> NDArray[np.bool_]:
        while True:
            last = np.append(time[1:] // self._span != time[:-1] // self._span, [True])
            if np.count_nonzero(last) <= most:
                return last
            self._span *= 2
