"""Parts of a file as files of their own, and the file without a name that holds what a packed tar unpacks to."""

import errno
import io
import os
import tempfile
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, cast

from core.logs.array_store import NoSpace

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class Spool:
    """Bytes that are written once and then read anywhere: in memory, or when they are many in a file without a name.

    Such a file is gone when its last user is, even when the process was killed; nobody has to clean up.
    """

    def __init__(self, in_memory: int) -> None:
        """Make an empty one; the file is made when it holds more than so many bytes."""
        self._file = tempfile.SpooledTemporaryFile(in_memory, prefix="firstfault-")  # noqa: SIM115 (the last user closes)
        self._lock = threading.Lock()
        self.size = 0
        weakref.finalize(self, self._file.close)

    def write(self, data: bytes) -> None:
        """Add bytes at the end.

        Raises:
            NoSpace: there is no room for them.
        """
        try:
            self._file.write(data)
        except OSError as error:
            raise _no_space(error) from error
        self.size += len(data)

    def part(self, start: int, size: int) -> BinaryIO:
        """Open so many bytes from a place on; threads may share them."""
        return cast("BinaryIO", _Region(self._read_at, start, size))

    def _read_at(self, position: int, buffer: memoryview) -> int:
        with self._lock:
            self._file.seek(position)
            return self._file.readinto(buffer)


def part_of(file: BinaryIO, start: int, size: int) -> BinaryIO:
    """So many bytes of an open file from a place on, as a file of their own; closed, it closes the other."""

    def read_at(position: int, buffer: memoryview) -> int:
        file.seek(position)
        return cast("io.RawIOBase", file).readinto(buffer) or 0

    return cast("BinaryIO", _Region(read_at, start, size, file.close))


class _Region(io.RawIOBase):
    """A part of something that can be read anywhere."""

    def __init__(
        self, read_at: Callable[[int, memoryview], int], start: int, size: int, close: Callable[[], None] = lambda: None
    ) -> None:
        self._read_at = read_at
        self._start = start
        self._size = size
        self._at = 0
        self._close = close

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer).cast("B")[: max(0, self._size - self._at)]
        got = self._read_at(self._start + self._at, view) if view else 0
        if view and not got:
            raise OSError(errno.EIO, "the archive ends in the middle of it")
        self._at += got
        return got

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        self._close()
        super().close()


def _no_space(error: OSError) -> NoSpace:
    reason = (error.strerror or str(error)).lower()
    return NoSpace(
        f"The unpacked archive cannot be written to {tempfile.gettempdir()}: {reason}.",
        "Name a larger folder with TMPDIR, or unpack the archive by hand and name the folder.",
    )
