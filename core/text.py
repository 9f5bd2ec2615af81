"""Raw text of chosen rows: the columns say where a row stands, this reads it again."""

from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from core.errors import UnreadableLog
from core.job import LogFile
from core.table import EventTable

MAX_TEXT = 4000  # bytes of a row that are shown or searched; real lines end at about 14,000 (docs/logs.md)
_SKIP_BYTES = 1 << 20


def read_rows(
    files: Mapping[str, LogFile], table: EventTable, rows: NDArray[np.intp] | Sequence[int]
) -> dict[int, str]:
    """Text of each of these rows, decoded with replacement and cut at MAX_TEXT; each file is opened once.

    Rows of a file that can no longer be read are left out.
    """
    wanted = np.unique(np.asarray(rows, dtype=np.intp))
    texts: dict[int, str] = {}
    bounds = np.flatnonzero(np.diff(table.file[wanted])) + 1
    for group in np.split(wanted, bounds):
        if len(group):
            texts.update(_read_file(files[table.files[table.file[group[0]]]], table, group))
    return texts


def _read_file(file: LogFile, table: EventTable, rows: NDArray[np.intp]) -> Iterator[tuple[int, str]]:
    try:
        with file.open() as stream:
            at = 0
            for row in rows.tolist():
                offset, length = int(table.offset[row]), min(int(table.length[row]), MAX_TEXT)
                _skip(stream, offset - at)
                data = _read_exactly(stream, length)
                at = offset + len(data)
                yield row, data.decode("utf-8", "replace")
    except UnreadableLog:
        return


def _skip(stream: BinaryIO, count: int) -> None:
    if count > _SKIP_BYTES and stream.seekable():
        stream.seek(count, 1)
        return
    while count > 0:
        chunk = stream.read(min(count, _SKIP_BYTES))
        if not chunk:
            return
        count -= len(chunk)


def _read_exactly(stream: BinaryIO, count: int) -> bytes:
    data = b""
    while len(data) < count and (chunk := stream.read(count - len(data))):
        data += chunk
    return data
