"""Processes that ended by themselves without a word: their launcher's report is the only trace there is."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.facts import Blame, Fact
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.exits import Exits
from core.judge.late_lines import is_message
from core.judge.rank_rows import last_rows, ranks_of_nodes
from core.judge.roles.row_queries import Rows, after, are_schedulers, first_times, requests, rows_of, without
from core.model import Role
from core.parsed import Parsed
from core.shares import MAJORITY, few_of

# Signals by which processes die: SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGSEGV
CRASHES = frozenset({4, 6, 7, 8, 9, 11})
_SILENT_EXIT = Fact(
    Role.TEARDOWN,
    Blame.SELF,
    Kind.SILENT_EXIT,
    0.2,
    "a process there ended with an error and without a word",
    "Look for its standard error elsewhere, for a core file, and into the kernel log of that node.",
)


def promote_silent_exits(parsed: Parsed, candidates: Sequence[Candidate], exits: Exits) -> Sequence[Candidate]:
    """A launcher's report of a process that ended by itself without a word is a direct trace of that process.

    Of the rank that it names, and of its node, whoever reports it.
    """
    table = parsed.table
    homes = ranks_of_nodes(table, parsed.job.manifest.node_ranks)
    silent = _reports(parsed, candidates, exits)
    if not len(silent):
        return candidates
    asked_at, orders = first_times(table, requests(candidates)), rows_of(requests(candidates))
    scheduler = are_schedulers(table)

    def explained(rows: Rows) -> NDArray[np.bool_]:
        """What a scheduler reports below its own order, and a launcher after it was told, is clearing up."""
        above = np.searchsorted(orders, rows) - 1
        ordered = (above >= 0) & (table.file[orders[above]] == table.file[rows]) if len(orders) else rows < 0
        ordered &= scheduler[table.voice[rows]]
        return np.asarray(~np.isin(rows, silent) | after(table, rows, asked_at) | ordered, np.bool_)

    def promote(candidate: Candidate) -> Candidate:
        if candidate.role is not Role.TEARDOWN or explained(candidate.rows).all():
            return candidate
        alone = without(table, candidate, explained, "").with_role(Role.ROOT, "the process ended without a word")
        ranks = tuple(sorted(rank for rank, end in exits.of_rank.items() if end.row in alone.rows))
        nodes = tuple(node for node in homes if set(homes[node]) & set(ranks))
        return replace(alone, fact=_SILENT_EXIT, nodes=nodes or alone.nodes, ranks=ranks or alone.ranks)

    return [promote(candidate) for candidate in candidates]


def _reports(parsed: Parsed, candidates: Sequence[Candidate], exits: Exits) -> Rows:
    """Rows, sorted, that report how a rank ended that had said nothing of a failure.

    Where most ended alike and few otherwise, of these few: what most do together follows from it.
    """
    spoke = {
        rank for candidate in candidates if candidate.role in (Role.ROOT, Role.PROPAGATED) for rank in candidate.ranks
    }
    spoke = set() if parsed.table.ranks_are_nodes else spoke | _ended_alike(parsed)
    ends = {rank: (ending.code, ending.signal) for rank, ending in exits.of_rank.items()}
    usual, count = Counter(ends.values()).most_common(1)[0] if ends else ((None, None), 0)
    together = count > len(ends) * MAJORITY and 0 < len(ends) - count <= few_of(len(ends))
    rows = [
        ending.row
        for rank, ending in exits.of_rank.items()
        if rank not in spoke and ending.row is not None and (ending.code or ending.signal in CRASHES)
        if not (together and ends[rank] == usual)
    ]
    return np.array(sorted(rows), np.intp)


def _ended_alike(parsed: Parsed) -> set[int]:
    """Ranks whose last message is that of most, and never of good jobs: they said with one voice why they leave."""
    table, last = parsed.table, last_rows(parsed.table)
    events = Counter(int(table.event[row]) for row in last.values())
    usual, count = events.most_common(1)[0] if events else (None, 0)
    if usual is None or count <= len(last) * MAJORITY or not is_message(parsed, usual) or parsed.usual is None:
        return set()
    return {rank for rank, row in last.items() if table.event[row] == usual}
