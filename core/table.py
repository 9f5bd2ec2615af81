"""The narrow waist: every source and log format ends here, every method starts from here.

An ``EventTable`` holds one row a segment (``core.logs.lines``) as arrays, no object a line; the few distinct things
(files, voices, events) stand in small tuples beside them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.logs.lines import NO_TIME
from core.logs.messages import Messages
from core.logs.origins import Origin, Program
from core.logs.scan import FileScan
from core.templates import Template


@dataclass(frozen=True, eq=False)
class EventTable:
    """The rows of a job, file after file (sorted by name), each file in its own order; one value a row in each column.

    file: uint32, place in ``files``. line: uint32, physical line from 1. offset: int64 and length: uint32, bytes in the
    unpacked file. time: int64, microseconds, carried on from the rows above where a row has no clock (NO_TIME where a
    file has none). timed: True where the clock reading is the row's own. voice: uint32, place in ``origins``. event:
    uint32, place in ``templates``. head: True where a message starts. key: True on the rows of a message that say what
    happened.
    """

    file: NDArray[np.uint32]
    line: NDArray[np.uint32]
    offset: NDArray[np.int64]
    length: NDArray[np.uint32]
    time: NDArray[np.int64]
    timed: NDArray[np.bool_]
    voice: NDArray[np.uint32]
    event: NDArray[np.uint32]
    head: NDArray[np.bool_]
    key: NDArray[np.bool_]
    files: tuple[str, ...]
    origins: tuple[Origin, ...]
    templates: tuple[Template, ...]

    def __len__(self) -> int:
        return len(self.event)

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes that spoke, sorted."""
        return tuple(sorted({origin.node for origin in self.origins if origin.node}))

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """Global ranks that spoke, sorted."""
        return tuple(sorted({origin.rank for origin in self.origins if origin.rank is not None}))

    @cached_property
    def node(self) -> NDArray[np.int32]:
        """int32 a row: place in ``nodes``, -1 where unknown."""
        places = {name: place for place, name in enumerate(self.nodes)}
        return self._of_voice([places.get(origin.node or "", -1) for origin in self.origins])

    @cached_property
    def rank(self) -> NDArray[np.int32]:
        """int32 a row: global rank, -1 where unknown."""
        return self._of_voice([-1 if origin.rank is None else origin.rank for origin in self.origins])

    @cached_property
    def from_rank(self) -> NDArray[np.bool_]:
        """bool a row: True where a training process spoke."""
        spoke = np.array([origin.program is Program.RANK for origin in self.origins], dtype=np.bool_)
        return spoke[self.voice] if len(self.voice) else np.zeros(0, np.bool_)

    @cached_property
    def rows_of(self) -> Mapping[int, NDArray[np.intp]]:
        """Head rows of each event, in table order."""
        return dict(rows_by(self.event, np.flatnonzero(self.head)))

    def _of_voice(self, values: Sequence[int]) -> NDArray[np.int32]:
        return np.array(values, dtype=np.int32)[self.voice] if len(self.voice) else np.zeros(0, np.int32)


def build(
    scans: Sequence[FileScan],
    messages: Sequence[Messages],
    origins: Mapping[tuple[str, bytes], Origin],
    templates: Mapping[str, Template],
) -> EventTable:
    """Join what was scanned, grouped and parsed file by file into one table."""
    voices: dict[tuple[str, bytes], int] = {}
    events: dict[Template, int] = {}
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in _EMPTY}
    for number, (scan, said) in enumerate(zip(scans, messages, strict=True)):
        rows = scan.columns
        voice_of = [voices.setdefault((scan.name, prefix), len(voices)) for prefix in rows.prefixes]
        event_of = [events.setdefault(templates[text], len(events)) for text in said.texts]
        columns["file"].append(np.full(len(rows.line), number, np.uint32))
        columns["line"].append(rows.line)
        columns["offset"].append(rows.offset)
        columns["length"].append(rows.length)
        columns["time"].append(carry_time(rows.time))
        columns["timed"].append(rows.time != NO_TIME)
        columns["voice"].append(np.array(voice_of, np.uint32)[rows.prefix])
        columns["event"].append(np.array(event_of, np.uint32)[said.message])
        columns["head"].append(said.head)
        columns["key"].append(said.key)
    joined: dict[str, Any] = {name: np.concatenate(parts) if parts else _EMPTY[name] for name, parts in columns.items()}
    return EventTable(
        **joined,
        files=tuple(scan.name for scan in scans),
        origins=tuple(origins[voice] for voice in voices),
        templates=tuple(events),
    )


_EMPTY: dict[str, NDArray[Any]] = {
    **{name: np.zeros(0, np.uint32) for name in ("file", "line", "length", "voice", "event")},
    **{name: np.zeros(0, np.int64) for name in ("offset", "time")},
    **{name: np.zeros(0, np.bool_) for name in ("timed", "head", "key")},
}


def carry_time(time: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give rows without a clock the reading above them, and those at the start of a file the first one below."""
    known = time != NO_TIME
    if not known.any():
        return time
    last = np.maximum.accumulate(np.where(known, np.arange(len(time)), -1))
    return time[np.where(last < 0, np.flatnonzero(known)[0], last)]


def with_ranks_as_nodes(table: EventTable) -> EventTable:
    """The table with each rank standing for itself, so that ranks are compared where nobody names a node."""
    origins = [replace(one, node=f"rank {one.rank}") if one.rank is not None else one for one in table.origins]
    return replace(table, origins=tuple(origins))


def rows_by(values: NDArray[Any], rows: NDArray[np.intp]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Rows grouped by their value in a column, in the order of the values; within a group in their own order."""
    if len(rows):
        order = rows[np.argsort(values[rows], kind="stable")]
        for group in np.split(order, np.flatnonzero(np.diff(values[order])) + 1):
            yield int(values[group[0]]), group


def message_rows(table: EventTable, head: int) -> NDArray[np.intp]:
    """Rows of the message that starts at a head row: same voice, up to its next head."""
    reach = slice(head, min(len(table), head + _MAX_MESSAGE))
    same = (table.voice[reach] == table.voice[head]) & (table.file[reach] == table.file[head])
    rows = np.flatnonzero(same) + head
    heads = np.flatnonzero(table.head[rows])
    return rows[: heads[1]] if len(heads) > 1 else rows


def key_rows(table: EventTable, head: int) -> list[int]:
    """Rows of the message at a head row that say what happened, at most a few."""
    if table.key[head]:
        return [head]
    rows = message_rows(table, head)
    keys: list[int] = rows[table.key[rows]][:_MAX_KEYS].tolist()
    return keys or [head]


_MAX_MESSAGE = 20_000  # rows; the longest report that was seen has 9 rows for each of 1,024 ranks
_MAX_KEYS = 4
