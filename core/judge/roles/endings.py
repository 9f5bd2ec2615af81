"""Who ends because its node, its store or its peer had ended before is not at fault."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.events.table import EventTable
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.ending import is_order
from core.judge.exits import Exits
from core.judge.roles.row_queries import Rows, after, first_of_ranks, first_times, has_waited, is_trouble, without
from core.model import Role


def clear_endings(table: EventTable, candidates: Sequence[Candidate], exits: Exits) -> Sequence[Candidate]:
    """What peers tell after their own node was told to end, or an agent of a store after its node had failed.

    And a watchdog that waited in vain for a peer ends its own process with SIGABRT: that is no fault of its node, nor
    what a launcher reports of it without a clock, where that rank had waited, or all had. An order to end comes from
    outside of a node; its own launcher asks the others because one of them failed.
    """
    asked_at = first_times(table, [candidate for candidate in candidates if is_order(table, candidate)])
    troubled_at = first_times(table, [candidate for candidate in candidates if is_trouble(candidate)])
    waited_at = first_times(table, [candidate for candidate in candidates if has_waited(candidate)])
    ranks_waited = first_of_ranks(table, [candidate for candidate in candidates if has_waited(candidate)])
    all_waited = bool(ranks_waited) and set(table.ranks) <= ranks_waited.keys()
    of_waiting = [end.row for rank, end in exits.of_rank.items() if rank in ranks_waited and end.row is not None]
    why = "its node was ending already"

    def ended_itself(rows: Rows) -> NDArray[np.bool_]:
        late = _since(table, waited_at, rows) <= table.time[rows]
        return np.asarray(late | (~table.timed[rows] & (all_waited | np.isin(rows, of_waiting))), np.bool_)

    def clear(candidate: Candidate) -> Candidate:
        if candidate.fact.kind == Kind.ABORTED and candidate.role is Role.ROOT:
            return without(table, candidate, ended_itself, "it had waited for a peer in vain")
        if candidate.fact.kind == Kind.TERMINATED and candidate.role is Role.ROOT:
            return without(table, candidate, lambda rows: after(table, rows, np.minimum(asked_at, troubled_at)), why)
        if candidate.role is Role.PROPAGATED:
            since = troubled_at if candidate.fact.kind == Kind.STORE_LOST else asked_at
            return without(table, candidate, lambda rows: after(table, rows, since), why)
        return candidate

    return [clear(candidate) for candidate in candidates]


def _since(table: EventTable, times: NDArray[np.int64], rows: Rows) -> NDArray[np.int64]:
    """The time of the node of each row; of a launcher that names none, the first of any node."""
    node = table.node[rows]
    since: NDArray[np.int64] = np.where(node >= 0, times[node], times.min())
    return since
