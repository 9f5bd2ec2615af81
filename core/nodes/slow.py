"""Who made a job slow: a part of a step that few ranks take longer for, while the others wait for them.

The whole step takes longer everywhere, so nobody's step tells. What tells is a part of it: what one rank measures of
its own work rises there alone, and what the others measure of waiting rises everywhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.course.timings import LAG, find_timings, is_milliseconds, is_rate
from core.judge.ending import Ending, Slowdown
from core.judge.ranks import MAJORITY
from core.nodes.sign import Sign
from core.parsing.parsed import Parsed

FEW = 0.25  # of the ranks; a difference that more share is another part of the program (as in core.dumps.outliers)
MIN_RANKS = 3  # of two that differ, either may be the odd one
OWN_PART = 0.7  # as sure as a stack dump: it tells where the time goes
HINT, HINT_ROSE = 0.4, 2.0  # a part that doubled on one rank,
HINT_APART = 0.25  # and moved by no more than a quarter of that elsewhere
LAGS = 0.3  # a hint: its processor is slow, or what its neighbour in a ring sends comes late
SHARE = 0.25  # of what a step became slower by; less does not explain it
LAG_OF_STEP = 0.2  # of a slow step's time: printing and flushing take less
RATE_ROSE = 0.6  # times the level before, of a rate, whose unit is unknown: ranks of a healthy job differ by less
WHOLE = 0.8  # of what a step became slower by; what rose by more is no part
APART = 0.5  # of how far the odd ones are from the middle; the others are nearer to it

Change = tuple[float, float]  # medians before and after the onset


def slow_signs(parsed: Parsed, ending: Ending, home: Mapping[int, str]) -> list[Sign]:
    """Signs for the nodes of the few ranks that made a job slow.

    Args:
        home: node of each rank.
    """
    slow = ending.slow or ending.drift
    if slow is None or len(home) < MIN_RANKS:
        return []
    parts = {}
    for name, values in find_timings(parsed.table, parsed.files, parsed.iterations).items():
        changes = {rank: change for rank, of in values.items() if (change := _change(of, slow)) is not None}
        if len(changes) >= max(MIN_RANKS, len(home) * MAJORITY):
            parts[name] = changes
    everywhere = {name for name, changes in parts.items() if _rose_everywhere(name, changes, slow)}
    found = {name: odd for name, changes in parts.items() if (odd := _odd(name, changes, slow)) is not None}
    if len({odd.ranks for odd in found.values() if odd.weight == HINT}) > 1:
        found = {name: odd for name, odd in found.items() if odd.weight != HINT}  # they point to several: to nobody
    return [
        sign
        for name, odd in found.items()
        if not (odd.waits and everywhere - {name})
        for sign in _signs(parsed, name, parts[name], odd, slow, home)
    ]


def _rose_everywhere(name: str, changes: Mapping[int, Change], slow: Slowdown) -> bool:
    """Whether a part, and not the whole step, takes longer on most ranks: then all are slow, and some wait for less."""
    rose = float(np.median([after - before for before, after in changes.values()]))
    rose /= 1000 if is_milliseconds(name) else 1
    more = slow.after - slow.before
    return name != LAG and not is_rate(name) and SHARE * more <= rose <= WHOLE * more


def _change(values: Mapping[int, float], slow: Slowdown) -> Change | None:
    """Medians of a series before and after the onset; None where one side is missing."""
    before = [value for iteration, value in values.items() if iteration < slow.iteration]
    after = [value for iteration, value in values.items() if iteration >= slow.iteration]
    if not after or not (before or slow.than_good_jobs):
        return None
    return (float(np.median(before)) if before else 0.0), float(np.median(after))


@dataclass(frozen=True, slots=True)
class _Odd:
    """Ranks whose part rose more, or, where the others wait for them, less than that of the others."""

    ranks: frozenset[int]
    does: str
    waits: bool = False
    weight: float = OWN_PART


def _odd(name: str, changes: Mapping[int, Change], slow: Slowdown) -> _Odd | None:
    """The few ranks whose numbers changed by another amount than those of most, if that explains the slowdown."""
    more = slow.after - slow.before
    if name == LAG:
        rose = {rank: after - before for rank, (before, after) in changes.items()}
        need, less_tells, does = LAG_OF_STEP * slow.after, False, "falls behind the clocks of the others"
    elif is_rate(name):
        rose = {rank: after / before - 1 if before > 0 else 0.0 for rank, (before, after) in changes.items()}
        need, less_tells, does = RATE_ROSE, True, f"its {name} changed for the worse"
    else:
        scale = 1000 if is_milliseconds(name) else 1
        rose = {rank: (after - before) / scale for rank, (before, after) in changes.items()}
        need, less_tells, does = SHARE * more, True, f"its {name} rose"
    middle = float(np.median(list(rose.values())))
    apart = {rank: value - middle for rank, value in rose.items()}
    odd = {rank for rank, value in apart.items() if abs(value) >= need}
    if not odd and name != LAG:
        return _hint(name, changes, rose, apart)
    if not odd or len(odd) > max(1, len(changes) * FEW):
        return None
    least = min(abs(apart[rank]) for rank in odd)
    if any(abs(value) > APART * least for rank, value in apart.items() if rank not in odd):
        return None
    if all(apart[rank] > 0 for rank in odd):
        return _Odd(frozenset(odd), does)
    if less_tells and middle >= need and all(apart[rank] < 0 for rank in odd):
        return _Odd(frozenset(odd), f"its {name} rose by less than that of the others: they wait for it", waits=True)
    return None


def _hint(
    name: str, changes: Mapping[int, Change], rose: Mapping[int, float], apart: Mapping[int, float]
) -> _Odd | None:
    """The only rank whose part doubled, too little to explain the slowdown: what is printed may be a part of a part."""
    first, *others = sorted(apart, key=lambda rank: (-apart[rank], rank))
    before, after = changes[first]
    doubled = after >= HINT_ROSE * before > 0
    alone = apart[first] >= APART * rose[first] > 0 and all(
        abs(apart[rank]) <= HINT_APART * apart[first] for rank in others
    )
    return _Odd(frozenset((first,)), f"its {name} rose, and no other's", weight=HINT) if doubled and alone else None


def _signs(
    parsed: Parsed, name: str, changes: Mapping[int, Change], odd: _Odd, slow: Slowdown, home: Mapping[int, str]
) -> list[Sign]:
    signs = []
    for node in sorted({home[rank] for rank in odd.ranks if rank in home}):
        own = sorted(rank for rank in odd.ranks if home.get(rank) == node)
        before, after = changes[own[0]]
        levels = f"median {before:.3g} before iteration {slow.iteration}, {after:.3g} after"
        signs.append(
            Sign(
                node,
                "own part" if name != LAG else "lag",
                odd.weight if name != LAG else LAGS,
                f"{parsed.table.called(own, node)}: {odd.does} ({levels}).",
                says="it slowed the others down",
                check=f"Compare {node} with a healthy node: load, clocks and throttling, memory, network, storage.",
                ranks=tuple(own),
            )
        )
    return signs
