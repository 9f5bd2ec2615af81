"""Errors in a file of all processes that no label gives to one: they are those of the processes that failed first."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.judge.candidates import Candidate
from core.judge.exits import Exits
from core.model import Role
from core.parsed import Parsed
from core.shares import MIN_RANKS

WHY = "of its processes alone an error is reported before all others were ended"


def place_untold(parsed: Parsed, candidates: Sequence[Candidate], exits: Exits) -> Sequence[Candidate]:
    """Faults of which nobody tells the node are on the only one of whose processes an error is reported first.

    Before all others were ended: a launcher that is asked to end reports an error, too. Above that report, in its file.
    """
    roots = [candidate for candidate in candidates if candidate.role is Role.ROOT and not candidate.fact.stop]
    if len(parsed.nodes) < MIN_RANKS or any(root.nodes or root.ranks for root in roots):
        return candidates
    stopped = min((int(candidate.rows.min()) for candidate in candidates if candidate.fact.stop), default=None)
    first = {row: node for row, node in exits.on.items() if stopped is None or row < stopped}
    if len(set(first.values())) != 1 or not set(parsed.nodes).issuperset(first.values()):
        return candidates
    if any(np.isin(list(first), root.rows).any() for root in roots):
        return candidates  # the report itself accuses the node
    (report, node), *_ = first.items()
    file = parsed.table.file
    return [
        replace(candidate.with_role(Role.ROOT, WHY), nodes=(node,))
        if candidate in roots and (file[candidate.rows] == file[report]).all() and candidate.rows.max() < report
        else candidate
        for candidate in candidates
    ]
