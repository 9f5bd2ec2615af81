"""Text of chosen rows: the columns say where a row stands, this reads it again."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from core.errors import UnreadableLog
from core.events.table import EventTable
from core.job import LogFile
from core.logs.label import as_people_write, what_was_said

MAX_TEXT = 4000  # bytes of a row that are shown or searched; real lines end at about 14,000 (docs/reference/logs.md)
_FIRST_BYTES, _BLOCK_BYTES = 1 << 14, 1 << 17  # where one row is asked for, it is in the first few
_FAR = 1 << 16  # bytes between two rows over which it is faster to seek than to read on


def read_rows(
    files: Mapping[str, LogFile], table: EventTable, rows: NDArray[np.intp] | Sequence[int]
) -> dict[int, str]:
    """What each of these rows says, decoded with replacement and cut at MAX_TEXT; each file is opened once.

    Without colours, and without the label of a wrapper. Rows of a file that can no longer be read are left out.
    """
    return dict(each_row(files, table, np.unique(np.asarray(rows, dtype=np.intp))))


def cite_rows(
    files: Mapping[str, LogFile], table: EventTable, rows: NDArray[np.intp] | Sequence[int]
) -> dict[int, str]:
    """As ``read_rows``, to be shown: who spoke stands before it, as people write it."""
    return dict(_each_row(files, table, np.unique(np.asarray(rows, dtype=np.intp)), as_people_write))


def each_row(files: Mapping[str, LogFile], table: EventTable, rows: NDArray[np.intp]) -> Iterator[tuple[int, str]]:
    """As ``read_rows``, one after the other; the rows are sorted and distinct."""
    return _each_row(files, table, rows, what_was_said)


_Tidy = Callable[[bytes], bytes]


def _each_row(
    files: Mapping[str, LogFile], table: EventTable, rows: NDArray[np.intp], tidy: _Tidy
) -> Iterator[tuple[int, str]]:
    for group in np.split(rows, np.flatnonzero(np.diff(table.file[rows])) + 1):
        if len(group):
            offsets = table.offset[group].tolist()
            yield from _read_file(files[table.files[table.file[group[0]]]], group.tolist(), offsets, tidy)


def _read_file(file: LogFile, rows: Sequence[int], offsets: Sequence[int], tidy: _Tidy) -> Iterator[tuple[int, str]]:
    try:
        with file.open() as stream:
            window = _Window(stream)
            for row, offset in zip(rows, offsets, strict=True):
                segment = window.segment(offset)
                if segment is None:
                    return
                yield row, tidy(segment).decode("utf-8", "replace")
    except UnreadableLog:
        return


class _Window:
    """The part of a stream that is held while it is read from its beginning to its end."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._seekable = stream, stream.seekable()
        self._start, self._data = 0, b""
        self._over = self._broken = False

    def segment(self, offset: int) -> bytes | None:
        """What stands there, up to its end or MAX_TEXT; None where the file can no longer be read."""
        if offset + MAX_TEXT > self._start + len(self._data) and not self._over:
            self._go_to(offset)
        at = offset - self._start
        if self._broken and at >= len(self._data):
            return None
        end = self._data.find(b"\n", at, at + MAX_TEXT)
        end = min(at + MAX_TEXT, len(self._data)) if end < 0 else end
        carriage_return = self._data.find(b"\r", at, end)
        return self._data[at : end if carriage_return < 0 else carriage_return]

    def _go_to(self, offset: int) -> None:
        """Hold what stands there, and drop what stands before."""
        ahead = offset - self._start - len(self._data)
        if ahead > _FAR and self._seekable:
            self._stream.seek(offset)
            self._start, self._data = offset, b""
        while not self._over and offset + MAX_TEXT > self._start + len(self._data):
            if offset > self._start:
                passed = min(offset - self._start, len(self._data))
                self._start, self._data = self._start + passed, self._data[passed:]
            self._data += self._pull()

    def _pull(self) -> bytes:
        try:
            block = self._stream.read(_BLOCK_BYTES if self._data or not self._seekable else _FIRST_BYTES)
        except UnreadableLog:
            block, self._broken = b"", True
        self._over = not block
        return block
