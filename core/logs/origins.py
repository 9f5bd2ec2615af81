"""Who spoke: node, rank, attempt and kind of program behind each voice (a file and a prefix).

From ``job.json`` when there is one, else from paths (``core.logs.paths``) and prefixes (``core.logs.prefixes``), as
logs.md tells. What is not known stays ``None``; nothing is guessed but this: when a job names one node only,
everything happened there.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import TypeVar

from core.job import Manifest
from core.logs.hosts import Hosts
from core.logs.paths import layout, read_path, strip, trains
from core.logs.prefixes import PrefixLabels, read_prefix, tasks_are_nodes, tasks_are_ranks, with_local_ranks
from core.logs.units import is_daemon
from core.logs.unlabelled import (
    beside_their_stem,
    shape_of,
    with_numbered_processes,
    with_processes_of_each,
    with_the_unlabelled,
    without_foreign_ranks,
)
from core.logs.voices import NUMBERED_PROCESS, FileSpeaker, Origin, Program, Voice, actor_called, task_called

__all__ = ["Origin", "Program", "Voice", "find_origins"]

_Vote = TypeVar("_Vote", int, str)
_UID = re.compile(
    r"_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[_-](?:[0-9a-f]{64}|[0-9a-f]{32})"
)  # of pods, containers


def find_origins(
    voices: Sequence[Voice], manifest: Manifest, own: Mapping[str, FileSpeaker] = MappingProxyType({})
) -> tuple[Origin, ...]:
    """The origin of each voice.

    Args:
        own: who speaks in files that tell it themselves (core.parsing.speakers).
    """
    known = Hosts(manifest)
    names = dict.fromkeys(voice.file for voice in voices)
    paths = layout(names, manifest, known)
    files = {name: read_path(name, paths) for name in names}
    files |= {name: _told(files[name], speaker, manifest) for name, speaker in own.items()}
    of_paths = [files[voice.file] for voice in voices]
    labels = [read_prefix(voice.prefix, known) for voice in voices]
    of_paths = of_paths if manifest.nodes else _by_their_hosts(of_paths, labels)
    labels = labels if manifest.nodes else _with_one_name(of_paths, labels)
    labels = with_processes_of_each(voices, labels, of_paths)
    labels = with_local_ranks(labels, of_paths, manifest)
    labels = without_foreign_ranks(with_numbered_processes(voices, labels, of_paths), of_paths, manifest)
    ranks, nodes = tasks_are_ranks(labels, manifest), tasks_are_nodes(labels, manifest)
    homes = {rank: node for node, own in reversed(tuple(manifest.node_ranks.items())) for rank in own}
    seen = [
        _combine(path, label, manifest, homes, tasks_are_ranks=ranks, tasks_are_nodes=nodes)
        for path, label in zip(of_paths, labels, strict=True)
    ]
    seen = seen if manifest.nodes else _called_after_hosts(voices, labels, seen, manifest)
    seen = with_the_unlabelled(voices, labels, _beside_the_driver(labels, seen, manifest), manifest)
    seen = beside_their_stem(voices, labels, seen)
    seen = _with_what_trains(voices, labels, seen, manifest)
    seen = seen if ranks or manifest.nodes else _on_tasks(labels, seen)
    seen = _as_actors(labels, seen) if len(manifest.nodes) <= 1 else seen
    for _ in range(2):  # a rank tells the node of its torchrun run, and the run those of its other ranks
        seen = _spread_within_folders(voices, seen)
        node_of_rank = _node_of_rank(seen, manifest)
        seen = [_complete(origin, node_of_rank, manifest) for origin in seen]
    seen = _by_their_ranks(labels, _on_the_only_node(names, labels, seen, manifest), manifest)
    last = max((origin.rank for origin in seen if origin.rank is not None), default=0)
    return tuple(
        _place(voice, label, origin, max(last, (manifest.world_size or 0) - 1))
        for voice, label, origin in zip(voices, labels, seen, strict=True)
    )


def _by_their_hosts(of_paths: list[Origin], labels: Sequence[PrefixLabels]) -> list[Origin]:
    """Files that are numbered as processes are, without the names that lines have for their machines: worker_0."""
    pairs = {(path.node, label.host) for path, label in zip(of_paths, labels, strict=True) if path.node and label.host}
    names = {path.node for path in of_paths if path.node}
    if not pairs or not all(map(NUMBERED_PROCESS.fullmatch, names)) or {name for name, _ in pairs} != names:
        return of_paths
    return [replace(path, node=None) for path in of_paths]


def _with_one_name(of_paths: Sequence[Origin], labels: Sequence[PrefixLabels]) -> list[PrefixLabels]:
    """Machines by the names of their paths, where lines call each by another one of its own: a pod, and its host."""
    pairs = {(path.node, label.host) for path, label in zip(of_paths, labels, strict=True) if path.node and label.host}
    pods, hosts = ({pair[side] for pair in pairs} for side in (0, 1))
    if len(pairs) != len(pods) or len(pairs) != len(hosts) or pods & hosts:
        return list(labels)
    pod_of = {host: pod for pod, host in pairs}
    return [replace(label, host=pod_of.get(label.host or "", label.host)) for label in labels]


def _told(path: Origin, speaker: FileSpeaker, manifest: Manifest) -> Origin:
    """The origin of a file that tells who speaks in it."""
    is_process = path.node is not None and NUMBERED_PROCESS.fullmatch(path.node) is not None
    origin = replace(path, node=(speaker.node or path.node) if is_process else (path.node or speaker.node))
    if speaker.rank is not None:
        return replace(origin, rank=speaker.rank, program=Program.RANK)
    return trains(origin, manifest)


def _on_the_only_node(
    files: Iterable[str], labels: Sequence[PrefixLabels], seen: list[Origin], manifest: Manifest
) -> list[Origin]:
    """Everything happened on the only machine that is named, unless of files that are alike one is called after it."""
    named = {origin.node for origin in seen if origin.node} | {label.host for label in labels if label.host}
    if len(manifest.nodes) == 1 and not named:
        return [replace(origin, node=manifest.nodes[0]) for origin in seen]
    if len(named) != 1 or len(manifest.nodes) > 1:
        return seen
    (node,) = named
    here_and_there = any(label.here for label in labels) and any(label.host for label in labels)
    files = set(files)
    after = {shape_of(file) for file in files if node in file}
    of_others = any(shape_of(file) in after and node not in file for file in files)
    return seen if here_and_there or of_others else [replace(origin, node=node) for origin in seen]


def _combine(
    path: Origin,
    label: PrefixLabels,
    manifest: Manifest,
    homes: Mapping[int, str],
    *,
    tasks_are_ranks: bool,
    tasks_are_nodes: bool,
) -> Origin:
    """What the path of a file and the label of a line tell together; ``homes``: the node of each rank of job.json."""
    rank, node = label.rank, label.host
    if node and path.node in manifest.nodes and node not in manifest.nodes:
        node = None  # a container's id, or a name that only the machine itself has
    if label.is_daemon:
        return replace(path, node=node or path.node, rank=None, local_rank=None, program=Program.DAEMON)
    if rank is None and tasks_are_ranks:
        rank = label.task
    rank = path.rank if rank is None else rank
    task = label.task if tasks_are_nodes or not tasks_are_ranks else None
    if node is None:
        node = _of_job(None, task, manifest, homes)
    elif node not in manifest.nodes:  # the machine that collects what a launcher prints for all
        node = _of_job(rank, task, manifest, homes) or node
    origin = replace(
        path, rank=rank, local_rank=label.local if label.local is not None else path.local_rank, node=node or path.node
    )
    if origin.rank is not None or label.local is not None:
        return replace(origin, program=Program.RANK)
    says_who = label.unit != b"" or (label.host is not None and path.program is Program.SCHEDULER)
    return trains(origin, manifest) if says_who and origin.node else origin


def _of_job(rank: int | None, task: int | None, manifest: Manifest, homes: Mapping[int, str]) -> str | None:
    """The node of a rank, else of a task that is one for each node, as job.json tells."""
    if rank is not None:
        return homes.get(rank)
    return manifest.nodes[task] if task is not None and task < len(manifest.nodes) else None


def _beside_the_driver(labels: Sequence[PrefixLabels], seen: list[Origin], manifest: Manifest) -> list[Origin]:
    """Ray's actors without an address are on its driver's node: the one that no other actor of their class is on."""
    actors = {label.actor for label in labels if label.actor and not label.here}
    left = set(manifest.nodes) - {label.host for label in labels if label.actor in actors}
    if len(left) != 1:
        return seen
    (node,) = left
    return [
        _on(node, origin, manifest) if label.here and label.actor in actors else origin
        for label, origin in zip(labels, seen, strict=True)
    ]


def _called_after_hosts(
    voices: Sequence[Voice], labels: Sequence[PrefixLabels], seen: list[Origin], manifest: Manifest
) -> list[Origin]:
    """All that stands in a file is of the machine that it is called after, by the name that lines in it begin with.

    So are files beside it that are called alike, of whose lines none may name a machine: ``hgx-041.log``.
    """
    after = {voice.file for voice, label in zip(voices, labels, strict=True) if label.host == _stem(voice.file)}
    others = {voice.file for voice, label in zip(voices, labels, strict=True) if label.host} - after
    alike = {shape_of(file) for file in after}
    homes = {voice.file: _stem(voice.file) for voice in voices if shape_of(voice.file) in alike} if alike else {}
    return [
        _on(homes[voice.file], origin, manifest) if voice.file in homes and voice.file not in others else origin
        for voice, origin in zip(voices, seen, strict=True)
    ]


def _on(node: str, origin: Origin, manifest: Manifest) -> Origin:
    if origin.node is not None:
        return origin
    there = replace(origin, node=node)
    return there if origin.rank is not None else trains(there, manifest)


def _by_their_ranks(labels: Sequence[PrefixLabels], seen: list[Origin], manifest: Manifest) -> list[Origin]:
    """Pods, which job.json does not know, by the machine that the ranks are on which their other lines tell."""
    homes: dict[str | None, set[str | None]] = defaultdict(set)
    for label, origin in zip(labels, seen, strict=True):
        if label.host and label.host not in manifest.nodes and origin.rank is not None:
            homes[label.host].add(origin.node)
    known = {pod: node for pod, nodes in homes.items() if len(nodes) == 1 for node in nodes if node in manifest.nodes}
    return [replace(origin, node=known[origin.node]) if origin.node in known else origin for origin in seen]


def _on_tasks(labels: Sequence[PrefixLabels], seen: list[Origin]) -> list[Origin]:
    """Where nobody names a node, srun's tasks that are no ranks are nodes, which srun may name when they end."""
    if any(origin.node for origin in seen):
        return seen
    tasks = [None if label.task is None else task_called(label.task) for label in labels]
    return [origin if task is None else replace(origin, node=task) for origin, task in zip(seen, tasks, strict=True)]


