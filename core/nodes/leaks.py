"""Signs for nodes whose memory grows without end while that of the others does not."""

from collections.abc import Mapping

from core.course.leak import Leak
from core.naming import figure
from core.nodes.sign import Sign
from core.parsed import Parsed
from core.shares import few_of

LEAKS = 0.6  # as sure as a vote: it tells who differs, not why


def leak_signs(parsed: Parsed, leak: Leak | None, home: Mapping[int, str]) -> list[Sign]:
    """Signs for the nodes of the few ranks that leak.

    Args:
        home: node of each rank.
    """
    if leak is None or not leak.others or len(leak.ranks) > few_of(len(leak.ranks) + len(leak.others)):
        return []
    signs = []
    for node in sorted({home[rank] for rank in leak.ranks if rank in home}):
        own = tuple(rank for rank in leak.ranks if home.get(rank) == node)
        who = parsed.table.called(own, node)
        signs.append(
            Sign(
                node,
                "memory",
                LEAKS,
                f"{who}: its {leak.name} grew from {figure(leak.before)} to {figure(leak.after)} since iteration "
                f"{leak.iteration} and never came back; that of {len(leak.others)} others did not grow so.",
                says=f"its {leak.name} grew without end",
                check=f"See what {who} keeps that the others give back: its data, its callbacks, a cache.",
                ranks=own,
                iteration=leak.iteration,
            )
        )
    return signs
