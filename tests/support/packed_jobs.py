"""Job folders packed in every way that is read, and what is read of them."""

import gzip
import io
import lzma
import random
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest
import zstandard

from core.errors import UnreadableLog
from core.job import Job, LogFile
from sources.jobs import open_path
from sources.limits import Limits

Files = Mapping[str, bytes]


FILES: Files = {
    "job-77/job.json": b'{"status": "FAILED", "nodes": ["node-0"], "job_id": "job-77"}',
    "job-77/logs/node-0/rank_0.log": b"".join(b"iteration %d of 9\n" % n for n in range(5000)),
    "job-77/logs/node-0/rank_1.log.gz": gzip.compress(b"packed twice\n" * 3000),
    "job-77/logs/empty.log": b"",
    "job-77/dumps/nccl_trace_rank_0.pickle": b"\x80\x04]\x94.",
    "job-77/README.md": b"beside the logs",
}


def tar(files: Files, form: int = tarfile.PAX_FORMAT) -> bytes:
    return tar_of([(name, content, {}) for name, content in files.items()], form)


def tar_of(members: Iterable[tuple[str, bytes, Mapping[str, object]]], form: int = tarfile.PAX_FORMAT) -> bytes:
    """A tar of names, contents, and whatever else stands in their headers."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=form) as archive:
        for name, content, fields in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            for field, value in fields.items():
                setattr(info, field, value)
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def changed(info: tarfile.TarInfo, at: int, value: bytes) -> bytes:
    """A header of GNU tar with something else in it, and the checksum of that."""
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[at : at + len(value)] = value
    header[148:156] = b"%06o\0 " % sum(header[:148] + b" " * 8 + header[156:512])
    return bytes(header)


def zipped(files: Files, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


STREAMS: dict[str, Callable[[bytes], bytes]] = {
    ".tar": bytes,
    ".tar.gz": gzip.compress,
    ".tar.zst": zstandard.compress,
    ".tar.xz": lambda content: lzma.compress(content, preset=0),
}


PACK: dict[str, Callable[[Files], bytes]] = {
    ".tar": tar,
    ".tar.gz": lambda files: gzip.compress(tar(files)),
    ".tgz": lambda files: gzip.compress(tar(files, tarfile.GNU_FORMAT)),
    ".tar.zst": lambda files: zstandard.compress(tar(files, tarfile.USTAR_FORMAT)),
    ".tar.xz": lambda files: lzma.compress(tar(files), preset=0),
    ".zip": zipped,
    ".stored.zip": lambda files: zipped(files, zipfile.ZIP_STORED),
}


every_way = pytest.mark.parametrize("suffix", PACK)


every_tar = pytest.mark.parametrize("suffix", STREAMS)


def stored(place: Path, content: bytes, name: str = "bundle.tar.gz", limits: Limits | None = None) -> Job:
    (place / name).write_bytes(content)
    return open_path(str(place / name), limits=limits or Limits())


def job_in(place: Path, files: Files, suffix: str = ".tar.gz", limits: Limits | None = None) -> Job:
    return stored(place, PACK[suffix](files), f"bundle{suffix}", limits)


def names(job: Job) -> list[str]:
    return [file.name for file in job.logs]


def read(file: LogFile) -> tuple[bytes, UnreadableLog | None]:
    """All that a log gives, and how it ended."""
    got = io.BytesIO()
    try:
        with file.open() as stream:
            while part := stream.read(70_001):
                got.write(part)
    except UnreadableLog as failure:
        return got.getvalue(), failure
    return got.getvalue(), None


def texts(job: Job) -> dict[str, bytes]:
    return {file.name: read(file)[0] for file in (*job.logs, *job.dumps)}


NOISE = {
    f"7/logs/{n}.log": b"".join(b"%x\n" % random.Random(9000 * n + m).getrandbits(60) for m in range(9000))
    for n in range(5)
}


WHOLE = {name.removeprefix("7/"): content for name, content in NOISE.items()}
