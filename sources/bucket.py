"""Jobs behind any fsspec URL: S3 and what speaks its language, but also sftp, http, memory and many more."""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from core.errors import BadSettings, SourceUnavailable
from core.job import Job, Manifest
from sources.job_ids import check_job_id, is_job_id, job_not_found
from sources.layout import MANIFEST, StoredFile, assemble, read_manifest
from sources.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BLOCK_BYTES = 8 << 20  # one request; s3fs would hold 50 MB for each open file
# A dead endpoint is told within seconds; boto's own patience is minutes. s3fs itself tries reads five times.
_S3_PATIENCE = {"connect_timeout": 5, "read_timeout": 60, "retries": {"mode": "standard", "max_attempts": 2}}
_S3_HINT = (
    "Look at AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or AWS_PROFILE), AWS_ENDPOINT_URL (or"
    " FSSPEC_S3_ENDPOINT_URL) for a store of your own, and FIRSTFAULT_JOBS."
)
_HINT = "Look at the address (--jobs, FIRSTFAULT_JOBS), at your credentials for it, and at the network."
# Errors of the backends that are no OSError. Only a backend that is in use is loaded, so only its row can be met.
_FOREIGN_ERRORS = (
    ("botocore.exceptions", "BotoCoreError"),
    ("botocore.exceptions", "ClientError"),
    ("aiohttp", "ClientError"),
    ("gcsfs.retry", "HttpError"),
    ("google.auth.exceptions", "GoogleAuthError"),
    ("azure.core.exceptions", "AzureError"),
)


class JobsBucket:
    """A bucket, or a folder in it, with a folder for each job."""

    def __init__(self, url: str, *, limits: Limits = DEFAULT_LIMITS) -> None:
        self._url = url.rstrip("/")
        self._limits = limits
        self._store, self._root = _connect(url)

    def job_ids(self) -> tuple[str, ...]:
        """Names of all job folders, sorted."""
        with self._translated():
            entries = self._store.ls(self._root, detail=True)
        names = {_last(entry["name"]) for entry in entries if entry["type"] == "directory"}
        return tuple(sorted(name for name in names if is_job_id(name)))

    def manifest(self, job_id: str) -> Manifest:
        """What the job's job.json says; the job is looked for only when that says nothing."""
        stored = StoredFile(MANIFEST, 0, "", partial(_open, self._store, self._path(job_id, MANIFEST)))
        manifest, _ = read_manifest(job_id, stored, self._limits)
        if not manifest.extra:
            self._files(job_id)
        return manifest

    def job(self, job_id: str) -> Job:
        """The job and its files."""
        return assemble(job_id, self._files(job_id), place=f"{self._url}/{job_id}", limits=self._limits)

    def _path(self, job_id: str, *below: str) -> str:
        return "/".join([self._root.rstrip("/"), check_job_id(job_id), *below])

    def _files(self, job_id: str) -> list[StoredFile]:
        folder = self._path(job_id)
        with self._translated():
            found: dict[str, dict[str, Any]] = self._store.find(folder, detail=True)
            exists = folder not in found and (bool(found) or self._store.isdir(folder))
        if not exists:
            raise job_not_found(job_id, self._url, self.job_ids())
        names = {path: path.removeprefix(f"{folder}/") for path, info in found.items() if info["type"] == "file"}
        return [
            StoredFile(name, found[path]["size"] or 0, _stamp(found[path]), partial(_open, self._store, path))
            for path, name in names.items()
            if name and not name.endswith("/")  # a console's "new folder" is an empty object of that name
        ]

    @contextmanager
    def _translated(self) -> Iterator[None]:
        self._store.invalidate_cache()  # a bot runs for weeks, and jobs come and go
        hint = _S3_HINT if self._url.startswith("s3") else _HINT
        try:
            with _as_os_error():
                yield
        except FileNotFoundError as error:
            raise SourceUnavailable(f"There is no jobs folder {self._url}.", hint) from error
        except PermissionError as error:
            raise SourceUnavailable(f"The jobs folder {self._url} may not be listed: {error}.", hint) from error
        except OSError as error:
            raise SourceUnavailable(f"The jobs folder {self._url} does not answer: {error}.", hint) from error


def _connect(url: str) -> tuple[Any, str]:
    import fsspec  # noqa: PLC0415 (loads a backend, which takes its time; a local folder needs none)

    options = {"config_kwargs": _S3_PATIENCE} if url.startswith(("s3://", "s3a://")) else {}
    try:
        with _as_os_error():
            store, root = fsspec.core.url_to_fs(url, **options)
    except (ImportError, ValueError) as error:
        raise BadSettings(
            f"Jobs cannot be read from {url}: {error}.", "An s3:// URL or a local folder works."
        ) from error
    except OSError as error:
        raise SourceUnavailable(f"The jobs folder {url} does not answer: {error}.", _HINT) from error
    return store, root


def _open(store: Any, path: str) -> BinaryIO:
    with _as_os_error():
        return cast("BinaryIO", _BucketFile(store.open(path, "rb", block_size=_BLOCK_BYTES)))


class _BucketFile(io.RawIOBase):
    """A file of a backend, from which nothing but OSError comes."""

    def __init__(self, opened: Any) -> None:
        self._opened = opened

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        with _as_os_error():
            return int(self._opened.readinto(buffer))

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        with _as_os_error():
            return int(self._opened.seek(offset, whence))

    def tell(self) -> int:
        return int(self._opened.tell())

    def close(self) -> None:
        self._opened.close()
        super().close()


@contextmanager
def _as_os_error() -> Iterator[None]:
    try:
        yield
    except OSError:
        raise
    except _loaded_foreign_errors() as error:
        raise OSError(str(error)) from error


def _loaded_foreign_errors() -> tuple[type[Exception], ...]:
    return tuple(getattr(sys.modules[module], name) for module, name in _FOREIGN_ERRORS if module in sys.modules)


def _last(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]


def _stamp(info: dict[str, Any]) -> str:
    """Take what the backend knows of a file's version: ETag and times where it has them, and the size."""
    known = (info.get(key) for key in ("ETag", "etag", "LastModified", "mtime", "created"))
    return "-".join(str(value) for value in (info["size"], *known) if value is not None).replace('"', "")
