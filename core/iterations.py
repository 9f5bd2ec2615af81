"""Iterations: which lines say that one is complete, how far each rank came, and the numbers that those lines carry."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as package_files

import numpy as np
from numpy.typing import NDArray

from core.job import LogFile
from core.model import Series
from core.table import EventTable, rows_by
from core.text import read_rows

NO_ITERATION = -1
_MAX_MARKERS = 400_000  # lines read again for their numbers; of more, the last ones, where jobs end


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

    of_row: NDArray[np.int32]
    last: int | None
    of_rank: Mapping[int, int]
    total: int | None
    marks: NDArray[np.intp]  # rows that say that an iteration is complete, in table order
    numbers: NDArray[np.int64]  # the iteration that each of them says
    series: tuple[Series, ...]
    began: int | None = None  # time at which the last of several runs in the same files began, in microseconds


def find_iterations(table: EventTable, files: Mapping[str, LogFile], planned: int | None) -> Iterations:
    """Read the iteration markers of a job and carry them on to the rows below them."""
    dialects, _ = _rules()
    by_event = {
        event: dialect
        for event, template in enumerate(table.templates)
        if (dialect := _dialect(template.sample, dialects))
    }
    speaks = np.zeros(len(table.templates), np.int64)
    for event, dialect in by_event.items():
        speaks[event] = dialect.weight
    rows = np.flatnonzero(table.head & (speaks[table.event] > 0)) if len(table) else np.zeros(0, np.intp)
    texts = read_rows(files, table, rows[-_MAX_MARKERS:])
    found = _read_markers(table, texts, by_event, planned)
    if not found:
        return Iterations(
            np.full(len(table), NO_ITERATION, np.int32),
            None,
            {},
            planned,
            np.zeros(0, np.intp),
            np.zeros(0, np.int64),
            (),
        )
    heaviest = max(weight for _, _, _, weight in found)
    counting = [entry for entry in found if entry[3] >= min(heaviest, 6)]
    marks = np.array([row for row, *_ in counting], np.intp)
    numbers = np.array([number for _, number, *_ in counting], np.int64)
    ours, began = _last_run(table, marks, numbers)
    totals = [total for _, _, total, _ in counting if total]
    return Iterations(
        of_row=_carry(table, marks, numbers, ours),
        last=int(numbers[ours].max()),
        of_rank=_last_of_rank(table, marks[ours], numbers[ours]),
        total=planned or (max(set(totals), key=totals.count) if totals else None),
        marks=marks[ours],
        numbers=numbers[ours],
        series=_series(texts, marks[ours], numbers[ours]),
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


def _read_markers(
    table: EventTable, texts: Mapping[int, str], by_event: Mapping[int, Dialect], planned: int | None
) -> list[tuple[int, int, int | None, int]]:
    """Row, iteration, total and weight of each marker; of progress bars only the one that counts iterations."""
    found = []
    for row, text in texts.items():
        dialect = by_event[int(table.event[row])]
        match = dialect.read.search(text)
        if match:
            groups = match.groupdict()
            number = groups.get("iteration") or groups.get("step") or groups.get("number")
            total = groups.get("total") or groups.get("planned")
            if number is not None and len(number) <= _MAX_DIGITS:
                planned_here = int(total) if total and len(total) <= _MAX_DIGITS else None
                found.append((row, int(number), planned_here, dialect.weight))
    bars: dict[int, list[int]] = defaultdict(list)
    for _, number, total, weight in found:
        if weight == _BAR and total:
            bars[total].append(number)
    # A bar that did not reach its end is the one at work; evaluation and loading draw short ones to their ends.
    wanted = (
        planned if planned in bars else max(bars, key=lambda total: (max(bars[total]) < total, total), default=None)
    )
    return [entry for entry in found if entry[3] != _BAR or entry[2] == wanted]


_BAR = 3  # weight of progress bars in rules/iterations.toml
_MAX_DIGITS = 9  # nobody trains for 10**9 iterations


def _carry(
    table: EventTable, marks: NDArray[np.intp], numbers: NDArray[np.int64], ours: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """Iteration of every row: by the speaker's own markers, else by those in its file, else by the job's clock."""
    own = np.full(len(table), NO_ITERATION, np.int32)
    speaker = np.where(table.rank >= 0, table.rank, -2 - table.file.astype(np.int64))
    counted = set(speaker[marks].tolist())
    at = np.full(len(table), NO_ITERATION, np.int64)
    at[marks] = numbers
    begins = np.zeros(len(table), np.bool_)
    begins[marks[ours]] = True
    for _, said in rows_by(speaker, np.flatnonzero(np.isin(speaker, sorted(counted)))):
        files = table.file[said]  # of several files of one rank the clock tells the order, within one the position
        rows = said if files[0] == files[-1] else said[np.argsort(table.time[said], kind="stable")]
        own[rows] = _reached(at[rows], begins[rows])
    silent = ~np.isin(speaker, sorted(counted))
    beside = np.isin(table.file, np.unique(table.file[marks]))
    for _, said in rows_by(table.file, np.flatnonzero(beside)):
        own[said] = np.where(silent[said], _reached(at[said], begins[said]), own[said])
    others = np.flatnonzero(silent & ~beside)
    timed = np.argsort(table.time[marks], kind="stable")
    clock, reached = table.time[marks][timed], _reached(numbers[timed], ours[timed])
    place = np.searchsorted(clock, table.time[others], side="right") - 1
    own[others] = np.where(place >= 0, reached[np.maximum(place, 0)], NO_ITERATION)
    return own


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
    for voice in np.unique(table.voice[marks]).tolist():
        mine = np.flatnonzero(table.voice[marks] == voice)
        fell = np.flatnonzero(np.diff(numbers[mine]) < -_RANK_SKEW)
        if len(fell):
            ours[mine[: fell[-1] + 1]] = False
            restarts.append(int(table.time[marks[mine[fell[-1] + 1]]]))
    attempts = np.array([origin.attempt for origin in table.origins], np.int64)[table.voice[marks]]
    if attempts.min() < attempts.max():
        ours &= attempts == attempts.max()
        restarts.append(int(table.time[marks[attempts == attempts.max()]].min()))
    began = max((time for time in restarts if time >= 0), default=None)
    if began is not None:
        ours &= table.time[marks] >= began
    return ours, began


_RANK_SKEW = 3  # ranks that share a voice are this many iterations apart at most


def _series(texts: Mapping[int, str], marks: NDArray[np.intp], numbers: NDArray[np.int64]) -> tuple[Series, ...]:
    """For each number that the markers carry its last value in every iteration."""
    _, measures = _rules()
    values: dict[str, dict[int, float]] = defaultdict(dict)
    for row, number in zip(marks.tolist(), numbers.tolist(), strict=True):
        for measure in measures:
            match = measure.read.search(texts.get(row, ""))
            if match:
                values[measure.name][number] = float(match[match.lastindex or 0]) * measure.scale
    return tuple(
        Series(name, tuple(sorted(by_iteration)), tuple(by_iteration[at] for at in sorted(by_iteration)))
        for name, by_iteration in sorted(values.items())
        if len(by_iteration) > 1
    )
