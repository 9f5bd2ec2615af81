"""Which node falls silent when a job hangs, where ranks say too little: its monitor stops, all others go on.

Or all others begin to say the same again and again once the job stands still, and one alone does not.
"""

import numpy as np
from numpy.typing import NDArray

from core.course.pace import SECOND
from core.events.table import EventTable
from core.judge.ending import Ending
from core.nodes.sign import Sign
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS, few_of

SILENT = 0.45  # as one rank that does not answer: its machine may be well, and its log cut off
AGAIN = 3  # times that each of the others says the same since then: one line may be the answer to an order
LAST = 1  # what was under way when the job stood still
MAX_EVENTS, MAX_ROWS = 40, 40_000  # messages of most nodes that are looked at, and lines of each


def silent_node_signs(parsed: Parsed, ending: Ending) -> list[Sign]:
    """Signs for the few nodes that no longer say since the last progress what most of the others go on to say."""
    table = parsed.table
    if not ending.hung or ending.progressed is None or len(table.nodes) < MIN_RANKS or table.ranks_are_nodes:
        return []
    until = _until(ending)
    every_node = np.unique(table.node_of_voice[parsed.iterations.voices])  # that made progress
    every_node = every_node[every_node >= 0]
    for rows in table.rows_of(_of_most_nodes(table)).values():
        nodes = table.node[rows]
        is_late = _is_late(parsed, ending, rows)
        is_new = bool((is_late | (table.time[rows] >= until)).all())
        everyone = every_node if is_new else np.unique(nodes[nodes >= 0])
        late = np.bincount(nodes[is_late & (nodes >= 0)], minlength=len(table.nodes))[everyone]
        silent, go_on = everyone[late <= LAST], int((late >= AGAIN).sum())
        silent = silent[[_said_nothing(parsed, ending, node) for node in silent.tolist()]] if is_new else silent
        if 0 < len(silent) <= few_of(len(everyone)) and go_on > len(everyone) * MAJORITY:
            return [_sign(table.nodes[node], go_on, is_new=is_new) for node in silent.tolist()]
    return []


def _said_nothing(parsed: Parsed, ending: Ending, node: int) -> bool:
    """Whether a node began to say nothing since the hang: else it only waits in other words than the others."""
    table, since = parsed.table, _since(ending)
    rows = table.rows_of_voices(np.flatnonzero(table.node_of_voice == node).tolist())
    said = np.unique(table.event[rows[table.time[rows] > since]]).tolist()
    return not any((table.time[own] > since).all() for own in table.rows_of(said).values())


def _since(ending: Ending) -> int:
    """The time from which on a job stands still."""
    return (ending.progressed or 0) + int((ending.allowed or 0.0) * SECOND)


def _of_most_nodes(table: EventTable) -> list[int]:
    """Messages that most nodes say, again and again, those said most often first."""
    node = table.node_of_voice[table.counts.voice]
    pairs = np.unique(np.stack([table.counts.event[node >= 0].astype(np.int64), node[node >= 0]]), axis=1)
    speakers = np.bincount(pairs[0], minlength=len(table.templates))
    heads = table.heads
    often = (speakers > len(table.nodes) * MAJORITY) & (heads >= AGAIN * speakers) & (heads <= MAX_ROWS)
    events = np.flatnonzero(often & (speakers > 0)).tolist()
    return sorted(sorted(events, key=lambda event: (-int(heads[event]), event))[:MAX_EVENTS])


def _is_late(parsed: Parsed, ending: Ending, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which rows were said between the hang and the stop; of lines without a clock those below the last progress."""
    table, progress = parsed.table, int(parsed.iterations.course.rows[-1])
    since, until = _since(ending), _until(ending)
    timed, times = table.timed[rows], table.time[rows]
    below = ~timed & (table.file[rows] == table.file[progress]) & (rows > progress)
    return np.asarray(below | (timed & (times > since) & (times < until)), np.bool_)


def _until(ending: Ending) -> int:
    """The time of the stop, in whose second anything may be said because of it."""
    return ending.stopped - SECOND if ending.stopped is not None else np.iinfo(np.int64).max


def _sign(node: str, others: int, *, is_new: bool) -> Sign:
    does = "said the same again and again" if is_new else "went on to say the same as before"
    because = f"{node} said nothing more when the job stood still; {others} others {does}."
    check = f"See whether {node} still runs: its power, its console, its network."
    return Sign(node, "silence", SILENT, because, says="it fell silent when the job stood still", check=check)
