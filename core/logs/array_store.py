"""Where arrays lie that may not fit into memory: in memory up to a budget, beyond it in one file without a name.

A file without a name is gone when its last user is, even when the process was killed; nobody has to clean up.
"""

import contextlib
import mmap
import os
import tempfile
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import FirstfaultError

_ALIGNED = 8  # bytes: no array starts between two of its values
_NEAR = 1 << 18  # bytes: to read so many costs less than the faults of a page here and there
_FEW = 1 << 8  # values that are taken without a word; after more of them what was mapped is given back


class NoSpace(FirstfaultError):
    """The folder for what does not fit into memory is full, or may not be written to."""


class Heap:
    """Takes arrays and hands them out again; threads may share it."""

    def __init__(self, memory: int | None = None, folder: Path | None = None) -> None:
        """Make an empty heap.

        Args:
            memory: bytes that stay in memory, None for all of them.
            folder: where the file lies; None: where temporary files lie here.
        """
        self._left = memory
        self._folder = folder
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        self._end = 0
        self._map: mmap.mmap | None = None
        self._taken = 0

    @classmethod
    def of_file(cls, descriptor: int) -> "Heap":
        """The heap of an open file that another one has written; it closes it."""
        heap = cls(0)
        heap._hold(descriptor)
        return heap

    def put(self, array: NDArray[Any]) -> "Cells":
        """Keep an array."""
        with self._lock:
            if self._left is None:
                return array
            if self._left and array.nbytes <= self._left:
                self._left -= array.nbytes
                return array
            start = self._end
            self._end += -(-array.nbytes // _ALIGNED) * _ALIGNED
            descriptor = self.descriptor()
        self._write(descriptor, np.ascontiguousarray(array).data.cast("B"), start)
        return Stored(self, start, array.dtype, len(array))

    def read(self, start: int, kind: np.dtype[Any], count: int) -> NDArray[Any]:
        """Values that stand in the file, as a copy."""
        values = np.empty(count, kind)
        view, done = values.view(np.uint8).data, 0
        while done < values.nbytes:
            got = os.preadv(self.descriptor(), [view[done:]], start + done)
            if not got:
                raise NoSpace("The file for what does not fit into memory was cut short.", "Is its disk ill?")
            done += got
        return values

    def take(self, start: int, kind: np.dtype[Any], count: int, places: NDArray[Any]) -> NDArray[Any]:
        """Single values of an array in the file."""
        first, last = (int(places.min()), int(places.max())) if len(places) else (0, -1)
        if (last + 1 - first) * kind.itemsize <= _NEAR:
            near: NDArray[Any] = self.read(start + first * kind.itemsize, kind, last + 1 - first)[places - first]
            return near
        with self._lock:
            if self._map is None or len(self._map) < start + count * kind.itemsize:
                self._map = mmap.mmap(self.descriptor(), 0, prot=mmap.PROT_READ)
            mapped = self._map
            values: NDArray[Any] = np.frombuffer(mapped, kind, count, start)[places]
            self._taken += len(places)
            if self._taken > _FEW and hasattr(mmap, "MADV_DONTNEED"):
                self._taken = 0
                mapped.madvise(mmap.MADV_DONTNEED)
        return values

    def seal(self, index: bytes) -> int:
        """Write something behind all arrays; the descriptor of the file, which stays the heap's."""
        self._write(self.descriptor(), memoryview(index), self._end)
        self._end += len(index)
        return self.descriptor()

    @contextlib.contextmanager
    def scratch(self) -> Iterator["Heap"]:
        """Give another heap beside this one, for a while."""
        heap = Heap(None if self._left is None else 0, self._folder)
        try:
            yield heap
        finally:
            heap.close()

    def close(self) -> None:
        """Drop the file; its arrays cannot be read any more."""
        self._map = None
        if self._descriptor is not None:
            self._close()

    def descriptor(self) -> int:
        """The file, made when it is first asked for."""
        if self._descriptor is None:
            try:
                self._hold(_nameless(self._folder))
            except OSError as error:
                raise _no_space(self._folder, error) from error
        return self._descriptor or 0

    def _hold(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._close = weakref.finalize(self, os.close, descriptor)

    def _write(self, descriptor: int, data: memoryview, at: int) -> None:
        try:
            while data:
                written = os.pwrite(descriptor, data, at)
                data, at = data[written:], at + written
        except OSError as error:
            raise _no_space(self._folder, error) from error


class Stored:
    """An array in the file of a heap."""

    def __init__(self, heap: Heap, start: int, kind: np.dtype[Any], count: int) -> None:
        self._heap, self.start, self.kind, self._count = heap, start, kind, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, key: slice | NDArray[Any], /) -> NDArray[Any]:
        if isinstance(key, slice):
            start, stop, _ = key.indices(self._count)
            return self._heap.read(start * self.kind.itemsize + self.start, self.kind, max(0, stop - start))
        return self._heap.take(self.start, self.kind, self._count, key)

    def __reduce__(self) -> tuple[Any, ...]:
        return np.asarray, (self[:],)  # to another machine it goes as what it holds


def _nameless(folder: Path | None) -> int:
    """A file that can be given a name later, where the system knows such files."""
    with contextlib.suppress(AttributeError, OSError):
        return os.open(folder or tempfile.gettempdir(), os.O_RDWR | os.O_TMPFILE | os.O_CLOEXEC, 0o600)
    with tempfile.TemporaryFile(dir=folder) as file:
        return os.dup(file.fileno())


# An array of one dimension, wherever it lies: what a slice or an array of places picks is an array in memory.
Cells = NDArray[Any] | Stored


def _no_space(folder: Path | None, error: OSError) -> NoSpace:
    where = folder or tempfile.gettempdir()
    reason = (error.strerror or str(error)).lower()
    return NoSpace(
        f"What does not fit into memory cannot be written to {where}: {reason}.",
        "Logs need a tenth of their size there. Name a larger folder with TMPDIR, or give more memory with --memory.",
    )
