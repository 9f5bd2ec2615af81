"""The rows of a message: a head row, and what the same voice says up to its next head."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from core.events.table import EventTable
from core.logs.label import read_label

_MAX_MESSAGE = 20_000  # rows; the longest report that was seen has 9 rows for each of 1,024 ranks
_MAX_KEYS = 4  # lines that say what happened; chosen, not measured: the exception itself and the first of its causes
_REACH = 64  # rows that are looked at at first; most messages have less
_TOGETHER = 4096  # messages whose first rows are looked at together: 2 MB a column
_STRETCH = 1 << 16  # rows that are sorted together: half a megabyte


def message_rows(table: EventTable, head: int) -> NDArray[np.intp]:
    """Rows of the message that starts at a head row: same voice, up to its next head."""
    return rows_of_messages(table, [head])[0]


def rows_of_messages(table: EventTable, heads: Sequence[int]) -> list[NDArray[np.intp]]:
    """``message_rows`` of several heads, most of which are found by reading each column once."""
    every = np.asarray(heads, np.intp)
    found: list[NDArray[np.intp]] = []
    for at in range(0, len(every), _TOGETHER):
        found += _near(table, every[at : at + _TOGETHER])
    return found


def _near(table: EventTable, heads: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    files, which = np.unique(table.file[heads], return_inverse=True)
    stops = np.array([table.rows_of_file(file).stop for file in files.tolist()])[which]
    near = heads[:, np.newaxis] + np.arange(_REACH)
    inside = near < stops[:, np.newaxis]
    read = np.where(inside, near, heads[:, np.newaxis])
    own = inside & (table.voice[read] == table.voice[heads][:, np.newaxis])
    begins = own & table.head[read]
    begins[:, 0] = False
    is_whole = begins.any(axis=1) | ~inside[:, -1]
    own &= ~np.logical_or.accumulate(begins, axis=1)
    longer = _far(table, heads[~is_whole], stops[~is_whole])
    return [
        near[place, own[place]] if whole else longer[int(heads[place])] for place, whole in enumerate(is_whole.tolist())
    ]


def _far(table: EventTable, heads: NDArray[np.intp], stops: NDArray[np.int64]) -> dict[int, NDArray[np.intp]]:
    """The rows of messages that end far from their heads, as where thousands of ranks write to one file.

    Args:
        stops: where the file of each head ends.
    """
    found: dict[int, NDArray[np.intp]] = {}
    _, which = np.unique(np.stack([stops, heads // _STRETCH], axis=1), axis=0, return_inverse=True)
    for stretch in range(int(which.max(initial=-1)) + 1):
        here = heads[which == stretch]
        stop = min(int(stops[which == stretch][0]), int(here.max()) + _MAX_MESSAGE)
        for head, rows in zip(here.tolist(), _in_stretch(table, here, stop), strict=True):
            found[head] = rows[rows < head + _MAX_MESSAGE]
    return found


def _in_stretch(table: EventTable, heads: NDArray[np.intp], stop: int) -> Iterator[NDArray[np.intp]]:
    """The rows of each of these messages of a file up to a row: all that is between is sorted by voice, once."""
    first = int(heads.min())
    voices = np.asarray(table.voice[first:stop])
    order = np.argsort(voices, kind="stable")
    is_end = np.asarray(table.head[first:stop])[order]
    is_end[1:] |= np.diff(voices[order]) != 0
    ends = np.append(np.flatnonzero(is_end), len(order))
    places = np.argsort(order)[heads - first]
    for place, end in zip(places.tolist(), ends[np.searchsorted(ends, places, side="right")].tolist(), strict=True):
        yield order[place:end] + first


def key_rows(table: EventTable, head: int) -> list[int]:
    """Rows of the message at a head row that say what happened, at most a few."""
    return keys_of(table, [head])[head]


def keys_of(table: EventTable, heads: Sequence[int]) -> dict[int, list[int]]:
    """The key rows of several messages."""
    is_key = table.key[np.asarray(heads, np.intp)].tolist()
    others = [head for head, key in zip(heads, is_key, strict=True) if not key]
    rows = rows_of_messages(table, others)
    keys = table.key[np.concatenate([np.zeros(0, np.intp), *rows])]
    ends = np.cumsum([len(own) for own in rows]).tolist()
    found = {
        head: own[keys[end - len(own) : end]][:_MAX_KEYS].tolist() or [head]
        for head, own, end in zip(others, rows, ends, strict=True)
    }
    return {head: found.get(head, [head]) for head in heads}


def unlabelled(table: EventTable, row: int, text: str) -> str:
    """The text of a row, as ``core.events.row_text.read_rows`` gives it, without the labels of its speaker."""
    _, tags = read_label(table.prefix_of(int(table.voice[row])))  # a wrapper's label is gone already
    return text.removeprefix(tags.decode("utf-8", "replace"))
