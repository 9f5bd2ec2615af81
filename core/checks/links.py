"""Links between nodes: pairs that fail or are slow although both of their nodes are well with others."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from core.checks.check_verdict import SLOW, Pair, best_times


@dataclass(frozen=True, slots=True)
class Link:
    """Two nodes that are well, but not with each other. says: the numbers."""

    nodes: tuple[str, str]
    says: str


def bad_links(pairs: Sequence[Pair]) -> tuple[Link, ...]:
    """Links that failed or were slow each time they were tried, between nodes that were not.

    A node is well when its best pair is not slow (``core.checks.check_verdict``); a link is slow when it takes more
    than twice the middle of all pairs of well nodes, for the best ones grow better with every round.
    """
    best = best_times(pairs)
    if not best:
        return ()
    limit = SLOW * median(best.values())
    well = [pair for pair in pairs if all(best.get(node, float("inf")) <= limit for node in pair.nodes)]
    usual = median([pair.seconds for pair in well if pair.seconds is not None] or best.values())
    fastest: dict[tuple[str, str], float | None] = {}
    for pair in well:
        if not pair.unknown:
            key = (min(pair.nodes), max(pair.nodes))
            known = fastest.get(key)
            fastest[key] = pair.seconds if known is None else min(known, pair.seconds or known)
    return tuple(
        Link(nodes, _says(seconds, usual))
        for nodes, seconds in sorted(fastest.items())
        if seconds is None or seconds > SLOW * usual
    )


def circle(nodes: Sequence[str]) -> list[list[tuple[str, str]]]:
    """All pairs in rounds, no node twice in one: the circle method; n - 1 rounds, n of an odd number."""
    ring: list[str | None] = [*nodes, *([None] if len(nodes) % 2 else [])]
    rounds = []
    for _ in range(len(ring) - 1):
        across = zip(ring[: len(ring) // 2], reversed(ring[len(ring) // 2 :]), strict=True)
        rounds.append([(one, other) for one, other in across if one is not None and other is not None])
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return rounds


def _says(seconds: float | None, usual: float) -> str:
    if seconds is None:
        return "no all-gather ended between them, and both are well with others"
    return f"{seconds:.3g} s between them, and the middle of all well pairs is {usual:.3g} s"
