"""Who spoke: node, rank, attempt and kind of program behind each voice (a file and a prefix).

From ``job.json`` when there is one, else from paths and prefixes (docs/logs.md). What is not known
stays ``None``; nothing is guessed but this: when a job names one node only, everything happened there.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TypeVar

from core.job import Manifest

_Vote = TypeVar("_Vote", int, str)


class Program(StrEnum):
    """What kind of program a voice belongs to."""

    RANK = "rank"  # a training process
    LAUNCHER = "launcher"  # torchrun, deepspeed, mpirun: one a node
    DAEMON = "daemon"  # node daemon, kernel: one a node
    SCHEDULER = "scheduler"  # one a job


@dataclass(frozen=True, slots=True)
class Origin:
    """Who a voice is.

    cohort: equal for voices that should say the same, by their place in the tree instead of their name.
    """

    node: str | None = None
    rank: int | None = None
    local_rank: int | None = None
    attempt: int = 0
    program: Program = Program.SCHEDULER
    cohort: str = ""


@dataclass(frozen=True, slots=True)
class Voice:
    """A file and one of its prefixes, as scanned."""

    file: str
    prefix: bytes


def find_origins(voices: Sequence[Voice], manifest: Manifest) -> tuple[Origin, ...]:
    """The origin of each voice."""
    names = dict.fromkeys(voice.file for voice in voices)
    hosts_of_files = manifest.nodes or _numbered_hosts(names)
    files = {name: _read_path(name, manifest, hosts_of_files) for name in names}
    labels = [_read_prefix(voice.prefix) for voice in voices]
    tasks_are_ranks = _tasks_are_ranks(labels, manifest)
    hosts = {label.host for label in labels if label.host}
    seen = [
        _combine(files[voice.file], label, manifest, tasks_are_ranks=tasks_are_ranks)
        for voice, label in zip(voices, labels, strict=True)
    ]
    for _ in range(2):  # a rank tells the node of its torchrun run, and the run those of its other ranks
        seen = _spread_within_folders(voices, seen)
        node_of_rank = _node_of_rank(seen, manifest)
        seen = [_complete(origin, node_of_rank, manifest) for origin in seen]
    only = {origin.node for origin in seen if origin.node} | hosts
    here_and_there = any(label.here for label in labels) and any(label.host for label in labels)
    if len(only) == 1 and len(manifest.nodes) <= 1 and not here_and_there:
        seen = [replace(origin, node=next(iter(only))) for origin in seen]
    elif len(manifest.nodes) == 1 and not only:
        seen = [replace(origin, node=manifest.nodes[0]) for origin in seen]
    last = max((origin.rank for origin in seen if origin.rank is not None), default=0)
    return tuple(
        _place(voice, origin, max(last, (manifest.world_size or 0) - 1))
        for voice, origin in zip(voices, seen, strict=True)
    )


# --- paths --------------------------------------------------------------------------------------------------------

_NODE_NAME = re.compile(
    r"(?:node|worker|host|pod|server|machine|gpu|dgx|nid|cn|compute|ip|instance)[-_]?[\w.-]*\d[\w.-]*"
    r"|(?:node|worker|host|pod|server|machine)[-_][a-z]|master(?:[-_]\d+)?|localhost|\d{1,3}(?:\.\d{1,3}){3}"
    r"|(?!.*(?:data|load))[\w.-]+-(?:master|worker|launcher)-\d{1,5}",  # pods of a Kubernetes job
    re.IGNORECASE,
)
_RANK_NAME = re.compile(r"(?:^|[-_.])(?:rank|proc|process)[-_]?(\d{1,6})(?=$|[-_.])", re.IGNORECASE)
_ATTEMPT = re.compile(r"attempt_(\d{1,4})")
_NUMBERED_HOST = re.compile(r"(.+?)[-_.](\d{1,6})")
_LAUNCHER = re.compile(r"torchrun|elastic|agent|launch|mpirun|deepspeed|accelerate", re.IGNORECASE)
_UNPACK = (".gz", ".zst", ".xz")


def _numbered_hosts(names: Iterable[str]) -> tuple[str, ...]:
    """Hosts of files called ``<host>-<rank>``: when their numbers are 0, 1, ... once each, they are ranks."""
    stems = [PurePosixPath(_strip(name)).name.rsplit(".", 1)[0] for name in names]
    found = [match for stem in stems if (match := _NUMBERED_HOST.fullmatch(stem)) and re.search(r"\d", match[1])]
    ranks = sorted(int(match[2]) for match in found)
    return tuple(match[1] for match in found) if len(ranks) > 1 and ranks == list(range(len(ranks))) else ()


def _read_path(name: str, manifest: Manifest, hosts: Sequence[str]) -> Origin:
    parts = PurePosixPath(_strip(name)).parts
    folders, stem = parts[:-1], parts[-1].rsplit(".", 1)[0]
    attempt = next((int(match[1]) for part in parts if (match := _ATTEMPT.fullmatch(part))), 0)
    origin = Origin(attempt=attempt)
    for part in folders:
        if part in manifest.nodes or (not manifest.nodes and part != "logs" and _NODE_NAME.fullmatch(part)):
            origin = replace(origin, node=part)
        elif rank := _RANK_NAME.search(part):
            origin = replace(origin, rank=int(rank[1]))
    if "attempt_" in name and len(folders) >= 2 and folders[-1].isdigit():
        return replace(origin, local_rank=int(folders[-1]), program=Program.RANK)
    return _read_stem(origin, stem, manifest, hosts)


def _read_stem(origin: Origin, stem: str, manifest: Manifest, hosts: Sequence[str]) -> Origin:
    rank = _RANK_NAME.search(stem)
    if rank:
        origin = replace(origin, rank=int(rank[1]))
    elif stem not in hosts and (host := _NUMBERED_HOST.fullmatch(stem)) and host[1] in hosts:
        origin = replace(origin, node=host[1], rank=int(host[2]))
    elif origin.node is None and (named := _node_in(stem, manifest.nodes)):
        origin = replace(origin, node=named)
    elif origin.node is None and not manifest.nodes and _NODE_NAME.fullmatch(stem):
        origin = replace(origin, node=stem)
    if origin.rank is not None:
        return replace(origin, program=Program.RANK)
    if origin.node is None:
        return origin
    return replace(origin, program=Program.LAUNCHER if _LAUNCHER.search(stem) else Program.DAEMON)


def _node_in(stem: str, nodes: Sequence[str]) -> str | None:
    """The node that a file is called after, whatever stands around its name: job-77-worker-2.log."""
    if stem in nodes:
        return stem
    found = [node for node in nodes if re.search(rf"(?<![A-Za-z0-9]){re.escape(node)}(?![A-Za-z0-9])", stem)]
    return max(found, key=lambda node: (len(node), node), default=None)


def _strip(name: str) -> str:
    for suffix in _UNPACK:
        name = name.removesuffix(suffix)
    return name


# --- prefixes -----------------------------------------------------------------------------------------------------

_LABEL = re.compile(
    rb"\[default(?P<local>\d+)\]:|\[rank(?P<rank>\d+)\]: ?|\[\d+,(?P<mpi>\d+)\]<std(?:out|err)>: ?"
    rb"|\((?P<ray>\w+) pid=(?P<pid>\d+)(?:, ip=(?P<ip>[\d.]+))?\) "
    rb"|(?P<nccl>[\w.-]+):\d+:\d+ \[\d+\] |(?P<task> *\d+): |(?P<host>[\w.-]+): "
)


@dataclass(frozen=True, slots=True)
class _Label:
    task: int | None = None
    local: int | None = None
    rank: int | None = None
    host: str | None = None
    here: bool = False  # Ray names the host of every actor but those beside its driver


def _read_prefix(prefix: bytes) -> _Label:
    label = _Label()
    for match in _LABEL.finditer(prefix):
        kind = match.lastgroup
        if match["rank"] or match["mpi"]:
            label = replace(label, rank=int(match["rank"] or match["mpi"]))
        elif match["local"]:
            label = replace(label, local=int(match["local"]))
        elif match["task"]:
            label = replace(label, task=int(match["task"]))
        elif match["ip"] or match["nccl"] or kind == "host":
            label = replace(label, host=(match["ip"] or match["nccl"] or match["host"]).decode())
        elif match["ray"]:
            label = replace(label, here=True)
    return label


def _tasks_are_ranks(labels: Iterable[_Label], manifest: Manifest) -> bool:
    """srun's task number is the rank when there is one task a rank, else the node (docs/logs.md)."""
    labels = list(labels)
    if any(label.local is not None and label.task is not None for label in labels):
        return False
    pairs = {(label.task, label.rank) for label in labels if label.task is not None and label.rank is not None}
    if pairs:
        return all(task == rank for task, rank in pairs)
    tasks = {label.task for label in labels if label.task is not None}
    return not manifest.nodes or len(tasks) > len(manifest.nodes) or manifest.world_size == len(manifest.nodes)


