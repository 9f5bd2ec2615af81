"""Who is apart from the first number on: its own work takes longer than that of all others, and its waits are shorter.

In a job whose ranks wait for each other, work and waits add up to the same everywhere: who works longer waits less, by
the same amount. Where numbers say so of one rank or one node, the others wait for it, however often they are told.
Without that nobody knows whether what never changed is wrong: stages of a pipeline differ like that. It accuses nobody
then; but where such a job was stopped, nobody can be sure that nothing was wrong.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.course.level_shift import LONG_DRIFT, LONG_RATIO
from core.course.timings import is_rate, may_be_duration
from core.naming import figure, natural
from core.nodes.rank_series import AGREED, CLEAR
from core.nodes.sign import Sign
from core.nodes.slow import OWN_PART, WAITS
from core.nodes.slow_from_start import ALONE_OF
from core.nodes.told_numbers import Told
from core.nodes.told_subjects import Subject
from core.quantiles import percentile_of_sorted
from core.shares import MIN_RANKS

OUTSIDE = 0.3  # a hint, as contrast is: it tells who differs, not that anything is wrong
LOW, HIGH = 10, 90  # percentiles between which a number lies, but for single ones
BALANCED = 2 / 3  # of the longer of both, that the other has at least: what it works longer is what it waits less
OTHERS = 4  # nodes that agree: of fewer, one that does another part of the work is a large part of them
AGREE = 0.5  # of how far the lone one is away, that all others are from each other at most
_IDLE = re.compile(r"idle|stall", re.IGNORECASE)  # waits that name no other rank
# Waits for a neighbour: stages of a pipeline differ by what they hold, the last one has the loss
_NEIGHBOUR = re.compile(r"send|recv|receive", re.IGNORECASE)
_CHECK = "Compare {} with a healthy node: clocks and throttling, load, memory, storage."

Numbers = Mapping[Subject, Told]  # one number: whom it is told of, and its values


@dataclass(frozen=True, slots=True)
class _Level:
    """A number by its name: its usual value on the ones that are apart, and on all others."""

    name: str
    own: float
    others: float

    @property
    def waits(self) -> bool:
        """Whether its name says that it is a wait."""
        return is_wait(self.name)


def is_wait(name: str) -> bool:
    """Whether a number of this name is how long somebody waits, by its name."""
    return WAITS.search(name) is not None or _IDLE.search(name) is not None


def exchange_signs(told: Sequence[tuple[int, str, Numbers]], *, seldom: bool = False) -> list[Sign]:
    """A sign for the only node, or rank, whose work is longer than all others' by as much as its waits are shorter.

    Args:
        told: numbers with their message, their name and whom they are of.
        seldom: they are told once or a few times, so that the name of a wait has to say that it is one.
    """
    of_event: dict[int, list[tuple[str, Numbers]]] = defaultdict(list)
    for event, name, values in told:
        of_event[event].append((name, values))
    found: dict[tuple[str, int], Sign] = {}
    for event, numbers in sorted(of_event.items()):
        ranges = [
            _Ranges.of(name, of)
            for name, of in numbers
            if (may_be_duration(name) or is_wait(name)) and not is_rate(name)
        ]
        if any(_NEIGHBOUR.search(name) for name, _ in numbers):
            continue
        everyone = {subject for _, values in numbers for subject in values}
        for group in _groups(everyone):
            # Of two halves only the names of waits tell who waits for whom
            by_name = seldom or 2 * len(group) >= len(everyone)
            if (levels := _exchange(group, ranges, by_name=by_name)) is not None:
                found.setdefault(_called(group), _exchange_sign(group, event, *levels))
    return list(found.values()) if len({node for node, _ in found}) == 1 else []


@dataclass(frozen=True, slots=True, eq=False)
class _Ranges:
    """The range of a number of each subject, found once: groups of them are compared with all others in turn.

    place: of each subject in ``low`` and ``high``, its percentiles.
    """

    name: str
    values: Numbers
    place: Mapping[Subject, int]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def of(cls, name: str, values: Numbers) -> "_Ranges":
        """Those of a number by its name."""
        low, high = (np.array([percentile_of_sorted(of.ordered, at) for of in values.values()]) for at in (LOW, HIGH))
        return cls(name, values, {subject: place for place, subject in enumerate(values)}, low, high)

    def apart(self, group: Collection[Subject]) -> "_Level | None":
        """The usual values of a group and of all others, where the ranges of both do not meet."""
        places = [self.place[subject] for subject in group if subject in self.place]
        if len(places) < len(group) or not MIN_RANKS <= len(self.low) > len(places):
            return None
        own = np.zeros(len(self.low), np.bool_)
        own[places] = True
        above = self.low[own].min() > self.high[~own].max()
        below = self.high[own].max() < self.low[~own].min()
        if not (above or below):
            return None
        series = [of.values for of in self.values.values()]
        medians = (float(np.median(np.concatenate([series[at] for at in np.flatnonzero(of)]))) for of in (own, ~own))
        return _Level(self.name, *medians)


def _groups(everyone: Collection[Subject]) -> list[frozenset[Subject]]:
    """Whom numbers are told of: all of each node together, and each alone."""
    of_node: dict[str, list[Subject]] = defaultdict(list)
    for subject in sorted(everyone):
        of_node[subject.node].append(subject)
    each = [frozenset((subject,)) for subject in sorted(everyone)]
    return list(dict.fromkeys([*(frozenset(of_node[node]) for node in sorted(of_node, key=natural)), *each]))


def _called(group: Collection[Subject]) -> tuple[str, int]:
    first = min(group)
    return first.node, first.rank if len(group) == 1 else -1


def _exchange(
    group: Collection[Subject], ranges: Sequence[_Ranges], *, by_name: bool
) -> tuple[Sequence[_Level], Sequence[_Level]] | None:
    """What takes a group longer, and what takes it less, if the one is as much as the other.

    by_name: what it takes less of has to be called a wait.
    """
    levels = [level for of in ranges if (level := of.apart(group)) is not None]
    longer = [level for level in levels if level.own > level.others]
    shorter = [level for level in levels if level.own <= level.others]
    named = any(level.waits for level in shorter)
    if any(level.waits for level in longer) or (by_name and not named):
        return None
    more = sum(level.own - level.others for level in longer)
    less = sum(level.others - level.own for level in shorter)
    usual = sum(level.others for level in longer)
    if not usual or more < (LONG_DRIFT - 1) * usual or min(more, less) < BALANCED * max(more, less):
        return None
    return longer, shorter


def _exchange_sign(group: Collection[Subject], event: int, longer: Sequence[_Level], shorter: Sequence[_Level]) -> Sign:
    node = min(group).node
    ranks = tuple(sorted(subject.rank for subject in group if subject.rank >= 0))
    most, least = (max(of, key=lambda level: abs(level.own - level.others)) for of in (longer, shorter))
    because = (
        f"{node}: its {most.name or 'number'} is {figure(most.own)}, that of all others "
        f"{figure(most.others)}; its {least.name or 'other number'} is {figure(least.own)}, theirs "
        f"{figure(least.others)}: they wait for it by as much as it works longer."
    )
    return Sign(
        node,
        "own part",
        OWN_PART,
        because,
        event,
        says="its own work took longer, and the others waited for it",
        check=_CHECK.format(node),
        ranks=ranks,
    )


def alone_signs(told: Sequence[tuple[int, str, Numbers]]) -> list[Sign]:
    """A sign for the only one of many ranks that a time tells from all others, which agree on it, all along.

    Not for the first or the last rank, which do more than the others in many programs.
    """
    found: dict[tuple[str, int], Sign] = {}
    for event, name, values in told:
        ranks = sorted(subject for subject in values if subject.rank >= 0)
        if len(ranks) < ALONE_OF or is_rate(name) or not may_be_duration(name) or is_wait(name):
            continue
        first, *others = sorted(ranks, key=lambda subject: -values[subject].usual)
        low = min(percentile_of_sorted(values[subject].ordered, LOW) for subject in others)
        high = max(percentile_of_sorted(values[subject].ordered, HIGH) for subject in others)
        own = percentile_of_sorted(values[first].ordered, LOW)
        edges = min(subject.rank for subject in ranks), max(subject.rank for subject in ranks)
        if low <= 0 or own < LONG_DRIFT * high or high - low > AGREE * (own - high) or first.rank in edges:
            continue
        usual = float(np.median(np.concatenate([values[subject].values for subject in others])))
        level = _Level(name, values[first].usual, usual)
        because = (
            f"rank {first.rank} on {first.node}: its {name or 'number'} is {figure(level.own)} all along, "
            f"that of all {len(others)} others {figure(level.others)}."
        )
        says = "its own work takes longer than that of all others"
        found.setdefault(
            (first.node, first.rank),
            Sign(
                first.node,
                "own part",
                CLEAR,
                because,
                event,
                says=says,
                check=_CHECK.format(first.node),
                ranks=(first.rank,),
            ),
        )
    return list(found.values()) if len(found) == 1 else []


def level_signs(told: Sequence[tuple[int, str, Numbers]], *, slow: bool) -> list[Sign]:
    """A hint for the only node whose own work is longer than that of all others while it waits less, or works longer.

    Args:
        told: numbers with their message, their name and whom they are of.
        slow: the job needs longer for each step than good ones do: then this is what tells of whom.
    """
    longer: dict[str, list[_Level]] = defaultdict(list)
    shorter: dict[str, list[_Level]] = defaultdict(list)
    for _, name, values in told:
        for node, level in _levels(name, values, LONG_DRIFT if slow else LONG_RATIO):
            is_own = may_be_duration(name) and not is_rate(name) and not is_wait(name)
            if level.own > level.others and is_own:
                longer[node].append(level)
            elif level.own < level.others:
                shorter[node].append(level)
    both = [node for node in sorted(longer) if node in shorter]
    if len(both) != 1:
        return []
    (node,) = both
    more, less = longer[node][0], shorter[node][0]
    because = (
        f"On {node} {more.name or 'a number'} is {figure(more.own)} from the beginning on, that of all others "
        f"{figure(more.others)}; its {less.name or 'other number'} is {figure(less.own)}, theirs {figure(less.others)}."
    )
    says, channel = "its own work takes longer than that of all others from the beginning on", "outside"
    weight = AGREED if slow else OUTSIDE
    return [Sign(node, "series" if slow else channel, weight, because, says=says, check=_CHECK.format(node))]


def gauge_signs(told: Sequence[tuple[int, str, Numbers]], first: str) -> list[Sign]:
    """A sign for the only node that measures something far from what all others measure, which agree, all along.

    Of a job whose steps take longer than those of good ones: who works while all others wait is busy, or hot.

    Args:
        told: numbers with their message, their name and whom they are of.
        first: the node of the first rank, which does more than the others in many programs.
    """
    found: dict[str, _Level] = {}
    for _, name, values in told:
        if len({subject.node for subject in values}) <= OTHERS or any(subject.rank >= 0 for subject in values):
            continue  # what ranks tell are parts of their steps, which are judged by what those add up to
        for node, level in _levels(name, values, LONG_DRIFT):
            others = [of.values for subject, of in values.items() if subject.node != node]
            low, high = (float(np.percentile(np.concatenate(others), at)) for at in (LOW, HIGH))
            if node != first and high - low <= AGREE * abs(level.own - level.others) and low > 0:
                found.setdefault(node, level)
    if len(found) != 1:
        return []
    ((node, level),) = found.items()
    name = level.name or "a number"
    because = f"On {node} {name} is {figure(level.own)} all along, that of all others {figure(level.others)}."
    says = f"its {name} is {figure(level.own)}, that of all others {figure(level.others)}"
    return [Sign(node, "gauge", CLEAR, because, says=says, check=_CHECK.format(node))]


def _levels(name: str, values: Numbers, ratio: float) -> Iterator[tuple[str, _Level]]:
    """Each node whose number is far from that of all others, their ranges apart: its usual values, and theirs.

    The ranges are found once, and not once for each other node: of 64 nodes that takes as long as all else.
    """
    low, high = dict[str, float](), dict[str, float]()
    if len({subject.node for subject in values}) < MIN_RANKS:
        return
    for subject, of in values.items():
        node = subject.node
        low[node] = min(low.get(node, np.inf), percentile_of_sorted(of.ordered, LOW))
        high[node] = max(high.get(node, -np.inf), percentile_of_sorted(of.ordered, HIGH))
    lowest, highest = sorted(low.values())[:2], sorted(high.values())[-2:]
    for node in sorted(low):
        least = lowest[1] if low[node] == lowest[0] else lowest[0]  # of the others
        most = highest[0] if high[node] == highest[1] else highest[1]
        if low[node] > ratio * most or high[node] * ratio < least:
            own = [of.values for subject, of in values.items() if subject.node == node]
            others = [of.values for subject, of in values.items() if subject.node != node]
            medians = (float(np.median(np.concatenate(of))) for of in (own, others))
            yield node, _Level(name, *medians)
