"""Stored bytes in, log bytes out: gzip, zstd, xz and UTF-16 as streams that never hold more than a few blocks.

What a broken archive still gives is given first; only the read after it raises ``UnreadableLog``.
"""

import codecs
import io
import lzma
import os
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

import zstandard
from isal import igzip_lib

from core.errors import UnreadableLog
from sources.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_HEAD_BYTES = 1 << 9  # by which a packing is known: chosen, not measured; each of them tells in its first six
# Members of a packed file, each of which costs some 40 microseconds, empty or not: a million of them, 20 MB, took 38 s.
# bgzip packs 64 kB a member, loggers that flush at times a few hundred bytes.
_MEMBERS, _MEMBER_BYTES = 10_000, 512
_PACKED_READ_BYTES = 1 << 18
_XZ_MEMORY_BYTES = 1 << 28  # `xz -9` needs 65 MB to unpack; a forged header may ask for 4 GB
# decompressobj() answers with all that its input unpacks to: at most 32 MB for this much, as a zstd block of 4 bytes
# can stand for 128 KiB. The bounded stream_reader() is no faster and takes a truncated file for a complete one.
_ZSTD_STEP_BYTES = 1 << 10


def open_log(open_packed: Callable[[], BinaryIO], name: str, limits: Limits = DEFAULT_LIMITS) -> BinaryIO:
    """Open a stream of the unpacked bytes; the content decides how it is packed, the name only breaks a tie.

    A read returns as many bytes as it was asked for, fewer only before the end or before an ``UnreadableLog``.

    Args:
        open_packed: opens a seekable stream of the stored bytes; of it and its stream only OSError is expected.
        name: the file's name below its job folder, for messages.
        limits: what counts as suspiciously compressed.
    """
    packed = None
    try:
        packed = open_packed()
        head = packed.read(_HEAD_BYTES)
        packed.seek(0)
    except OSError as error:
        if packed is not None:
            packed.close()
        raise unreadable(name, error) from error
    if packing := _packing_of(head, name):
        return cast("BinaryIO", _PackedStream(packed, name, packing, limits))
    return cast("BinaryIO", (_Utf16Stream if _is_utf_16(head) else _PlainStream)(packed, name))


def unreadable(name: str, error: OSError) -> UnreadableLog:
    """Tell in our words why the system does not let us read a file."""
    if isinstance(error, PermissionError):
        return UnreadableLog(f"{name} may not be read.", "Let the user that runs Firstfault read the job folder.")
    if isinstance(error, FileNotFoundError):
        return UnreadableLog(f"{name} is no longer there.", "Was the job folder moved or cleaned up meanwhile?")
    reason = error.strerror or str(error) or type(error).__name__
    return UnreadableLog(
        f"{name} cannot be read: {reason}.", "Try to copy the file: the disk or the network may be ill."
    )


class _Decoder(Protocol):
    """What lzma, isal and our zstd share; one decodes one member, stream or frame."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _ZstdDecoder:
    """A zstd frame, unpacked in bounded pieces. Windows over 128 MiB are refused by the library's default."""

    def __init__(self) -> None:
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._packed = b""
        self._ready = memoryview(b"")

    @property
    def eof(self) -> bool:
        return self._frame.eof and not self._ready

    @property
    def needs_input(self) -> bool:
        return not self._ready and not self._packed

    @property
    def unused_data(self) -> bytes:
        return self._frame.unused_data + self._packed

    def decompress(self, data: bytes, max_length: int) -> bytes:
        packed, at = self._packed + data, 0
        while not self._ready and not self._frame.eof and at < len(packed):
            step = packed[at : at + _ZSTD_STEP_BYTES]
            at += len(step)
            self._ready = memoryview(self._frame.decompress(step))
        self._packed = packed[at:]
        part, self._ready = self._ready[:max_length], self._ready[max_length:]
        return bytes(part)


def _gzip_decoder() -> _Decoder:
    return cast("_Decoder", igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP))


def _xz_decoder() -> _Decoder:
    return lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_BYTES)


@dataclass(frozen=True, slots=True)
class _Packing:
    """A way to pack: how it is called, how its files begin and end in name, and what unpacks it."""

    name: str
    magic: bytes
    suffix: str
    decoder: Callable[[], _Decoder]


_PACKINGS = (
    _Packing("gzip", b"\x1f\x8b\x08", ".gz", _gzip_decoder),
    _Packing("zstd", b"\x28\xb5\x2f\xfd", ".zst", _ZstdDecoder),
    # pzstd begins with a frame to be skipped; its first byte counts from 0x50 to 0x5f, pzstd writes 0x50
    _Packing("zstd", b"\x50\x2a\x4d\x18", ".zst", _ZstdDecoder),
    _Packing("xz", b"\xfd7zXZ\x00", ".xz", _xz_decoder),
)
_DECODER_ERRORS = (cast("type[Exception]", igzip_lib.error), zstandard.ZstdError, lzma.LZMAError)


def is_packed(head: bytes) -> bool:
    """Whether a file with these first bytes is packed."""
    return any(head.startswith(packing.magic) for packing in _PACKINGS)


def _packing_of(head: bytes, name: str) -> _Packing | None:
    for packing in _PACKINGS:
        if head.startswith(packing.magic):
            return packing
        # cut off within its first bytes: no text, though nothing but the name tells
        if head and packing.magic.startswith(head) and name.endswith(packing.suffix):
            return packing
    return None


