"""Who is slower than the others all along, in a job that never became slow: a part of a step, for which they wait."""

from collections.abc import Mapping, Sequence

import numpy as np

from core.course.timings import LAG, is_milliseconds, is_rate
from core.judge.ending import Ending
from core.naming import figure
from core.nodes.sign import Sign
from core.nodes.slow import APART, OWN_PART, READS, SHARE, WAITS, WHOLE, slowed
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS, few_of

TWICE = 2.0  # as long as on the others: stages of a pipeline and uneven batches differ by less
# times as long as on any other, of one rank of so many, if they wait for it that long: a pipeline's stage is not alone
ALONE, ALONE_OF = 1.5, 8
HALF = 0.5  # of a step: it takes longer than all the rest
LONGER = 2.0  # times what passes between two lines that tell a part: in seconds no part is as long as that


def slow_from_the_start(parsed: Parsed, ending: Ending, home: Mapping[int, str]) -> list[Sign]:
    """Signs for the nodes of few ranks that are slower than the others all along, which wait for them.

    Args:
        home: node of each rank.
    """
    pace, slow = parsed.iterations.course.pace(), ending.slow or ending.drift
    if pace is None or (slow is not None and not slow.than_good_jobs) or len(home) < MIN_RANKS:
        return []
    parts: dict[str, dict[int, float]] = {}
    for name, values in parsed.timings.items():
        if name == LAG or is_rate(name) or len(values) < max(MIN_RANKS, len(home) * MAJORITY):
            continue
        own = {rank: float(np.median(list(of.values()))) for rank, of in values.items()}
        is_long = float(np.median(list(own.values()))) > LONGER * pace.progress
        scale = 1000 if is_milliseconds(name) or is_long else 1
        parts[name] = {rank: value / scale for rank, value in own.items()}
    signs = []
    for name, own in parts.items():
        usual = float(np.median(list(own.values())))
        odd = _longer_all_along(own, pace.step)
        if not odd or len(odd) > few_of(len(own)) or WAITS.search(name):
            continue
        more = min(own[rank] for rank in odd) - usual
        need = APART if min(own[rank] for rank in odd) > TWICE * usual else WHOLE
        waited_for = any(_less(other, odd) > need * more for key, other in parts.items() if key != name)
        if not waited_for and not (READS.search(name) and min(own[rank] for rank in odd) > HALF * pace.step):
            continue  # nobody waits for it: it does another part of the work, which reading is for nobody
        for node in sorted({home[rank] for rank in odd if rank in home}):
            mine = [rank for rank in odd if home.get(rank) == node]
            levels = f"{figure(own[mine[0]])} s, that of the others {figure(usual)} s"
            because = f"{parsed.table.called(mine, node)}: its {name} is {levels}; they wait for it."
            check = f"Compare {node} with a healthy node: load, clocks and throttling, memory, network, storage."
            says, first = slowed(name), int(parsed.iterations.course.numbers[0])
            signs.append(
                Sign(node, "own part", OWN_PART, because, says=says, check=check, ranks=tuple(mine), iteration=first)
            )
    return signs


def _longer_all_along(own: Mapping[int, float], step: float) -> list[int]:
    """The ranks that take twice as long as most for a part, by a good part of a step; of many a lone one by half."""
    usual = float(np.median(list(own.values())))
    twice = sorted(rank for rank, value in own.items() if value > TWICE * usual and value - usual > SHARE * step)
    if twice or len(own) < ALONE_OF:
        return twice
    (second, _), (longest, first) = sorted((value, rank) for rank, value in own.items())[-2:]
    return [first] if longest > ALONE * second and longest - second > SHARE * step else []


def _less(part: Mapping[int, float], odd: Sequence[int]) -> float:
    """By how much a part is shorter on these ranks than on most of the others."""
    others = [value for rank, value in part.items() if rank not in odd]
    own = [part[rank] for rank in odd if rank in part]
    return float(np.median(others)) - max(own) if others and own else 0.0
