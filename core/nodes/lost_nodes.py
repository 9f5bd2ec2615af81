"""Who was lost on the way of a job that completed: it went on without them, or its launcher started them again."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.job import Status
from core.judge.exits import Exit, Exits
from core.nodes.sign import Sign
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS, few_of

LOST = 0.6  # as sure as a launcher's report: who killed it is not told, and the others did not need it
FIRST = 8  # messages with which a process begins: it says who it is, what it reads, whom it meets
_STOPS = frozenset({1, 2, 13, 15})  # SIGHUP, SIGINT, SIGPIPE, SIGTERM: how processes are told to end
_SIGNALS = {6: "SIGABRT", 7: "SIGBUS", 9: "SIGKILL", 11: "SIGSEGV"}


@dataclass(frozen=True, slots=True)
class Lost:
    """Processes of a node that ended by a signal that is no order to stop.

    ranks: empty where job.json alone tells it. first: how the first one ended. came_back: they were started again.
    """

    node: str
    ranks: tuple[int, ...]
    first: Exit
    came_back: bool

    @property
    def signal(self) -> str:
        """By what they ended."""
        return _SIGNALS.get(self.first.signal or 0, f"signal {self.first.signal}")


def find_lost(parsed: Parsed, exits: Exits, home: Mapping[int, str]) -> list[Lost]:
    """The few nodes of a job that completed of which processes were lost.

    Args:
        home: node of each rank.
    """
    if parsed.job.status is not Status.COMPLETED or len(parsed.nodes) < MIN_RANKS:
        return []
    ends: dict[str, list[tuple[int | None, Exit]]] = defaultdict(list)
    for rank, ending in exits.of_rank.items():
        if _is_no_stop(ending) and rank in home:
            ends[home[rank]].append((rank, ending))
    for node, exit_ in exits.of_node.items():
        if exit_ is not None and _is_no_stop(exit_) and node not in ends:
            ends[node].append((None, exit_))
    alone = {node for node, ranks in Counter(home.values()).items() if ranks == 1}
    found = [
        _lost(parsed, exits, node, own, is_alone=node in alone)
        for node, own in sorted(ends.items())
        if node in parsed.nodes
    ]
    return found if len(found) <= few_of(len(parsed.nodes)) else []


def lost_signs(parsed: Parsed, exits: Exits, home: Mapping[int, str]) -> list[Sign]:
    """Signs for the nodes without whose processes a job completed.

    Args:
        home: node of each rank.
    """
    return [_sign(parsed, lost) for lost in find_lost(parsed, exits, home) if not lost.came_back]


def _is_no_stop(ending: Exit) -> bool:
    return ending.signal is not None and ending.signal not in _STOPS


def _lost(parsed: Parsed, exits: Exits, node: str, ends: Sequence[tuple[int | None, Exit]], *, is_alone: bool) -> Lost:
    """Args: is_alone: the node has one rank, so that nobody else says there what it had said."""
    ranks = tuple(rank for rank, _ in ends if rank is not None)
    last, code = parsed.iterations.last, exits.of_node.get(node)
    finished = last is not None and any(parsed.iterations.of_rank.get(rank) == last for rank in ranks)
    came_back = code.code == 0 if code is not None else finished
    return Lost(node, ranks, ends[0][1], came_back=came_back or (is_alone and _begins_anew(parsed, node, ends[0][1])))


def _begins_anew(parsed: Parsed, node: str, end: Exit) -> bool:
    """Whether below the report of its end the node says again what it had said first."""
    table = parsed.table
    if end.row is None:
        return False
    rows = table.rows_of_voices([voice for voice, origin in enumerate(table.origins) if origin.node == node])
    rows = rows[table.head[rows] & (table.file[rows] == table.file[end.row])]
    before, after = rows[rows < end.row], rows[rows > end.row]
    first = np.unique(table.event[before[:FIRST]])
    return len(first) > 0 and np.isin(first, table.event[after]).sum() > len(first) * MAJORITY


def _sign(parsed: Parsed, lost: Lost) -> Sign:
    return Sign(
        lost.node,
        "lost",
        LOST,
        f"A process on {lost.node} was ended by {lost.signal}; the others went on, and the job completed.",
        says=f"a process there was ended by {lost.signal}, and the job completed without it",
        check=f"Look at the kernel log and the memory of {lost.node}, and at what the job did without it.",
        ranks=lost.ranks,
        iteration=_iteration(parsed, lost),
        rows=() if lost.first.row is None else (lost.first.row,),
    )


def _iteration(parsed: Parsed, lost: Lost) -> int | None:
    """The iteration in which it was reported; else the last one that the node itself tells."""
    table = parsed.table
    if lost.first.row is None:
        voices = [voice for voice, origin in enumerate(table.origins) if origin.node == lost.node]
        own = parsed.iterations.of_row[table.rows_of_voices(voices)]
    else:
        own = parsed.iterations.of_row[np.array([lost.first.row])]
    last = int(own.max(initial=-1))
    return last if last > 0 else None
