"""What stands in a tar, header by header, from a stream that need not be seekable (pax, GNU and old tars).

The standard library's TarFile takes a damaged header for the end of the archive, keeps every header, lets one be as
large as it says, and follows links. So the way through is ours; what a header means is for its TarInfo to tell.
"""

import os
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from core.errors import UnreadableLog

_BLOCK = 512  # bytes: all parts of a tar begin at a multiple of it (POSIX, ustar)
_COPY_BYTES = 1 << 20  # chosen, not measured: a usual size of a piece
# A path has at most 4,096 bytes and an attribute of a file 65,536 (Linux): no honest header comes near.
_MOST_HEADER_BYTES = 1 << 20
_PAX = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
_FOR_OTHERS = (tarfile.XGLTYPE, tarfile.GNUTYPE_LONGLINK)  # what they say of all files, or of a link, is not needed
_WITHOUT_DATA = (tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE)
_SPARSE_GOES_ON = 482, 504  # offsets of the byte that says so, in the header and in what follows it


@dataclass(frozen=True, slots=True)
class Entry:
    """One file, folder or link of a tar.

    name: as it stands there; what is no UTF-8 in it as surrogates.
    type: one of tarfile's; GNUTYPE_SPARSE for sparse files of every kind.
    size: bytes of its data in the archive.
    """

    name: str
    type: bytes
    size: int


def is_tar(head: bytes) -> bool:
    """Whether a file that begins so is a tar; with a damaged first header, if it has the mark of POSIX."""
    try:
        _header(head[:_BLOCK])
    except tarfile.HeaderError:
        return head[257:262] == b"ustar"
    return True


class TarReader:
    """Goes through a tar once. ``position``: offset in the unpacked archive of what comes next."""

    def __init__(self, stream: BinaryIO, name: str, size: int) -> None:
        """Begin at the beginning.

        Args:
            stream: the unpacked archive; only UnreadableLog comes from it.
            name: what it is called, for messages.
            size: its stored bytes, which is where a seekable stream ends.
        """
        self._stream = stream
        self._name = name
        self._size = size
        self.position = 0

    def entries(self) -> Iterator[Entry]:
        """All entries in their order; whatever was not taken of the data of one is skipped.

        Raises:
            UnreadableLog: the archive ends early, or is damaged from here on.
        """
        records: dict[str, str] = {}  # of the next entry, by the headers before its own
        while (header := self._next_header()) is not None:
            if header.type == tarfile.GNUTYPE_LONGNAME:
                records["path"] = _text(self._content(header).rstrip(b"\0"))
            elif header.type in _PAX:
                records |= self._records(header)
            elif header.type in _FOR_OTHERS:
                self._content(header)
            else:
                entry, records = _entry(header, records), {}
                end = self.position + _padded(entry.size)
                yield entry
                self._skip(end - self.position)

    def copy(self, size: int, write: Callable[[bytes], None]) -> int:
        """Write the data of an entry somewhere; how many bytes of it are there."""
        left = size
        try:
            while left and (part := self._stream.read(min(_COPY_BYTES, left))):
                write(part)
                left -= len(part)
        except UnreadableLog:
            pass  # the stream says so again when it is asked for the next header
        self.position += size - left
        return size - left

    def available(self, size: int) -> int:
        """How many bytes of the data of an entry are there, in a seekable stream."""
        return max(0, min(size, self._size - self.position))

    def _next_header(self) -> tarfile.TarInfo | None:
        """The header that comes next; None at the mark of the end, which is a block of NULs."""
        block = self._read(_BLOCK)
        if not block.strip(b"\0"):
            return None
        try:
            header = _header(block)
        except tarfile.HeaderError as error:
            raise self._damaged() from error
        if header.size < 0:
            raise self._damaged()
        goes_on, byte = header.type == tarfile.GNUTYPE_SPARSE and block[_SPARSE_GOES_ON[0]], _SPARSE_GOES_ON[1]
        while goes_on:
            goes_on = self._read(_BLOCK)[byte]
        return header

    def _content(self, header: tarfile.TarInfo) -> bytes:
        if header.size > _MOST_HEADER_BYTES:
            raise self._damaged()
        return self._read(_padded(header.size))[: header.size]

    def _records(self, header: tarfile.TarInfo) -> dict[str, str]:
        """What a pax header says: lines such as "30 path=a/very/long/name.log", each with its own length before it."""
        content, at, records = self._content(header), 0, dict[str, str]()
        while content[at : at + 1].strip(b"\0"):
            length = content[at : at + 20].partition(b" ")[0]
            if not length.isdigit() or not len(length) < int(length) <= len(content) - at:
                raise self._damaged()
            key, _, value = content[at + len(length) + 1 : at + int(length) - 1].partition(b"=")
            records[_text(key)] = _text(value)
            at += int(length)
        return records

    def _skip(self, size: int) -> None:
        if not self._stream.seekable():
            while size:
                size -= len(self._read(min(_COPY_BYTES, size)))
        elif self._size - self.position < size:
            raise self._cut()
        else:
            self._stream.seek(size, os.SEEK_CUR)
            self.position += size

    def _read(self, size: int) -> bytes:
        """Exactly so many bytes of a stream."""
        data = b""
        while len(data) < size:
            part = self._stream.read(size - len(data))
            if not part:
                raise self._cut()
            data += part
        self.position += size
        return data

    def _cut(self) -> UnreadableLog:
        return UnreadableLog(
            f"{self._name} ends without the mark of its end: its last files are cut off or missing.",
            "It was still being written, or its copy was cut short; what is there was read.",
        )

    def _damaged(self) -> UnreadableLog:
        return UnreadableLog(
            f"{self._name} is damaged after {self.position:,} bytes of its files: what follows was not read.",
            "Copy it again from where it was written; what stood before was read.",
        )


def _header(block: bytes) -> tarfile.TarInfo:
    header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    if block[257:265] == tarfile.GNU_MAGIC:
        # GNU tar -g writes times where POSIX has the beginning of the name, and TarInfo takes them for that
        header.name = _text(block[:100].partition(b"\0")[0])
    return header


def _entry(header: tarfile.TarInfo, records: dict[str, str]) -> Entry:
    """The entry of a header with what the headers before it said."""
    name = records.get("GNU.sparse.name", records.get("path", header.name))
    size = int(records["size"]) if records.get("size", "").isdecimal() else header.size
    sparse = any(key.startswith("GNU.sparse.") for key in records)
    return Entry(name, tarfile.GNUTYPE_SPARSE if sparse else header.type, 0 if header.type in _WITHOUT_DATA else size)


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")
