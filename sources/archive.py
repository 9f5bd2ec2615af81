"""A job in one file: a tar, packed or not, or a zip. Nothing of it is written into a folder.

What is not packed as a whole is read where it is. A packed tar can only be read from its beginning, so it is unpacked
once, into memory or into a file without a name.
"""

import os.path
import re
import tarfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from typing import BinaryIO

from core.job import Job
from sources.job_ids import is_job_id
from sources.layout import DUMPS, LOGS, MANIFEST, assemble, is_hidden
from sources.limits import Limits
from sources.members import LINK, ArchiveFile, Member, Members, Part, gather
from sources.region import Spool, part_of
from sources.tar import TarReader
from sources.unpack import open_log
from sources.zip import zip_members

_SUFFIX = re.compile(r"\.(?:tar(?:\.(?:gz|zst|xz))?|tgz|tzst|txz|zip)$", re.IGNORECASE)
_DEEPEST = 16  # folders above the one of a job; home, user, project and run are four
_REGULAR = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
_NO_FILES = (tarfile.DIRTYPE, b"D", b"V")  # the second as GNU tar writes it with -g, the third is a label
_WHY_NOT = {
    tarfile.LNKTYPE: LINK,
    tarfile.SYMTYPE: LINK,
    tarfile.GNUTYPE_SPARSE: "Sparse files in the archive were left out",
}
_SPECIAL = "Pipes, devices and the like in the archive were left out"


def is_called_archive(name: str) -> bool:
    """Whether a file has the name of a tar or a zip."""
    return _SUFFIX.search(name) is not None


def job_in_zip(archive: ArchiveFile, *, place: str, limits: Limits) -> Job:
    """Make a job of a zip.

    Raises:
        NoLogs: there are neither logs nor dumps in it.
        UnreadableLog: nothing of it can be read, or it is something else that is packed as a zip.
    """
    return _job_of(archive, gather(archive, zip_members(archive, limits), limits), place, limits)


def job_in_tar(archive: ArchiveFile, *, place: str, limits: Limits) -> Job:
    """Make a job of a tar, packed or not; errors as for a zip."""
    with open_log(archive.open, archive.name, limits) as stream:
        if stream.seekable():
            reader = TarReader(stream, archive.name, archive.size)
            members = gather(archive, _tar_members(reader, partial(_in_place, archive, reader)), limits)
        else:
            members, _ = _unpacked(archive, limits)
    return _job_of(archive, members, place, limits)


# --- from members to a job ------------------------------------------------------------------------------------------


def _job_of(archive: ArchiveFile, members: Members, place: str, limits: Limits) -> Job:
    problems = [*members.problems]
    if members.failure:
        if not members.files:
            raise members.failure
        problems.append(members.failure.message)
    folder, name = _job_folder([file.name for file in members.files if not is_hidden(file.name)])
    files = [replace(file, name=file.name.removeprefix(folder)) for file in members.files]
    job_id = name or _SUFFIX.sub("", archive.name) or archive.name
    return assemble(job_id, files, place=place, problems=problems, limits=limits)


def _job_folder(names: Collection[str]) -> tuple[str, str]:
    """The job folder in an archive, "" or with "/" at its end, and the job's id if that folder has it for its name.

    It is the first folder that has what a job folder has, going down while there is a single one; else the one at the
    top, as tar makes it; else the archive itself. A folder with a job.json is called as the job (docs: a job folder).
    """
    shared = os.path.commonprefix([name.split("/")[:-1] for name in names])[:_DEEPEST]  # noqa: RUF071 (of lists, by part)
    ways = ["".join(f"{part}/" for part in shared[:depth]) for depth in range(len(shared) + 1)]
    folder = next((way for way in ways if _is_job_folder(way, names)), ways[:2][-1])
    last = folder.rstrip("/").rpartition("/")[2]
    return folder, last if f"{folder}{MANIFEST}" in names and is_job_id(last) else ""


def _is_job_folder(way: str, names: Collection[str]) -> bool:
    return any(name == way + MANIFEST or name.startswith((way + LOGS, way + DUMPS)) for name in names)


# --- tars -----------------------------------------------------------------------------------------------------------


def _tar_members(reader: TarReader, part: Callable[[int], Part]) -> Iterator[Member]:
    """All of a tar but its folders."""
    for entry in reader.entries():
        if entry.type not in _NO_FILES:
            why_not = "" if entry.type in _REGULAR else _WHY_NOT.get(entry.type, _SPECIAL)
            yield Member(entry.name, entry.size, partial(part, entry.size), why_not)


def _in_place(archive: ArchiveFile, reader: TarReader, size: int) -> Part:
    return Part(partial(_open_in_place, archive, reader.position, size), reader.available(size))


def _open_in_place(archive: ArchiveFile, start: int, size: int) -> BinaryIO:
    return part_of(archive.open(), start, size)


@lru_cache(maxsize=1)  # unpacked anew in another process that reads a member of it, and when another archive was first
def _unpacked(archive: ArchiveFile, limits: Limits) -> tuple[Members, Spool]:
    """The members of a packed tar, and what it unpacks to."""
    spool = Spool(limits.archive_memory)
    with open_log(archive.open, archive.name, limits) as stream:
        reader = TarReader(stream, archive.name, archive.size)
        part = partial(_spooled, archive, limits, reader, spool)
        return gather(archive, _tar_members(reader, part), limits), spool


def _spooled(archive: ArchiveFile, limits: Limits, reader: TarReader, spool: Spool, size: int) -> Part:
    start = spool.size
    return Part(partial(_open_spooled, archive, limits, start, size), reader.copy(size, spool.write))


def _open_spooled(archive: ArchiveFile, limits: Limits, start: int, size: int) -> BinaryIO:
    return _unpacked(archive, limits)[1].part(start, size)
