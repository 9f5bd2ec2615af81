"""Where the wall time of a run went: parts of whole milliseconds that add up to it (ByteRobust, section 8.1.3: ETTR).

An iteration belongs to the last attempt that computed it; what an earlier one spent on it was recomputed. Differs:
pauses that the log announces, pauses that it does not, and what clocks contradict have parts of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.history.attempt import Attempt, End

PAUSE = 10  # medians of an iteration beyond which a pause without a word is no slow iteration


class TimeUse(StrEnum):
    """What the time of a run was spent on."""

    PRODUCTIVE = "productive"  # iterations that were kept
    RECOMPUTED = "recomputed"  # iterations that a later attempt computed again
    STARTUP = "startup"  # start to the first iteration
    STALLED = "stalled"  # last iteration to the end: detection, time-outs, teardown
    DOWN = "down"  # between attempts
    SAVING = "saving"
    EVALUATING = "evaluating"
    AFTER = "after training"  # of an attempt that completed
    UNEXPLAINED = "unexplained"  # a pause without a word
    UNKNOWN = "unknown"  # clocks that contradict each other, attempts that are missing


Milliseconds = dict[TimeUse, int]


@dataclass(frozen=True, slots=True)
class Account:
    """A run's time.

    attempts: in the order of their starts. spent: of each attempt, with the time down after it. lost: of each attempt
    what its end cost: recomputed and stalled, the time down after it, and the start of the next one. slow: milliseconds
    that kept iterations took beyond the run's median. problems: sentences about clocks and gaps. kept: of each attempt
    when its steps ended, and what of each was productive, milliseconds.
    """

    attempts: tuple[Attempt, ...]
    spent: tuple[Milliseconds, ...]
    lost: tuple[Milliseconds, ...]
    slow: int
    problems: tuple[str, ...]
    kept: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...] = ()

    @property
    def parts(self) -> Milliseconds:
        """All time by part; the sum is ``wall``."""
        return {part: sum(entry[part] for entry in self.spent) for part in TimeUse}

    @property
    def wall(self) -> int:
        """Milliseconds from the first start to the last end."""
        return sum(self.parts.values())

    @property
    def ettr(self) -> float | None:
        """Productive over wall time; None of a run without time."""
        return self.parts[TimeUse.PRODUCTIVE] / self.wall if self.wall else None

    @property
    def ettr_by_ranks(self) -> float | None:
        """The same in hours of accelerators, where their number changes; None where it does not, or is not known."""
        ranks = [attempt.ranks for attempt in self.attempts]
        if not all(ranks) or len(set(ranks)) < 2:
            return None
        whole = sum(count * sum(parts.values()) for count, parts in zip(ranks, self.spent, strict=True))
        kept = sum(count * parts[TimeUse.PRODUCTIVE] for count, parts in zip(ranks, self.spent, strict=True))
        return kept / whole if whole else None

    @property
    def under_way(self) -> int:
        """Milliseconds in which an attempt ran."""
        return self.wall - self.parts[TimeUse.DOWN]


def account(attempts: Sequence[Attempt], seconds: float | None = None) -> Account:
    """Account for the time from the first start to the last end.

    Args:
        attempts: of one run, in any order.
        seconds: an iteration takes; for points that are too sparse to tell.
    """
    ordered = tuple(sorted(attempts, key=lambda attempt: (attempt.start, attempt.end, attempt.name)))
    problems: list[str] = []
    spans = _spans(ordered, problems)
    spent = [dict.fromkeys(TimeUse, 0) for _ in ordered]
    later: list[tuple[int, int]] = []  # iterations that later attempts computed, as (before the first, last)
    rates = [_rate(attempt) for attempt in ordered]
    usual = float(np.median([rate for rate in rates if rate is not None])) if any(rate for rate in rates) else 0.0
    slow, runs = 0, list[_Run]()
    for place in reversed(range(len(ordered))):
        run = _Run(ordered[place], spans[place], seconds * 1000 if seconds else None, rates[place] or usual)
        runs.append(run)
        spent[place], beyond = run.parts(later, usual)
        slow += beyond
        later = _joined([*later, *run.computed])
        problems += run.problems
    _between(ordered, spans, spent, problems)
    problems += [*_counts_anew(ordered), *_coarse(ordered)]
    return Account(
        ordered, tuple(spent), _lost(ordered, spent), slow, tuple(problems), tuple(run.kept for run in runs[::-1])
    )


def _spans(ordered: Sequence[Attempt], problems: list[str]) -> list[tuple[int, int]]:
    """When each attempt ran and no other did: overlaps belong to nobody."""
    spans, over = [], ordered[0].start if ordered else 0
    for place, attempt in enumerate(ordered):
        end = max(attempt.start, attempt.end)
        if attempt.end < attempt.start:
            problems.append(f"{attempt.name} ends before it starts: its clock ran backwards.")
        begins = ordered[place + 1].start if place + 1 < len(ordered) else end
        low = max(attempt.start, over)
        spans.append((low, max(low, min(end, begins))))
        over = max(over, end)
        if begins < over and place + 1 < len(ordered):
            problems.append(f"{ordered[place + 1].name} starts before {attempt.name} or one before it has ended.")
    return spans


def _between(
    ordered: Sequence[Attempt], spans: Sequence[tuple[int, int]], spent: Sequence[Milliseconds], problems: list[str]
) -> None:
    """The time between two attempts: down, or unknown where both ran or one is missing."""
    over, reached = 0, 0
    for place, attempt in enumerate(ordered[:-1]):
        following = ordered[place + 1]
        over = max(over, attempt.end, attempt.start)
        reached = max(reached, int(attempt.numbers[-1]) if len(attempt.numbers) else 0)
        missing = len(following.numbers) > 0 and 0 < reached < int(following.numbers[0]) - _stride(following)
        if missing:
            problems.append(
                f"{following.name} begins with iteration {int(following.numbers[0]):,}, no attempt before it went "
                f"beyond {reached:,}: an attempt is missing."
            )
        overlap = following.start < over
        gap = spans[place + 1][0] - spans[place][1]
        spent[place][TimeUse.UNKNOWN if overlap or missing else TimeUse.DOWN] += gap
    if ordered and (rest := max(attempt.end for attempt in ordered) - spans[-1][1]) > 0:
        spent[-1][TimeUse.UNKNOWN] += rest


def _lost(ordered: Sequence[Attempt], spent: Sequence[Milliseconds]) -> tuple[Milliseconds, ...]:
    """What the end of each attempt cost; an attempt without an iteration is the start of the one before it."""
    lost = []
    for place in range(len(ordered)):
        own = dict(spent[place])
        own[TimeUse.STARTUP] = spent[place + 1][TimeUse.STARTUP] if place + 1 < len(ordered) else 0
        kept = (TimeUse.RECOMPUTED, TimeUse.STALLED, TimeUse.DOWN, TimeUse.STARTUP)
        lost.append({part: own[part] if part in kept else 0 for part in TimeUse})
    return tuple(lost)


def _counts_anew(ordered: Sequence[Attempt]) -> list[str]:
    """That an attempt went on from a checkpoint and counts from the first iteration all the same."""
    return [
        f"{attempt.name} loaded a checkpoint and counts from {int(attempt.numbers[0]):,} on: its numbers may be its"
        f" own, and what {before.name} computed may be kept although it is told as computed again."
        for before, attempt in pairwise(ordered)
        if attempt.loaded
        and before.checkpoints
        and len(attempt.numbers)
        and int(attempt.numbers[0]) <= _stride(attempt)
    ]


def _coarse(ordered: Sequence[Attempt]) -> list[str]:
    """That losses are known to some iterations only, where not each of them has a line."""
    stride = max((_stride(attempt) for attempt in ordered if len(attempt.numbers) > 1), default=1)
    again = len(ordered) > 1 and stride > 1
    return [f"Iterations are told every {stride:,}: what was computed again is known to +-{stride:,}."] if again else []


def _stride(attempt: Attempt) -> int:
    """Iterations from one line that counts them to the next."""
    return max(1, int(np.median(np.diff(attempt.numbers)))) if len(attempt.numbers) > 1 else 1


def _rate(attempt: Attempt) -> float | None:
    """Milliseconds of an iteration, the attempt's median; None of fewer than two points."""
    if len(attempt.numbers) < 2:
        return None
    return float(np.median(np.maximum(0, np.diff(attempt.times)) / np.maximum(1, np.diff(attempt.numbers))))


