"""What a scan is made of: blocks of bytes in, columns out. The reference engine and the kernel both keep to it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.logs.lines import Format
from core.logs.narrow import Narrow, Put, narrow


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """One row a segment, in the order of the file.

    line: uint32, physical line from 1. offset: int64, of the segment in the unpacked file. length: uint32, bytes, at
    most MAX_SEGMENT.
    prefix, body: uint32, places in ``prefixes`` and ``bodies``. time: int64, microseconds, NO_TIME when the segment
    holds no clock reading. lines: physical lines seen. undecodable: segments that are not UTF-8.
    """

    line: NDArray[np.uint32]
    offset: NDArray[np.int64]
    length: NDArray[np.uint32]
    prefix: NDArray[np.uint32]
    body: NDArray[np.uint32]
    time: NDArray[np.int64]
    prefixes: tuple[bytes, ...]
    bodies: tuple[bytes, ...]
    lines: int
    undecodable: int

    def __len__(self) -> int:
        return len(self.line)

    def wide(self) -> "Columns":
        """Already arrays in memory: these columns themselves."""
        return self


@dataclass(frozen=True, slots=True, eq=False)
class NarrowChunk:
    """A chunk that waits for the rest of its file, in few bytes."""

    line: Narrow
    offset: Narrow
    prefix: Narrow
    body: Narrow
    time: Narrow
    prefixes: tuple[bytes, ...]
    bodies: tuple[bytes, ...]
    lines: int
    undecodable: int

    def __len__(self) -> int:
        return len(self.line)

    def wide(self) -> Columns:
        """The columns as arrays in memory."""
        return Columns(
            line=self.line[:].astype(np.uint32),
            offset=self.offset[:],
            length=np.zeros(len(self), np.uint32),  # nobody asks for it: a segment ends where the text says so
            prefix=self.prefix[:].astype(np.uint32),
            body=self.body[:].astype(np.uint32),
            time=self.time[:],
            prefixes=self.prefixes,
            bodies=self.bodies,
            lines=self.lines,
            undecodable=self.undecodable,
        )


def narrow_chunk(columns: Columns, put: Put) -> NarrowChunk:
    """The chunk in few bytes."""
    return NarrowChunk(
        line=narrow(columns.line, put, slope=1),
        offset=narrow(columns.offset, put),
        prefix=narrow(columns.prefix, put),
        body=narrow(columns.body, put),
        time=narrow(columns.time, put),
        prefixes=columns.prefixes,
        bodies=columns.bodies,
        lines=columns.lines,
        undecodable=columns.undecodable,
    )


Chunk = Columns | NarrowChunk  # a part of a file, of whole physical lines; ``line`` counts from 1 in it


@dataclass(frozen=True, slots=True)
class Block:
    """Bytes of a file from ``offset`` on; ends after a newline or carriage return, except at the end of the file.

    data: its first ``size`` bytes count, and anything may stand behind them; where SPARE bytes do, the first of them is
    a newline behind a text without an end.
    """

    offset: int
    data: bytes | bytearray
    size: int

    @property
    def text(self) -> bytes:
        """A copy of the bytes that count."""
        return bytes(memoryview(self.data)[: self.size])

    @property
    def ends_line(self) -> bool:
        """Whether a newline is the last byte."""
        return self.data[self.size - 1 : self.size] == b"\n"


SPARE = 64  # bytes behind a text that compiled code may look at; its farthest look ends 56 behind the start of a UUID
CHUNK_ROWS = 1 << 16  # an engine takes no further block after so many rows: memory is bounded by lines, however short

# Blocks of whole lines and how to read them; what it leaves of the blocks is the next chunk.
Engine = Callable[[Iterable[Block], Format], Columns]
