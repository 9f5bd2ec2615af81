"""A log file that was read: its rows in few bytes, and who said what how often, so that few ask for the rows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.logs.bare_clocks import Days
from core.logs.blocks.python_traceback import MOST_OPEN
from core.logs.columns import Chunk
from core.logs.fold import UNSHARED, Limits, fold_file, is_folded
from core.logs.label import read_label
from core.logs.lines import LABEL_MARK, NO_TIME
from core.logs.messages import Grouping, Messages, find_messages
from core.logs.narrow import Narrow, Put, narrow
from core.logs.scan import FileScan

HEAD, KEY, TIMED = 1, 2, 4  # bits of a row's marks
_SECOND = 1_000_000  # microseconds
_REMEMBERED = 8  # chunks of a file whose columns are at hand, a megabyte each: thousands of voices go over all of them
COLUMNS = ("line", "offset", "time", "prefix", "message", "marks")


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of a file in a row.

    line: physical line from 1. offset: in the unpacked file. time: microseconds, carried on from the rows above where a
    row has no clock (NO_TIME where a file has none). prefix, message: places among those of the file. marks: HEAD where
    a message starts, KEY on rows that say what happened, TIMED where the clock reading is the row's own.
    """

    line: Narrow
    offset: Narrow
    time: Narrow
    prefix: Narrow
    message: Narrow
    marks: Narrow

    def __len__(self) -> int:
        return len(self.line)


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """How often each prefix of a file starts each message, and how many rows each prefix has, from when to when.

    prefix, message: uint32, sorted, with heads: int64. rows, first, last: int64 a prefix; times in microseconds of the
    rows with a time of at least 0, NO_TIME where there is none.
    """

    prefix: NDArray[np.uint32]
    message: NDArray[np.uint32]
    heads: NDArray[np.int64]
    rows: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class FileRows:
    """A file that was read.

    size: unpacked bytes. lines: physical ones. undecodable: segments that are not UTF-8. problem: what kept the rest of
    it from being read. texts: of its messages. capped: sentences on what was told less exactly, there being too much.
    """

    name: str
    size: int
    lines: int
    undecodable: int
    problem: str | None
    prefixes: tuple[bytes, ...]
    texts: tuple[str, ...]
    parts: tuple[Rows, ...]
    tally: Tally
    capped: tuple[str, ...] = ()

    @property
    def broken(self) -> int:
        """Rows whose wrapper was not whole."""
        broken = [read_label(prefix)[0].broken for prefix in self.prefixes]
        return int(self.tally.rows[np.array(broken, np.bool_)].sum())

    def moved(self, put: Put) -> "FileRows":
        """The same file with its rows somewhere else."""
        return replace(self, parts=tuple(_moved(part, put) for part in self.parts))


def join(scans: Sequence[FileScan], put: Put, most: Limits = UNSHARED, start: int = NO_TIME) -> FileRows:
    """The rows of a file from the scans of its spans, in order; what follows a problem is left out.

    Args:
        put: where the columns go.
        most: distinct messages, of which those that are alike are folded, and voices, of which later ones are nobody's.
        start: of the job, in microseconds, which tells the day of clocks without one.
    """
    broken = next((number for number, scan in enumerate(scans) if scan.problem), len(scans) - 1)
    read = scans[: broken + 1]
    chunks = [chunk for scan in read for chunk in scan.chunks]
    file = _Numbers(chunks, most.voices)
    whole = find_messages([len(chunk) for chunk in chunks], file.body_and_prefix, file.bodies)
    found = fold_file(whole, most.file)
    is_less = found is not whole or is_folded(map(_as_text, file.bodies))
    counts = _Counts(len(file.prefixes), len(found.texts))
    parts, row, line = [], 0, 0
    clock = _Clock(chunks, Days((chunk.time[:] for chunk in chunks), start), coarse=file.is_labelled)
    for number, chunk in enumerate(chunks):
        columns = chunk.wide()
        body, prefix = file.body_and_prefix(number)
        messages = file.without_the_rest(found.messages(body, row), body, prefix)
        own, time = clock.carry(columns.time)
        counts.add(prefix, messages, time)
        marks = messages.head * np.uint8(HEAD) | messages.key * np.uint8(KEY) | (own != NO_TIME) * np.uint8(TIMED)
        parts.append(
            Rows(
                line=narrow(columns.line, put, slope=1).raised(line),
                offset=narrow(columns.offset, put),
                time=narrow(time, put),
                prefix=narrow(prefix, put),
                message=narrow(messages.message, put),
                marks=narrow(marks, put),
            )
        )
        row, line = row + len(columns), line + chunk.lines
    return FileRows(
        name=scans[0].name,
        size=sum(scan.bytes for scan in read),
        lines=line,
        undecodable=sum(chunk.undecodable for chunk in chunks),
        problem=read[-1].problem,
        prefixes=file.prefixes,
        texts=found.texts,
        parts=tuple(parts),
        tally=counts.tally(),
        capped=tuple(_capped(read, file, most, found, is_folded=is_less)),
    )


