"""The members of a zip, each unpacked where it is read; the list of them at the archive's end is what counts."""

import io
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import BinaryIO, cast

from core.errors import UnreadableLog
from sources.content import NAME_LOGS, NoLog
from sources.limits import Limits
from sources.members import LINK, ArchiveFile, Member, Part
from sources.unpack import PartStream

MAGIC = (b"PK\x03\x04", b"PK\x05\x06")  # of one with files in it, and of an empty one
_READ_BYTES = 1 << 16  # the last so many bytes of a corrupt member may be lost
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what zip writes without being told otherwise
_ENCRYPTED_BIT = 1  # of the flags of a member (APPNOTE.TXT of PKWARE, 4.4.4)
# What a damaged archive makes of the library, beside its own error.
_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, NotImplementedError, RuntimeError)

_ENCRYPTED = "Encrypted files in the archive were left out"
_METHOD = "Packed in a way that is not read, and left out"
_BOMB = "Packed suspiciously well, and left out"

# Other things that are zips, by names that must all be there.
_KINDS = (
    ("is a PyTorch checkpoint, not a log", (r"[^/]+/data\.pkl", r"[^/]+/version")),
    ("is a Python package (wheel), not a log", (r"[^/]+\.dist-info/WHEEL",)),
    ("is a Java archive, not a log", (r"META-INF/MANIFEST\.MF",)),
    ("is an office document, not a log", (r"\[Content_Types\]\.xml",)),
)


def zip_members(archive: ArchiveFile, limits: Limits) -> Iterator[Member]:
    """All files of a zip, in the order of its list.

    Raises:
        UnreadableLog: it has no list, because it was cut off or damaged; or it is something else, such as a checkpoint.
    """
    infos = _infos(archive)
    names = [info.filename for info in infos]
    for says, needed in _KINDS:
        if all(any(re.fullmatch(pattern, name) for name in names) for pattern in needed):
            raise NoLog(says, NAME_LOGS).error(archive.name)
    for number, info in enumerate(infos):
        if not info.filename.endswith("/"):
            part = partial(Part, partial(_open_member, archive, number), info.file_size)
            yield Member(info.filename, info.file_size, part, _why_not(info, limits))


def _why_not(info: zipfile.ZipInfo, limits: Limits) -> str:
    """Why a member is left out, if it is."""
    mode = info.external_attr >> 16  # as Unix has it; 0 when another system wrote the archive
    if stat.S_ISLNK(mode):
        return LINK
    if info.flag_bits & _ENCRYPTED_BIT:
        return _ENCRYPTED
    if info.compress_type not in _METHODS:
        return _METHOD
    return _BOMB if info.file_size > max(limits.unpacked_bytes, limits.ratio * info.compress_size) else ""


def _infos(archive: ArchiveFile) -> list[zipfile.ZipInfo]:
    try:
        return _opened(archive).infolist()
    except (OSError, *_ERRORS) as error:
        raise UnreadableLog(
            f"{archive.name} has no list of its files at its end: it is cut off or damaged ({error}).",
            "Copy it again from where it was written, or repair it: zip -FF makes a new list of what is there.",
        ) from error


@lru_cache(maxsize=1)
def _opened(archive: ArchiveFile) -> zipfile.ZipFile:
    """The archive, which many threads may read at a time; its list is read once."""
    return zipfile.ZipFile(archive.path)


def _open_member(archive: ArchiveFile, number: int) -> BinaryIO:
    with _as_os_error():
        opened = _opened(archive)
        member = opened.open(opened.infolist()[number])
    return cast("BinaryIO", _ZipStream(cast("zipfile.ZipExtFile", member)))


class _ZipStream(PartStream):
    """The bytes of a member, from which nothing but OSError comes, and only after what stands before the damage.

    It can go back to its beginning, but to go anywhere means to unpack all that stands before.
    """

    def __init__(self, member: zipfile.ZipExtFile) -> None:
        self._member = member

    def _next_part(self, wanted: int) -> bytes:
        with _as_os_error():
            return self._member.read(min(_READ_BYTES, wanted))

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        with _as_os_error():
            return self._member.seek(offset, whence)

    def close(self) -> None:
        self._member.close()
        super().close()


@contextmanager
def _as_os_error() -> Iterator[None]:
    try:
        yield
    except _ERRORS as error:
        raise OSError(str(error) or type(error).__name__) from error
