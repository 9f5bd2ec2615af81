"""The narrow waist: every source and log format ends here, every method starts from here.

An ``EventTable`` has one row a segment (``core.logs.lines``). Its rows stay with their files, in few bytes, on disk
when there are many: a column is a view that reads the rows it is asked for (``core.events.column``). What most steps
want to know, who said what how often, was counted while the files were read and stands in ``counts`` and ``spoke``.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.events.column import Column, Computed, KnownValues, Places
from core.events.table_rows import HeldRows, SettledTimes, TablePart
from core.events.tallies import EventCounts, VoiceCounts, said_by, spoken_by
from core.events.template import Template
from core.logs.file_rows import HEAD, KEY, TIMED, FileRows
from core.logs.lines import NO_TIME
from core.logs.origins import Origin, Program
from core.naming import called


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
    time is not that of the rows above. in_memory: rows that are. ranks_are_nodes: nobody tells ranks, and each
    node has a number in place of one, for comparisons; nobody is shown it.
    """

    scans: tuple[FileRows, ...]
    origins: tuple[Origin, ...]
    templates: tuple[Template, ...]
    texts: tuple[NDArray[np.uint32], ...]
    event_of: NDArray[np.uint32]
    settled: SettledTimes | None = None
    in_memory: HeldRows | None = None
    ranks_are_nodes: bool = False

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

    @property
    def ranks_have_nodes(self) -> bool:
        """Whether the node of any rank is known; daemons may name nodes that no rank does."""
        return any(origin.node for origin in self.origins if origin.program is Program.RANK)

    @property
    def speaker(self) -> str:
        """What ranks stand for, in a sentence."""
        if self.ranks_are_nodes:
            return "node" if len(self.ranks) <= len(self.nodes) else "process"
        return "rank"

    @property
    def speakers(self) -> str:
        """What several ranks stand for, in a sentence."""
        return "processes" if self.speaker == "process" else f"{self.speaker}s"

    def called(self, ranks: Collection[int], node: str) -> str:
        """Some ranks of a node in a sentence: "ranks 4-5 on node-02", or the node alone."""
        return node if self.ranks_are_nodes or node.startswith("rank ") else f"{called(ranks)} on {node}"

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

    def prefix_of(self, voice: int) -> bytes:
        """The labels that stand before every line of a voice."""
        file = int(self.file_of_voice[voice])
        return self.scans[file].prefixes[voice - int(self._voices[file])]

    # --- who said what how often ----------------------------------------------------------------------------------

    @cached_property
    def counts(self) -> EventCounts:
        """Who said what how often."""
        return said_by(self.scans, self._voices[:-1].tolist(), self.events, len(self.templates))

    @cached_property
    def heads(self) -> NDArray[np.int64]:
        """How often each event was said."""
        return np.bincount(self.counts.event, self.counts.heads, minlength=len(self.templates)).astype(np.int64)

    @cached_property
    def spoke(self) -> VoiceCounts:
        """Who spoke how much, from when to when."""
        spoke = spoken_by(self.scans)
        if self.settled is None:
            return spoke
        voice, carried = self.voice[self.settled.rows], self._carried[self.settled.rows]
        np.maximum.at(spoke.last, voice, self.settled.time)
        lowered = (carried == spoke.last[voice]) & (self.settled.time < carried)
        changed = np.unique(voice[(carried <= spoke.first[voice]) | lowered | (self.settled.time < spoke.first[voice])])
        spoke.first[changed], spoke.last[changed] = self._ends_of(changed)
        return spoke

    def _ends_of(self, voices: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First and last known time of each of these voices, in one pass over their files; NO_TIME where none is."""
        first, last = np.full(len(self.origins), np.iinfo(np.int64).max), np.full(len(self.origins), NO_TIME, np.int64)
        for rows in self.each_row_of(voices.tolist()):
            time, voice = self.time[rows], self.voice[rows]
            np.minimum.at(first, voice[time >= 0], time[time >= 0])
            np.maximum.at(last, voice[time >= 0], time[time >= 0])
        first[first == np.iinfo(np.int64).max] = NO_TIME
        return first[voices], last[voices]

    # --- rows -----------------------------------------------------------------------------------------------------

    def rows_of(self, events: Collection[int]) -> dict[int, NDArray[np.intp]]:
        """Head rows of each of these events that is said, in table order; what is not held costs a pass over files."""
        wanted = np.zeros(len(self.templates) + 1, np.bool_)
        wanted[list(events)] = True
        found, events_of_rows = [np.zeros(0, np.intp)], [np.zeros(0, np.uint32)]
        if self.in_memory is not None:
            event = self.event_of[self.in_memory.message]
            mine = wanted[event]
            found, events_of_rows = [self.in_memory.rows[mine]], [event[mine]]
            wanted[self.in_memory.events] = False
        if wanted.any():
            for part, places in self.heads_of(wanted):
                found.append(places + part.start)
                events_of_rows.append(self.events[part.file][part.rows.message[places]])
        rows, event = np.concatenate(found), np.concatenate(events_of_rows)
        order = np.argsort(rows, kind="stable")
        return {number: rows[order[places]] for number, places in rows_by(event[order], np.arange(len(order)))}

    def all_rows_of(self, events: Collection[int]) -> NDArray[np.intp]:
        """Head rows of all of these events together, in table order."""
        return np.sort(np.concatenate([np.zeros(0, np.intp), *self.rows_of(events).values()]))

    def heads_of(self, wanted: NDArray[np.bool_]) -> Iterator[tuple[TablePart, NDArray[np.intp]]]:
        """Places of the head rows of events (a bool for each) in every part that has any."""
        found = ((part, self.heads_in(part, wanted)) for part in self.parts)
        return ((part, places) for part, places in found if len(places))

    def heads_in(self, part: TablePart, wanted: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Places of the head rows of events in a part."""
        of_message = wanted[self.events[part.file]]
        if not of_message.any():
            return np.zeros(0, np.intp)
        places = np.flatnonzero(of_message[part.rows.message[:]])
        heads: NDArray[np.intp] = places[part.rows.marks[places] & HEAD != 0]
        return heads

    def rows_of_voices(self, voices: Collection[int]) -> NDArray[np.intp]:
        """All rows of some voices, in table order."""
        return np.concatenate([np.zeros(0, np.intp), *self.each_row_of(voices)])

    def each_row_of(self, voices: Collection[int]) -> Iterator[NDArray[np.intp]]:
        """All rows of some voices, part after part."""
        wanted = np.zeros(len(self.origins) + 1, np.bool_)
        wanted[list(voices)] = True
        files = np.unique(self.file_of_voice[wanted[:-1]])
        for part in (self.parts[place] for place in np.flatnonzero(np.isin(self._file_of_part, files)).tolist()):
            mine = wanted[part.voice : part.voice + len(self.scans[part.file].prefixes)]
            yield part.start + (np.arange(len(part.rows)) if mine.all() else np.flatnonzero(mine[part.rows.prefix[:]]))

    def rows_of_file(self, file: int) -> range:
        """The rows of a file."""
        first, last = np.searchsorted(self._file_of_part, [file, file + 1])
        return range(int(self._starts[first]), int(self._starts[last]))

    def parts_of_file(self, file: int) -> tuple[TablePart, ...]:
        """The parts of a file."""
        first, last = np.searchsorted(self._file_of_part, [file, file + 1]).tolist()
        return self.parts[first:last]

    # --- columns --------------------------------------------------------------------------------------------------

    @cached_property
    def file(self) -> Column:
        """Place in ``files``."""
        return self.computed(np.uint32, self._file_of)

    def _file_of(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        return self._file_of_part[np.searchsorted(self._starts, rows, side="right") - 1]

    @cached_property
    def line(self) -> Column:
        """Physical line, from 1."""
        return self._column("line", np.uint32, lambda part, at: part.rows.line[at])

    @cached_property
    def offset(self) -> Column:
        """Byte in the unpacked file."""
        return self._column("offset", np.int64, lambda part, at: part.rows.offset[at])

    @cached_property
    def time(self) -> Column:
        """Microseconds since the epoch."""
        carried, settled = self._carried, self.settled
        return carried if settled is None else self.computed(np.int64, lambda rows: settled.put(rows, carried[rows]))

    @cached_property
    def _carried(self) -> Column:
        return self._column("time", np.int64, lambda part, at: part.rows.time[at])

    @cached_property
    def timed(self) -> Column:
        """Whether the clock reading is the row's own."""
        return self._marked(TIMED)

    @cached_property
    def head(self) -> Column:
        """Whether a message starts."""
        return self._marked(HEAD)

    @cached_property
    def key(self) -> Column:
        """Whether the row says what happened."""
        return self._marked(KEY)

    @cached_property
    def message(self) -> Column:
        """A number for its text."""
        return self._column("message", np.uint32, lambda part, at: self.texts[part.file][part.rows.message[at]])

    @cached_property
    def event(self) -> Column:
        """Place in ``templates``."""
        known = KnownValues(self.in_memory.rows, self.event_of[self.in_memory.message]) if self.in_memory else None
        return self._read(np.uint32, lambda part, at: self.events[part.file][part.rows.message[at]], known)

    @cached_property
    def voice(self) -> Column:
        """Place in ``origins``."""
        return self._column("voice", np.uint32, lambda part, at: part.rows.prefix[at] + part.voice)

    @cached_property
    def node(self) -> Column:
        """Place in ``nodes``."""
        return self.computed(np.int32, lambda rows: self.node_of_voice[self.voice[rows]])

    @cached_property
    def rank(self) -> Column:
        """Global rank."""
        return self.computed(np.int32, lambda rows: self.rank_of_voice[self.voice[rows]])

    def computed(self, kind: type[np.generic], of_rows: Callable[[NDArray[np.intp]], NDArray[Any]]) -> Column:
        """A column that a function gives for rows."""
        return Computed(self._starts, kind, of_rows)

    def _marked(self, mark: int) -> Column:
        known = KnownValues(self.in_memory.rows, self.in_memory.marks & mark != 0) if self.in_memory else None
        return self._read(np.bool_, lambda part, at: part.rows.marks[at] & mark != 0, known)

    def _column(self, name: str, kind: type[np.generic], read: "ReadRows") -> Column:
        return self._read(
            kind, read, KnownValues(self.in_memory.rows, getattr(self.in_memory, name)) if self.in_memory else None
        )

    def _read(self, kind: type[np.generic], read: "ReadRows", known: KnownValues | None) -> Column:
        return Column(self._starts, kind, lambda number, at: read(self.parts[number], at), known)

    @cached_property
    def events(self) -> tuple[NDArray[np.uint32], ...]:
        """Of each file the event of each of its messages."""
        return tuple(self.event_of[texts] for texts in self.texts)

    @cached_property
    def parts(self) -> tuple[TablePart, ...]:
        """Rows in a row, with their file."""
        starts, voices = iter(self._starts.tolist()), self._voices.tolist()
        return tuple(
            TablePart(file, next(starts), voices[file], rows)
            for file, scan in enumerate(self.scans)
            for rows in scan.parts
        )

    @cached_property
    def _file_of_part(self) -> NDArray[np.intp]:
        return np.repeat(np.arange(len(self.scans)), [len(scan.parts) for scan in self.scans])

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.cumsum([0, *(len(rows) for scan in self.scans for rows in scan.parts)])

    @cached_property
    def _voices(self) -> NDArray[np.int64]:
        """First voice of each file, and the number of all."""
        return np.cumsum([0, *(len(scan.prefixes) for scan in self.scans)])


ReadRows = Callable[[TablePart, Places], NDArray[Any]]


def rows_by(values: NDArray[Any] | Column, rows: NDArray[np.intp]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Rows grouped by their value in a column, in the order of the values; within a group in their own order."""
    if len(rows):
        picked = values[rows]
        order = np.argsort(picked, kind="stable")
        picked, ordered = picked[order], rows[order]
        bounds = [0, *(np.flatnonzero(picked[1:] != picked[:-1]) + 1).tolist(), len(picked)]
        firsts = picked[bounds[:-1]].tolist()
        yield from (
            (value, ordered[first:stop]) for value, first, stop in zip(firsts, bounds, bounds[1:], strict=False)
        )
