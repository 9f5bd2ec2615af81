"""What a scan is made of: blocks of bytes in, columns out. The reference engine and the kernel both keep to it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.logs.lines import Format


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


@dataclass(frozen=True, slots=True)
class Block:
    """Bytes of a file from ``offset`` on; ends after a newline or carriage return, except at the end of the file."""

    offset: int
    data: bytes


Engine = Callable[[Iterable[Block], Format], Columns]
