"""How many of all ranks or nodes tell one from the others: few, and most."""

MAJORITY = 0.5  # what more than half of them share marks none of them (docs/explain/method.md)
FEW = 0.25  # what more of them share is another part of the program, such as a pipeline stage
MIN_RANKS = 3  # of two that differ, either may be the odd one


def few_of(count: int) -> float:
    """The most of so many that are few: a quarter, and one at least."""
    return max(1, count * FEW)
