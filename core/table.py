"""The narrow waist: every source and log format ends here, every method starts from here.

An ``EventTable`` has one row a segment (``core.logs.lines``). Its rows stay with their files, in few bytes, on disk
when there are many: a column is a view that reads the rows it is asked for (``core.column``). What most steps want to
know, who said what how often, was counted while the files were read and stands in ``said`` and ``spoke``.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.column import Column, Places
from core.logs.lines import NO_TIME
from core.logs.origins import Origin, Program
from core.logs.rows import HEAD, KEY, TIMED, FileRows, Rows
from core.templates import Template


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """How often each voice starts a message of each event: sorted by voice, then by event."""

    voice: NDArray[np.uint32]
    event: NDArray[np.uint32]
    heads: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Spoke:
    """How many rows each voice has, and its first and last time (NO_TIME where none is known)."""

    rows: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """Rows, sorted, and the time that each has in truth."""

    rows: NDArray[np.intp]
    time: NDArray[np.int64]

    def put(self, rows: NDArray[np.intp], time: NDArray[np.int64]) -> NDArray[np.int64]:
        """The times of some rows with the settled ones among them."""
        places = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[places] == rows, self.time[places], time)


@dataclass(frozen=True, eq=False)
class EventTable:
    """The rows of a job, file after file (sorted by name), each file in its own order.

    Columns, one value a row: file: uint32, place in ``files``. line: uint32, physical line from 1. offset: int64, in
    the unpacked file. time: int64, microseconds, carried on from the rows above where a row has no clock (NO_TIME where
    a file has none). timed: True where the clock reading is the row's own. voice: uint32, place in ``origins``. event:
    uint32, place in ``templates``. head: True where a message starts. key: True on the rows of a message that say what
    happened. node, rank: int32, place in ``nodes`` and global rank, -1 where unknown.

    message: uint32, the same for the same text in any file.

    texts: of each file that number for each of its messages. event_of: the event of each number. settled: rows whose
    time is not that of the rows above.
    """

    scans: tuple[FileRows, ...]
    origins: tuple[Origin, ...]
    templates: tuple[Template, ...]
    texts: tuple[NDArray[np.uint32], ...]
    event_of: NDArray[np.uint32]
    settled: "Settled | None" = None

    def __len__(self) -> int:
        return int(self._starts[-1])

    # --- the few distinct things ----------------------------------------------------------------------------------

    @cached_property
    def files(self) -> tuple[str, ...]:
        """Names of the files."""
        return tuple(scan.name for scan in self.scans)

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes that spoke, sorted."""
        return tuple(sorted({origin.node for origin in self.origins if origin.node}))

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """Global ranks that spoke, sorted."""
        return tuple(sorted({origin.rank for origin in self.origins if origin.rank is not None}))

    @cached_property
    def node_of_voice(self) -> NDArray[np.int32]:
        """Place in ``nodes`` of each voice, -1 where unknown."""
        places = {name: place for place, name in enumerate(self.nodes)}
        return np.array([places.get(origin.node or "", -1) for origin in self.origins], np.int32)

    @cached_property
    def rank_of_voice(self) -> NDArray[np.int32]:
        """Global rank of each voice, -1 where unknown."""
        return np.array([-1 if origin.rank is None else origin.rank for origin in self.origins], np.int32)

    @cached_property
    def is_rank(self) -> NDArray[np.bool_]:
        """True for each voice of a training process."""
        return np.array([origin.program is Program.RANK for origin in self.origins], np.bool_)

    @cached_property
    def file_of_voice(self) -> NDArray[np.uint32]:
        """Place in ``files`` of each voice."""
        return np.repeat(np.arange(len(self.scans), dtype=np.uint32), np.diff(self._voices))

    # --- who said what how often ----------------------------------------------------------------------------------

    @cached_property
    def said(self) -> Said:
        """Who said what how often."""
        voice = _joined([scan.tally.prefix + first for scan, first in self._files()], np.int64)
        event = _joined([of[scan.tally.message] for scan, of in zip(self.scans, self.events, strict=True)], np.int64)
        heads = _joined([scan.tally.heads for scan in self.scans], np.int64)
        pairs, place = np.unique(voice * max(1, len(self.templates)) + event, return_inverse=True)
        voice, event = np.divmod(pairs, max(1, len(self.templates)))
        counts = np.bincount(place, heads, minlength=len(pairs)).astype(np.int64)
        return Said(voice.astype(np.uint32), event.astype(np.uint32), counts)

    @cached_property
    def spoke(self) -> Spoke:
        """Who spoke how much, from when to when."""
        tallies = [scan.tally for scan in self.scans]
        rows, first, last = (
            _joined([getattr(tally, name) for tally in tallies], np.int64) for name in ("rows", "first", "last")
        )
        if self.settled is not None:  # times were only ever raised
            voice, carried = self.voice[self.settled.rows], self._carried[self.settled.rows]
            np.maximum.at(last, voice, self.settled.time)
            for earliest in np.unique(voice[carried <= first[voice]]).tolist():
                time = self.time[self.rows_of_voices([earliest])]
                first[earliest] = time[time >= 0].min() if (time >= 0).any() else NO_TIME
        return Spoke(rows, first, last)

    def rows_of(self, events: Collection[int]) -> dict[int, NDArray[np.intp]]:
        """Head rows of each of these events that is said, in table order; all in one pass over the files."""
        wanted = np.zeros(len(self.templates) + 1, np.bool_)
        wanted[list(events)] = True
        found = [np.zeros(0, np.intp)]
        for part, (number, rows) in enumerate(self._parts):
            of_message = wanted[self.events[number]]
            if of_message.any():
                places = np.flatnonzero(of_message[rows.message[:]])
                heads = places[rows.marks[places] & HEAD != 0]
                found.append(heads + self._starts[part])
        return dict(rows_by(self.event, np.concatenate(found)))

    def rows_of_voices(self, voices: Collection[int]) -> NDArray[np.intp]:
        """All rows of some voices, in table order."""
        wanted = np.zeros(len(self.origins) + 1, np.bool_)
        wanted[list(voices)] = True
        found = [np.zeros(0, np.intp)]
        for part in np.flatnonzero(np.isin(self._file_of_part, self.file_of_voice[wanted[:-1]])).tolist():
            number, rows = self._parts[part]
            mine = wanted[self._voices[number] : self._voices[number + 1]]
            places = np.arange(len(rows)) if mine.all() else np.flatnonzero(mine[rows.prefix[:]])
            found.append(places + self._starts[part])
        return np.concatenate(found)

    def rows_of_file(self, file: int) -> range:
        """The rows of a file."""
        first, last = np.searchsorted(self._file_of_part, [file, file + 1])
        return range(int(self._starts[first]), int(self._starts[last]))

    # --- columns --------------------------------------------------------------------------------------------------

    @cached_property
    def file(self) -> Column:
        """Place in ``files``."""
        return self._column(np.uint32, lambda number, rows, at: np.full(_count(rows, at), number, np.uint32))

    @cached_property
    def line(self) -> Column:
        """Physical line, from 1."""
        return self._column(np.uint32, lambda _, rows, at: rows.line[at])

    @cached_property
    def offset(self) -> Column:
        """Byte in the unpacked file."""
        return self._column(np.int64, lambda _, rows, at: rows.offset[at])

    @cached_property
    def time(self) -> Column:
        """Microseconds since the epoch."""
        carried, settled = self._carried, self.settled
        if settled is None:
            return carried
        return self.computed(np.int64, lambda _, rows: settled.put(rows, carried[rows]))

    @cached_property
    def _carried(self) -> Column:
        return self._column(np.int64, lambda _, rows, at: rows.time[at])

    @cached_property
    def timed(self) -> Column:
        """Whether the clock reading is the row's own."""
        return self._column(np.bool_, lambda _, rows, at: rows.marks[at] & TIMED != 0)

    @cached_property
    def head(self) -> Column:
        """Whether a message starts."""
        return self._column(np.bool_, lambda _, rows, at: rows.marks[at] & HEAD != 0)

    @cached_property
    def key(self) -> Column:
        """Whether the row says what happened."""
        return self._column(np.bool_, lambda _, rows, at: rows.marks[at] & KEY != 0)

    @cached_property
    def message(self) -> Column:
        """A number for its text."""
        return self._column(np.uint32, lambda number, rows, at: self.texts[number][rows.message[at]])

    @cached_property
    def event(self) -> Column:
        """Place in ``templates``."""
        return self._column(np.uint32, lambda number, rows, at: self.events[number][rows.message[at]])

    @cached_property
    def voice(self) -> Column:
        """Place in ``origins``."""
        return self._column(np.uint32, lambda number, rows, at: rows.prefix[at] + self._voices[number])

    @cached_property
    def node(self) -> Column:
        """Place in ``nodes``."""
        return self._of_voice(np.int32, self.node_of_voice)

    @cached_property
    def rank(self) -> Column:
        """Global rank."""
        return self._of_voice(np.int32, self.rank_of_voice)

    def computed(self, kind: type[np.generic], of_rows: Callable[[int, NDArray[np.intp]], NDArray[Any]]) -> Column:
        """A column that a function gives for rows of a file."""

        def read(part: int, at: Places) -> NDArray[Any]:
            number, rows = self._parts[part]
            places = np.arange(*at.indices(len(rows))) if isinstance(at, slice) else at
            return of_rows(number, places + self._starts[part])

        return Column(self._starts, kind, read)

    def _of_voice(self, kind: type[np.generic], values: NDArray[Any]) -> Column:
        return self._column(kind, lambda number, rows, at: values[rows.prefix[at] + self._voices[number]])

    def _column(self, kind: type[np.generic], read: Callable[[int, Rows, Places], NDArray[Any]]) -> Column:
        return Column(self._starts, kind, lambda part, at: read(*self._parts[part], at))

    @cached_property
    def events(self) -> tuple[NDArray[np.uint32], ...]:
        """Of each file the event of each of its messages."""
        return tuple(self.event_of[texts] for texts in self.texts)

    @cached_property
    def _parts(self) -> tuple[tuple[int, Rows], ...]:
        """Rows in a row, with their file."""
        return tuple((number, part) for number, scan in enumerate(self.scans) for part in scan.parts)

    @cached_property
    def _file_of_part(self) -> NDArray[np.intp]:
        return np.array([number for number, _ in self._parts], np.intp)

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.cumsum([0, *(len(rows) for _, rows in self._parts)])

    @cached_property
    def _voices(self) -> NDArray[np.int64]:
        """First voice of each file, and the number of all."""
        return np.cumsum([0, *(len(scan.prefixes) for scan in self.scans)])

    def _files(self) -> Iterator[tuple[FileRows, int]]:
        return zip(self.scans, self._voices.tolist(), strict=False)