def _as_actors(labels: Sequence[PrefixLabels], seen: list[Origin]) -> list[Origin]:
    """Where nobody names a node or a rank, Ray's processes of one class stand for nodes."""
    processes = {(label.actor, label.pid) for label in labels if label.actor and label.pid is not None}
    several = {actor for actor, many in Counter(actor for actor, _ in processes).items() if many > 1}
    if not several or any(origin.node or origin.rank is not None for origin in seen):
        return seen
    return [
        replace(origin, node=actor_called(label.actor, label.pid))
        if label.actor in several and label.pid is not None
        else origin
        for origin, label in zip(seen, labels, strict=True)
    ]


def _with_what_trains(
    voices: Sequence[Voice], labels: Sequence[PrefixLabels], seen: list[Origin], manifest: Manifest
) -> list[Origin]:
    """A file called after its node is a daemon's beside those of ranks; of several nodes without any, what trains."""
    if any(origin.program in (Program.RANK, Program.LAUNCHER) for origin in seen):
        return seen
    exact = {_stem(voice.file) for voice in voices} & set(manifest.nodes)  # gpu-7.log trains, top_gpu-7.log does not
    daemons = [
        label.is_daemon
        or (_stem(voice.file) not in manifest.nodes and (len(exact) > 1 or is_daemon(_stem(voice.file).encode())))
        for voice, label in zip(voices, labels, strict=True)
    ]
    homes = {origin.node for origin, daemon in zip(seen, daemons, strict=True) if origin.node and not daemon}
    if len(homes) < 2:
        return seen
    return [
        trains(origin, manifest) if origin.node and not daemon else origin
        for origin, daemon in zip(seen, daemons, strict=True)
    ]


