"""What a job is before anyone has read its logs: a manifest and a list of files that can be opened.

``core`` never touches a disk or a bucket itself: whoever knows where jobs live (``sources``) hands over
``LogFile`` values, each with a function that opens the unpacked bytes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, BinaryIO


class Status(StrEnum):
    """State of a job as its scheduler reports it (docs/reference/json.md); UNKNOWN when the manifest does not say."""

    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    RUNNING = "RUNNING"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class LogFile:
    """One file of a job.

    name: path relative to the job folder, with "/" and with its ``.gz``, ``.zst`` or ``.xz``.
    size: bytes as stored (packed), for progress bars.
    stamp: changes when the content changes (size, modification time, ETag); part of cache keys.
    open: returns a new binary stream of the unpacked bytes; raises ``UnreadableLog`` there or while reading.
    """

    name: str
    size: int
    stamp: str
    open: Callable[[], BinaryIO] = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The parts of ``job.json`` that decide something, validated; ``extra`` keeps the whole of it.

    node_ranks maps a node to its global ranks, node_addresses a node to its addresses, exit_codes a node to the exit
    code of its part of the job (negative: a signal; None: it never told one), rank_exit_codes a rank to its own; all
    may be empty.

    run: name of the lineage whose attempts this job is one of; attempt: its number there. code: commit or image digest.
    arguments: what the launcher was given, by name. parallel: sizes of
    the parallel groups by name, and their order. checkpoint_every:
    iterations. spares: nodes ready to take over. checked: whether all nodes passed checks after this attempt had ended.
    """

    job_id: str
    status: Status = Status.UNKNOWN
    start: str | None = None
    end: str | None = None
    model: str | None = None
    framework: str | None = None
    settings_id: str | None = None
    nodes: tuple[str, ...] = ()
    world_size: int | None = None
    node_ranks: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    node_addresses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    total_iterations: int | None = None
    exit_codes: Mapping[str, int | None] = field(default_factory=dict)
    rank_exit_codes: Mapping[int, int | None] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    run: str | None = None
    attempt: int | None = None
    code: str | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)
    parallel: Mapping[str, str] = field(default_factory=dict)
    checkpoint_every: int | None = None
    spares: int | None = None
    checked: bool | None = None

    @property
    def node_of_rank(self) -> dict[int, str]:
        """The node of each rank; empty where nothing tells."""
        return {rank: node for node, ranks in self.node_ranks.items() for rank in ranks}


@dataclass(frozen=True, slots=True)
class Job:
    """A job: manifest, files of logs, dumps, metrics and network flows (sorted by name), and what was wrong with it.

    problems: sentences for the reader about what was left out (broken job.json, unreadable file, link loop).
    """

    manifest: Manifest
    logs: tuple[LogFile, ...]
    dumps: tuple[LogFile, ...] = ()
    metrics: tuple[LogFile, ...] = ()
    problems: tuple[str, ...] = ()
    flows: tuple[LogFile, ...] = ()

    @property
    def id(self) -> str:
        """The job's id."""
        return self.manifest.job_id

    @property
    def status(self) -> Status:
        """What the manifest says of the job's end."""
        return self.manifest.status
