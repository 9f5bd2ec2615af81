"""The rows that many steps ask for, found in one pass over the files and held: what complains, and what is rare.

However often a job says something, no more is held of it than ``MAX_HELD``: then of each voice what it said first and
last, where a job fails and where it starts.
"""

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.events.table import EventTable
from core.events.table_rows import HeldRows, TablePart
from core.memory import Memory

MAX_HELD = 1 << 20  # head rows of events that must be held: 45 MB with their columns
MAX_RARE = 1 << 18  # and of others, the rarest first
_KINDS = (np.uint32, np.intp, np.uint32, np.int64, np.int64, np.uint32, np.uint32, np.uint8)


def hold(table: EventTable, must: Collection[int], memory: Memory | None = None) -> EventTable:
    """The table with the head rows of these events, and of rare ones, in memory."""
    if memory is None:
        return replace(table, in_memory=_find(table, must))
    arrays = memory.arrays("held", lambda: _find(table, must).arrays())
    return replace(table, in_memory=HeldRows(*arrays))


def _find(table: EventTable, must: Collection[int]) -> HeldRows:
    heads, wanted = table.heads, np.zeros(len(table.templates) + 1, np.bool_)
    wanted[list(must)] = True
    limit = _limit(heads[wanted[:-1]])
    rare = np.argsort(heads, kind="stable")
    rare = rare[~wanted[rare]]
    wanted[rare[np.cumsum(heads[rare]) <= MAX_RARE]] = True
    most = np.full(len(wanted), np.iinfo(np.int64).max)
    many = np.flatnonzero(heads > limit)
    speakers = np.bincount(table.counts.event, minlength=len(wanted))
    most[many] = np.maximum(1, limit // np.maximum(1, speakers[many]) // 2)
    columns = [
        _columns(table, part, _ends_of(table, part, places, most, many)) for part, places in table.heads_of(wanted)
    ]
    none = [np.zeros(0, kind) for kind in _KINDS[1:]]
    joined = (np.concatenate(list(parts)) for parts in zip(none, *columns, strict=True))
    return HeldRows(np.flatnonzero(wanted[:-1]).astype(np.uint32), *joined)


def _limit(heads: NDArray[np.int64]) -> int:
    """How many rows of each event can be held, for all of them to be MAX_HELD at most; the rare ones wholly."""
    left, counts = MAX_HELD, np.sort(heads)
    for place, count in enumerate(counts.tolist()):
        share = left // (len(counts) - place)
        if count > share:
            return share
        left -= count
    return MAX_HELD


def _ends_of(
    table: EventTable, part: TablePart, places: NDArray[np.intp], most: NDArray[np.int64], many: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Of the events that are said too often the first and the last of each voice, and all of the others."""
    if not len(many):
        return places
    event = table.events[part.file][part.rows.message[places]].astype(np.int64)
    if not np.isin(event, many).any():
        return places
    group = event * len(table.scans[part.file].prefixes) + part.rows.prefix[places]
    order = np.argsort(group, kind="stable")
    _, first, size = np.unique(group[order], return_index=True, return_counts=True)
    place = np.arange(len(order)) - np.repeat(first, size)
    kept = np.minimum(place, np.repeat(size, size) - 1 - place) < most[event[order]]
    chosen: NDArray[np.intp] = places[np.sort(order[kept])]
    return chosen


def _columns(table: EventTable, part: TablePart, places: NDArray[np.intp]) -> tuple[NDArray[np.generic], ...]:
    rows = part.rows
    return (
        places + part.start,
        rows.line[places].astype(np.uint32),
        rows.offset[places],
        rows.time[places],
        (rows.prefix[places] + part.voice).astype(np.uint32),
        table.texts[part.file][rows.message[places]],
        rows.marks[places].astype(np.uint8),
    )
