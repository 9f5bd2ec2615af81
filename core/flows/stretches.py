"""Slow stretches of a series of durations: level shifts, drifts, and single slow steps.

Differs: k-sigma over all steps misses a fault that lasts half of the run, for the fault itself widens sigma.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.flows.jobs import Floats

SAVED = 0.2  # of the L1 cost that a change has to save (FLOWS.md, 4)
SLOWER = 0.08  # of the level before, by which a stretch is slower at least (FLOWS.md, 4)
SHORTEST = 4  # steps of a stretch; fewer are slow steps
GRID = 120  # places at which a change is looked for; a longer series is looked at in coarser ones first
DRIFTED = 0.12  # of the level before, that a drift adds in all (FLOWS.md, 4)
NEIGHBOURS = 16  # steps that a slow step is compared with (FLOWS.md, 4)
PAUSED, PAUSE_DEVIATIONS = (
    1.15,
    3.0,
)  # the same for steps that wrote to storage: three of four were found with 1.3 (d06)
SLOW, DEVIATIONS = 1.3, 6.0  # times their median, and their absolute deviations from it (FLOWS.md, 4)
# The same of those that count only where a NIC or a server clearly worked longer: with 1.3 stalls of a quarter of a
# step were missed; of what is below 1.2 nearly as much was noise as was slow by the trainers' clocks. Where steps
# differ much by themselves, stalls of nearly half of a step were 4 deviations away, and noise of 1.37 (docs/LOG.md)
SLIGHTLY, LONG, HARDLY = 1.2, 1.4, 3.0
# The same however much steps differ by themselves, where nobody else comes near: in 450 jobs such steps were four
# stalls and three others that were as slow by the trainers' clocks (docs/LOG.md)
QUARTER = 1.25
# The same of a step that is hardly longer, where somebody was silent for so much of a usual step and nobody else for a
# fifth of that: a pipeline has slack for a stall. In 46 jobs all such steps were stalls or slow by the trainers'
# clocks; of silences of .1 to .25 a half was neither. Not among steps that somebody makes slow anyway: all others have
# slack there, and one noise of .34 was told (docs/LOG.md)
HARDLY_LONGER, HUSH = 1.08, 0.3


@dataclass(frozen=True)
class Stretch:
    """Steps ``first`` to ``last`` (both in it) that are slower than the others, and how.

    Attributes:
        drifts: they get slower and slower.
        usual, slow: median of the others and of these; of a drift its last level. In the unit of the series.
    """

    first: int
    last: int
    drifts: bool
    usual: float
    slow: float


def within(steps: tuple[int, int], count: int) -> NDArray[np.bool_]:
    """(count) whether each step is between two, both of them in it."""
    places = np.arange(count)
    return (places >= steps[0]) & (places <= steps[1])


def without_pauses(durations: Floats, wrote: NDArray[np.bool_]) -> Floats:
    """Durations in which steps that wrote to storage and took longer for it are as long as those around them.

    A few pauses of half a minute outweigh all that a slow switch does to other steps. Where most steps write, nothing
    is changed: that is no pause.
    """
    others = np.flatnonzero(~wrote)
    if not wrote.any() or len(others) <= len(durations) / 2:
        return durations
    kept = durations.copy()
    for step in np.flatnonzero(wrote).tolist():
        near = others[np.argsort(np.abs(others - step), kind="stable")[: 2 * SHORTEST]]
        usual = float(np.median(durations[near]))
        if durations[step] > PAUSED * usual:
            kept[step] = usual
    return kept


def find_stretch(durations: Floats, *, slower: float = SLOWER) -> Stretch | None:
    """The stretch of steps that are slower than those around it, or get slower; None where there is none.

    Args:
        slower: of the level before, by which a stretch is slower at least.
    """
    if len(durations) < 2 * SHORTEST:
        return None
    log = np.log(durations)
    alone = _cost(log)
    drift, drift_cost = _drift(log)
    stretch, stretch_cost = _shift(log)
    if drift is not None and drift_cost < min(stretch_cost, (1 - SAVED) * alone):
        usual = float(np.median(durations[:drift]))
        slow = float(np.median(durations[-SHORTEST:]))
        if slow > (1 + DRIFTED) * usual:
            return Stretch(drift, len(durations) - 1, True, usual, slow)  # noqa: FBT003 a field
    if stretch is None or stretch_cost >= (1 - SAVED) * alone:
        return None
    first, last = stretch
    inside = np.zeros(len(durations), bool)
    inside[first : last + 1] = True
    usual, slow = float(np.median(durations[~inside])), float(np.median(durations[inside]))
    return Stretch(first, last, False, usual, slow) if slow > (1 + slower) * usual else None  # noqa: FBT003 a field


def find_level(values: Floats) -> tuple[tuple[int, int] | None, float]:
    """The stretch on a higher level than the rest, first and last place, and the part of the L1 cost that it saves."""
    found, cost = _shift(values)
    alone = _cost(values)
    return (found, 1 - cost / alone) if found is not None and alone else (None, 0.0)


def find_drift(values: Floats) -> tuple[int | None, float]:
    """Where a level turns into a line that rises to the end, and the part of the L1 cost that this saves."""
    found, cost = _drift(values)
    alone = _cost(values)
    return (found, 1 - cost / alone) if found is not None and alone else (None, 0.0)


@dataclass(frozen=True)
class SlowStep:
    """A step that took longer than its neighbours.

    Attributes:
        step: its index.
        usual: median of its neighbours, in the unit of the series.
        plain: it counts whoever made it slow; else only where somebody is named.
        noisy: it is within the spread of its neighbours, so it counts only where nobody else comes near.
        least: of its usual length, that somebody has to be silent for; 0 where that it is longer tells enough.
    """

    step: int
    usual: float
    plain: bool
    noisy: bool = False
    least: float = 0.0


def slow_steps(durations: Floats, stretch: Stretch | None, wrote: NDArray[np.bool_] | None = None) -> list[SlowStep]:
    """Single steps that took longer than their neighbours.

    Args:
        wrote: steps with a known cause, of which less is enough.
    """
    inside = np.zeros(len(durations), bool)
    if stretch is not None:
        inside[stretch.first : stretch.last + 1] = True
    found = []
    for step in range(len(durations)):
        like = np.flatnonzero(inside == inside[step])
        like = like[like != step]
        near = np.sort(like[np.argsort(np.abs(like - step), kind="stable")[:NEIGHBOURS]])
        if len(near) < SHORTEST:
            continue
        middle = float(np.median(durations[near]))
        spread = float(np.median(np.abs(durations[near] - middle)))
        times = durations[step] / middle
        apart = (durations[step] - middle) / spread if spread else np.inf
        paused = wrote is not None and bool(wrote[step]) and times > PAUSED and apart > PAUSE_DEVIATIONS
        usually = paused or (times > SLIGHTLY and apart > DEVIATIONS) or (times > LONG and apart > HARDLY)
        if usually or times > (QUARTER if inside[step] else HARDLY_LONGER):
            plain = bool(paused or (times > SLOW and apart > DEVIATIONS))
            least = 0.0 if usually or times > QUARTER else HUSH
            found.append(SlowStep(step, middle, plain, noisy=not usually, least=least))
    return found


def has_come_to_pace(durations: Floats, slow: SlowStep) -> bool:
    """Whether any step before a slow one took no longer than usual: the first ones of a job connect, allocate and load.

    How long the very first took is not known, for it began before it sent anything.
    """
    return bool((durations[1 : slow.step] < SLIGHTLY * slow.usual).any())


def _cost(values: Floats) -> float:
    """L1 distance from the median."""
    return float(np.abs(values - np.median(values)).sum()) if len(values) else 0.0


def _shift(log: Floats) -> tuple[tuple[int, int] | None, float]:
    """The stretch with the least cost for its own level and one level around it, of those that are slower inside."""
    count = len(log)
    places = np.arange(count + 1)
    if count > GRID:
        places = np.unique(np.append(np.arange(0, count + 1, count // GRID), count))
    best, cost = _best_pair(log, places, places)
    if best is not None and count > GRID:
        reach = count // GRID
        first = np.arange(max(0, best[0] - reach), min(count, best[0] + reach) + 1)
        after = np.arange(max(0, best[1] + 1 - reach), min(count, best[1] + 1 + reach) + 1)
        best, cost = _best_pair(log, first, after)
    return best, cost


def _best_pair(
    log: Floats, firsts: NDArray[np.int64], afters: NDArray[np.int64]
) -> tuple[tuple[int, int] | None, float]:
    """The first and the last place of the cheapest stretch; of equals that which begins, then ends first."""
    best, least = None, np.inf
    count, turn = len(log), np.arange(len(log))
    for first in firsts.tolist():
        after = afters[(afters - first >= SHORTEST) & (count - (afters - first) >= SHORTEST)]
        inside = (turn >= first) & (turn < after[:, None])
        level, around = _middles(log, inside), _middles(log, ~inside)
        cost = np.abs(log - np.where(inside, level[:, None], around[:, None])).sum(axis=1)
        cost[level <= around] = np.inf
        if len(after) and cost.min() < least:
            place = int(np.argmin(cost))
            best, least = (first, int(after[place]) - 1), float(cost[place])
    return best, least


def _middles(values: Floats, chosen: NDArray[np.bool_]) -> Floats:
    """(rows) the median of the values that each row chooses."""
    ordered = np.sort(np.where(chosen, values, np.inf), axis=1)
    many, row = chosen.sum(axis=1), np.arange(len(chosen))
    middles: Floats = (ordered[row, (many - 1) // 2] + ordered[row, many // 2]) / 2
    return middles


def _drift(log: Floats) -> tuple[int | None, float]:
    """Where a level turns into a rising line that goes on to the end, with the least cost."""
    best, least = None, np.inf
    for first in range(SHORTEST, len(log) - 2 * SHORTEST, max(1, len(log) // GRID)):
        level = float(np.median(log[:first]))
        run = np.arange(1, len(log) - first + 1)
        slope = float(np.median((log[first:] - level) / run))
        cost = float(np.abs(log[:first] - level).sum() + np.abs(log[first:] - level - slope * run).sum())
        if slope > 0 and cost < least:
            best, least = first, cost
    return best, least
