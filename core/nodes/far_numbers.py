"""Numbers that are far from those of all others from the first one on: a reward of 14 where every other node has -3.

Nothing changes and nobody complains. Parts of a program may differ like that, such as the stages of a pipeline, so it
accuses nobody by itself; but where such a job was stopped, nobody can be sure that nothing was wrong.
"""

from collections.abc import Iterable, Mapping, Sequence

from core.naming import figure
from core.nodes.rank_values import LEAST, RankValues
from core.nodes.sign import Sign
from core.parsed import Parsed
from core.shares import MIN_RANKS, few_of

OUTSIDE = 0.3  # a hint, as contrast is: it tells who differs, not that anything is wrong
CHANGES = 0.5  # of the times it is a new number: the id of a process, or what was configured, stays
FAR = 3.0  # times the range of all other numbers, of all times, away from it: a loss that falls has a wide one


def outside_signs(parsed: Parsed, all_values: Iterable[RankValues], home: Mapping[int, str]) -> list[Sign]:
    """Signs for the few nodes of which a number is always far from those of all others.

    Args:
        told: values that most ranks tell.
        home: node of each rank.
    """
    found: dict[str, Sign] = {}
    for item in all_values:
        values = _by_node(item, home)
        if len(values) < MIN_RANKS or not item.name[0].isalpha():
            continue  # a date stands before the parts of a clock
        for node in sorted(values):
            others = [number for other, numbers in values.items() if other != node for number in numbers]
            if _is_far(values[node], others):
                found.setdefault(node, _sign(parsed, item, node, values[node], others))
    return list(found.values()) if len(found) <= few_of(len(set(home.values()))) else []


def _by_node(values: RankValues, home: Mapping[int, str]) -> dict[str, list[float]]:
    """The numbers of each node; of what is no number to all of them, nothing."""
    found: dict[str, list[float]] = {}
    for of_rank in values.values.values():
        for rank, value in of_rank.items():
            if rank in home:
                try:
                    found.setdefault(home[rank], []).append(float(value))
                except ValueError:
                    return {}
    return {node: numbers for node, numbers in found.items() if len(numbers) >= LEAST}


def _is_far(own: Sequence[float], others: Sequence[float]) -> bool:
    low, high = min(others), max(others)
    away = FAR * (high - low)
    changes = len(set(own)) >= CHANGES * len(own) and high > low
    return changes and (min(own) > high + away or max(own) < low - away)


def _sign(parsed: Parsed, values: RankValues, node: str, own: Sequence[float], others: Sequence[float]) -> Sign:
    """From what is told of a node's ranks: the range of its numbers, and that of all others'."""
    because = (
        f"On {node} {values.name} is between {figure(min(own))} and {figure(max(own))} from the beginning on, "
        f"on all others between {figure(min(others))} and {figure(max(others))}."
    )
    says = f"its {values.name} is far from that of all others from the beginning on"
    check = f"Compare the configuration and the data of {node} with those of another {parsed.unit}."
    return Sign(node, "outside", OUTSIDE, because, values.event, says=says, check=check)
