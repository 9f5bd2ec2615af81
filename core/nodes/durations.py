"""What takes one rank far longer than the others, again and again.

``checkpoint shard of step 25: 747 kB in 25.5 s`` on one rank, and ``in 0.0 s`` on all others: the steps between are as
fast as ever, and yet the job spends its time on waiting for that rank.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from core.course.pace import SECOND
from core.judge.durations import Durations
from core.judge.ending import Ending
from core.live.findings import duration
from core.naming import sentence
from core.nodes.sign import Sign
from core.nodes.slow import OWN_PART, SHARE
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS, few_of

TIMES = 3  # that it is told: once or twice is an evaluation, or a save
LONGER = (
    4.0  # times as long as on the others: disks and caches of healthy nodes differ by less than three (docs/LOG.md)
)


def duration_signs(parsed: Parsed, durations: Sequence[Durations], home: Mapping[int, str]) -> list[Sign]:
    """Signs for the nodes of the few ranks that most of the job's time was spent on waiting for.

    Args:
        home: node of each rank.
    """
    course = parsed.iterations.course
    if len(home) < MIN_RANKS or len(course) < MIN_RANKS:
        return []
    whole = float(course.times[-1] - course.times[0]) / SECOND
    return [sign for duration in durations for sign in _signs(parsed, duration, whole, home)]


def told_alone_signs(
    parsed: Parsed, ending: Ending, durations: Sequence[Durations], home: Mapping[int, str]
) -> list[Sign]:
    """A sign for the one node that alone tells of work since the onset that took most of what the steps lost.

    ``gen2 collection took 4.79s``: a program that measures itself says so where there is something to say.

    Args:
        home: node of each rank.
    """
    slow, last = ending.slow, parsed.iterations.last
    speak = {home.get(rank) for rank in parsed.table.ranks} - {None}  # where the first rank alone does, all are "alone"
    if slow is None or slow.than_good_jobs or last is None or len(speak) < MIN_RANKS:
        return []
    lost = (slow.after - slow.before) * (last - slow.iteration)
    found: dict[str, Sign] = {}
    for told in durations:
        values = [value for own in told.took.values() for value in own]
        nodes = {home.get(rank, "") for rank in told.took}
        first = min((number for numbers in told.iterations.values() for number in numbers), default=-1)
        if told.usual or len(nodes) != 1 or "" in nodes or len(values) < TIMES or first < slow.iteration - 1:
            continue
        if not lost * MAJORITY <= sum(values) <= lost / MAJORITY:  # what takes far more than was lost runs beside it
            continue
        (node,) = nodes
        because = (
            f"{parsed.table.called(sorted(told.took), node)} alone said since then {told.what}, {len(values)} times:"
            f" {duration(sum(values))} in all, and the steps lost {duration(lost)}."
        )
        check = f"Look at what {node} does there that the others do not, and compare it with a healthy node."
        says = "work of its own slowed the others down"
        found[node] = Sign(
            node, "own part", OWN_PART, because, says=says, check=check, ranks=tuple(sorted(told.took)), iteration=first
        )
    return list(found.values()) if len(found) == 1 else []


def _signs(parsed: Parsed, durations: Durations, whole: float, home: Mapping[int, str]) -> list[Sign]:
    """Signs for the nodes of the few ranks that it took much longer, if that is a good part of what the job ran."""
    took = {rank: values for rank, values in durations.took.items() if rank in home}
    nodes = {home[rank] for rank in took}
    most = max(len(took) / len(home), len(nodes) / len(set(home.values())))  # one of each node may write its shard
    if most <= MAJORITY or len(took) < MIN_RANKS:
        return []
    middle = {rank: float(np.median(values)) for rank, values in took.items()}
    usual = float(np.median(list(middle.values())))
    longer = LONGER * max(usual, 0.01)
    odd = [rank for rank, value in middle.items() if value > longer]
    if not odd or len(odd) > few_of(len(took)):
        return []
    if odd == [min(home)] and min(took[odd[0]]) > longer:
        return []  # the first rank does more than the others all along: it writes for all of them
    lost = max(sum(value - usual for value in took[rank]) for rank in odd)
    if lost < SHARE * whole:
        return []
    signs = []
    for node in sorted({home[rank] for rank in odd}):
        own = [rank for rank in odd if home[rank] == node]
        because = (
            f"{sentence(durations.what)} took {parsed.table.called(own, node)}"
            f" {duration(middle[own[0]])} each time, the others {duration(usual)}:"
            f" {duration(lost)} of the {duration(whole)} that the job ran."
        )
        check = f"Compare {node} with a healthy node: storage, network, load."
        says = "the others waited for it again and again"
        signs.append(Sign(node, "own part", OWN_PART, because, says=says, check=check, ranks=tuple(own)))
    return signs
