"""Which ranks a node has, and when each of them spoke last."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.events.table import EventTable, rows_by
from core.logs.origins import Program


def last_words(table: EventTable) -> dict[int, int]:
    """Time of the last row of each rank."""
    spoke = np.flatnonzero(table.is_rank & (table.rank_of_voice >= 0) & (table.spoke.last >= 0))
    return {rank: int(table.spoke.last[voices].max()) for rank, voices in rows_by(table.rank_of_voice, spoke)}


def last_rows(table: EventTable) -> dict[int, int]:
    """The last head row of each rank, in table order where times are equal."""
    voices = np.flatnonzero(table.is_rank & (table.rank_of_voice >= 0))
    rows = table.rows_of_voices(voices.tolist())
    rows = rows[table.head[rows]]
    rows = rows[np.lexsort((rows, table.time[rows]))]
    return {rank: int(rows[mine[-1]]) for rank, mine in rows_by(table.rank[rows], np.arange(len(rows)))}


def untimed_ends(table: EventTable) -> NDArray[np.intp]:
    """The last head row of each rank in each of its files, where it has no clock: nobody knows which came last."""
    voices = np.flatnonzero(table.is_rank & (table.rank_of_voice >= 0))
    rows = table.rows_of_voices(voices.tolist())
    rows = np.sort(rows[table.head[rows]])
    ends = np.array([rows[mine[-1]] for _, mine in rows_by(table.voice[rows], np.arange(len(rows)))], np.intp)
    return np.sort(ends[~table.timed[ends]])


def ranks_of_nodes(table: EventTable, manifest_ranks: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    """Ranks of each node: as the manifest says, else as they spoke."""
    if manifest_ranks and not table.ranks_are_nodes:
        return {node: tuple(ranks) for node, ranks in manifest_ranks.items()}
    by_node: dict[str, set[int]] = defaultdict(set)
    for origin in table.origins:
        if origin.rank is not None and origin.program is Program.RANK:
            by_node[origin.node or f"rank {origin.rank}"].add(origin.rank)
    return {node: tuple(sorted(ranks)) for node, ranks in sorted(by_node.items())}
