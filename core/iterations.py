"""Iterations: which lines say that one is complete, how far each rank came, and the numbers that those lines carry."""

import re
import tomllib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as package_files

import numpy as np
from numpy.typing import NDArray

from core.cache import Memory
from core.column import Column
from core.job import LogFile
from core.logs.lines import NO_TIME
from core.model import Series
from core.table import EventTable, rows_by
from core.text import each_row

NO_ITERATION = -1
_MAX_MARKERS = 400_000  # lines read again for their numbers; of more, the last ones of each voice, where jobs end


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one framework prints that an iteration is complete (rules/iterations.toml)."""

    name: str
    marker: re.Pattern[str]
    read: re.Pattern[str]
    weight: int


@dataclass(frozen=True, slots=True)
class _Measure:
    name: str
    read: re.Pattern[str]
    scale: float


@dataclass(frozen=True, eq=False)
class Iterations:
    """Iterations of a job.

    of_row: int32 a row, the iteration completed last by the speaker of the row, or by the job where the speaker counts
    none; NO_ITERATION before the first. last: the last complete one of the job; of_rank: of each rank that counts.
    total: how many were planned. series: numbers by iteration, by name.
    """

    of_row: Column
    last: int | None
    of_rank: Mapping[int, int]
    total: int | None
    marks: NDArray[np.intp]  # rows that say that an iteration is complete, in table order
    numbers: NDArray[np.int64]  # the iteration that each of them says
    series: tuple[Series, ...]
    ended: int = NO_TIME  # time of the last marker, in microseconds
    began: int | None = None  # time at which the last of several runs in the same files began, in microseconds


def find_iterations(
    table: EventTable, files: Mapping[str, LogFile], planned: int | None, memory: Memory | None = None
) -> Iterations:
    """Read the iteration markers of a job and carry them on to the rows below them."""
    dialects, _ = _rules()
    by_event = {
        event: dialect
        for event, template in enumerate(table.templates)
        if (dialect := _dialect(template.sample, dialects))
    }

    def read() -> bytes:
        rows = np.sort(np.concatenate([np.zeros(0, np.intp), *table.rows_of(by_event).values()]))
        if len(rows) > _MAX_MARKERS:
            voices = [said for _, said in rows_by(table.voice, rows)]
            rows = np.sort(np.concatenate([said[-(_MAX_MARKERS // len(voices)) :] for said in voices]))
        return _read_markers(table, files, rows, by_event)

    heads = np.bincount(table.said.event, table.said.heads, minlength=len(table.templates))
    known = sorted((table.templates[event].id, int(heads[event]), repr(by_event[event])) for event in by_event)
    markers = memory.of(f"markers {known}", read) if memory else read()
    found = _Markers(*np.frombuffer(markers, np.int64).reshape(-1, 4).T)
    return _counted(table, files, _chosen(found, planned), planned)


def _counted(table: EventTable, files: Mapping[str, LogFile], found: "_Markers", planned: int | None) -> Iterations:
    if not len(found.rows):
        none, nobody = np.zeros(0, np.intp), np.zeros(0, np.int64)
        never = table.computed(np.int32, lambda _, rows: np.full(len(rows), NO_ITERATION))
        return Iterations(never, None, {}, planned, none, nobody, ())
    marks, numbers, totals = found.rows, found.numbers, found.totals[found.totals > 0].tolist()
    ours, began = _last_run(table, marks, numbers)
    often = Counter(totals)
    return Iterations(
        of_row=_carry(table, marks, numbers, ours),
        last=int(numbers[ours].max()),
        of_rank=_last_of_rank(table, marks[ours], numbers[ours]),
        total=planned or (max(set(totals), key=often.__getitem__) if totals else None),
        marks=marks[ours],
        numbers=numbers[ours],
        series=_series(table, files, marks[ours], numbers[ours]),
        ended=int(table.time[marks[ours]].max()),
        began=began,
    )


@cache
def _rules() -> tuple[tuple[Dialect, ...], tuple[_Measure, ...]]:
    rules = tomllib.loads(package_files("core.rules").joinpath("iterations.toml").read_text())
    dialects = tuple(
        Dialect(
            rule["name"],
            re.compile(rule["marker"], re.IGNORECASE),
            re.compile(rule["read"], re.IGNORECASE),
            rule["weight"],
        )
        for rule in rules["dialect"]
    )
    measures = tuple(
        _Measure(rule["name"], re.compile(rule["read"], re.IGNORECASE), rule.get("scale", 1.0))
        for rule in rules["series"]
    )
    return dialects, measures


def _dialect(template: str, dialects: Sequence[Dialect]) -> Dialect | None:
    return next((dialect for dialect in dialects if dialect.marker.search(template)), None)


@dataclass(frozen=True, slots=True, eq=False)
class _Markers:
    """Lines that say that an iteration is complete: row, iteration, total (_NO_TOTAL: none), weight of the dialect."""

    rows: NDArray[np.intp]
    numbers: NDArray[np.int64]
    totals: NDArray[np.int64]
    weights: NDArray[np.int64]

    def only(self, wanted: NDArray[np.bool_]) -> "_Markers":
        return _Markers(self.rows[wanted], self.numbers[wanted], self.totals[wanted], self.weights[wanted])


def _read_markers(
    table: EventTable, files: Mapping[str, LogFile], rows: NDArray[np.intp], by_event: Mapping[int, Dialect]
) -> bytes:
    """What the lines say, four numbers each as ``_Markers`` has them; one at a time, because there may be many."""
    dialects = tuple(by_event.values())
    of_event = np.zeros(len(table.templates), np.int64)
    of_event[list(by_event)] = np.arange(len(dialects))
    dialect_of = dict(zip(rows.tolist(), of_event[table.event[rows]].tolist(), strict=True))
    found = array("q")
    for row, text in each_row(files, table, rows):
        dialect = dialects[dialect_of[row]]
        match = dialect.read.search(text)
        if match:
            groups = match.groupdict()
            number = groups.get("iteration") or groups.get("step") or groups.get("number")
            total = groups.get("total") or groups.get("planned")
            if number is not None and len(number) <= _MAX_DIGITS:
                planned_here = int(total) if total and len(total) <= _MAX_DIGITS else _NO_TOTAL
                found.extend((row, int(number), planned_here, dialect.weight))
    return found.tobytes()


def _chosen(found: _Markers, planned: int | None) -> _Markers:
    """The markers that count: of progress bars only the one that counts iterations, and no lighter dialects."""
    bar = found.weights == _BAR
    bars: dict[int, int] = {}
    for number, total in zip(found.numbers[bar].tolist(), found.totals[bar].tolist(), strict=True):
        if total > 0:
            bars[total] = max(bars.get(total, number), number)
    # A bar that did not reach its end is the one at work; evaluation and loading draw short ones to their ends.
    wanted = (
        planned if planned in bars else max(bars, key=lambda total: (bars[total] < total, total), default=_NO_TOTAL)
    )
    found = found.only(~bar | (found.totals == wanted))
    return found.only(found.weights >= min(found.weights.max(initial=0), _WEIGHTY))


_BAR = 3  # weight of progress bars in rules/iterations.toml
_NO_TOTAL = -1
_WEIGHTY = 6  # of dialects that count together
_MAX_DIGITS = 9  # nobody trains for 10**9 iterations


def _carry(table: EventTable, marks: NDArray[np.intp], numbers: NDArray[np.int64], ours: NDArray[np.bool_]) -> Column:
    """Iteration of every row: by the speaker's own markers, else by those in its file, else by the job's clock."""
    files, ranks, times = table.file[marks], table.rank[marks], table.time[marks]
    files_of_rank = _files_of_ranks(table)

    def by_place(mine: NDArray[np.bool_]) -> Callable[[NDArray[np.intp]], NDArray[np.int64]]:
        of_marks, reached = marks[mine], np.append(_reached(numbers[mine], ours[mine]), NO_ITERATION)
        return lambda rows: reached[np.searchsorted(of_marks, rows, side="right") - 1]

    def by_clock(mine: NDArray[np.bool_], *, ties: bool) -> Callable[[NDArray[np.intp]], NDArray[np.int64]]:
        """ties: rows of the same time stand in the order of the table; else markers come before all others."""
        order = np.flatnonzero(mine)[np.argsort(times[mine], kind="stable")]
        clock, reached = times[order], np.append(_reached(numbers[order], ours[order]), NO_ITERATION)
        first = np.searchsorted(clock, clock) * (len(table) + 1) + marks[order]

        def of_rows(rows: NDArray[np.intp]) -> NDArray[np.int64]:
            time = table.time[rows]
            before, upto = np.searchsorted(clock, time), np.searchsorted(clock, time, side="right")
            if ties:
                at = np.searchsorted(first, before * (len(table) + 1) + rows, side="right")
                upto = np.where(upto > before, at, before)
            found: NDArray[np.int64] = reached[upto - 1]
            return found

        return of_rows

    @cache
    def of_speaker(rank: int, file: int) -> Callable[[NDArray[np.intp]], NDArray[np.int64]]:
        own = ranks == rank if rank >= 0 else (ranks < 0) & (files == file)
        if own.any():
            return by_place(own) if rank < 0 or len(files_of_rank[rank]) == 1 else by_clock(own, ties=True)
        beside = files == file
        return by_place(beside) if beside.any() else of_job

    of_job = by_clock(np.ones(len(marks), np.bool_), ties=False)

    def of_rows(file: int, rows: NDArray[np.intp]) -> NDArray[np.int32]:
        found, rank = np.zeros(len(rows), np.int32), table.rank[rows]
        for who in np.unique(rank).tolist():
            mine = rank == who
            found[mine] = of_speaker(who, file)(rows[mine])
        return found

    return table.computed(np.int32, of_rows)


def _files_of_ranks(table: EventTable) -> Mapping[int, set[int]]:
    files: dict[int, set[int]] = defaultdict(set)
    for rank, file in zip(table.rank_of_voice.tolist(), table.file_of_voice.tolist(), strict=True):
        files[rank].add(file)
    return files


def _reached(numbers: NDArray[np.int64], ours: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The highest number so far; counted anew from the first one of the last run on."""
    begins = int(np.argmax(ours)) if ours.any() else 0
    return np.concatenate([np.maximum.accumulate(part) for part in (numbers[:begins], numbers[begins:])])


