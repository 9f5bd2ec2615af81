"""Whom Horovod's coordinator misses in the end: few ranks, for which all others wait."""

from collections.abc import Mapping

from core.judge.missing_ranks import find_missing
from core.naming import called
from core.nodes.sign import Sign, short
from core.parsed import Parsed
from core.shares import are_few

MISSED = 0.65  # as sure as who never began the collective that the others wait in (core.nodes.collectives)


def missed_signs(parsed: Parsed, home: Mapping[int, str]) -> list[Sign]:
    """Signs for the nodes of the few ranks that did not submit what the others did.

    Args:
        home: node of each rank.
    """
    missing = find_missing(parsed)
    ranks = {rank for rank in missing if rank in home}
    if not ranks or not are_few(ranks, home, home):
        return []
    return [
        Sign(
            node,
            "collective",
            MISSED,
            f"In the end Horovod waited for {called(own)} alone, with \u201c{short(missing[own[0]][0])}\u201d.",
            says="a process there never came to the collective that the others waited in",
            ranks=tuple(own),
        )
        for node in sorted({home[rank] for rank in ranks})
        if (own := sorted(rank for rank in ranks if home[rank] == node))
    ]
