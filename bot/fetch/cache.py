"""A folder that keeps what was computed: the real ``core.cache.ByteCache``; every trouble with it only costs time."""

import hashlib
import os
import re
import tempfile
from pathlib import Path

MAX_BYTES = 4 << 30  # a profile of a job has some hundred kB, the rows of a job a tenth of its logs
_MOST_OF_ALL = 0.5  # share of the folder that one file may take
_COPY_BYTES = 1 << 20  # chosen, not measured: a usual size of a piece
_KEY = re.compile(r"[0-9a-f]{8,128}")
_MAGIC = b"firstfault-cache-1\n"
_DIGEST_BYTES = 16  # 128 bits: against damage, not against an attacker who can write there


class FolderCache:
    """Bytes under hexadecimal keys, a file each: written atomically, checked when read, the oldest dropped first."""

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._trimmed = False

    def get(self, key: str) -> bytes | None:
        """The bytes that were put under this key, or None; a damaged file counts as none."""
        path = self._path(key)
        try:
            stored = path.read_bytes()
            os.utime(path)  # the trim drops what was not used for longest
        except OSError:
            return None
        value = stored[len(_MAGIC) + _DIGEST_BYTES :]
        return value if stored == _sealed(value) else None

    def put(self, key: str, value: bytes) -> None:
        """Keep the bytes if the folder can be written to."""
        path = self._path(key)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            self._write(path, _sealed(value))
            self._trim_once()
        except OSError:
            return

    @property
    def folder(self) -> Path | None:
        """Where files may be made that ``keep`` then only gives a name."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            return None
        return self._folder

    def open(self, key: str) -> int | None:
        """Open the file that was kept under this key; whether it is whole is for its reader to tell."""
        path = self._path(key)
        try:
            os.utime(path)
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None

    def keep(self, key: str, descriptor: int) -> None:
        """Keep an open file if there is room: by a name for it where the system can do that, else by a copy."""
        path = self._path(key)
        try:
            if os.fstat(descriptor).st_size > self._max_bytes * _MOST_OF_ALL:
                return
            path.parent.mkdir(mode=0o700, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=path.parent, prefix=".new-") as beside:
                _name(descriptor, Path(beside, key))
                Path(beside, key).replace(path)
            self._trim()
        except OSError:
            return

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise ValueError(f"not a hexadecimal key: {key!r}")
        return self._folder / key[:2] / key

    def _write(self, path: Path, content: bytes) -> None:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(temporary).replace(path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise

    def _trim_once(self) -> None:
        """Trim, but once a process."""
        if not self._trimmed:
            self._trimmed = True
            self._trim()

    def _trim(self) -> None:
        """Drop the files that were not used for longest until the folder is small enough."""
        stats = [(path.stat(), path) for path in self._folder.glob("??/*")]
        files = sorted((stat.st_mtime, stat.st_size, path) for stat, path in stats)
        excess = sum(length for _, length, _ in files) - self._max_bytes
        for _, length, path in files:
            if excess <= 0:
                break
            path.unlink(missing_ok=True)
            excess -= length


def _name(descriptor: int, path: Path) -> None:
    """Give a file without a name one, as linkat(2) tells how; the folder's descriptor makes os.link call that."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.link(f"/proc/self/fd/{descriptor}", path, src_dir_fd=folder, follow_symlinks=True)
    except OSError:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
            at = 0
            while block := os.pread(descriptor, _COPY_BYTES, at):
                at += copy.write(block)
    finally:
        os.close(folder)


def _sealed(value: bytes) -> bytes:
    return _MAGIC + hashlib.blake2b(value, digest_size=_DIGEST_BYTES).digest() + value