def _stem(name: str) -> str:
    return strip(name).rpartition("/")[2].partition(".")[0]


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
    known = manifest.node_of_rank
    votes: dict[int, Counter[str]] = defaultdict(Counter)
    for origin in seen:
        if origin.rank is not None and origin.node:
            votes[origin.rank][origin.node] += 1
    return {rank: max(sorted(names), key=names.__getitem__) for rank, names in votes.items()} | known


def _complete(origin: Origin, node_of_rank: Mapping[int, str], manifest: Manifest) -> Origin:
    if origin.rank is not None and origin.node is None:
        node = node_of_rank.get(origin.rank)
        return origin if node is None else replace(origin, node=node)
    if origin.rank is None and origin.node and origin.local_rank is not None:
        ranks = sorted(manifest.node_ranks.get(origin.node, ()))
        if origin.local_rank < len(ranks):
            return replace(origin, rank=ranks[origin.local_rank])
    if origin.node and origin.program is Program.SCHEDULER:
        return replace(origin, program=Program.LAUNCHER)
    return origin


def _place(voice: Voice, label: PrefixLabels, origin: Origin, last_rank: int) -> Origin:
    """Add the cohort: shape of the path, unit, and whether this is the first, the last or a first-of-node rank."""
    shape = strip(voice.file) + label.unit.partition(b"[")[0].decode("utf-8", "replace")
    if origin.node:
        shape = shape.replace(origin.node, "<node>")
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
    return replace(origin, cohort=f"{_without_ids(shape)}|{position}")


@lru_cache(maxsize=1 << 10)
def _without_ids(shape: str) -> str:
    run = _UID.sub("_<uid>", re.sub(r"[^/]+(?=/attempt_)", "<run>", shape))
    return re.sub(r"[0-9]+", "#", run)
