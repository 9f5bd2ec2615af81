"""What a job folder means (docs: a job folder): which of its files are logs, dumps, metrics, flows or neither."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath
from typing import BinaryIO

from core.errors import NoLogs
from core.job import Job, LogFile, Manifest
from core.logs.wraps.unwrapped_stream import KEPT_BYTES, OpenUnwrapped
from sources.limits import DEFAULT_LIMITS, Limits
from sources.manifest import parse_manifest
from sources.unpack import open_log, unreadable

MANIFEST = "job.json"
LOGS = "logs/"
DUMPS = "dumps/"
METRICS = "metrics/"
FLOWS = "flows/"

_RARE = 20  # one file in so many has such a size; chosen by hand: logs that differ in digits only are mostly more
_PACKED = frozenset({".gz", ".zst", ".xz"})
_ARCHIVES = frozenset({".7z", ".bz2", ".lz4", ".rar", ".tar", ".tbz2", ".tgz", ".txz", ".tzst", ".zip"})
# checkpoints and arrays, traces and databases, pictures, compiled code
_NO_LOGS = frozenset(
    {".bin", ".ckpt", ".distcp", ".h5", ".hdf5", ".npy", ".npz", ".onnx", ".parquet", ".pickle", ".pkl", ".pt", ".pth"}
    | {".safetensors", ".db", ".ncu-rep", ".nsys-rep", ".sqlite", ".tfevents"}
    | {".gif", ".jpeg", ".jpg", ".mp4", ".pdf", ".png", ".pyc", ".so", ".whl"}
)


# What schedulers, launchers and people leave beside a logs folder; anything else there may be no log.
_LOG_SUFFIXES = frozenset({".csv", ".err", ".jsonl", ".log", ".ndjson", ".out", ".txt"})

# Folders that people copy from /var/log of each machine, by the names of rsyslog (syslog, messages), the kernel (dmesg,
# kern) and systemd (journal).
_LOG_FOLDERS = frozenset({"dmesg", "journal", "journald", "kern", "kernel", "messages", "syslog", "syslogs"})

_NO_LOGS_HINT = "Logs belong into its logs/ folder, in any tree; were they moved, or not yet copied?"


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file as a backend keeps it.

    name: path below the job folder, with "/".
    open: opens a new seekable stream of the stored bytes; only OSError comes from it and from its stream. It can be
        pickled, so that files can be scanned in other processes.
    """

    name: str
    size: int
    stamp: str
    open: Callable[[], BinaryIO] = field(repr=False, compare=False)


