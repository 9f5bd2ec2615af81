"""Rounds of stack dumps of a job that is slow: who is flagged in most of them (ByteRobust, SOSP 2025, section 5.1).

One look at a slow job tells little: everybody is somewhere. Rounds lie in ``dumps/round_1/``, ``round_2/`` and so on;
in each the processes that stand where few do are flagged, with the smallest group around them.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.dumps.outliers import Outlier
from core.dumps.rank_groups import RankGroup, smallest_around
from core.job import LogFile
from core.naming import together
from core.nodes.sign import Sign

LEAST, SHARE = 3, 0.6  # rounds that have to flag the same: three of five, as in the paper
# Weight of a node that is flagged alone, as of stacks; with others of its group; and that only belongs to the group.
ALONE, AMONG, BESIDE = 0.7, 0.6, 0.35
MAX_LINES = 4
_ROUND = re.compile(r"^dumps/round[-_]?(\d{1,4})/")


@dataclass(frozen=True, slots=True)
class Round:
    """The files of one look at all processes. folder: what their names begin with."""

    number: int
    folder: str
    files: tuple[LogFile, ...]


def rounds_of(files: Sequence[LogFile]) -> tuple[Round, ...]:
    """The rounds among dump files, in their order; none where there is only one look."""
    found: dict[tuple[int, str], list[LogFile]] = defaultdict(list)
    for file in files:
        if match := _ROUND.match(file.name):
            found[int(match[1]), match[0]].append(file)
    rounds = tuple(Round(number, folder, tuple(own)) for (number, folder), own in sorted(found.items()))
    return rounds if len(rounds) > 1 else ()


def flagged_signs(
    rounds: Sequence[Sequence[Outlier]], groups: Sequence[RankGroup], home: Callable[[int], str]
) -> list[Sign]:
    """Signs of the nodes that most rounds flag; none where no group is flagged three times and in most rounds.

    Args:
        rounds: who stands where few do, by round.
        groups: nodes and parallel groups.
        home: the node of a rank.
    """
    votes: dict[tuple[str, ...], list[Sequence[Outlier]]] = defaultdict(list)
    for found in rounds:
        if nodes := _around(found, groups, home):
            votes[nodes].append(found)
    most = sorted(votes, key=lambda nodes: (-len(votes[nodes]), nodes))[:2]
    often = len(votes[most[0]]) if most else 0
    tie = len(most) > 1 and len(votes[most[1]]) == often
    if tie or often < LEAST or often < SHARE * len(rounds):
        return []
    return [_sign(node, most[0], votes[most[0]], len(rounds), home) for node in most[0]]


def _around(found: Sequence[Outlier], groups: Sequence[RankGroup], home: Callable[[int], str]) -> tuple[str, ...]:
    """The nodes of the smallest group around who is flagged: one where all are on it; empty where there is none."""
    nodes = {node_of(outlier, home) for outlier in found}
    if len(nodes) <= 1:
        return tuple(sorted(nodes))
    ranks = [outlier.process.rank for outlier in found if outlier.process.rank is not None]
    group = smallest_around(ranks, groups) if len(ranks) == len(found) else None
    return tuple(sorted({home(rank) for rank in group.ranks})) if group else ()


def node_of(outlier: Outlier, home: Callable[[int], str]) -> str:
    """The node of its process; that of its rank, or a name for the process, where no file tells one."""
    rank = outlier.process.rank
    return outlier.process.node or (home(rank) if rank is not None else f"process {outlier.process.pid}")


def _sign(
    node: str, nodes: Sequence[str], flagged: Sequence[Sequence[Outlier]], rounds: int, home: Callable[[int], str]
) -> Sign:
    own = [outlier for found in flagged for outlier in found if node_of(outlier, home) == node]
    group = f"its group ({together(nodes)})" if len(nodes) > 1 else node
    first = f" First: {own[0].because}" if own else ""
    return Sign(
        node,
        "stack",
        ALONE if len(nodes) == 1 else AMONG if own else BESIDE,
        f"In {len(flagged)} of {rounds} rounds of stacks {group} stood where few do.{first}",
        says=f"a process there is late in {len(flagged)} of {rounds} looks while the others wait",
        check=f"Measure {together(nodes)} beside the others: clocks, temperature, links, and a step of work.",
        ranks=tuple(sorted({outlier.process.rank for outlier in own if outlier.process.rank is not None})),
        lines=tuple(line for outlier in own[:MAX_LINES] for line in outlier.lines),
    )
