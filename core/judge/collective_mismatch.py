"""Ranks of one process group that wait in different collectives under one number: their program let them part.

Who is in a minority is told by ``core.nodes.votes``; where the group falls into large parts no rank is the odd one, and
the first rank alone took a branch that is for it alone.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from core.events.messages import keys_of
from core.events.row_text import read_rows
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.model import Role
from core.parsed import Parsed
from core.shares import few_of

MAX_READ = 4096  # lines: one a rank of the largest jobs
_UNNUMBERED = -1  # in place of the number of a barrier, which has a name
# "[PG ID 0 PG GUID 0(default_pg) Rank 3] ... WorkNCCL(SeqNum=6853, OpType=ALLREDUCE, ...": ProcessGroupNCCL.cpp (2.13)
_WAITS = re.compile(
    r"\[PG (?:ID \d{1,9} PG GUID )?(?P<group>\w{1,64}).{0,400}?"
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


def find_mismatch(parsed: Parsed, candidates: Sequence[Candidate]) -> Mismatch | None:
    """The largest mismatch in which no part of the group is small, or only the first rank; None where all agree."""
    rows = sorted(
        row
        for candidate in candidates
        if candidate.role is Role.PROPAGATED and candidate.fact.kind is Kind.PEER_SILENT
        for row in candidate.rows[:MAX_READ].tolist()
    )
    waiting: dict[tuple[str, int], dict[int, str]] = defaultdict(dict)
    keys = keys_of(parsed.table, rows[:MAX_READ])  # of an exception the line that tells it
    lines = read_rows(parsed.files, parsed.table, sorted({key for of_row in keys.values() for key in of_row}))
    for row in rows[:MAX_READ]:
        text = " ".join(lines.get(key, "") for key in keys[row])
        rank = int(parsed.table.rank[row])
        if (task := _task(text, rank)) is not None:
            group, rank, collective = task
            size = f" of {collective['size']}" if collective["operation"] in _EVEN and collective["size"] else ""
            waiting[group, int(collective["number"])].setdefault(rank, collective["operation"] + size)
        elif (barrier := _WAITS_AT_BARRIER.search(text)) is not None and rank >= 0:
            waiting["", _UNNUMBERED].setdefault(rank, barrier["operation"])
    mismatches = []
    for (_, number), of_rank in sorted(waiting.items()):
        parts: dict[str, list[int]] = defaultdict(list)
        for rank, operation in sorted(of_rank.items()):
            parts[operation].append(rank)
        is_large = min(map(len, parts.values())) > few_of(len(of_rank))
        of_first = len(parts) == 2 and [min(of_rank)] in parts.values()
        if len(parts) > 1 and (is_large or of_first):
            by_size = sorted(parts.items(), key=lambda part: (-len(part[1]), part[0]))
            known = None if number == _UNNUMBERED else number
            mismatches.append(Mismatch(known, tuple((operation, tuple(ranks)) for operation, ranks in by_size)))
    return max(mismatches, key=lambda mismatch: sum(len(ranks) for _, ranks in mismatch.operations), default=None)


def _task(text: str, rank: int) -> tuple[str, int, re.Match[str]] | None:
    """What a watchdog tells of a collective: its group, who waits in it (of NCCL the speaker), and all else."""
    if (wait := _WAITS.search(text)) is not None:
        return (wait["group"], rank, wait) if rank >= 0 else None
    group, waits, task = _PADDLE_GROUP.search(text), _PADDLE_RANK.search(text), _PADDLE_TASK.search(text)
    return (group["group"], int(waits["rank"]), task) if group and waits and task else None