def _as_text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def _capped(
    scans: Sequence[FileScan], file: "_Numbers", most: Limits, found: Grouping, *, is_folded: bool
) -> Iterator[str]:
    name = scans[0].name
    yield from (f"{name} holds {scan.capped}" for scan in scans if scan.capped)
    if is_folded:
        yield (
            f"{name} holds more than {min(most.chunk, most.file):,} different messages:"
            " those that are alike were taken for one."
        )
    if found.skipped:
        yield (
            f"{name} has too many lines that may begin a traceback or a dump:"
            f" {found.skipped:,} of them were read as lines of their own."
        )
    if found.unended:
        yield (
            f"{name} has more than {MOST_OPEN:,} tracebacks that began before one of them ended:"
            " which exception ended which of them was not looked for."
        )
    if file.voices > most.voices:
        yield (
            f"{name} has more than {most.voices:,} speakers before its lines:"
            f" what the {file.voices - most.voices:,} later ones say was taken as nobody's."
        )


def carry_time(time: NDArray[np.int64], before: int = NO_TIME) -> NDArray[np.int64]:
    """Give rows without a clock the reading above them, and those at the start the one before them all.

    Args:
        before: the reading above the first row; NO_TIME: the first one below.
    """
    known = time != NO_TIME
    if known.all():
        return time
    if not known.any():
        return np.full(len(time), before, np.int64)
    last = np.maximum.accumulate(np.where(known, np.arange(len(time)), -1))
    first = before if before != NO_TIME else time[known.argmax()]
    return np.where(last < 0, first, time[np.maximum(last, 0)])