def _is_utf_16(head: bytes) -> bool:
    """Whether it has the mark of UTF-16, and lines like those of a log: mostly Latin letters, digits and blanks.

    Bytes that are no text may begin with the same two.
    """
    if not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    high = head[3::2] if head.startswith(codecs.BOM_UTF16_LE) else head[2::2]
    return high.count(0) * 2 > len(high)


class _PlainStream(io.RawIOBase):
    """Bytes as they are stored; only the errors are put into our words."""

    def __init__(self, packed: BinaryIO, name: str) -> None:
        self._packed = packed
        self._name = name

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._packed.seekable()

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        try:
            return cast("io.RawIOBase", self._packed).readinto(buffer) or 0
        except OSError as error:
            raise unreadable(self._name, error) from error

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        return self._packed.seek(offset, whence)

    def tell(self) -> int:
        return self._packed.tell()

    def close(self) -> None:
        self._packed.close()
        super().close()


class _Utf16Stream(io.RawIOBase):
    """The UTF-8 of a file of UTF-16, as a shell of Windows redirects into; half a letter at its end is replaced."""

    def __init__(self, stored: BinaryIO, name: str) -> None:
        self._stored = stored
        self._name = name
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
        self._ready = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer).cast("B")
        while len(self._ready) < len(view) and not self._ended:
            self._ready += self._next_part()
        filled = min(len(view), len(self._ready))
        view[:filled], self._ready = self._ready[:filled], self._ready[filled:]
        return filled

    def close(self) -> None:
        self._stored.close()
        super().close()

    def _next_part(self) -> bytes:
        try:
            stored = self._stored.read(_PACKED_READ_BYTES)
        except OSError as error:
            raise unreadable(self._name, error) from error
        self._ended = not stored
        return self._decoder.decode(stored, final=self._ended).encode("utf-8", "replace")


class PartStream(io.RawIOBase):
    """Bytes that come in parts. What is wrong is raised by the read after the one that got what stands before it."""

    _failure: UnreadableLog | OSError | None = None

    def readable(self) -> bool:
        """Whether it can be read: yes."""
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Fill the buffer as far as there are parts; how many bytes it holds then."""
        if self._failure:
            raise self._failure
        view, filled = memoryview(buffer).cast("B"), 0
        try:
            while filled < len(view) and (part := self._next_part(len(view) - filled)):
                view[filled : filled + len(part)] = part
                filled += len(part)
        except (UnreadableLog, OSError) as failure:
            self._failure = failure
            if not filled:
                raise
        return filled

    @abstractmethod
    def _next_part(self, wanted: int) -> bytes:
        """Return the next bytes, at most as many as wanted; none only at the end."""


class _PackedStream(PartStream):
    """Unpacked bytes of one or more members in a row, until the end or the first thing that is wrong."""

    def __init__(self, packed: BinaryIO, name: str, packing: _Packing, limits: Limits) -> None:
        self._packed = packed
        self._name = name
        self._packing = packing
        self._limits = limits
        self._decoder = packing.decoder()
        self._packed_bytes = 0
        self._unpacked_bytes = 0
        self._members = 1

    def close(self) -> None:
        self._packed.close()
        super().close()

    def _next_part(self, wanted: int) -> bytes:
        """Return the next unpacked bytes, at most as many as wanted; none only at the end."""
        self._check_ratio()
        try:
            while True:
                data = self._feed()
                if data is None:
                    return b""
                if part := self._decoder.decompress(data, wanted):
                    self._unpacked_bytes += len(part)
                    return part
        except OSError as error:
            raise unreadable(self._name, error) from error
        except _DECODER_ERRORS as error:
            what = f"{self._name} is corrupt after {self._unpacked_bytes:,} unpacked bytes ({self._packing.name})."
            raise UnreadableLog(what, "Copy it again from where it was written; what stood before was read.") from error

    def _feed(self) -> bytes | None:
        """What the decoder gets next: nothing while it still has some, None when the file is over."""
        if self._decoder.eof:
            return self._begin_next_member(self._decoder.unused_data)
        if not self._decoder.needs_input:
            return b""
        if data := self._read_packed():
            return data
        what = f"{self._name} ends in the middle of its {self._packing.name} data, "
        what += f"after {self._unpacked_bytes:,} unpacked bytes."
        raise UnreadableLog(what, "It was still being written, or its copy was cut short; what is there was read.")

    def _begin_next_member(self, rest: bytes) -> bytes | None:
        # gzip and xz files may be padded with zeros, tapes and block devices do it
        while not (rest := rest.lstrip(b"\0")):
            if not (rest := self._read_packed()):
                return None
        self._members += 1
        if self._members > _MEMBERS + self._packed_bytes // _MEMBER_BYTES:
            what = f"{self._name} has more than {self._members - 1:,} {self._packing.name} members, nearly all of them"
            what += f" empty or tiny: stopped after {self._unpacked_bytes:,} unpacked bytes."
            raise UnreadableLog(what, "Pack it again as one: gunzip and gzip; what stood before was read.")
        self._decoder = self._packing.decoder()
        return rest

    def _read_packed(self) -> bytes:
        data = self._packed.read(_PACKED_READ_BYTES)
        self._packed_bytes += len(data)
        return data

    def _check_ratio(self) -> None:
        allowed = max(self._limits.unpacked_bytes, self._limits.ratio * self._packed_bytes)
        if self._unpacked_bytes <= allowed:
            return
        what = f"{self._name} unpacks to more than {self._limits.ratio} times its size: stopped after "
        what += f"{self._unpacked_bytes:,} bytes out of {self._packed_bytes:,}."
        raise UnreadableLog(what, "No log packs so well; if it is one, unpack it by hand.")
