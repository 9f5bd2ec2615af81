"""The fast engine: the same columns as ``scan_blocks`` of core.logs.scan, compiled by numba, without the GIL.

    machine       loads, looks at 32 bytes, a wide multiply: what numba lacks
    letters       character classes
    clocks        dates and times, and what they mean
    slots         numbers that keep their value
    masks         the masked body and the first time of a text
    labels        the prefix
    table         distinct strings and their numbers
    segments      the loop over a block
    forms         lines of known forms without their wrappers

``core.logs.lines`` is the specification, and ``core.logs.wraps.line_forms`` of the last one; tests/core/test_kernel.py
and tests/core/wraps/test_forms.py hold them together.
"""

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from core.logs import lines
from core.logs.columns import CHUNK_ROWS, SPARE, Block, Columns
from core.logs.kernel import forms, segments
from core.logs.kernel.labels import Labels
from core.logs.kernel.machine import entry
from core.logs.kernel.segments import RowBuffers, ScanBuffers, ScanState, Text
from core.logs.kernel.table import Table
from core.logs.lines import MAX_BODY, MAX_SEGMENT, Format
from core.logs.wraps import line_forms as line_forms

_FIRST_ROWS = CHUNK_ROWS + CHUNK_ROWS // 4  # doubled whenever they are full

_Kernel = Callable[[Text, ScanBuffers, ScanState], ScanState]
Unwrap = Callable[[int, int, forms.FormArrays, int, int, int], tuple[int, int, int]]
_Bytes = NDArray[np.uint8]

_KINDS: dict[str, type[np.uint32] | type[np.int64]] = {
    "line": np.uint32,
    "offset": np.int64,
    "length": np.uint32,
    "prefix": np.uint32,
    "body": np.uint32,
    "time": np.int64,
}


def scan_blocks_fast(file_blocks: Iterable[Block], file_format: Format) -> Columns:
    """Scan the blocks of a file as ``core.logs.scan.scan_blocks`` does."""
    ledger = _Ledger(_kernel(), file_format)
    for block in file_blocks:
        for data, size, offset in _pieces(block):
            ledger.read(data, size, offset)
        if ledger.rows >= CHUNK_ROWS and block.ends_line:
            break
    return ledger.columns()


def _pieces(block: Block) -> Iterator[tuple[_Bytes, int, int]]:
    """The bytes of a block as they are; without bytes to spare behind them, the last lines as a copy that has them."""
    data, size = block.data, block.size
    if len(data) >= size + SPARE:
        yield np.frombuffer(data, np.uint8), size, block.offset
        return
    limit = max(0, size - SPARE)
    cut = data.rfind(b"\n", 0, limit) + 1 or data.rfind(b"\r", 0, limit) + 1
    if cut:
        yield np.frombuffer(data, np.uint8), cut, block.offset
    if cut < size:
        yield np.frombuffer(data[cut:size] + b"\n" * SPARE, np.uint8), size - cut, block.offset + cut


