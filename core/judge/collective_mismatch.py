"""Ranks of one process group that wait in different collectives under one number: their program let them part.

Who is in a minority is told by ``core.nodes.votes``; where the group falls into large parts no rank is the odd one, the
first rank alone took a branch that is for it alone, and few ranks of several nodes, beside others that went on as most
did, were led there by their data.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.events.messages import keys_of
from core.events.row_text import read_rows
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.rank_rows import ranks_of_nodes
from core.model import Role
from core.parsed import Parsed
from core.shares import few_of

MAX_READ = 4096  # lines: one a rank of the largest jobs
_UNNAMED = ""  # in place of a group that no line names
_UNNUMBERED = -1  # in place of the number of a barrier, which has a name
# "[PG ID 0 PG GUID 0(default_pg) Rank 3] ... WorkNCCL(SeqNum=6853, OpType=ALLREDUCE, ...": ProcessGroupNCCL.cpp (2.13);
# "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(...": the same without its group
_WAITS = re.compile(
    r"\[(?:PG (?:ID \d{1,9} PG GUID )?(?P<group>\w{1,64}).{0,80}? )?Rank (?P<rank>\d{1,6})\].{0,400}?"
    r"WorkNCCL\(SeqNum=(?P<number>\d{1,18}), OpType=(?P<operation>\w{1,40})(?:, NumelIn=(?P<size>\d{1,18}))?"
)
# PaddlePaddle's nccl_comm_task.cc (2.6): "task:group_key:nccl_ids/0/0,group_ranks:[..],global_rank:9,..comm_count:481,"
_PADDLE_GROUP = re.compile(r"\bgroup_key:(?P<group>[^,\s]{1,64}),")
_PADDLE_RANK = re.compile(r",global_rank:(?P<rank>\d{1,6}),")
_PADDLE_TASK = re.compile(
    r",comm_count:(?P<number>\d{1,18}),op:(?P<operation>\w{1,40}),(?:started:\d,completed:\d,numel:(?P<size>\d{1,18}))?"
)
# XLA's coordination_service.cc (2024): "Barrier timed out. Id: CheckpointManager:restore.2::0.", "Barrier_id: end."
_WAITS_AT_BARRIER = re.compile(
    r"Barrier timed out\. (?:Barrier_id|Id): (?P<operation>\S{1,120}?)(?:::\d{1,9})?\.?(?=\s|$)"
)
# Of these all ranks give the same number of elements; torch's barrier is an ALLREDUCE of one.
_EVEN = frozenset({"ALLREDUCE", "BROADCAST", "_ALLGATHER_BASE", "_REDUCE_SCATTER_BASE"})


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The ranks that wait in each operation under one number of a group, where one is known; the most first."""

    number: int | None
    operations: tuple[tuple[str, tuple[int, ...]], ...]


def is_of_program(parts: Sequence[Sequence[int]], home: Mapping[int, str]) -> bool:
    """Whether none of these parts of a group is what one node, or a few whole nodes, would explain.

    home: node of each rank.
    """
    smallest, everyone = min(parts, key=len), [rank for part in parts for rank in part]
    if len(smallest) > few_of(len(everyone)) or (len(parts) == 2 and [min(everyone)] in parts):
        return True
    nodes = {home.get(rank) for rank in smallest}
    beside = {home.get(rank) for part in parts if part is not smallest for rank in part}
    return len(parts) == 2 and len(nodes) > 1 and nodes <= beside


def find_mismatch(parsed: Parsed, candidates: Sequence[Candidate]) -> Mismatch | None:
    """The largest mismatch in which no part of the group is small, or that no node explains; None where all agree."""
    rows = sorted(
        row
        for candidate in candidates
        if candidate.role is Role.PROPAGATED and candidate.fact.kind is Kind.PEER_SILENT
        for row in candidate.rows[:MAX_READ].tolist()
    )
    expected = ranks_of_nodes(parsed.table, parsed.job.manifest.node_ranks)
    home = {rank: node for node, ranks in expected.items() for rank in ranks}
    waiting: dict[tuple[str, int], dict[int, str]] = defaultdict(dict)
    keys = keys_of(parsed.table, rows[:MAX_READ])  # of an exception the line that tells it
    lines = read_rows(parsed.files, parsed.table, sorted({key for of_row in keys.values() for key in of_row}))
    for row in rows[:MAX_READ]:
        text = " ".join(lines.get(key, "") for key in keys[row])
        if (task := _task(text)) is not None:
            group, rank, collective = task
            size = f" of {collective['size']}" if collective["operation"] in _EVEN and collective["size"] else ""
            waiting[group, int(collective["number"])].setdefault(rank, collective["operation"] + size)
        elif (barrier := _WAITS_AT_BARRIER.search(text)) is not None and (rank := int(parsed.table.rank[row])) >= 0:
            waiting[_UNNAMED, _UNNUMBERED].setdefault(rank, barrier["operation"])
    unnamed = [key for key in waiting if key[0] == _UNNAMED and key[1] != _UNNUMBERED]
    if len(unnamed) > 1 or len(unnamed) < len(waiting):  # of several groups, each of which counts for itself
        for key in unnamed:
            del waiting[key]
    mismatches = []
    for (_, number), of_rank in sorted(waiting.items()):
        parts: dict[str, list[int]] = defaultdict(list)
        for rank, operation in sorted(of_rank.items()):
            parts[operation].append(rank)
        if len(parts) > 1 and is_of_program(list(parts.values()), home):
            by_size = sorted(parts.items(), key=lambda part: (-len(part[1]), part[0]))
            known = None if number == _UNNUMBERED else number
            mismatches.append(Mismatch(known, tuple((operation, tuple(ranks)) for operation, ranks in by_size)))
    return max(mismatches, key=lambda mismatch: sum(len(ranks) for _, ranks in mismatch.operations), default=None)


def _task(text: str) -> tuple[str, int, re.Match[str]] | None:
    """What a watchdog tells of a collective: its group, who waits in it, and all else."""
    if (wait := _WAITS.search(text)) is not None:
        return wait["group"] or _UNNAMED, int(wait["rank"]), wait
    group, waits, task = _PADDLE_GROUP.search(text), _PADDLE_RANK.search(text), _PADDLE_TASK.search(text)
    return (group["group"], int(waits["rank"]), task) if group and waits and task else None
