"""When a complaint without a clock was said: not when the line above it was.

Tracebacks have no time (docs/logs.md). In a file that holds little else, the line above may be hours old: standard
error has a warning of the start, and then the exception that ended the process. What ends a process came when the
process spoke last, in whichever of its files.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.facts import fact_of
from core.model import Role
from core.table import EventTable, Settled, rows_by

MIN_STRENGTH = 0.4  # of a complaint that may end a process: core.roles looks at none that is weaker


def settle_last_words(table: EventTable) -> EventTable:
    """The table in which each untimed complaint has the time of what follows in its file, else of its speaker's end.

    After a timed complaint it is the traceback that a logger printed below its message, and keeps the time of that.
    """
    complains = np.array([_complains(template.sample, template.block) for template in table.templates] or [False])
    heads = np.sort(np.concatenate([np.zeros(0, np.intp), *table.rows_of(np.flatnonzero(complains).tolist()).values()]))
    heads = heads[~table.timed[heads]]
    if not len(heads):
        return table
    ends, settled = _ends(table), [np.zeros(0, np.intp)]
    times = [np.zeros(0, np.int64)]
    for voice, own in rows_by(table.voice, heads):
        for message in _untimed(table, table.rows_of_voices([voice]), own, complains):
            following = _next_timed(table, int(message[0]))
            settled.append(message)
            times.append(np.maximum(table.time[message], ends[voice] if following is None else table.time[following]))
    rows = np.concatenate(settled)
    order = np.argsort(rows)
    return replace(table, settled=Settled(rows[order], np.concatenate(times)[order])) if len(rows) else table


def _next_timed(table: EventTable, row: int) -> int | None:
    """The next row of the file with a clock of its own."""
    stop, reach = table.rows_of_file(int(table.file[row])).stop, _REACH
    while row < stop:
        timed = np.flatnonzero(table.timed[row : min(stop, row + reach)])
        if len(timed):
            return row + int(timed[0])
        row, reach = row + reach, reach * 8
    return None


_REACH = 64  # rows that are looked at at first


def _complains(sample: str, block: bool) -> bool:  # noqa: FBT001 a template's two parts
    fact = fact_of(sample, block=block)
    return fact is not None and fact.strength >= MIN_STRENGTH and fact.role in (Role.ROOT, Role.PROPAGATED)


def _untimed(
    table: EventTable, rows: NDArray[np.intp], heads: NDArray[np.intp], complains: NDArray[np.bool_]
) -> Iterator[NDArray[np.intp]]:
    """Rows of each untimed complaint of a voice that none with a time stands above; rows: all of the voice."""
    starts = np.flatnonzero(table.head[rows])
    places = np.searchsorted(rows[starts], heads)
    above = rows[starts[np.maximum(places - 1, 0)]]
    logged = (places > 0) & complains[table.event[above]] & table.timed[above]
    for place in places[~logged].tolist():
        stop = int(starts[place + 1]) if place + 1 < len(starts) else len(rows)
        yield rows[starts[place] : stop]


def _ends(table: EventTable) -> NDArray[np.int64]:
    """When the speaker of each voice, a rank in one attempt, said its last word in any of its files."""
    own = table.spoke.last
    speakers: dict[object, list[int]] = defaultdict(list)
    for voice, origin in enumerate(table.origins):
        known = (origin.node, origin.rank, origin.attempt) if origin.rank is not None else voice
        speakers[known].append(voice)
    ends = own.copy()
    for voices in speakers.values():
        ends[voices] = own[voices].max()
    return ends
