"""The rows of a message: a head row, and what the same voice says up to its next head."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.events.table import EventTable
from core.logs.label import read_label

_MAX_MESSAGE = 20_000  # rows; the longest report that was seen has 9 rows for each of 1,024 ranks
_MAX_KEYS = 4  # lines that say what happened; chosen, not measured: the exception itself and the first of its causes
_REACH = 64  # rows that are looked at at first; most messages have less
_TOGETHER = 4096  # messages whose first rows are looked at together: 2 MB a column


def message_rows(table: EventTable, head: int) -> NDArray[np.intp]:
    """Rows of the message that starts at a head row: same voice, up to its next head."""
    file, voice = int(table.file[head]), int(table.voice[head])
    stop = min(table.rows_of_file(file).stop, head + _MAX_MESSAGE)
    found, at, reach = [np.array([head], np.intp)], head + 1, _REACH
    while at < stop:
        reached = slice(at, min(stop, at + reach))
        rows = np.flatnonzero(table.voice[reached] == voice) + at
        heads = np.flatnonzero(table.head[reached][rows - at])
        if len(heads):
            found.append(rows[: heads[0]])
            break
        found.append(rows)
        at, reach = reached.stop, reach * 8
    return np.concatenate(found)


def rows_of_messages(table: EventTable, heads: Sequence[int]) -> list[NDArray[np.intp]]:
    """``message_rows`` of several heads; most are found by reading each column once."""
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
    return [
        near[place, own[place]] if whole else message_rows(table, int(heads[place]))
        for place, whole in enumerate(is_whole.tolist())
    ]


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
