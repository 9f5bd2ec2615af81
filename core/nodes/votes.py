"""Votes: every rank prints the same message, and what differs in it is a parameter that few ranks have otherwise.

The template is the same on all ranks, so no comparison of events sees it: ``OpType=ALLREDUCE`` on six ranks and
``BROADCAST`` on two, a sequence number that is behind, another size, another version. Who is alone with a value that
most share is odd. A value that each rank has for itself (an address, a process, a time) has no majority and votes for
nobody.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from core.events.messages import keys_of
from core.events.row_text import read_rows
from core.events.table import EventTable
from core.failure_kinds import Kind
from core.judge.candidates import Candidate
from core.judge.collective_mismatch import is_of_program
from core.model import Role
from core.nodes.sign import Sign, short
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS, few_of

ODD = 0.6  # as sure as silence: it tells who differs, not why
MAX_READ = 4096  # messages: one a rank of the largest jobs
_SLOT = re.compile(r"\b([A-Za-z_]\w{1,40})\s?[=:]\s?(\[[^\]]{0,80}\]|[\w.+-]{1,60})")
# What is counted, and has no name before it: "Rank 1 has 39 params, while rank 0 has inconsistent 27 params"
_COUNTED = re.compile(r"(?<![\w.:-])(\d{1,12}) (?!(?:milli)?seconds|minutes)([a-z]{4,20})\b")
# Where a process says that it is, with the word before it: "stuck in DataLoader.__next__"; no name of a file
_PLACE = re.compile(
    r"(?<!\S)([^\s\d]{2,40} )((?:[A-Za-z_]\w{0,60}(?:\.|::)){1,6}(?!(?:py|cc|cpp|cu|go|rs|so)\b)[A-Za-z_]\w{0,60})"
    r"(?![\w./-])"
)
_OF_EACH = re.compile(
    r"rank|pid|tid|thread|addr|ip|host|port|time|duration|elapsed|uuid|id$|file|line|device", re.IGNORECASE
)


_OF_COLLECTIVES = frozenset({"OpType", "NumelIn", "NumelOut"})  # of ProcessGroupNCCL.cpp
_BETWEEN_TWO = frozenset({"SEND", "RECV", "RECVANYSOURCE", "COALESCED"})  # of Types.hpp: what stages hand on to others


def vote_signs(parsed: Parsed, candidates: Sequence[Candidate], home: Mapping[int, str]) -> list[Sign]:
    """Signs for the nodes of ranks that differ from most in a parameter of what most of them say of the failure.

    Args:
        home: node of each rank.
    """
    signs = []
    for candidate in candidates:
        if candidate.role not in (Role.ROOT, Role.PROPAGATED) or len(candidate.ranks) <= len(home) * MAJORITY:
            continue
        if candidate.fact.kind == Kind.LAST_WORDS:
            continue  # of what is only known to come late nobody knows whether its parameters should be the same
        for name, of_rank in sorted(_slots(parsed, candidate).items()):
            signs += _minority(parsed.table, name, of_rank, home, candidate)
    return signs


_MEASURED = re.compile(r"\d+\.\d+")  # no two ranks need measure the same


def of_each(name: str) -> bool:
    """Whether a number by this name is another one on every rank anyway: an address, a process, a time."""
    return _OF_EACH.search(name) is not None


def _slots(parsed: Parsed, candidate: Candidate) -> dict[str, dict[int, str]]:
    """By name, with the sign behind it, the first value that each rank gives it, in its first message."""
    table = parsed.table
    heads: dict[int, int] = {}
    for row, rank in zip(
        candidate.rows[:MAX_READ].tolist(), table.rank[candidate.rows[:MAX_READ]].tolist(), strict=True
    ):
        if rank >= 0:
            heads.setdefault(rank, row)
    keys = keys_of(table, list(heads.values()))
    texts = read_rows(parsed.files, table, [key for rows in keys.values() for key in rows])
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for rank, head in heads.items():
        for key in keys[head]:
            text = texts.get(key, "")
            counted = [(name, value) for value, name in _COUNTED.findall(text)]
            named = [(f"{name}=", value) for name, value in (*_SLOT.findall(text), *counted) if not of_each(name)]
            for name, value in (*named, *_PLACE.findall(text)):
                found[name].setdefault(rank, value)
    return found


def _minority(
    table: EventTable, name: str, of_rank: Mapping[int, str], home: Mapping[int, str], candidate: Candidate
) -> list[Sign]:
    if len(of_rank) < max(MIN_RANKS, len(home) * MAJORITY) or all(map(_MEASURED.fullmatch, of_rank.values())):
        return []
    usual, count = Counter(of_rank.values()).most_common(1)[0]
    odd = sorted(rank for rank, value in of_rank.items() if value != usual)
    if not odd or count <= len(of_rank) * MAJORITY or len(odd) > few_of(len(of_rank)):
        return []
    if name == "OpType=" and not _BETWEEN_TWO.isdisjoint(of_rank.values()):
        return []  # between two, one sends and the other receives
    if name.rstrip("=") in _OF_COLLECTIVES and is_of_program([odd, sorted(of_rank.keys() - set(odd))], home):
        return []  # a branch of the program: ``if rank == 0``, or where the data of some ranks ended
    signs = []
    for node in sorted({home[rank] for rank in odd if rank in home}):
        own = [rank for rank in odd if home.get(rank) == node]
        because = (
            f"{table.called(own, node)} says {name}{short(of_rank[own[0]], 40)}, {count} of {len(of_rank)} "
            f"{table.speakers} "
            f"{name}{short(usual, 40)}."
        )
        other = f"its {name.rstrip('= ')} is another than that of the others"
        says = candidate.fact.says if candidate.role is Role.ROOT and candidate.fact.known else other
        check = "Compare what runs there with the others: code, settings, data, a branch that not all take."
        signs.append(Sign(node, "votes", ODD, because, candidate.event, says=says, check=check, ranks=tuple(own)))
    return signs
