"""Where ranks stood when they gave up waiting: the traceback of a time-out is a stack dump of a healthy process.

When every rank times out none is silent, and whom they waited for is told by who stood elsewhere: in another
collective than the rest, or at another line of the program. Groups that wait in turn for each other stand in several
places, each with many ranks; a place with few is what the others do not share.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from core.events.messages import message_rows
from core.events.row_text import read_rows
from core.judge.candidates import Candidate
from core.logs.blocks.frames import read_frames
from core.model import Role
from core.nodes.sign import Sign
from core.parsed import Parsed
from core.shares import FEW, MAJORITY

STOOD_ELSEWHERE = 0.6  # as sure as silence, which tells the same of a rank that prints nothing
MIN_RANKS = 4  # of fewer, one is not few
MAX_READ = 4096  # tracebacks: one a rank of the largest jobs
MAX_ROWS = 1_000  # rows of a traceback that are read; loguru and rich print ten and more for each frame
_LIBRARY = re.compile(r"/(?:site|dist)-packages/|/lib/python3")
_COLLECTIVES = re.compile(r"(?:distributed_c10d|_functional_collectives)\.py$")
_BACKWARD = re.compile(r"/torch/autograd/graph\.py$")  # gradients are exchanged in it (DistributedDataParallel, FSDP)
_START = re.compile(r"init|new_\w*group|helper|store|rendezvous")  # functions there in which ranks only meet
Place = tuple[str, str]  # the collective, and the line of the program that called it


def waiting_signs(parsed: Parsed, candidates: Sequence[Candidate], expected: Mapping[str, Sequence[int]]) -> list[Sign]:
    """Nodes of the few ranks that waited elsewhere than most, in a job in which every rank gave up.

    Args:
        expected: ranks of each node, from the manifest or from what spoke.
    """
    everyone = {rank for ranks in expected.values() for rank in ranks}
    stood = _places(parsed, candidates)
    if len(everyone) < MIN_RANKS or set(stood) != everyone:
        return []
    for field in (0, 1):  # by what they called; when all called the same, by where
        by_place: dict[str, list[int]] = defaultdict(list)
        for rank, place in sorted(stood.items()):
            by_place[place[field]].append(rank)
        most = max(by_place, key=lambda name: (len(by_place[name]), name))
        if len(by_place) > 1:
            return _apart(parsed, by_place, most, expected)
    return []


def _apart(
    parsed: Parsed, by_place: Mapping[str, Sequence[int]], most: str, expected: Mapping[str, Sequence[int]]
) -> list[Sign]:
    total = sum(map(len, by_place.values()))
    others = {name: ranks for name, ranks in by_place.items() if name != most}
    odd = {rank: name for name, ranks in others.items() for rank in ranks}
    if len(by_place[most]) <= total * MAJORITY or len(odd) > total * FEW:
        return []
    signs = []
    for node, ranks in sorted(expected.items()):
        own = sorted(set(ranks) & set(odd))
        if own:
            because = (
                f"{parsed.table.called(own, node)} gave up in {odd[own[0]]}; {len(by_place[most])} of "
                f"{total} {parsed.table.speakers} did in {most}."
            )
            signs.append(
                Sign(
                    node,
                    "waits",
                    STOOD_ELSEWHERE,
                    because,
                    says="a process there waited in another collective than the others",
                    check="Compare what this rank runs with the others: a branch that not all take, uneven data.",
                    ranks=tuple(own),
                )
            )
    return signs


def _places(parsed: Parsed, candidates: Sequence[Candidate]) -> dict[int, Place]:
    """Where each rank stood in its first time-out."""
    table = parsed.table
    heads: dict[int, tuple[int, int]] = {}  # of each rank time and row of the first one
    for candidate in candidates:
        if (
            candidate.role is Role.PROPAGATED
            and candidate.fact.kind == "peer silent"
            and table.templates[candidate.event].block
        ):
            rows = candidate.rows[:MAX_READ]
            last_rows = zip(rows.tolist(), table.rank[rows].tolist(), table.time[rows].tolist(), strict=True)
            for row, rank, time in last_rows:
                if rank >= 0 and (rank not in heads or time < heads[rank][0]):
                    heads[rank] = time, row
    stood = {rank: message_rows(table, head)[:MAX_ROWS].tolist() for rank, (_, head) in heads.items()}
    texts = read_rows(parsed.files, table, [row for own in stood.values() for row in own])
    found = {rank: _place([texts[row] for row in own if row in texts]) for rank, own in stood.items()}
    return {rank: place for rank, place in found.items() if place is not None}


def _place(lines: Sequence[str]) -> Place | None:
    """The collective and the innermost line of the program, of a traceback that ends in a collective."""
    frames = list(read_frames(lines))
    called = [
        "backward" if _BACKWARD.search(frame.file) else frame.function
        for frame in frames
        if _BACKWARD.search(frame.file) or (_COLLECTIVES.search(frame.file) and not _START.search(frame.function))
    ]
    own = [f"{frame.file.rsplit('/', 1)[-1]}:{frame.line}" for frame in frames if not _LIBRARY.search(frame.file)]
    return (called[-1], own[-1]) if called and own else None
