"""A folder that keeps what was computed: the real ``core.cache.ByteCache``; every trouble with it only costs time."""

import hashlib
import os
import re
import tempfile
from pathlib import Path

MAX_BYTES = 1 << 30  # a profile of a job has some hundred kB: thousands of jobs
_KEY = re.compile(r"[0-9a-f]{8,128}")
_MAGIC = b"firstfault-cache-1\n"
_DIGEST_BYTES = 16


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
        """Once a process: drop the files that were not used for longest until the folder is small enough."""
        if self._trimmed:
            return
        self._trimmed = True
        stats = [(path.stat(), path) for path in self._folder.glob("??/*")]
        files = sorted((stat.st_mtime, stat.st_size, path) for stat, path in stats)
        excess = sum(length for _, length, _ in files) - self._max_bytes
        for _, length, path in files:
            if excess <= 0:
                break
            path.unlink(missing_ok=True)
            excess -= length


def _sealed(value: bytes) -> bytes:
    return _MAGIC + hashlib.blake2b(value, digest_size=_DIGEST_BYTES).digest() + value
