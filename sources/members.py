"""The files in an archive: what they are called, which of them are left out, and how many there may be."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from core.errors import UnreadableLog
from sources.layout import DUMPS, FLOWS, StoredFile, binary_suffix, is_hidden
from sources.left_out import LeftOut
from sources.limits import Limits
from sources.walk import open_regular, shown

LINK = "Links in the archive were not followed"
_OUTSIDE = "Names that lead out of the archive were left out"
_NO_NAME = "Names that no file can have were left out"
_MOST_NAME = 4096  # bytes of a path (Linux)
_MOST_SHOWN = 120  # characters of a name in a sentence; chosen, not measured


@dataclass(frozen=True, slots=True)
class ArchiveFile:
    """An archive on this machine: its name for messages, its stored bytes, a stamp that changes with its content."""

    path: Path
    name: str
    size: int
    stamp: str

    def open(self) -> BinaryIO:
        """Open a new seekable stream of the stored bytes."""
        return open_regular(self.path)


@dataclass(frozen=True, slots=True)
class Part:
    """The content of a member: a function that opens it, as StoredFile has it, and how many bytes are there."""

    open: Callable[[], BinaryIO]
    size: int


@dataclass(frozen=True, slots=True)
class Member:
    """What an archive says of one of its files.

    name: as it stands there.
    size: unpacked bytes.
    part: gives the content; called once, and before the next member is asked for.
    why_not: the beginning of the sentence that says why it is left out.
    """

    name: str
    size: int
    part: Callable[[], Part]
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Members:
    """The files of an archive that may be logs, by their names in it; what was left out; why there may be more."""

    files: tuple[StoredFile, ...]
    problems: tuple[str, ...]
    failure: UnreadableLog | None


def gather(archive: ArchiveFile, members: Iterable[Member], limits: Limits) -> Members:
    """Take in the members of an archive, up to the limits or to where it cannot be read any further.

    Names are shown and compared, and nothing is ever opened by one. Of two that are alike the later one counts, as when
    an archive that was appended to is unpacked.
    """
    files: dict[str, StoredFile] = {}
    left_out, failure = LeftOut(), None
    try:
        for name, part in _admitted(archive, members, limits, left_out):
            files[name] = StoredFile(name, part.size, archive.stamp, part.open)
    except UnreadableLog as error:
        failure = error
    return Members(tuple(files.values()), tuple(left_out.problems()), failure)


def _admitted(
    archive: ArchiveFile, members: Iterable[Member], limits: Limits, left_out: LeftOut
) -> Iterator[tuple[str, Part]]:
    """Names and contents of what may be read; of what is no log by its name, the name alone."""
    room = max(limits.archive_bytes, archive.size)  # what is not packed is read where it is, however large
    for number, member in enumerate(members):
        if number == limits.archive_members:
            raise _too_much(archive, f"has more than {number:,} members")
        name = "/".join(part for part in shown(member.name).split("/") if part not in ("", "."))
        if why_not := member.why_not or _why_not(member.name):
            left_out.add(why_not, shown(member.name)[:_MOST_SHOWN])
        elif is_hidden(name) or _is_no_log(name):
            yield name, Part(_not_kept, 0)
        elif member.size > room:
            raise _too_much(archive, f"unpacks to more than {limits.archive_bytes:,} bytes")
        else:
            part = member.part()
            room -= part.size
            yield name, part


def _why_not(name: str) -> str:
    if len(name) > _MOST_NAME or not name.strip("/."):
        return _NO_NAME
    return _OUTSIDE if name.startswith("/") or ".." in name.split("/") else ""


def _is_no_log(name: str) -> bool:
    """Whether it need not be unpacked: dumps and flows may be of any kind, but no checkpoint is a log."""
    return bool(binary_suffix(name)) and not any(f"/{kept}" in f"/{name}" for kept in (DUMPS, FLOWS))


def _not_kept() -> BinaryIO:
    raise OSError("it is no log, and was not unpacked")


def _too_much(archive: ArchiveFile, what: str) -> UnreadableLog:
    return UnreadableLog(
        f"{archive.name} {what}: the rest was left out.", "Unpack what is needed of it by hand, and name the folder."
    )