def _last_of_rank(table: EventTable, marks: NDArray[np.intp], numbers: NDArray[np.int64]) -> dict[int, int]:
    last: dict[int, int] = {}
    for rank, number in zip(table.rank[marks].tolist(), numbers.tolist(), strict=True):
        if rank >= 0:
            last[rank] = max(last.get(rank, number), number)
    return dict(sorted(last.items()))


def _last_run(
    table: EventTable, marks: NDArray[np.intp], numbers: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], int | None]:
    """Which marks are of the last of several runs in the same files, and when it began; None when there is one run."""
    ours = np.ones(len(marks), np.bool_)
    restarts = []
    voices, times = table.voice[marks], table.time[marks]
    for _, mine in rows_by(voices, np.arange(len(marks))):
        fell = np.flatnonzero(np.diff(numbers[mine]) < -_RANK_SKEW)
        if len(fell):
            ours[mine[: fell[-1] + 1]] = False
            restarts.append(int(times[mine[fell[-1] + 1]]))
    attempts = np.array([origin.attempt for origin in table.origins], np.int64)[voices]
    if attempts.min() < attempts.max():
        ours &= attempts == attempts.max()
        restarts.append(int(times[attempts == attempts.max()].min()))
    began = max((time for time in restarts if time >= 0), default=None)
    if began is not None:
        ours &= times >= began
    return ours, began


_RANK_SKEW = 3  # ranks that share a voice are this many iterations apart at most


def _series(
    table: EventTable, files: Mapping[str, LogFile], marks: NDArray[np.intp], numbers: NDArray[np.int64]
) -> tuple[Series, ...]:
    """For each number that the markers carry its last value in every iteration.

    Only the last marker of each message in an iteration is read: what a message carries, it carries each time.
    """
    pairs = zip(numbers.tolist(), table.message[marks].tolist(), strict=True)
    last = dict(zip(pairs, marks.tolist(), strict=True))
    number_of = {row: number for (number, _), row in last.items()}
    _, measures = _rules()
    values: dict[str, dict[int, float]] = defaultdict(dict)
    for row, text in each_row(files, table, np.array(sorted(number_of), np.intp)):
        for measure in measures:
            match = measure.read.search(text)
            if match:
                values[measure.name][number_of[row]] = float(match[match.lastindex or 0]) * measure.scale
    return tuple(
        Series(name, tuple(sorted(by_iteration)), tuple(by_iteration[at] for at in sorted(by_iteration)))
        for name, by_iteration in sorted(values.items())
        if len(by_iteration) > 1
    )
