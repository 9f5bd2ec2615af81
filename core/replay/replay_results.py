"""What the results of a replay mean: the nodes in which failed groups of both phases meet."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from core.replay.plan import Plan, ReplayGroup

OTHERS = 0.05  # of runs fail for other reasons; a job of a few minutes on a large cluster does so less often
_CHANCES = np.linspace(0.05, 0.95, 19)  # that a run shows the fault: nobody knows it before
MAX_FAULTY = 4  # more faulty nodes at once are no fault of nodes
SURE = 2.0  # natural logarithm of the odds for a faulty node, beyond which one it is
_ACCIDENT = 0.01  # chance below which failures of one group are not those of other reasons


class ReplayVerdict(StrEnum):
    """What a replay came to."""

    MACHINES = "machines"  # each suspect is faulty
    AMBIGUOUS = "ambiguous"  # some of them are: a third round tells
    ONE_PHASE = "one-phase"  # it failed in one phase only: a flaky fault, or a link inside a failed group
    NOT_REPRODUCED = "not-reproduced"


@dataclass(frozen=True, slots=True)
class Result:
    """Runs of a group: how many were counted, and how many of them failed."""

    runs: int
    failed: int


@dataclass(frozen=True, slots=True)
class ReplayReading:
    """The meaning of a replay. suspects: places in the plan, the likeliest first; share: how likely each is, of 1.

    healthy: places of nodes that took part in a phase in which their group passed. missed: chance that a fault that the
    plan was made for would have shown in neither phase, or in one only.
    """

    verdict: ReplayVerdict
    suspects: tuple[int, ...]
    share: tuple[float, ...]
    healthy: tuple[int, ...]
    missed: float
    told: tuple[str, ...] = ()


def meet(size: int, count: int, first: Collection[int], second: Collection[int]) -> tuple[ReplayVerdict, list[int]]:
    """Verdict and suspects by the failed groups of both phases alone.

    Args:
        size: nodes a group; count: groups a phase.
        first, second: numbers of the groups that failed in phase 1 (x div size) and 2 (x mod count).
    """
    every = range(size * count)
    if first and second:
        suspects = [x for x in every if x // size in first and x % count in second]
        exact = min(len(first), len(second)) == 1 and size <= count
        return (ReplayVerdict.MACHINES if exact else ReplayVerdict.AMBIGUOUS), suspects
    if first or second:
        return ReplayVerdict.ONE_PHASE, [x for x in every if x // size in first or x % count in second]
    return ReplayVerdict.NOT_REPRODUCED, []


def read(plan: Plan, results: Mapping[str, Result]) -> ReplayReading:
    """What the results of a plan mean; groups without one are unknown, and neither failed nor passed.

    Args:
        results: by name of the group.
    """
    known = {group: results[group.name] for group in plan.groups if results.get(group.name, Result(0, 0)).runs}
    sentences = tuple(f"Group {group.name} has no result." for group in plan.groups if group not in known)
    if any(group.phase > 2 for group in plan.groups):
        return _third(plan, known, sentences)
    likely = _likeliest(known)
    failed = _failed(known, likely)
    by_phase = [{group.number for group in failed if group.phase == phase} for phase in (1, 2)]
    verdict, suspects = meet(plan.size, plan.count, *by_phase)
    if verdict is ReplayVerdict.MACHINES and likely and not likely >= set(suspects):
        verdict = ReplayVerdict.AMBIGUOUS  # counts and failed groups do not agree
    share = _shares(suspects, known)
    ordered = sorted(suspects, key=lambda x: (-share[x], x))
    ignored = sorted(group.name for group, result in known.items() if result.failed and group not in failed)
    if ignored:
        sentences += (f"Failures of {', '.join(ignored)} are no more than what fails for other reasons.",)
    return ReplayReading(
        verdict, tuple(ordered), tuple(share[x] for x in ordered), _healthy(known, suspects), 1 - plan.both, sentences
    )


def _third(plan: Plan, known: Mapping[ReplayGroup, Result], sentences: tuple[str, ...]) -> ReplayReading:
    """Each group has one suspect, its first member, among nodes that passed before."""
    shows = 1 - (1 - plan.chance) * (1 - OTHERS)
    suspects = tuple(
        group.members[0]
        for group, result in known.items()
        if _chance(result, shows) > _chance(result, OTHERS) or result.failed == result.runs
    )
    verdict = ReplayVerdict.MACHINES if suspects else ReplayVerdict.NOT_REPRODUCED
    return ReplayReading(verdict, suspects, (1.0,) * len(suspects), (), (1 - plan.chance) ** plan.runs, sentences)


def _failed(known: Mapping[ReplayGroup, Result], likely: frozenset[int]) -> set[ReplayGroup]:
    """Groups that failed, without accidents where likely nodes explain the others or where many groups failed a little.

    Of single runs nothing is an accident, and neither is the only failed group of a phase.
    """
    failed = {group for group, result in known.items() if result.failed}
    several = any(sum(group.phase == phase for group in failed) > 1 for phase in (1, 2))
    if not likely and not several:
        return failed
    return {group for group in failed if likely & set(group.members) or not _accident(known[group])}


def _accident(result: Result) -> bool:
    """Whether so many failures may well be those of other reasons; of single runs, never."""
    more = sum(_chance(Result(result.runs, k), OTHERS) for k in range(result.failed, result.runs + 1))
    return result.runs > 1 and more > _ACCIDENT


def _chance(result: Result, fails: float) -> float:
    return math.comb(result.runs, result.failed) * fails**result.failed * (1 - fails) ** (result.runs - result.failed)


def _healthy(known: Mapping[ReplayGroup, Result], suspects: Iterable[int]) -> tuple[int, ...]:
    passed = {x for group, result in known.items() if not result.failed for x in group.members}
    return tuple(sorted(passed - set(suspects)))


def _likeliest(known: Mapping[ReplayGroup, Result]) -> frozenset[int]:
    """The set of faulty nodes, at most four, that explains the counts best; each has to be worth its own chance."""
    nodes, of = _membership(known)
    gain = _gains(known)
    struck = np.zeros(len(known), np.bool_)
    best: set[int] = set()
    score = 0.0
    while len(best) < MAX_FAULTY and len(nodes):
        scores = ((of | struck[:, None]).T @ gain).max(axis=1) - (math.log(len(nodes)) + SURE) * (len(best) + 1)
        place = int(np.argmax(scores))
        if scores[place] <= score:
            break
        score, struck = float(scores[place]), struck | of[:, place]
        best.add(nodes[place])
    return frozenset(best)


def _membership(known: Mapping[ReplayGroup, Result]) -> tuple[list[int], NDArray[np.bool_]]:
    """Places of all nodes, and who is in which group: a row a group, a column a node."""
    nodes = sorted({x for group in known for x in group.members})
    return nodes, np.array([np.isin(nodes, group.members) for group in known], np.bool_).reshape(len(known), -1)


def _gains(known: Mapping[ReplayGroup, Result]) -> NDArray[np.float64]:
    """By group and chance: how much likelier its count is with a faulty node in it than without (natural logarithm)."""
    runs = np.array([[result.runs] for result in known.values()], np.float64).reshape(-1, 1)
    failed = np.array([[result.failed] for result in known.values()], np.float64).reshape(-1, 1)
    shows = 1 - (1 - _CHANCES) * (1 - OTHERS)
    with_one = failed * np.log(shows) + (runs - failed) * np.log1p(-shows)
    without = failed * math.log(OTHERS) + (runs - failed) * math.log1p(-OTHERS)
    return np.asarray(with_one - without, np.float64)


def _shares(suspects: Sequence[int], known: Mapping[ReplayGroup, Result]) -> dict[int, float]:
    """How likely each is the faulty one if it is one of them."""
    if not suspects:
        return {}
    nodes, of = _membership(known)
    scores = (of.T @ _gains(known)).max(axis=1)[[nodes.index(x) for x in suspects]]
    weights = np.exp(scores - scores.max())
    return dict(zip(suspects, (weights / weights.sum()).tolist(), strict=True))