class _Ledger:
    """What is written down of one file, and the space to write more."""

    def __init__(self, kernel: _Kernel, file_format: Format) -> None:
        self._kernel = kernel
        self._format = file_format
        self._hosts = Table(file_format.hosts)
        self._prefixes, self._bodies = Table(), Table()
        self._columns: dict[str, NDArray[Any]] = {name: np.empty(_FIRST_ROWS, kind) for name, kind in _KINDS.items()}
        self._scratch = np.empty(MAX_SEGMENT + SPARE, np.uint8)
        self._out = np.empty(3 * MAX_SEGMENT + SPARE, np.uint8)  # the worst is "1x1x": <NUM>x<NUM>x
        self._state = ScanState()
        self._buffers = self._lay_out()

    @property
    def rows(self) -> int:
        """The number of rows so far."""
        return self._state.rows

    def read(self, data: _Bytes, size: int, offset: int) -> None:
        """Take in a text that ends with a segment."""
        text = Text(data.ctypes.data, size, offset)
        self._state = self._state._replace(at=0)
        while self._state.at < size:
            self._state = self._kernel(text, self._buffers, self._state)
            if self._state.at < size:
                self._make_room()

    def columns(self) -> Columns:
        """The columns of all rows that were read."""
        rows = {name: column[: self._state.rows] for name, column in self._columns.items()}
        return Columns(
            **rows,
            prefixes=self._prefixes.strings(),
            bodies=self._bodies.strings(),
            lines=self._state.line - 1 + self._state.begun,
            undecodable=self._state.undecodable,
        )

    def _make_room(self) -> None:
        if self._state.rows == len(self._columns["line"]):
            for name in self._columns:  # one after the other: the old ones go at once
                self._columns[name] = _twice(self._columns[name])
        self._prefixes.make_room(MAX_SEGMENT)
        self._bodies.make_room(MAX_BODY)
        self._buffers = self._lay_out()

    def _lay_out(self) -> ScanBuffers:
        return ScanBuffers(
            year=self._format.year,
            labels=Labels(self._format.task_labels, self._hosts.view(), self._format.labelled),
            prefixes=self._prefixes.view(),
            bodies=self._bodies.view(),
            rows=RowBuffers(len(self._columns["line"]), *(column.ctypes.data for column in self._columns.values())),
            scratch=self._scratch.ctypes.data,
            out=self._out.ctypes.data,
        )


def _twice(column: NDArray[Any]) -> NDArray[Any]:
    larger = np.empty(2 * len(column), column.dtype)
    larger[: len(column)] = column
    return larger


# --- compiling ----------------------------------------------------------------------------------------------------

_LOCK = threading.Lock()


def _kernel() -> _Kernel:
    """The compiled loop: from numba's cache when it is there, else compiled, which takes seconds."""
    with _LOCK:  # not by every thread that scans a first file
        return _compile()


def unwrap_kernel() -> Unwrap:
    """The compiled loop over wrapped lines of known forms; see ``core.logs.kernel.forms.unwrap``."""
    with _LOCK:
        return _compile_unwrap()


@cache
def _compile() -> _Kernel:
    kernel: _Kernel = _entry(segments.scan, _sources())
    _keep(kernel, lambda: _Ledger(kernel, Format()).read(np.frombuffer(b"\n" * SPARE, np.uint8), 1, 0))
    return kernel


@cache
def _compile_unwrap() -> Unwrap:
    kernel: Unwrap = _entry(forms.unwrap, _sources())
    _keep(kernel, lambda: kernel(0, 0, forms.Compiled(()).program, 0, 0, 0))
    return kernel


def _keep(kernel: object, call: Callable[[], object]) -> None:
    """Call it for the first time, which compiles it, or loads what numba has cached, if it can cache."""
    with suppress(RuntimeError):  # numba finds no folder that it may write to
        kernel.enable_caching()  # type: ignore[attr-defined]  # of numba's dispatcher
    with suppress(OSError):  # no space in that folder; what was compiled is there all the same
        call()


def _entry(loop: Callable[..., Any], sources: str) -> Any:
    """The loop under a name of its own for numba's cache, whose file is named after the function.

    Numba compares with what it cached only the file that the function stands in, and only after it has unpickled the
    types of its arguments. So the digest of all files that the code comes from is in the name: neither does old code
    outlive a change, nor does an upgrade meet classes in the cache that are gone. A copy of the function and no second
    one that calls it: numba compiles each by itself, with all that is put into it.
    """
    function = cast(FunctionType, loop)
    copy = FunctionType(function.__code__, function.__globals__)
    copy.__qualname__ = f"{function.__name__}_{sources}"
    return entry(copy)


def _sources() -> str:
    files = [Path(lines.__file__), Path(line_forms.__file__), *sorted(Path(__file__).parent.glob("*.py"))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:32]  # it is part of a file's name