class _Run:
    """One attempt within the time that is its own."""

    def __init__(self, attempt: Attempt, span: tuple[int, int], fixed: float | None, rate: float) -> None:
        self._one, self._span, self._rate = attempt, span, fixed or rate
        self._fixed = fixed is not None
        low, high = span
        times = np.maximum.accumulate(attempt.times) if len(attempt.times) else attempt.times
        self.problems = [f"{attempt.name}: its clock steps back."] if (times != attempt.times).any() else []
        outside = len(times) > 0 and (times[0] < attempt.start or times[-1] > max(attempt.start, attempt.end))
        self.problems += [f"{attempt.name} has iterations outside of its start and end."] if outside else []
        self._times = np.clip(times, low, high)
        self.kept = self._times[:0], self._times[:0]
        self._first = int(min(_stride(attempt), attempt.numbers[0])) if len(attempt.numbers) else 0
        computed = len(attempt.numbers) > 0
        self.computed = [(int(attempt.numbers[0]) - self._first, int(attempt.numbers[-1]))] if computed else []

    def parts(self, later: Sequence[tuple[int, int]], usual: float) -> tuple[Milliseconds, int]:
        """Milliseconds by part, and those of kept iterations beyond the run's median."""
        parts, (low, high), attempt = dict.fromkeys(TimeUse, 0), self._span, self._one
        if not self.computed:
            parts[TimeUse.STARTUP] = high - low
            return parts, 0
        before = int(self._times[0]) - low
        first = min(before, round(self._rate * self._first))
        parts[TimeUse.STARTUP] = before - first
        counts = np.diff(attempt.numbers, prepend=attempt.numbers[0] - self._first)
        durations = np.concatenate([np.array([first], np.int64), np.diff(self._times)])
        if self._fixed:
            parts[TimeUse.UNEXPLAINED] = self._beyond_pace(durations, counts)
        for part, which in () if self._fixed else self._pauses(durations, counts):
            excess = np.maximum(0, durations - np.rint(self._rate * counts).astype(np.int64))[which]
            parts[part] += int(excess.sum())
            durations[which] -= excess
        again = np.rint(durations * _covered(attempt.numbers - counts, attempt.numbers, later)).astype(np.int64)
        parts[TimeUse.RECOMPUTED] = int(again.sum())
        self.kept = self._times, durations - again
        parts[TimeUse.PRODUCTIVE] = int(self.kept[1].sum())
        rest = TimeUse.AFTER if attempt.ended is End.COMPLETED else TimeUse.STALLED
        parts[rest] = high - int(self._times[-1])
        kept = again == 0
        return parts, int(np.maximum(0, durations[kept] - np.rint(usual * counts[kept])).sum())

    def _pauses(
        self, durations: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> list[tuple[TimeUse, NDArray[np.bool_]]]:
        """Steps with a pause in them: announced, or far beyond the usual without a word."""
        inner = np.arange(len(durations)) > 0
        saving, evaluating = self._told(self._one.saving) & inner, self._told(self._one.evaluating) & inner
        quiet = inner & ~saving & ~evaluating
        long = durations > self._rate * (counts + PAUSE)
        return [
            (TimeUse.SAVING, saving & ~evaluating),
            (TimeUse.EVALUATING, evaluating),
            (TimeUse.UNEXPLAINED, quiet & long),
        ]

    def _beyond_pace(self, durations: NDArray[np.int64], counts: NDArray[np.int64]) -> int:
        """Milliseconds beyond a pace that is known, over all points: one alone may be a day off. Takes them away."""
        ends = np.rint(np.cumsum(counts[1:]) * self._rate).astype(np.int64)
        pause = int(durations[1:].sum() - ends[-1]) if len(ends) else 0
        if pause <= 0:
            return 0
        durations[1:] = np.diff(ends, prepend=0)
        return pause

    def _told(self, times: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Steps within which a line of these times stands; what follows a step at its own time is of the next."""
        ends = np.searchsorted(times, self._times, side="left")
        return np.diff(ends, prepend=ends[:1]) > 0


def _covered(
    before: NDArray[np.int64], last: NDArray[np.int64], ranges: Sequence[tuple[int, int]]
) -> NDArray[np.float64]:
    """The share of each step, iterations ``before`` to ``last``, that one of the ranges (as joined) computed again."""
    if not ranges:
        return np.zeros(len(last), np.float64)
    low, high = np.array(ranges, np.int64).T
    total = np.cumsum(np.append(0, high - low))

    def up_to(iterations: NDArray[np.int64]) -> NDArray[np.int64]:
        begun = np.searchsorted(low, iterations, side="right")
        return np.asarray(total[begun] - np.where(begun, np.maximum(0, high[begun - 1] - iterations), 0), np.int64)

    return np.asarray((up_to(last) - up_to(before)) / np.maximum(1, last - before), np.float64)


def _joined(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], high)
        else:
            joined.append((low, high))
    return joined
