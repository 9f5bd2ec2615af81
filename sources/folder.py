"""Jobs in a local folder, and a job that a person names by its path."""

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import JobNotFound, SourceUnavailable, UnreadableLog
from core.job import Job, Manifest
from sources.job_ids import check_job_id, is_job_id, job_not_found
from sources.layout import assemble, log_file, read_manifest
from sources.limits import DEFAULT_LIMITS, Limits
from sources.walk import Walk, resolved, shown, stored_file


class JobsFolder:
    """A folder that holds a folder for each job."""

    def __init__(self, path: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> None:
        self._path = Path(path).expanduser()
        self._limits = limits

    def job_ids(self) -> tuple[str, ...]:
        """Names of all job folders, sorted; a link to another job of the folder is not counted again."""
        with _translated(self._path):
            root = resolved(self._path)
            homes = {path.name: resolved(path) for path in root.iterdir() if is_job_id(path.name)}
            return tuple(
                name
                for name, home in sorted(homes.items())
                if _is_folder_inside(home, root) and (home == root / name or home.parent != root)
            )

    def manifest(self, job_id: str) -> Manifest:
        """What the job's job.json says."""
        return read_manifest(job_id, Walk(self._home(job_id)).manifest(), self._limits)[0]

    def job(self, job_id: str) -> Job:
        """The job and its files."""
        return _job_in(self._home(job_id), job_id, place=str(self._path / job_id), limits=self._limits)

    def _home(self, job_id: str) -> Path:
        check_job_id(job_id)
        with _translated(self._path):
            root, home = resolved(self._path), resolved(self._path / job_id)
            found = _is_folder_inside(home, root)
        if not found:
            raise job_not_found(job_id, str(self._path), self.job_ids())
        return home


def job_at(path: str, *, limits: Limits = DEFAULT_LIMITS) -> Job:
    """Make a job of a folder, or of a single log file; the path comes from a command line, never from a chat."""
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
    return Job(Manifest(name), logs=(log_file(stored_file(name, home, status), limits),))


def _job_in(home: Path, job_id: str, *, place: str, limits: Limits) -> Job:
    walk = Walk(home)
    files = walk.files()
    return assemble(job_id, files, place=place, problems=walk.problems(), limits=limits)


def _is_folder_inside(home: Path, root: Path) -> bool:
    return home != root and home.is_relative_to(root) and home.is_dir()


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "Name the folder that holds the job folders with --jobs or FIRSTFAULT_JOBS."
        raise SourceUnavailable(f"The jobs folder {path} cannot be listed: {reason}.", hint) from error
