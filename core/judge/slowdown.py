"""Slowdowns of a job: steps that became longer for good, by its clock or by the times that it prints.

Suddenly, by a level that was left (``core.course.level_shift``), or little by little; for all work or a part of it.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from core.course.level_shift import LONG, LONG_DRIFT, LONG_RATIO, MIN_RATIO, find_growth, find_shift, find_uneven_shift
from core.course.pace import Course, Pace
from core.course.stages import STAGES
from core.course.timings import LAG, Values, is_milliseconds, is_rate
from core.job import Status
from core.model import Stage
from core.parsed import Parsed
from core.shares import MIN_RANKS, few_of

# A step of a job to one of good jobs of the same settings: of 134 labelled jobs that were well, with 16 steps at least,
# one had 1.25 and all others but one that was no rerun at most 1.11; the least of 14 slow ones 1.30 (docs/LOG.md).
# Steps of tenths of a second differ by a third on a busy machine.
GOOD_RATIO, GOOD_SECONDS = 1.28, 0.5
SHORTEST = 1 / 64  # of the longest value: a part that is shorter, or told as 0, may have any length below it
MIN_PARTS = 3  # a step and two parts: of two numbers alike either may be part of the other
SHARE = 0.25  # of the time that a job ran, that work must have cost more than at first (as in core.nodes.slow)
MIN_STALLS = 3  # of two, one may be a checkpoint and one an evaluation that good jobs did not come to
RECOVERED = 2  # times the longest stretch between two of them, without one at the end: they are over
LEAST_LOST = 1.0  # seconds in all: three steps of 90 ms that took twice as long are what a busy machine does
# A printed time of a whole step: step_time, iter time, time/step, "elapsed time per iteration", sec/it, ms/update;
# "completed step: 4, seconds: 6.269" of MaxText (MaxText/metric_logger.py)
TOTAL = re.compile(r"step|iter|elapsed|/(?:it|update|upd|batch)\b|^time$|^seconds$", re.IGNORECASE)
KNOWN_PAUSES = (Stage.EVALUATION, Stage.CHECKPOINT_SAVING)


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Steps became slower for good: from which iteration on, and seconds a step before (or in good jobs) and after.

    uneven: single steps say little, only what they come to; before and after are means.
    """

    iteration: int
    before: float
    after: float
    than_good_jobs: bool = False
    uneven: bool = False

    def is_like(self, other: "Slowdown") -> bool:
        """Whether both tell of the same two levels."""
        pairs = ((self.before, other.before), (self.after, other.after))
        return all(max(pair) <= LONG_DRIFT * min(pair) for pair in pairs)


def told_slowdown(parsed: Parsed) -> Slowdown | None:
    """The slowdown that lines tell of which have no clock: by the time of a step that they print, or of its parts."""
    totals = {name: values for name, values in sorted(parsed.timings.items()) if TOTAL.search(name)}
    told = totals or _sum_of_others(parsed.timings) or {"": _parts(parsed.timings)}
    slowdowns = []
    for name, values in told.items():
        slow = _shift_of(values, long=LONG_RATIO)
        if slow is not None:
            scale = 1000 if is_milliseconds(name) else 1
            slowdowns.append(replace(slow, before=slow.before / scale, after=slow.after / scale))
    return max(slowdowns, key=lambda slow: slow.after, default=None)


def _sum_of_others(timings: Mapping[str, Values]) -> dict[str, Values]:
    """The time that is the sum of all others, in whatever words: that of the whole step; empty where none is."""
    usual = {
        name: float(np.median([value for of in values.values() for value in of.values()]))
        / (1000 if is_milliseconds(name) else 1)
        for name, values in sorted(timings.items())
        if name != LAG and not is_rate(name) and any(values.values())
    }
    longest = max(usual, key=lambda name: usual[name], default="")
    rest = sum(usual.values()) - usual.get(longest, 0.0)
    is_whole = len(usual) >= MIN_PARTS and rest <= LONG_DRIFT * usual[longest] <= LONG_DRIFT**2 * rest
    return {longest: timings[longest]} if is_whole else {}


def _parts(timings: Mapping[str, Mapping[int, Mapping[int, float]]]) -> Mapping[int, Mapping[int, float]]:
    """Seconds of all parts of a step that a rank prints in the same iterations, by rank and iteration."""
    sums: dict[int, dict[int, float]] = {}
    counts: dict[int, Counter[int]] = {}
    for name, values in sorted(timings.items()):
        if name == LAG or is_rate(name):
            continue
        scale = 1000 if is_milliseconds(name) else 1
        for rank, of_rank in values.items():
            own, count = sums.setdefault(rank, {}), counts.setdefault(rank, Counter())
            count.update(of_rank.keys())
            for number, value in of_rank.items():
                own[number] = own.get(number, 0.0) + value / scale
    return {
        rank: {number: total for number, total in own.items() if counts[rank][number] == max(counts[rank].values())}
        for rank, own in sums.items()
        if own
    }


