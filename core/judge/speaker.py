"""Whose words they are that a launcher passes on without a name: of the one process that ended by itself."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.judge.candidates import Candidate
from core.judge.exits import Exits
from core.judge.ranks import ranks_of_nodes
from core.model import Role
from core.parsed import Parsed


def name_speakers(parsed: Parsed, candidates: Sequence[Candidate], exits: Exits) -> tuple[Candidate, ...]:
    """The candidates; what stands unnamed above the only report of a process that failed is said by that process.

    Its report is no trace of its own then, and becomes what it was: clearing up.
    """
    alone = [(rank, one.row) for rank, one in exits.of_rank.items() if one.code and one.row is not None]
    if len(alone) != 1 or len(exits.failed) != 1:
        return tuple(candidates)
    ((rank, report),) = alone
    homes = ranks_of_nodes(parsed.table, parsed.job.manifest.node_ranks)
    nodes = tuple(node for node, ranks in homes.items() if rank in ranks)
    unnamed = [one for one in candidates if _is_unnamed(parsed, one) and _above(parsed, one, report)]
    if not nodes or not unnamed:
        return tuple(candidates)
    return tuple(
        replace(one, nodes=nodes, ranks=(rank,))
        if one in unnamed
        else one.with_role(Role.TEARDOWN, "its process had said why")
        if one.role is Role.ROOT and report in one.rows
        else one
        for one in candidates
    )


def _is_unnamed(parsed: Parsed, one: Candidate) -> bool:
    tells = one.fact.known or parsed.table.templates[one.event].block  # exceptions too that no fact knows
    return one.role is Role.ROOT and tells and not one.fact.stop and not one.nodes and not one.ranks


def _above(parsed: Parsed, one: Candidate, report: int) -> bool:
    """Whether all that it says stands above the report, in its file."""
    file = parsed.table.file
    return bool(np.all((one.rows < report) & (file[one.rows] == file[report])))
