"""Jobs in a local folder, and a job that a person names by its path."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from core.errors import JobNotFound, SourceUnavailable, UnreadableLog
from core.job import Job, Manifest
from sources.archive import is_called_archive, job_in_tar, job_in_zip
from sources.content import head_of, no_log
from sources.job_ids import check_job_id, is_job_id, job_not_found
from sources.layout import StoredFile, assemble, log_file, read_manifest
from sources.limits import DEFAULT_LIMITS, Limits
from sources.members import ArchiveFile
from sources.tar import is_tar
from sources.walk import Walk, resolved, shown, stored_file
from sources.zip import MAGIC as ZIP_MAGIC


class JobsFolder:
    """A folder that holds a folder for each job."""

    def __init__(self, path: str | Path, *, links: Sequence[Path] = (), limits: Limits = DEFAULT_LIMITS) -> None:
        """Open it.

        Args:
            links: folders elsewhere that a job of the folder may be a link into; a link into any other place is no job.
            limits: how much a job may ask of us.
        """
        self._path = Path(path).expanduser()
        self._links = links
        self._limits = limits

    def job_ids(self) -> tuple[str, ...]:
        """Names of all job folders, sorted; a link to a job that is there without it is not counted again."""
        with _translated(self._path):
            root = resolved(self._path)
            homes = {path.name: resolved(path) for path in root.iterdir() if is_job_id(path.name)}
            listed: dict[Path, str] = {}
            for name, home in sorted(homes.items()):
                if (home == root / name or home.parent != root) and self._is_job(home, root):
                    listed.setdefault(home, name)
            return tuple(sorted(listed.values()))

    def manifest(self, job_id: str) -> Manifest:
        """What the job's job.json says."""
        own_id, home = self._find(job_id)
        return read_manifest(own_id, Walk(home).manifest(), self._limits)[0]

    def job(self, job_id: str) -> Job:
        """The job and its files."""
        own_id, home = self._find(job_id)
        return _job_in(home, own_id, place=str(self._path / job_id), limits=self._limits)

    def _find(self, job_id: str) -> tuple[str, Path]:
        """The job's own id and its folder. `last -> 1437825` is job 1437825: tomorrow that link may name another."""
        check_job_id(job_id)
        with _translated(self._path):
            root, home = resolved(self._path), resolved(self._path / job_id)
            if self._is_job(home, root):
                return (home.name if home.parent == root and is_job_id(home.name) else job_id), home
        if not (home.is_relative_to(root) or root.is_relative_to(home)) and _is_folder(home):
            raise _not_followed(job_id, self._path)
        raise job_not_found(job_id, str(self._path), self.job_ids())

    def _is_job(self, home: Path, root: Path) -> bool:
        """Whether a folder without links on its way is below the jobs folder, or where links may lead."""
        if root.is_relative_to(home):
            return False
        allowed = home.is_relative_to(root) or any(home.is_relative_to(resolved(folder)) for folder in self._links)
        return allowed and _is_folder(home)


def job_at(path: str, *, limits: Limits = DEFAULT_LIMITS) -> Job:
    """Make a job of a folder, an archive or a single log file; the path is from a command line, never from a chat.

    Raises:
        JobNotFound: there is no such path.
        NoLogs: the folder or archive has no logs.
        UnreadableLog: the file is something else, or nothing of the archive can be read.
    """
    try:
        home = resolved(Path(path).expanduser())
        status = home.stat()
    except (OSError, ValueError, RuntimeError) as error:  # a NUL in the path, no home folder
        raise JobNotFound(f"There is no job folder and no log file {path}.", "Is the path right?") from error
    name = shown(home.name) or "job"
    if stat.S_ISDIR(status.st_mode):
        return _job_in(home, name, place=path, limits=limits)
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableLog(f"{path} is no regular file.", "Logs are read more than once: save the stream to a file.")
    return _job_of_file(stored_file(name, home, status), home, place=path, limits=limits)


def _job_of_file(file: StoredFile, home: Path, *, place: str, limits: Limits) -> Job:
    """Make a job of a tar or a zip, or of one log file; what it holds counts, and not what it is called."""
    archive = ArchiveFile(home, file.name, file.size, file.stamp)
    head, failure = head_of(file, limits)
    if head.startswith(ZIP_MAGIC):
        return job_in_zip(archive, place=place, limits=limits)
    if is_tar(head):
        return job_in_tar(archive, place=place, limits=limits)
    found = no_log(head, file.name)
    if is_called_archive(file.name) and (found or failure or not head):
        raise failure or UnreadableLog(
            f"{file.name} is no archive, or its beginning is damaged.", "Copy it again from where it was written."
        )
    if found:
        raise found.error(file.name)
    return Job(Manifest(file.name), logs=(log_file(file, limits),))


def _job_in(home: Path, job_id: str, *, place: str, limits: Limits) -> Job:
    walk = Walk(home)
    files = walk.files()
    return assemble(job_id, files, place=place, problems=walk.problems(), limits=limits)


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 (Path.is_dir raises where a folder on the way may not be entered)


def _not_followed(job_id: str, jobs: Path) -> JobNotFound:
    """Tell that a link was not followed; where it leads to is nobody's business who may only name jobs."""
    return JobNotFound(
        f"There is no job {job_id} below {jobs}: it is a link that leads out of that folder, and was not followed.",
        "Whoever runs Firstfault can allow it: FIRSTFAULT_FOLLOW_LINKS names the folders that links may lead into.",
    )


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "Name the folder that holds the job folders with --jobs or FIRSTFAULT_JOBS."
        raise SourceUnavailable(f"The jobs folder {path} cannot be listed: {reason}.", hint) from error
