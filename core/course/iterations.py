"""Iterations: how far each rank came, which iteration each row belongs to, and the numbers that their lines carry."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.course.counters import RANK_SKEW
from core.course.epochs import THROUGH, Epochs, counted_through, find_epochs
from core.course.markers import Markers, find_markers, measures
from core.course.pace import Course, course_of, drawn_course
from core.events.column import Column
from core.events.row_text import each_row
from core.events.table import EventTable, rows_by
from core.facts import complains
from core.job import LogFile
from core.logs.lines import NO_TIME
from core.logs.origins import Program
from core.memory import Memory
from core.model import Series
from core.shares import MAJORITY

NO_ITERATION = -1


@dataclass(frozen=True, eq=False)
class Iterations:
    """Iterations of a job.

    of_row: int32 a row, the iteration completed last by the speaker of the row, or by the job where the speaker counts
    none; NO_ITERATION before the first. last: the last complete one of the job, None where nothing counts them: then
    the rest tells of what it says regularly (``find_pulse``). of_rank: of each rank that counts. total: how many were
    planned. series: numbers by iteration, by name. course: when the job reached them.
    courses: the same of each rank that counts. drawn: where no line has a clock, when its bar says so, from its start.
    epochs: where they are counted anew in each; all numbers here go on from one to the next.
    """

    of_row: Column
    last: int | None
    of_rank: Mapping[int, int]
    total: int | None
    marks: NDArray[np.intp]  # rows that say that an iteration is complete, in table order
    numbers: NDArray[np.int64]  # the iteration that each of them says
    voices: NDArray[np.uint32]  # and who says it
    series: tuple[Series, ...]
    course: Course
    courses: Mapping[int, Course]
    ended: int = NO_TIME  # time of the last marker, in microseconds
    drawn: Course | None = None
    began: int | None = None  # time at which the last of several runs in the same files began, in microseconds
    epochs: Epochs = THROUGH

    @property
    def at_end(self) -> bool:
        """Whether the job completed all that were planned."""
        return self.last is not None and self.total is not None and self.last >= self.total


def find_iterations(
    table: EventTable, files: Mapping[str, LogFile], planned: int | None, memory: Memory | None = None
) -> Iterations:
    """Read the iteration markers of a job and carry them on to the rows below them."""
    found, clocked = find_markers(table, files, planned, memory)
    if not len(found.rows):
        return _uncounted(table, planned)
    totals = found.totals[found.totals > 0].tolist()
    epochs, is_clock = find_epochs(table, files, found), clocked is found
    drawn = None if clocked.timed.any() else drawn_course(clocked)
    found = counted_through(found, epochs)
    clocked = found if is_clock else counted_through(clocked, epochs)
    is_ours, began = _last_run(table, found)
    often, ours = Counter(totals), found.only(is_ours)
    last = int(ours.numbers.max())
    ranks = table.rank_of_voice[ours.voices]
    return Iterations(
        of_row=_carry(table, found, is_ours),
        last=last,
        of_rank={rank: int(ours.numbers[mine].max()) for rank, mine in rows_by(ranks, np.flatnonzero(ranks >= 0))},
        total=planned or (max(set(totals), key=often.__getitem__) + last - epochs.within(last) if totals else None),
        marks=ours.rows,
        numbers=ours.numbers,
        voices=ours.voices,
        series=_series(table, files, ours, memory),
        course=course_of(ours if clocked is found else clocked),
        courses={rank: course_of(ours.only(mine)) for rank, mine in rows_by(ranks, np.flatnonzero(ranks >= 0))},
        drawn=drawn,
        ended=int(ours.times.max()),
        began=began,
        epochs=epochs,
    )


def _uncounted(table: EventTable, planned: int | None) -> Iterations:
    """Of a job that counts no iterations: what it says regularly while it makes progress, in order, as its course."""
    rows = find_pulse(table)
    voices, times = table.voice[rows], table.time[rows]
    numbers = np.zeros(len(rows), np.int64)
    for _, mine in rows_by(voices, np.arange(len(rows))):
        numbers[mine] = np.arange(1, len(mine) + 1)
    none = np.full(len(rows), NO_ITERATION, np.int64)
    dated = np.ones(len(rows), np.bool_)
    pulse = Markers(rows, numbers, none, numbers, voices, table.message[rows], times, dated, none)
    ranks = table.rank_of_voice[voices]
    return Iterations(
        of_row=table.computed(np.int32, lambda rows: np.full(len(rows), NO_ITERATION)),
        last=None,
        of_rank={},
        total=planned,
        marks=rows,
        numbers=numbers,
        voices=voices,
        series=(),
        course=course_of(pulse),
        courses={rank: course_of(pulse.only(mine)) for rank, mine in rows_by(ranks, np.flatnonzero(ranks >= 0))},
        ended=int(times.max(initial=NO_TIME)),
    )


def _carry(table: EventTable, marks: Markers, ours: NDArray[np.bool_]) -> Column:
    """Iteration of every row: by the speaker's own markers, else by those in its file, else by the job's clock."""
    of_marks = table.file_of_voice[marks.voices].astype(np.int64), table.rank_of_voice[marks.voices].astype(np.int64)
    files, ranks = of_marks
    everywhere = np.arange(len(marks.rows))
    marks_of_rank = dict(rows_by(ranks, everywhere))
    marks_of_file = dict(rows_by(files, everywhere))
    nameless = dict(rows_by(files, np.flatnonzero(ranks < 0)))
    files_of_rank = _files_of_ranks(table)
    none = everywhere[:0]

    def by_place(mine: NDArray[np.intp]) -> Callable[[NDArray[np.intp]], NDArray[np.int64]]:
        own, reached = marks.rows[mine], np.append(_reached(marks.numbers[mine], ours[mine]), NO_ITERATION)
        return lambda rows: reached[np.searchsorted(own, rows, side="right") - 1]

    def by_clock(mine: NDArray[np.intp], *, ties: bool) -> Callable[[NDArray[np.intp]], NDArray[np.int64]]:
        """ties: rows of the same time stand in the order of the table; else markers come before all others."""
        order = mine[np.argsort(marks.times[mine], kind="stable")]
        clock, reached = marks.times[order], np.append(_reached(marks.numbers[order], ours[order]), NO_ITERATION)
        first = np.searchsorted(clock, clock) * (len(table) + 1) + marks.rows[order]

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
        own = marks_of_rank.get(rank, none) if rank >= 0 else nameless.get(file, none)
        if len(own):
            return by_place(own) if rank < 0 or len(files_of_rank[rank]) == 1 else by_clock(own, ties=True)
        beside = marks_of_file.get(file, none)
        return by_place(beside) if len(beside) else of_job()

    @cache
    def of_job() -> Callable[[NDArray[np.intp]], NDArray[np.int64]]:
        return _beside_clocks(table, marks, by_clock(everywhere, ties=False))

    def of_rows(rows: NDArray[np.intp]) -> NDArray[np.int32]:
        found = np.zeros(len(rows), np.int32)
        file, rank = table.file[rows].astype(np.int64), table.rank[rows].astype(np.int64)
        speaker = file * (_RANKS + 1) + rank + 1
        for who, mine in rows_by(speaker, np.arange(len(rows))):
            found[mine] = of_speaker(who % (_RANKS + 1) - 1, who // (_RANKS + 1))(rows[mine])
        return found

    return table.computed(np.int32, of_rows)


def _beside_clocks(
    table: EventTable, marks: Markers, of_rows: Callable[[NDArray[np.intp]], NDArray[np.int64]]
) -> Callable[[NDArray[np.intp]], NDArray[np.int64]]:
    """The same; where some iterations have a clock, those without tell nothing of rows without one in other files."""
    if (marks.times == NO_TIME).all():
        return of_rows
    return lambda rows: np.where(table.time[rows] == NO_TIME, NO_ITERATION, of_rows(rows))


_RANKS = 1 << 31  # more than any job has


def _files_of_ranks(table: EventTable) -> Mapping[int, set[int]]:
    files: dict[int, set[int]] = defaultdict(set)
    for rank, file in zip(table.rank_of_voice.tolist(), table.file_of_voice.tolist(), strict=True):
        files[rank].add(file)
    return files


def _reached(numbers: NDArray[np.int64], ours: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The highest number so far; counted anew from the first one of the last run on."""
    begins = int(np.argmax(ours)) if ours.any() else 0
    return np.concatenate([np.maximum.accumulate(part) for part in (numbers[:begins], numbers[begins:])])