def _combine(path: Origin, label: _Label, manifest: Manifest, *, tasks_are_ranks: bool) -> Origin:
    rank, node = label.rank, label.host
    if rank is None and tasks_are_ranks:
        rank = label.task
    if node is None and label.task is not None and not tasks_are_ranks and label.task < len(manifest.nodes):
        node = manifest.nodes[label.task]
    origin = replace(
        path,
        rank=rank if rank is not None else path.rank,
        local_rank=label.local if label.local is not None else path.local_rank,
        node=node or path.node,
    )
    speaks_as_rank = origin.rank is not None or label.local is not None
    return replace(origin, program=Program.RANK) if speaks_as_rank else origin


# --- what one voice tells about another ---------------------------------------------------------------------------


def _spread_within_folders(voices: Sequence[Voice], seen: list[Origin]) -> list[Origin]:
    """stdout.log and stderr.log of one folder are one rank; a torchrun run folder is one node with ranks in a row."""
    firsts: dict[str, Counter[int]] = defaultdict(Counter)
    nodes: dict[str, Counter[str]] = defaultdict(Counter)
    for voice, origin in zip(voices, seen, strict=True):
        if origin.local_rank is not None and "attempt_" in voice.file:
            if origin.rank is not None:
                firsts[_attempt(voice)][origin.rank - origin.local_rank] += 1
            if origin.node:
                nodes[_run(voice)][origin.node] += 1
    spread = []
    for voice, origin in zip(voices, seen, strict=True):
        first, node, rank = _sole(firsts[_attempt(voice)]), _sole(nodes[_run(voice)]), origin.rank
        if rank is None and first is not None and origin.local_rank is not None:
            rank = first + origin.local_rank
        in_tree = "attempt_" in voice.file
        spread.append(replace(origin, rank=rank, node=origin.node or node) if in_tree else origin)
    return spread


