"""A rank for which the others waited now and then: iteration by iteration, for there is no one onset.

A processor that is held down when it is hot, a disk that others use at times. The middle of all its steps is that of
the others; what tells is that wherever somebody took far longer than the rest, it was the same rank.
"""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from core.course.pace import SECOND
from core.course.timings import LAG, Values, is_milliseconds, is_rate
from core.judge.ending import Ending
from core.live.findings import duration
from core.nodes.sign import Sign
from core.nodes.slow import OWN_PART, READS, UNIT, WAITS, slowed
from core.nodes.slow_from_start import HALF, TWICE
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS

MOST = 0.5  # of its lines; what is longer in most is another part of the work, or told by core.nodes.slow
MIN_TIMES = 3  # iterations in which it took far longer: one may be a checkpoint that only this rank writes
SHARE = 0.1  # of the time that the job ran; what costs less is not worth a machine
APART = 4.0  # times what any other rank cost (as in core.nodes.durations)


def straggler_signs(parsed: Parsed, ending: Ending, home: Mapping[int, str]) -> list[Sign]:
    """A sign for the node of the one rank that cost the job its time, part by part of a step.

    Args:
        home: node of each rank.
    """
    pace, course = parsed.iterations.course.pace(), parsed.iterations.course
    if len(home) < MIN_RANKS or pace is None or ending.slow is not None:
        return []  # where steps left their level for good, core.nodes.slow tells whose part rose
    whole = float(course.times[-1] - course.times[0]) / SECOND
    timings = parsed.timings
    signs = []
    for name, values in timings.items():
        if name == LAG or is_rate(name) or WAITS.search(name) or len(values) < max(MIN_RANKS, len(home) * MAJORITY):
            continue
        lost = _lost(values)
        if not lost:
            continue
        first, *others = sorted(lost, key=lambda rank: (-sum(lost[rank].values()), rank))
        longest = max(value for of in values.values() for value in of.values())
        scale = 1000 if is_milliseconds(name) or longest > UNIT * pace.longest else 1
        numbers = sorted(values[first])
        every = (numbers[-1] - numbers[0]) / max(1, len(numbers) - 1)  # iterations from one line to the next
        told_cost = sum(lost[first].values()) / scale
        cost = told_cost * every if told_cost * every <= whole else told_cost  # it may be slow just when it prints
        if first not in home or not MIN_TIMES <= len(lost[first]) <= MOST * len(numbers):
            continue
        if not SHARE * whole <= cost <= whole:
            continue
        if any(sum(lost[rank].values()) * APART > sum(lost[first].values()) for rank in others):
            continue
        if not READS.search(name) and not _waited_for(timings, name, first, lost[first]):
            continue
        because = (
            f"{parsed.table.called([first], home[first])}: its {name} was far longer than that of the others in"
            f" {len(lost[first])} of {len(numbers)} lines that tell it, {duration(cost)} of {duration(whole)} in all;"
            " they waited."
        )
        check = f"Compare {home[first]} with a healthy node: clocks and throttling, load of others, memory, storage."
        says, since = slowed(name, " now and then"), min(lost[first])
        signs.append(
            Sign(home[first], "own part", OWN_PART, because, says=says, check=check, ranks=(first,), iteration=since)
        )
    return signs


def _lost(values: Values) -> dict[int, dict[int, float]]:
    """Of each rank by how much it was beyond the middle of the others, in the iterations in which it was far beyond."""
    lost: dict[int, dict[int, float]] = defaultdict(dict)
    by_iteration: dict[int, dict[int, float]] = defaultdict(dict)
    for rank, of in values.items():
        for iteration, value in of.items():
            by_iteration[iteration][rank] = value
    for iteration, of_rank in sorted(by_iteration.items()):
        if len(of_rank) < MIN_RANKS:
            continue
        rank = max(of_rank, key=lambda item: (of_rank[item], -item))
        middle = float(np.median([value for other, value in of_rank.items() if other != rank]))
        if of_rank[rank] > TWICE * middle > 0:
            lost[rank][iteration] = of_rank[rank] - middle
    return dict(lost)


def _waited_for(timings: Mapping[str, Values], name: str, rank: int, lost: Mapping[int, float]) -> bool:
    """Whether in these iterations some other part took the others as much longer as this one took the rank."""
    need = HALF * float(np.median(list(lost.values())))
    for other, values in timings.items():
        if other in (name, LAG) or is_rate(other):
            continue
        less = [
            float(np.median(rest)) - values[rank][iteration]
            for iteration in lost
            if iteration in values.get(rank, {})
            and (rest := [of[iteration] for who, of in values.items() if who != rank and iteration in of])
        ]
        if less and float(np.median(less)) >= need:
            return True
    return False
