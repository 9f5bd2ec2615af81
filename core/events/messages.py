"""The rows of a message: a head row, and what the same voice says up to its next head."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.events.table import EventTable
from core.logs.label import read_label

_MAX_MESSAGE = 20_000  # rows; the longest report that was seen has 9 rows for each of 1,024 ranks
_MAX_KEYS = 4
_REACH = 64  # rows that are looked at at first; most messages have less


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


def key_rows(table: EventTable, head: int) -> list[int]:
    """Rows of the message at a head row that say what happened, at most a few."""
    return keys_of(table, [head])[head]


def keys_of(table: EventTable, heads: Sequence[int]) -> dict[int, list[int]]:
    """The key rows of several messages."""
    is_key = table.key[np.asarray(heads, np.intp)].tolist()
    return {head: [head] if key else _keys(table, head) for head, key in zip(heads, is_key, strict=True)}


def _keys(table: EventTable, head: int) -> list[int]:
    rows = message_rows(table, head)
    keys: list[int] = rows[table.key[rows]][:_MAX_KEYS].tolist()
    return keys or [head]


def unlabelled(table: EventTable, row: int, text: str) -> str:
    """The text of a row, as ``core.events.text.read_rows`` gives it, without the labels of its speaker."""
    _, tags = read_label(table.prefix_of(int(table.voice[row])))  # a wrapper's label is gone already
    return text.removeprefix(tags.decode("utf-8", "replace"))