def _last_run(table: EventTable, marks: Markers) -> tuple[NDArray[np.bool_], int | None]:
    """Which marks are of the last of several runs in the same files, and when it began; None when there is one run."""
    ours = np.ones(len(marks.rows), np.bool_)
    restarts = []
    events = table.event[marks.rows]
    for _, mine in rows_by(marks.voices, np.arange(len(marks.rows))):
        counting = _said_again(events, mine)
        fell = np.flatnonzero(np.diff(marks.numbers[counting]) < -RANK_SKEW)
        if len(fell):
            ours[mine[mine <= counting[fell[-1]]]] = False
            restarts.append(int(marks.times[counting[fell[-1] + 1]]))
    attempts = np.array([origin.attempt for origin in table.origins], np.int64)[marks.voices]
    if attempts.min() < attempts.max():
        ours &= attempts == attempts.max()
        restarts.append(int(marks.times[attempts == attempts.max()].min()))
    began = max((time for time in restarts if time >= 0), default=None)
    if began is not None:
        ours &= marks.times >= began
    return ours, began


def _said_again(events: NDArray[np.integer[Any]], mine: NDArray[np.intp]) -> NDArray[np.intp]:
    """The marks of a speaker whose message counts more than once, if any: "nan in micro batch 1" begins no run."""
    _, message, times = np.unique(events[mine], return_inverse=True, return_counts=True)
    again = mine[times[message] > 1]
    return again if len(again) else mine