def _attempt(voice: Voice) -> str:
    return voice.file.rsplit("/", 2)[0]


def _run(voice: Voice) -> str:
    return voice.file.split("/attempt_", 1)[0]


def _sole(votes: Counter[_Vote]) -> _Vote | None:
    return next(iter(votes)) if len(votes) == 1 else None


def _node_of_rank(seen: Iterable[Origin], manifest: Manifest) -> dict[int, str]:
    known = {rank: node for node, ranks in manifest.node_ranks.items() for rank in ranks}
    votes: dict[int, Counter[str]] = defaultdict(Counter)
    for origin in seen:
        if origin.rank is not None and origin.node:
            votes[origin.rank][origin.node] += 1
    return {rank: max(sorted(names), key=names.__getitem__) for rank, names in votes.items()} | known


def _complete(origin: Origin, node_of_rank: Mapping[int, str], manifest: Manifest) -> Origin:
    if origin.rank is not None and origin.node is None:
        return replace(origin, node=node_of_rank.get(origin.rank))
    if origin.rank is None and origin.node and origin.local_rank is not None:
        ranks = sorted(manifest.node_ranks.get(origin.node, ()))
        if origin.local_rank < len(ranks):
            return replace(origin, rank=ranks[origin.local_rank])
    if origin.node and origin.program is Program.SCHEDULER:
        return replace(origin, program=Program.LAUNCHER)
    return origin


def _place(voice: Voice, origin: Origin, last_rank: int) -> Origin:
    """Add the cohort: shape of the path, and whether this is the first, the last or a first-of-node rank."""
    shape = _strip(voice.file)
    if origin.node:
        shape = shape.replace(origin.node, "<node>")
    run = re.sub(r"[^/]+(?=/attempt_)", "<run>", shape)
    position = ""
    if origin.program is Program.RANK:
        position = (
            "first"
            if origin.rank == 0
            else "last"
            if origin.rank == last_rank
            else "lead"
            if origin.local_rank == 0
            else "other"
        )
    return replace(origin, cohort=f"{re.sub(r'[0-9]+', '#', run)}|{position}")