def assemble(
    job_id: str,
    files: Iterable[StoredFile],
    *,
    place: str,
    problems: Iterable[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> Job:
    """Make a job of the files in its folder, in whatever order they come.

    Without a logs folder everything but job.json, dumps, metrics and flows is taken for logs; with one, what is called
    like a log beside it: a scheduler's, a list of events, the machines' own. Hidden files are none. Raises ``NoLogs``
    when there are neither logs nor dumps.
    """
    visible = [file for file in sorted(files, key=lambda file: file.name) if not is_hidden(file.name)]
    dumps = [file for file in visible if file.name.startswith(DUMPS)]
    metrics = [file for file in visible if file.name.startswith(METRICS)]
    flows = [file for file in visible if file.name.startswith(FLOWS)]
    logs = [file for file in visible if file.name.startswith(LOGS)]
    if not logs:
        others = (DUMPS, METRICS, FLOWS)
        logs = [file for file in visible if file.name != MANIFEST and not file.name.startswith(others)]
    else:
        logs += [file for file in visible if is_log_beside(file.name)]
    readable, unread = _without_binaries(logs)
    if not readable and not dumps:
        raise NoLogs(f"Job {job_id} has no log files under {place}.", " ".join([*problems, *unread]) or _NO_LOGS_HINT)
    readable, more_logs = _at_most(_most_logs(readable, limits), readable, "log files")
    dumps, more_dumps = _at_most(limits.log_files, dumps, "dumps")
    of_all = sum(file.size for file in readable)
    manifest, lies = read_manifest(job_id, next((file for file in visible if file.name == MANIFEST), None), limits)
    return Job(
        manifest=manifest,
        logs=tuple(log_file(file, limits, of_all, len(readable)) for file in readable),
        dumps=tuple(_unpacked(file, limits) for file in dumps),
        metrics=tuple(_unpacked(file, limits) for file in metrics),
        problems=(*lies, *problems, *unread, *more_logs, *more_dumps),
        flows=tuple(_unpacked(file, limits) for file in flows),
    )


def _most_logs(files: Sequence[StoredFile], limits: Limits) -> int:
    """How many log files are read: of tiny ones fewer, each of which costs what many lines cost.

    Where some are left out, it is half of them at least: few that are missing would be taken for silent ranks. What is
    read then is a sample in any case, and no larger than what is read whatever files say.
    """
    least = limits.log_file_bytes  # of a packed file, which says more than it has bytes
    sizes = (max(file.size, least) if PurePosixPath(file.name).suffix in _PACKED else file.size for file in files)
    most = limits.log_files_at_least + sum(sizes) // least
    return min(limits.log_files, most if len(files) <= most else min(limits.log_files_at_least, len(files) // 2))


def _at_most(most: int, files: list[StoredFile], kind: str) -> tuple[list[StoredFile], list[str]]:
    """So many of the files, and the sentence.

    Evenly over their names, so that each node is heard; up to half of them those of a size that few have: who tells
    of an error seldom says as much as the others.
    """
    if len(files) <= most:
        return files, []
    often = Counter(file.size for file in files)
    rare = [place for place, file in enumerate(files) if often[file.size] * _RARE <= len(files)]
    odd = sorted(rare, key=lambda place: (often[files[place].size], place))[: most // 2]
    even = most - len(odd)
    kept = sorted({*odd, *(place * len(files) // even for place in range(even))})
    how = "evenly over their names" + (", and those of rare sizes" if odd else "")
    return [files[place] for place in kept], [
        f"The job has {len(files):,} {kind}: {len(kept):,} of them were read, {how}."
    ]


def read_manifest(job_id: str, file: StoredFile | None, limits: Limits) -> tuple[Manifest, tuple[str, ...]]:
    """Read a job's job.json, if it has one; what is wrong with it comes back as sentences."""
    if file is None:
        return Manifest(job_id), ()
    try:
        with file.open() as stream:
            content = stream.read(limits.manifest_bytes + 1)
    except FileNotFoundError:
        return Manifest(job_id), ()
    except OSError as error:
        return Manifest(job_id), (unreadable(MANIFEST, error).message,)
    if len(content) > limits.manifest_bytes:
        return Manifest(job_id), (f"job.json is larger than {limits.manifest_bytes:,} bytes and was left out.",)
    return parse_manifest(job_id, content)


def is_hidden(name: str) -> bool:
    """Whether the name of a file or of a folder on its way begins with a dot."""
    return any(part.startswith(".") for part in name.split("/"))


def is_log_beside(name: str) -> bool:
    """Whether a file that stands beside the logs folder is called like a log, also if packed or numbered.

    Or lies in a folder that is called like the system logs of machines.
    """
    folder, inside, _ = name.partition("/")
    return (
        folder.lower() in _LOG_FOLDERS if inside else not _LOG_SUFFIXES.isdisjoint(PurePosixPath(name.lower()).suffixes)
    )


def log_file(file: StoredFile, limits: Limits, among: int = 0, files: int = 1) -> LogFile:
    """Let a stored file be opened as the log that it holds: unpacked, and without what was wrapped around its lines.

    Args:
        among: bytes of all log files of the job, which share the room for texts that are kept.
        files: how many those are; they share the lines that tell how each is wrapped.
    """
    file_unpacked = _unpacked(file, limits)
    room = KEPT_BYTES * file.size // max(1, file.size, among)
    return replace(file_unpacked, open=OpenUnwrapped(file_unpacked.open, room, files))


def _unpacked(file: StoredFile, limits: Limits) -> LogFile:
    return LogFile(file.name, file.size, file.stamp, partial(open_log, file.open, file.name, limits))


def _without_binaries(files: Sequence[StoredFile]) -> tuple[list[StoredFile], list[str]]:
    """Leave out what is known not to be text; everything else is read, whatever its name."""
    kinds = {file.name: binary_suffix(file.name) for file in files}
    archives = [name for name, suffix in kinds.items() if suffix in _ARCHIVES]
    others = Counter(suffix for suffix in kinds.values() if suffix in _NO_LOGS)
    problems = []
    if archives:
        more = f" and {len(archives) - 1} more" if len(archives) > 1 else ""
        problems.append(f"The archive {archives[0]}{more} was not read: unpack it into the job folder.")
    if others:
        listed = ", ".join(f"{count} {suffix}" for suffix, count in sorted(others.items()))
        problems.append(f"Files that hold no log lines were not read: {listed}.")
    return [file for file in files if not kinds[file.name]], problems


def binary_suffix(name: str) -> str:
    """Tell the suffix that makes a file no log, also below that of a packed file (x.tar.gz, x.pt.zst), or nothing."""
    path = PurePosixPath(name.lower())
    if path.suffix in _PACKED:
        path = path.with_suffix("")
    suffix = ".tfevents" if ".tfevents." in path.name else path.suffix
    return suffix if suffix in _ARCHIVES | _NO_LOGS else ""
