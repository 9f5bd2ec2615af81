"""Stacks of a hang in which everybody communicates: the machines of the parallel group that stands apart.

ByteRobust (SOSP 2025, section 5.1): the stack of most is healthy, and the machines that the others share a parallel
group of are suspects. Differs: it is asked last, when nobody stands outside of communication, and only of jobs so large
that the stages of a pipeline are not all the difference; ties decide nothing.
"""

from collections.abc import Callable, Sequence

from core.dumps.outliers import StackPlace, places, telling_frame, who
from core.dumps.rank_groups import RankGroup
from core.dumps.stacks import Process
from core.naming import called, together
from core.nodes.sign import Sign
from core.shares import FEW, MAJORITY

LEAST_RANKS = 16  # three real hangs of eight ranks had four outliers each, which no group holds
WEIGHT = 0.5  # below a group that several rounds flag (core/dumps/stack_rounds.py), above one that waits alone


def group_signs(processes: Sequence[Process], groups: Sequence[RankGroup], home: Callable[[int], str]) -> list[Sign]:
    """A sign for each machine of the smallest group around all that stand apart; none where no group holds them.

    Where none holds all, the one around the fewest that stand in one place is taken.

    Args:
        processes: with their ranks; of one without it nobody knows its group.
        groups: nodes and parallel groups.
        home: the machine of a rank.
    """
    standing = places(processes)
    total = sum(len(place.processes) for place in standing)
    if len(standing) < 2 or total < LEAST_RANKS or not all(place.waits for place in standing):
        return []
    most, *others = standing
    if len(most.processes) <= total * MAJORITY:
        return []
    fewest = others[-1:] if len(others) < 2 or len(others[-1].processes) < len(others[-2].processes) else []
    machines = len(
        {home(process.rank) for place in standing for process in place.processes if process.rank is not None}
    )
    for apart in (others, fewest):
        found = _around(apart, groups, home)
        if found is not None and len(found[1]) <= max(1, FEW * machines):
            return [_sign(node, *found, apart, most, total, home) for node in found[1]]
    return []


def _around(
    apart: Sequence[StackPlace], groups: Sequence[RankGroup], home: Callable[[int], str]
) -> tuple[str, tuple[str, ...]] | None:
    """The name and the machines of the smallest group, by its machines, that holds all these processes."""
    ranks = [process.rank for place in apart for process in place.processes]
    nodes = {home(rank) for rank in ranks if rank is not None}
    if None in ranks or not nodes:
        return None
    holding = [(group.name, tuple(sorted({home(rank) for rank in group.ranks}))) for group in groups]
    holding = [(name, members) for name, members in holding if nodes <= set(members)]
    return min(holding, key=lambda item: (len(item[1]), item[0], item[1]), default=None)


def _sign(
    node: str,
    name: str,
    nodes: Sequence[str],
    apart: Sequence[StackPlace],
    most: StackPlace,
    total: int,
    home: Callable[[int], str],
) -> Sign:
    own = sorted(
        process.rank
        for place in apart
        for process in place.processes
        if process.rank is not None and home(process.rank) == node
    )
    places_told = "; ".join(f"{who(place.processes)} in {telling_frame(place.stack).where}" for place in apart[:3])
    ranks = f" ({called(own)} on {node})" if own else ""
    return Sign(
        node,
        "stack",
        WEIGHT,
        f"{len(most.processes)} of {total} processes wait in {telling_frame(most.stack).where}; all others{ranks} are "
        f"in one {name} on {together(nodes)}: {places_told}.",
        says="the group there waits elsewhere than all others",
        check=f"Find out which of {together(nodes)} it is: pairs, links, and the device's own errors.",
        ranks=tuple(own),
        group=tuple(nodes),
    )
