"""All files of a local job folder: each once, whatever the links say, and nothing opened that is not a regular file."""

import errno
import heapq
import io
import os
import stat
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from sources.layout import DUMPS, FLOWS, LOGS, MANIFEST, METRICS, StoredFile, is_log_beside
from sources.left_out import LeftOut

# What is left out, and the sentence that says so.
_OUTSIDE = "Links that lead out of the job folder were not followed"
_LOOP = "Links that lead back to themselves were not followed"
_BROKEN = "Links that lead nowhere were left out"
_SPECIAL = "Pipes, sockets and devices were not opened"
_DENIED = "Not readable, and left out"


class Walk:
    """One walk through a job folder. Real files come first; a link adds only what was not found without it."""

    def __init__(self, home: Path) -> None:
        self._home = home  # resolved: no link on the way
        self._files: list[StoredFile] = []
        self._seen: set[Path] = set()
        self._links: list[tuple[str, Path]] = []
        self._left_out = LeftOut()

    def manifest(self) -> StoredFile | None:
        """The job.json of the folder, when it has one."""
        self._visit(MANIFEST)
        return self._files[0] if self._files else None

    def files(self) -> list[StoredFile]:
        """The manifest and all logs, dumps, metrics and flows; without a logs folder, all that is there."""
        self.manifest()
        self._visit(*(folder.rstrip("/") for folder in (LOGS, DUMPS, METRICS, FLOWS)))
        if any(file.name.startswith(LOGS) for file in self._files):
            self._visit(*self._logs_beside())
        else:
            self._visit("")
        return self._files

    def problems(self) -> list[str]:
        """What was left out, a sentence for each reason."""
        return self._left_out.problems()

    def _logs_beside(self) -> list[str]:
        """Names of what is called like a log and stands beside the logs folder."""
        try:
            names = [child.name for child in self._home.iterdir()]
        except OSError:
            return []  # a folder may be entered without leave to list it
        return sorted(name for name in names if is_log_beside(name) or is_log_beside(f"{name}/"))

    def _visit(self, *names: str) -> None:
        """Add all that is below these names; then what only their links lead to."""
        for name in names:
            self._add_tree(name, self._home / name)
        while self._links:
            self._follow(*heapq.heappop(self._links))

    def _add_tree(self, name: str, path: Path) -> None:
        # a stack of our own: folders may be nested deeper than Python's calls
        waiting = [(name, path)]
        while waiting:
            name, path = waiting.pop()
            if path in self._seen:
                continue
            try:
                waiting += self._add(name, path)
            except FileNotFoundError:
                continue  # job.json and all folders but logs/ may be missing, and files vanish while a job runs
            except OSError:
                self._left_out.add(_DENIED, name or ".")

    def _add(self, name: str, path: Path) -> list[tuple[str, Path]]:
        """Add one file, or return what is in the folder."""
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            heapq.heappush(self._links, (name, path))
            return []
        self._seen.add(path)
        if stat.S_ISDIR(status.st_mode):
            below = f"{name}/" if name else ""
            return [(below + shown(child.name), child) for child in path.iterdir()]
        if stat.S_ISREG(status.st_mode):
            self._files.append(stored_file(name, path, status))
        else:
            self._left_out.add(_SPECIAL, name)
        return []

    def _follow(self, name: str, path: Path) -> None:
        self._seen.add(path)
        try:
            target = resolved(path, strict=True)
        except OSError as error:
            self._left_out.add(_LOOP if error.errno == errno.ELOOP else _BROKEN, name)
            return
        if not target.is_relative_to(self._home):
            self._left_out.add(_OUTSIDE, name)
        elif path.is_relative_to(target):
            self._left_out.add(_LOOP, name)
        else:
            self._add_tree(name, target)


def stored_file(name: str, path: Path, status: os.stat_result) -> StoredFile:
    """Describe a regular file that is called so below its job folder."""
    return StoredFile(name, status.st_size, f"{status.st_size}-{status.st_mtime_ns}", partial(open_regular, path))


def resolved(path: Path, *, strict: bool = False) -> Path:
    """Follow all links; a loop of links is an OSError, and only if strict (Path.resolve differs between Pythons)."""
    return Path(os.path.realpath(path, strict=strict))


def shown(name: str) -> str:
    """Make a file name printable: names are bytes, and not all are UTF-8."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def open_regular(path: Path) -> BinaryIO:
    """Open a file that was regular when it was listed, without waiting should it have become a pipe meanwhile."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file")
    return cast("BinaryIO", io.FileIO(descriptor, "rb"))
