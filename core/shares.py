"""How many of all ranks or nodes tell one from the others: few, and most."""

from collections.abc import Collection, Mapping

MAJORITY = 0.5  # what more than half of them share marks none of them (docs/explain/method.md)
FEW = 0.25  # what more of them share is another part of the program, such as a pipeline stage
MIN_RANKS = 3  # of two that differ, either may be the odd one


def are_few(odd: Collection[int], everyone: Collection[int], home: Mapping[int, str]) -> bool:
    """Whether these ranks are few of all, or all on one node of several; home: the node of each rank."""
    nodes, odd_nodes = {home.get(rank) for rank in everyone}, {home.get(rank) for rank in odd}
    return len(odd) <= few_of(len(everyone)) or (len(odd_nodes) == 1 and len(nodes) >= MIN_RANKS)


def few_of(count: int) -> float:
    """The most of so many that are few: a quarter, and one at least."""
    return max(1, count * FEW)
