"""When a complaint without a clock was said: not when the line above it was.

Tracebacks have no time (logs.md). In a file that holds little else, the line above may be hours old: standard
error has a warning of the start, and then the exception that ended the process. What ends a process came when the
process spoke last, in whichever of its files.
"""

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.events.table import EventTable, rows_by
from core.events.table_rows import SettledTimes
from core.facts import fact_of
from core.logs.lines import NO_TIME
from core.logs.origins import Program
from core.memory import Memory
from core.model import Role

MIN_STRENGTH = 0.4  # of a complaint that may end a process: core.judge.roles.survived looks at none that is weaker
_OF_THE_JOB = (Program.RANK, Program.LAUNCHER)  # of a file that names no rank, the paths do not tell which
_SPAN = 1 << 18  # rows: complaints this near to each other are looked at together
_REACH, _FURTHER, _FURTHEST = 1 << 10, 16, 1 << 22  # rows around them that are looked at, more and more of them


def settle_last_words(table: EventTable, memory: Memory | None = None) -> EventTable:
    """The table in which each untimed complaint has the time of what follows in its file, else of its speaker's end.

    After a timed complaint it is the traceback that a logger printed below its message, and keeps the time of that.
    """
    rows, time = memory.arrays("last words", lambda: _settle(table)) if memory else _settle(table)
    return replace(table, settled=SettledTimes(rows, time).over(table.settled)) if len(rows) else table


def _settle(table: EventTable) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    complains = np.array([_complains(template.sample, template.block) for template in table.templates] or [False])
    heads = table.all_rows_of(np.flatnonzero(complains).tolist())
    heads = heads[~table.timed[heads]]
    ends = _ends(table) if len(heads) else np.zeros(0, np.int64)
    settled, times = [np.zeros(0, np.intp)], [np.zeros(0, np.int64)]
    for file, own in rows_by(table.file, heads):
        for near in np.split(own, np.flatnonzero(np.diff(own // _SPAN)) + 1):
            around = _around(table, table.rows_of_file(file), near, complains)
            until = np.where(around.is_followed, around.following, ends[table.voice[near]])
            settled.append(around.rows)
            times.append(np.maximum(table.time[around.rows], until[around.which]))
    rows = np.concatenate(settled)
    order = np.argsort(rows)
    return rows[order], np.concatenate(times)[order]


@dataclass(frozen=True, slots=True, eq=False)
class _Around:
    """Rows of untimed complaints that none with a time stands above, which one each row belongs to, and what follows.

    is_whole: nothing more would be found further above or below.
    """

    rows: NDArray[np.intp]
    which: NDArray[np.intp]
    is_followed: NDArray[np.bool_]
    following: NDArray[np.int64]
    is_whole: bool


def _around(table: EventTable, file: range, heads: NDArray[np.intp], complains: NDArray[np.bool_]) -> _Around:
    """What a file tells of complaints that are near to each other: as much of it is read as that takes."""
    reach = _REACH
    while True:
        rows = slice(max(file.start, int(heads[0]) - reach), min(file.stop, int(heads[-1]) + 1 + reach))
        found = _within(table, file, rows, heads, complains)
        if found.is_whole or reach >= _FURTHEST:
            return found
        reach *= _FURTHER


def _within(
    table: EventTable, file: range, rows: slice, heads: NDArray[np.intp], complains: NDArray[np.bool_]
) -> _Around:
    voice = table.voice[rows]
    mine = np.flatnonzero(np.isin(voice, table.voice[heads]))
    mine = mine[np.argsort(voice[mine], kind="stable")]  # voice by voice
    place = np.empty(len(voice), np.intp)
    place[mine] = np.arange(len(mine))
    own, who = place[heads - rows.start], voice[mine]
    first, last = (np.searchsorted(who, who[own], side=side) for side in ("left", "right"))
    starts = np.flatnonzero(table.head[rows][mine])
    number = np.searchsorted(starts, own)
    above, below = np.append(starts, len(mine))[number - 1], np.append(starts, len(mine))[number + 1]
    has_above, has_below = (number > 0) & (above >= first), below < last
    logged = has_above.copy()
    over = mine[above[has_above]] + rows.start
    logged[has_above] = complains[table.event[over]] & table.timed[over]
    timed = np.flatnonzero(table.timed[rows])
    next_timed = np.searchsorted(timed, heads - rows.start)
    is_followed = next_timed < len(timed)
    following = np.zeros(len(heads), np.int64)
    following[is_followed] = table.time[timed[next_timed[is_followed]] + rows.start]
    has_clock = table.time[file.start] != NO_TIME
    chosen = np.flatnonzero(~logged)
    sizes = np.maximum(np.minimum(below, last) - own, 0)[chosen]
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # 0, 1, ... in each message
    return _Around(
        rows=mine[np.repeat(own[chosen], sizes) + within] + rows.start,
        which=np.repeat(chosen, sizes),
        is_followed=is_followed,
        following=following,
        is_whole=(rows.start == file.start or bool(has_above.all()))
        and (rows.stop == file.stop or bool((has_below & (is_followed | ~has_clock)).all())),
    )


def _complains(sample: str, block: bool) -> bool:  # noqa: FBT001 a template's two parts
    fact = fact_of(sample, block=block)
    return fact is not None and fact.strength >= MIN_STRENGTH and fact.role in (Role.ROOT, Role.PROPAGATED)


def _ends(table: EventTable) -> NDArray[np.int64]:
    """When the speaker of each voice said its last word in any of its files: a rank in one attempt.

    Where nobody tells ranks, a node is one: its standard error and its output are files of one process.
    """
    own = table.spoke.last
    speakers: dict[object, list[int]] = defaultdict(list)
    nodes_speak = not table.ranks
    for voice, origin in enumerate(table.origins):
        is_known = origin.rank is not None or (nodes_speak and origin.node and origin.program in _OF_THE_JOB)
        speakers[(origin.node, origin.rank, origin.attempt) if is_known else voice].append(voice)
    ends = own.copy()
    for voices in speakers.values():
        ends[voices] = own[voices].max()
    return ends