def drawn_slowdown(parsed: Parsed) -> Slowdown | None:
    """The slowdown that a progress bar shows of which no line has a clock."""
    course = parsed.iterations.drawn
    pace = course.pace() if course is not None else None
    if course is None or pace is None:
        return None
    good = parsed.usual.pace if parsed.usual else None
    return clocked_slowdown(course) or slower_than_good(
        course, pace, good, completed=parsed.job.status is Status.COMPLETED
    )


def part_slowdown(parsed: Parsed) -> Slowdown | None:
    """The slowdown that few ranks alone tell of, by a part of a step that they print."""
    slowdowns = []
    for name, values in parsed.timings.items():
        if name == LAG or is_rate(name) or len(values) < MIN_RANKS:
            continue
        shifts = [slow for of in values.values() if (slow := _shift_of({0: of})) is not None]
        if 0 < len(shifts) <= few_of(len(values)):
            scale = 1000 if is_milliseconds(name) else 1
            slowdowns.append(Slowdown(shifts[0].iteration, shifts[0].before / scale, shifts[0].after / scale))
    return max(slowdowns, key=lambda slow: (slow.after - slow.before, -slow.iteration), default=None)


def _shift_of(values: Mapping[int, Mapping[int, float]], *, long: float | None = None) -> Slowdown | None:
    """Where the median over the ranks of a printed time left its level."""
    numbers = sorted({number for of_rank in values.values() for number in of_rank})
    told = [[of[number] for of in values.values() if number in of] for number in numbers]
    each = np.array([np.median(own) if len(own) > 1 else own[0] for own in told])  # of one it takes 20 us to tell
    shift = find_shift(np.maximum(each, each.max(initial=0.0) * SHORTEST), long=long)
    return None if shift is None else Slowdown(numbers[shift.place - 1] + 1, shift.before, shift.after)


def uneven_slowdown(parsed: Parsed, course: Course, ratio: float = MIN_RATIO) -> Slowdown | None:
    """A slowdown that single steps do not show; what a pause for an evaluation or a checkpoint takes is left out."""
    before = np.maximum(course.rows[1:] - 1, 0)
    stages = np.isin(parsed.stages[before], [STAGES.index(stage) for stage in KNOWN_PAUSES])
    steps = np.where(np.repeat(stages, course.counts[1:]), np.median(course.steps), course.steps)
    uneven = find_uneven_shift(steps, ratio)
    if uneven is None:
        return None
    shift, _ = uneven
    return Slowdown(course.iteration_of_step(shift.place), shift.before, shift.after, uneven=True)


def clocked_slowdown(course: Course, ratio: float = MIN_RATIO) -> Slowdown | None:
    """Steps that left their level for good by the clock.

    Levels of a job on machines that are well differ by less than two (docs/LOG.md), those of a long job by less.
    """
    long = LONG_RATIO if ratio >= MIN_RATIO else LONG_DRIFT
    shift = find_shift(course.steps, ratio, coarse=course.is_coarse, long=long, each=course.interval)
    if shift is not None and (course.steps[shift.place :] - shift.before).sum() >= LEAST_LOST:
        return Slowdown(course.onset_near(shift.place, shift.before, shift.after), shift.before, shift.after)
    return None


def slower_than_good(
    course: Course, pace: Pace, good: Pace | None, ratio: float = MIN_RATIO, *, completed: bool
) -> Slowdown | None:
    """Steps that were longer than those of good jobs from the start; of a job that completed, by more."""
    is_close = completed or good is None or pace.step - good.step < GOOD_SECONDS
    long = LONG_RATIO if is_close else GOOD_RATIO
    least = min(ratio, long) if len(course.steps) >= max(2 * LONG / course.interval, LONG) else ratio
    if good is None or good.step <= 0 or pace.step < least * good.step:
        return None
    first, each = int(course.numbers[0]), int(np.median(np.diff(course.numbers)))
    return Slowdown(max(min(1, first), first - each + 1), good.step, pace.step, than_good_jobs=True)


def stalling_slowdown(course: Course, pace: Pace, good: Pace | None) -> Slowdown | None:
    """Steps that took longer again and again until the end than any did in good jobs, and cost much of its time."""
    if good is None:
        return None
    stalls = course.waits > max(MIN_RATIO * pace.progress, good.longest)
    lost = float((course.waits[stalls] - pace.progress).sum())
    if np.count_nonzero(stalls) < MIN_STALLS or lost < max(LEAST_LOST, SHARE * float(course.waits.sum())):
        return None
    places = np.flatnonzero(stalls)
    first, behind = int(places[0]), len(stalls) - 1 - int(places[-1])
    if behind > RECOVERED * int(np.diff(places).max()):
        return None
    before, after = float(np.median(course.steps[~stalls])), float(np.mean(course.steps[first:]))
    return Slowdown(course.iteration_of_step(first), before, after, uneven=True)


def growing_slowdown(course: Course) -> Slowdown | None:
    """Steps that take longer little by little until the end: memory that is never given back, or a list that grows."""
    growth = find_growth(course.steps)
    if growth is None:
        return None
    return Slowdown(course.iteration_of_step(growth.place), growth.before, growth.after, uneven=True)
