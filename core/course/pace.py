"""How fast a job makes progress: when it reached each iteration, how long a step takes, and how long it paused."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.course.markers import Markers
from core.course.patience import MIN_STEPS
from core.logs.lines import NO_TIME
from core.shares import MAJORITY

SECOND = 1_000_000  # microseconds
FEW_TIMES = 3  # of two, one pause would be the pace


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a job trained: seconds from one progress to the next (median), seconds an iteration, longest pause."""

    progress: float
    step: float
    longest: float


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """When a job reached its iterations: each once, by whoever was first, in the order of the clock.

    numbers: iterations, rising; of those that a clock of whole seconds cannot tell apart the last. times: microseconds.
    rows: of the markers in the event table. counts: how many iterations were marked at each time.
    """

    numbers: NDArray[np.int64]
    times: NDArray[np.int64]
    rows: NDArray[np.intp]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def pauses(self) -> NDArray[np.float64]:
        """Seconds from each progress to the next."""
        return np.asarray(np.diff(self.times) / SECOND, np.float64)

    @property
    def is_coarse(self) -> bool:
        """Whether the clock counts whole seconds."""
        return len(self.times) > 0 and not (self.times % SECOND).any()

    @property
    def waits(self) -> NDArray[np.float64]:
        """Seconds from each mark to the next; those of one time share the pause before it."""
        counts = self.counts[1:]
        return np.repeat(self.pauses / counts, counts)

    @property
    def steps(self) -> NDArray[np.float64]:
        """Seconds an iteration, one value for each mark after the first time: those of one time share its pause."""
        each: NDArray[np.float64] = self.pauses / np.maximum(1, np.diff(self.numbers))
        return np.repeat(each, self.counts[1:])

    @property
    def interval(self) -> float:
        """Iterations from each mark to the next, as a rule; one at least."""
        return max(1.0, float(np.median(np.diff(self.numbers)))) if len(self) > 1 else 1.0

    def iteration_of_step(self, place: int) -> int:
        """The first iteration that a value of ``steps`` is the mean of."""
        ends = np.cumsum(self.counts[1:])
        return int(self.numbers[int(np.searchsorted(ends, place, side="right"))]) + 1

    def onset_near(self, place: int, before: float, after: float) -> int:
        """The iteration from which on steps took ``after`` seconds in place of ``before``: within a value of ``steps``.

        Each value is the mean of some iterations, of which the last ones may be slow. So may those of the value before
        ``place`` be, if no earlier one is as high: else it may be a pause that comes again and again.
        """
        steps = self.steps
        slow = np.clip((steps - before) / (after - before), 0.0, 1.0)
        first, following = (self.iteration_of_step(at) for at in (place, min(place + 1, len(steps) - 1)))
        if place and slow[place - 1] > slow[: place - 1].max(initial=0.0):
            return first - round(float(slow[place - 1]) * (first - self.iteration_of_step(place - 1)))
        return max(first, following - max(1, round(float(slow[place]) * (following - first))))

    def until(self, time: int) -> "Course":
        """The part that came before a time."""
        kept = self.times < time
        return Course(self.numbers[kept], self.times[kept], self.rows[kept], self.counts[kept])

    def pace(self) -> Pace | None:
        """The pace; None before enough steps are known."""
        if len(self) < FEW_TIMES or self.counts[1:].sum() < MIN_STEPS:
            return None
        return Pace(float(np.median(self.waits)), float(np.median(self.steps)), float(self.pauses.max()))


def course_of(marks: Markers) -> Course:
    """The course of a job, or of one of its ranks; a line without a clock would pause where the lines above it do."""
    known = np.flatnonzero(marks.timed & (marks.times != NO_TIME))
    known = known[np.lexsort((marks.rows[known], marks.times[known]))]
    numbers, times = marks.numbers[known], _as_counted(marks.times[known])
    reached = np.maximum.accumulate(np.append(-1, numbers))[:-1]
    first = np.flatnonzero(numbers > reached)
    ends = np.flatnonzero(np.append(np.diff(times[first]) > 0, [True])[: len(first)])
    last = first[ends]  # clocks of bars, and many of lines, count whole seconds
    counts = np.diff(np.append(-1, ends))
    return Course(numbers[last], times[last], marks.rows[known[last]], counts)


def drawn_course(marks: Markers) -> Course:
    """The course by what its bar says to have run, of a job without any clock: from the bar's beginning on."""
    drawn = marks.only(marks.elapsed >= 0)
    return course_of(replace(drawn, times=drawn.elapsed, timed=np.ones(len(drawn.rows), np.bool_)))


def _as_counted(times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rising times as a clock of whole seconds has them: lines with a finer clock pull those below them up to theirs.

    Behind its last second only what ended the job stands, and when that was is asked.
    """
    whole = np.flatnonzero(times % SECOND == 0)
    if len(whole) <= MAJORITY * len(times):
        return times
    until = int(whole[-1]) + 1
    return np.append(times[:until] - times[:until] % SECOND, times[until:])


def slowest(paces: Sequence[Pace]) -> Pace | None:
    """The slowest pace that good jobs kept, and the longest pause of any; None where none is known."""
    if not paces:
        return None
    return Pace(*(max(getattr(pace, name) for pace in paces) for name in ("progress", "step", "longest")))