def _series(
    table: EventTable, files: Mapping[str, LogFile], marks: Markers, memory: Memory | None
) -> tuple[Series, ...]:
    """For each number that the markers carry its last value in every iteration.

    Only the last marker of each message in an iteration is read: what a message carries, it carries each time.
    """
    pairs = marks.numbers * (int(marks.messages.max()) + 1) + marks.messages
    _, backwards = np.unique(pairs[::-1], return_index=True)
    last = np.sort(len(pairs) - 1 - backwards)
    rows, numbers = marks.rows[last], marks.numbers[last]

    def read() -> bytes:
        return json.dumps(_values(table, files, dict(zip(rows.tolist(), numbers.tolist(), strict=True)))).encode()

    question = f"series {rows.tolist()}"
    by_name: dict[str, dict[str, float]] = json.loads(memory.of(question, read) if memory else read())
    found = {name: sorted((int(at), value) for at, value in values.items()) for name, values in sorted(by_name.items())}
    return tuple(
        Series(name, tuple(at for at, _ in values), tuple(value for _, value in values))
        for name, values in found.items()
        if len(values) > 1
    )


def _values(
    table: EventTable, files: Mapping[str, LogFile], number_of: Mapping[int, int]
) -> dict[str, dict[int, float]]:
    values: dict[str, dict[int, float]] = defaultdict(dict)
    for row, text in each_row(files, table, np.array(sorted(number_of), np.intp)):
        lower = text.lower()
        for measure in measures():
            match = measure.find(text, lower)
            if match:
                values[measure.name][number_of[row]] = float(match[match.lastindex or 0]) * measure.scale
    return values


# Of a pulse, by which progress is told where nothing counts iterations
LEAST = 8  # times that each speaker says it: as many as show where a level was left (core.course.level_shift)
NEAR = 2.0  # times the usual pause, or half of it,
REGULAR = 0.8  # that so many of all pauses are near to: others hold an evaluation or a checkpoint


def find_pulse(table: EventTable) -> NDArray[np.intp]:
    """Rows of the message with numbers that most speakers say regularly, by their own clocks; none where none is.

    ``seen 3.80M samples, 12,255 samples/s`` every five seconds: nobody knows which iteration that is, but as long as it
    comes the job goes on, and when it stays away the job stands still.
    """
    works = np.array(
        [
            origin.program is not Program.DAEMON and bool(origin.node or origin.rank is not None)
            for origin in table.origins
        ],
        np.bool_,
    )
    counts = table.counts
    speakers = np.unique(counts.voice[works[counts.voice]]) if works.any() else np.zeros(0, np.int64)
    by_many = np.bincount(counts.event[works[counts.voice] & (counts.heads >= LEAST)], minlength=len(table.templates))
    events = [
        event
        for event, template in enumerate(table.templates)
        if by_many[event] > len(speakers) * MAJORITY
        and "<NUM>" in template.sample
        and not template.block
        and not complains(template.sample)
    ]
    best, found = (0, 0), np.zeros(0, np.intp)
    for _, rows in sorted(table.rows_of(events).items()):
        own = rows[table.head[rows] & table.timed[rows] & works[table.voice[rows]]]
        voices, times = table.voice[own], table.time[own]
        regular = [own[mine] for _, mine in rows_by(voices, np.arange(len(own))) if _is_regular(times[mine])]
        size = (len(regular), sum(map(len, regular)))
        if size > best and len(regular) > len(speakers) * MAJORITY:
            best, found = size, np.sort(np.concatenate(regular))
    return found


def _is_regular(times: NDArray[np.int64]) -> bool:
    pauses = np.diff(times)
    usual = float(np.median(pauses)) if len(pauses) >= LEAST - 1 else 0.0
    return usual > 0 and float(np.mean((pauses <= usual * NEAR) & (pauses >= usual / NEAR))) >= REGULAR


_NAMED = re.compile(
    r"\b(?:global[_ ])?(?:steps?|iter(?:ation)?|update|(?:mini-?)?batch|round)[\"']?\s?[=:#]?\s?(\d{1,9})\b"
    r"(?!\s?[/.]\d|\s?[KMG]?i?B\b)",
    re.IGNORECASE,
)


def named_iteration(lines: Iterable[str], completed: int, interval: int) -> int | None:
    """The iteration that the lines of an error name; None where they name none, or one that cannot be.

    Args:
        completed: the iteration completed last before the error, NO_ITERATION where none was.
        interval: iterations between two that the logs print; the error comes before the next one is printed.
    """
    named = next((int(match[1]) for line in lines if (match := _NAMED.search(line))), None)
    if named is None or completed == NO_ITERATION:
        return named
    return named if completed <= named <= completed + max(1, interval) else None
