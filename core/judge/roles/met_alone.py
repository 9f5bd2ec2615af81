"""What nobody is to blame for where all meet it, and who meets it alone: credentials that one machine has, its disk."""

import re
from collections.abc import Sequence
from dataclasses import replace

from core.facts import Blame, Fact
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.model import Role
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS, few_of

_STUCK = "watchdog got stuck for"  # of c10d; its line stands in rules/facts/75-peers.toml
_OF_FILES = frozenset({Kind.CORRUPT_FILE, Kind.MISSING_FILE, Kind.DATA})
# Google, Amazon, Azure, Alibaba, Tencent, Volcano Engine, Huawei and Hadoop
_OBJECT_STORE = re.compile(r"\b(?:gs|s3a?|az|abfss?|wasbs?|oss|cos|tos|obs|hdfs)://", re.IGNORECASE)
_HELD = Fact(
    Role.ROOT,
    Blame.SELF,
    Kind.DEADLOCK,
    0.7,  # more than who is silent: it tells of itself, and of no other
    "a thread of the process stood still in a lock or in a call into the driver",
    "Look at its stacks (py-spy dump --native): who holds the interpreter's lock (GIL), and which call of CUDA waits.",
)


def blame_who_met_it_alone(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates; refused credentials blame their speaker where most others only tell that they lost a peer."""
    nodes = len(parsed.nodes)
    lost_a_peer = {node for candidate in candidates if candidate.role is Role.PROPAGATED for node in candidate.nodes}

    def met_alone(candidate: Candidate) -> bool:
        is_refused = (
            candidate.role is Role.ROOT
            and candidate.fact.kind == Kind.PERMISSION
            and candidate.fact.blame is Blame.NOBODY
        )
        few = 0 < len(candidate.nodes) <= few_of(nodes)
        return (
            is_refused and few and len(lost_a_peer - set(candidate.nodes)) > (nodes - len(candidate.nodes)) * MAJORITY
        )

    if nodes < MIN_RANKS:
        return candidates
    return [
        replace(candidate, fact=replace(candidate.fact, blame=Blame.SELF)) if met_alone(candidate) else candidate
        for candidate in candidates
    ]


def blame_who_held_a_lock(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates; whose own watchdog stood still tells of a lock of its own, if few say so.

    c10d's monitor says so of the thread beside it. Of a process group that aborts most ranks say it.
    """
    few = few_of(len(parsed.table.ranks))

    def is_own(candidate: Candidate) -> bool:
        stuck = candidate.role is Role.PROPAGATED and _STUCK in parsed.table.templates[candidate.event].sample
        return stuck and 0 < len(candidate.ranks) <= few

    return [
        replace(candidate, fact=_HELD, role=Role.ROOT, why="its own watchdog stood still, and that of no other")
        if is_own(candidate)
        else candidate
        for candidate in candidates
    ]


def blame_nobody_for_a_shared_object(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates; who met a broken or missing object of a store that all read had its turn, and no fault."""
    return [
        replace(candidate, fact=replace(candidate.fact, blame=Blame.NOBODY))
        if candidate.fact.kind in _OF_FILES and _OBJECT_STORE.search(candidate.text)
        else candidate
        for candidate in candidates
    ]


def blame_no_rank_for_its_machine(parsed: Parsed, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates; of a job on one machine a full disk is that of all its ranks, whichever of them wrote."""
    if parsed.unit != "rank" or not parsed.launched.is_one_machine:
        return candidates
    return [
        replace(candidate, fact=replace(candidate.fact, blame=Blame.NOBODY))
        if candidate.fact.kind == Kind.DISK_FULL
        else candidate
        for candidate in candidates
    ]