def _count(rows: Rows, at: Places) -> int:
    return len(range(*at.indices(len(rows)))) if isinstance(at, slice) else len(at)


def _joined(parts: Sequence[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, kind), *parts])


def build(
    scans: Sequence[FileRows], origins: Mapping[tuple[str, bytes], Origin], templates: Mapping[str, Template]
) -> EventTable:
    """Join what was read and parsed file by file into one table."""
    numbers: dict[str, int] = {}
    texts = tuple(
        np.array([numbers.setdefault(text, len(numbers)) for text in scan.texts], np.uint32) for scan in scans
    )
    events: dict[Template, int] = {}
    event_of = np.array([events.setdefault(templates[text], len(events)) for text in numbers], np.uint32)
    return EventTable(
        scans=tuple(scans),
        origins=tuple(origins[scan.name, prefix] for scan in scans for prefix in scan.prefixes),
        templates=tuple(events),
        texts=texts,
        event_of=event_of,
    )


def with_ranks_as_nodes(table: EventTable) -> EventTable:
    """The table with each rank standing for itself, so that ranks are compared where nobody names a node."""
    origins = [replace(one, node=f"rank {one.rank}") if one.rank is not None else one for one in table.origins]
    return replace(table, origins=tuple(origins))


def rows_by(values: NDArray[Any] | Column, rows: NDArray[np.intp]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Rows grouped by their value in a column, in the order of the values; within a group in their own order."""
    if len(rows):
        picked = values[rows]
        order = np.argsort(picked, kind="stable")
        picked, ordered = picked[order], rows[order]
        bounds = np.flatnonzero(np.diff(picked)) + 1
        yield from zip(picked[[0, *bounds]].tolist(), np.split(ordered, bounds), strict=True)


def message_rows(table: EventTable, head: int) -> NDArray[np.intp]:
    """Rows of the message that starts at a head row: same voice, up to its next head."""
    file, voice = int(table.file[head]), int(table.voice[head])
    reach = slice(head, min(table.rows_of_file(file).stop, head + _MAX_MESSAGE))
    rows = np.flatnonzero(table.voice[reach] == voice) + head
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
