"""How fast a job makes progress: when it reached each iteration, how long a step takes, and how long it paused."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.course.markers import Markers
from core.course.patience import MIN_STEPS
from core.logs.lines import NO_TIME

SECOND = 1_000_000  # microseconds


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a job trained: seconds from one progress to the next (median), seconds an iteration, longest pause."""

    progress: float
    step: float
    longest: float


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """When a job reached its iterations: each once, by whoever was first, in the order of the clock.

    numbers: iterations, rising. times: microseconds. rows: of the markers in the event table.
    """

    numbers: NDArray[np.int64]
    times: NDArray[np.int64]
    rows: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def pauses(self) -> NDArray[np.float64]:
        """Seconds from each progress to the next."""
        return np.asarray(np.diff(self.times) / SECOND, np.float64)

    @property
    def steps(self) -> NDArray[np.float64]:
        """Seconds an iteration, from each progress to the next."""
        return self.pauses / np.maximum(1, np.diff(self.numbers))

    def until(self, time: int) -> "Course":
        """The part that came before a time."""
        kept = self.times < time
        return Course(self.numbers[kept], self.times[kept], self.rows[kept])

    def pace(self) -> Pace | None:
        """The pace; None before enough steps are known."""
        if len(self) <= MIN_STEPS:
            return None
        pauses = self.pauses
        return Pace(float(np.median(pauses)), float(np.median(self.steps)), float(pauses.max()))


def course_of(marks: Markers) -> Course:
    """The course of a job, or of one of its ranks; a line without a clock would pause where the lines above it do."""
    known = np.flatnonzero(marks.timed & (marks.times != NO_TIME))
    known = known[np.lexsort((marks.rows[known], marks.times[known]))]
    numbers = marks.numbers[known]
    reached = np.maximum.accumulate(np.append(-1, numbers))[:-1]
    first = known[numbers > reached]
    last = np.append(np.diff(marks.times[first]) > 0, [True])[: len(first)]  # clocks of bars count whole seconds
    return Course(marks.numbers[first[last]], marks.times[first[last]], marks.rows[first[last]])


def slowest(paces: Sequence[Pace]) -> Pace | None:
    """The slowest pace that good jobs kept, and the longest pause of any; None where none is known."""
    if not paces:
        return None
    return Pace(*(max(getattr(one, name) for one in paces) for name in ("progress", "step", "longest")))