def refine_seconds(time: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where a time is a whole second, the latest time of the rows right above it in the same second."""
    second = time // _SECOND
    runs = np.cumsum(np.diff(second, prepend=second[:1]) != 0) * _SECOND
    latest = np.maximum.accumulate(time - second * _SECOND + runs) - runs + second * _SECOND
    return np.where((time == second * _SECOND) & (time >= 0), latest, time)


class _Numbers:
    """One numbering of prefixes and bodies for all chunks of a file, in the order in which they come."""

    def __init__(self, chunks: Sequence[Chunk], most: int) -> None:
        """most: voices; later ones have no prefix."""
        self._chunks = chunks
        self._alone = len(chunks) == 1
        self.prefixes, self._prefix_of = _numbered(chunk.prefixes for chunk in chunks)
        self.voices = len(self.prefixes)
        if self.voices > most:
            self._alone = False
            known = set(self.prefixes[:most])
            prefixes = [tuple(prefix if prefix in known else b"" for prefix in chunk.prefixes) for chunk in chunks]
            self.prefixes, self._prefix_of = _numbered(prefixes)
        self.bodies, self._body_of = _numbered(chunk.bodies for chunk in chunks)
        self._read: dict[int, tuple[NDArray[np.uint32], NDArray[np.uint32]]] = {}

    @property
    def is_labelled(self) -> bool:
        """Whether a wrapper was taken off the file."""
        return any(prefix.startswith(LABEL_MARK) for prefix in self.prefixes)

    def without_the_rest(self, messages: Messages, body: NDArray[np.uint32], prefix: NDArray[np.uint32]) -> Messages:
        """Without the lines of a document that stand between its records: they are nobody's messages."""
        if not self.is_labelled or b"" not in self.bodies or b"" not in self.prefixes:
            return messages
        rest = (body == self.bodies.index(b"")) & (prefix == self.prefixes.index(b""))
        return replace(messages, head=messages.head & ~rest)

    def body_and_prefix(self, number: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Bodies and prefixes of the rows of a chunk; the last ones are remembered."""
        if number not in self._read:
            if len(self._read) == _REMEMBERED:
                del self._read[next(iter(self._read))]
            chunk = self._chunks[number]
            body, prefix = chunk.body[:].astype(np.uint32, copy=False), chunk.prefix[:].astype(np.uint32, copy=False)
            if not self._alone:
                body, prefix = self._body_of[number][body], self._prefix_of[number][prefix]
            self._read[number] = body, prefix
        return self._read[number]


def _numbered(lists: Iterable[tuple[bytes, ...]]) -> tuple[tuple[bytes, ...], list[NDArray[np.uint32]]]:
    places: dict[bytes, int] = {}
    numbers = [np.array([places.setdefault(text, len(places)) for text in texts], np.uint32) for texts in lists]
    return tuple(places), numbers


class _Clock:
    """Carries times on over the chunks of a file.

    coarse: a wrapper may count whole seconds (logcli, journalctl -o short), while the line above tells more.
    """

    def __init__(self, chunks: Sequence[Chunk], days: Days, *, coarse: bool) -> None:
        self._before, self._days, self._coarse = NO_TIME, days, coarse
        if len(chunks) > 1:
            dated = (days.first_of(chunk.time[:]) for chunk in chunks)
            self._before = next((time for time in dated if time != NO_TIME), NO_TIME)

    def carry(self, time: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Times of the rows' own clocks, and those with the ones above where there is none."""
        own = self._days.dated(time)
        carried = carry_time(own, self._before)
        carried = refine_seconds(carried) if self._coarse else carried
        if len(carried):
            self._before = int(carried[-1])
        return own, carried


class _Counts:
    """The tally of a file, added up chunk by chunk."""

    def __init__(self, prefixes: int, texts: int) -> None:
        self._texts = max(1, texts)
        self._pairs: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._rows = np.zeros(prefixes, np.int64)
        self._first = np.full(prefixes, np.iinfo(np.int64).max)
        self._last = np.full(prefixes, NO_TIME, np.int64)

    def add(self, prefix: NDArray[np.uint32], messages: Messages, time: NDArray[np.int64]) -> None:
        alone = len(self._rows) == 1
        pairs = messages.message[messages.head].astype(np.int64)
        if not alone:
            pairs += prefix[messages.head] * np.int64(self._texts)
        self._pairs.append(_counted(pairs, self._texts * len(self._rows)))
        self._rows += np.bincount(prefix, minlength=len(self._rows)) if not alone else len(prefix)
        timed = time >= 0
        if alone and timed.any():
            self._first[0] = min(self._first[0], time[timed].min())
            self._last[0] = max(self._last[0], time[timed].max())
        elif timed.any():
            np.minimum.at(self._first, prefix[timed], time[timed])
            np.maximum.at(self._last, prefix[timed], time[timed])

    def tally(self) -> Tally:
        pairs, counts = (np.concatenate([np.zeros(0, np.int64), *column]) for column in zip(*self._pairs, strict=True))
        distinct, place = np.unique(pairs, return_inverse=True)
        heads = np.bincount(place, counts, minlength=len(distinct)).astype(np.int64)
        return Tally(
            prefix=(distinct // self._texts).astype(np.uint32),
            message=(distinct % self._texts).astype(np.uint32),
            heads=heads,
            rows=self._rows,
            first=np.where(self._last >= 0, self._first, NO_TIME),
            last=self._last,
        )


def _counted(values: NDArray[np.int64], most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct values and how often each comes; all are below ``most``."""
    if most > 16 * len(values) + 1024:  # measured: to sort so many costs what so many counters do
        distinct, counts = np.unique(values, return_counts=True)
        return distinct, counts.astype(np.int64)
    counts = np.bincount(values, minlength=1)
    distinct = np.flatnonzero(counts)
    return distinct, counts[distinct].astype(np.int64)


def _moved(part: Rows, put: Put) -> Rows:
    columns = {name: getattr(part, name) for name in COLUMNS}
    return Rows(
        **{
            name: column if column.above is None else replace(column, above=put(column.above[:]))
            for name, column in columns.items()
        }
    )
