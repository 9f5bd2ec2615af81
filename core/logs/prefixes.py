"""Who speaks behind a prefix: labels of launchers, and that of a wrapper (logs.md, "Prefixes are a stack")."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from core.job import Manifest
from core.logs.hosts import Hosts
from core.logs.label import read_label
from core.logs.units import is_daemon
from core.logs.voices import Origin

# Seven digits: ranks and tasks go to a million, process ids to four; a longer number is a word of the program.
_LABEL = re.compile(
    rb"\[default(?P<local>\d{1,7})\]:|\[rank(?P<rank>\d{1,7})\]: ?|\[\d{1,10},(?P<mpi>\d{1,7})\]<std(?:out|err)>: ?"
    rb"|\((?P<ray>\w++)(?: pid=(?P<pid>\d{1,7}))?(?:, ip=(?P<ip>[\d.]{1,15}))?\) "
    rb"|(?<![\w.-])(?:(?P<nccl>(?!\d{1,10}:)[\w.-]++):\d{1,10}:\d{1,10} \[\d{1,10}\] "
    rb"|(?P<task>\d{1,7}): |(?P<host>[\w.-]++): )"
)


@dataclass(frozen=True, slots=True)
class PrefixLabels:
    """What a prefix says.

    role: the rank of torchrun's ``--role rank``, which is a local one, before the one that torch writes itself. tagged:
    a launcher's tag names the rank, not a wrapper's field. actor, pid: its class and process, of Ray's. here: Ray names
    the host of every actor but those beside its driver. wrapped: a wrapper had the line, whatever it told. unit: as in
    ``core.logs.label``.
    """

    task: int | None = None
    local: int | None = None
    role: int | None = None
    rank: int | None = None
    tagged: bool = False
    host: str | None = None
    actor: str = ""
    pid: int | None = None
    here: bool = False
    wrapped: bool = False
    unit: bytes = b""

    @property
    def is_daemon(self) -> bool:
        """Whether a node's own program speaks."""
        return self.unit != b"" and is_daemon(self.unit)

    @property
    def names_somebody(self) -> bool:
        """Whether it says anything of who speaks."""
        names = (self.task, self.local, self.rank, self.host)
        return self.unit != b"" or any(item is not None for item in names)


def read_prefix(prefix: bytes, hosts: Hosts) -> PrefixLabels:
    """What a prefix says; of machines the name that job.json has."""
    label, tags = read_label(prefix)
    labels = PrefixLabels(
        rank=label.rank,
        local=label.local_rank,
        host=hosts.first([node.decode("utf-8", "replace") for node in label.nodes]),
        wrapped=tags != prefix,
        unit=label.unit,
    )
    for match in _LABEL.finditer(tags):
        labels = _with(labels, match, hosts)
    return labels


def _with(labels: PrefixLabels, match: re.Match[bytes], hosts: Hosts) -> PrefixLabels:
    name = match["ip"] or match["nccl"] or match["host"]
    if match["rank"]:
        return replace(labels, role=labels.rank, rank=int(match["rank"]), tagged=True)
    if match["mpi"]:
        return replace(labels, rank=int(match["mpi"]), tagged=True)
    if match["local"]:
        return replace(labels, local=int(match["local"]))
    if match["task"]:
        return replace(labels, task=int(match["task"]))
    labels = replace(
        labels, actor=(match["ray"] or b"").decode(), pid=int(match["pid"]) if match["pid"] else labels.pid
    )
    return replace(labels, host=hosts.first([name.decode()])) if name else replace(labels, here=True)


def tasks_are_ranks(labels: Iterable[PrefixLabels], manifest: Manifest) -> bool:
    """srun's task number is the rank when there is one task a rank, else the node (docs/reference/logs.md)."""
    labels = list(labels)
    if any(label.local is not None and label.task is not None for label in labels):
        return False
    pairs = {(label.task, label.rank) for label in labels if label.task is not None and label.rank is not None}
    if pairs:
        return all(task == rank for task, rank in pairs)
    world, count = _ranks_of_job(manifest), len(manifest.nodes) or manifest.extra.get("num_nodes")
    nodes = count if isinstance(count, int) else 0
    return world is None or world == nodes or len(_tasks(labels)) > nodes


def tasks_are_nodes(labels: Iterable[PrefixLabels], manifest: Manifest) -> bool:
    """Whether srun's task number is the place of a node in job.json: one task a node, and nobody says where."""
    return not manifest.node_ranks and len(_tasks(labels)) <= len(manifest.nodes)


def _tasks(labels: Iterable[PrefixLabels]) -> set[int]:
    return {label.task for label in labels if label.task is not None}


def _ranks_of_job(manifest: Manifest) -> int | None:
    return manifest.world_size or sum(map(len, manifest.node_ranks.values())) or None


def with_local_ranks(labels: Sequence[PrefixLabels], paths: Sequence[Origin], manifest: Manifest) -> list[PrefixLabels]:
    """The same, with numbers as the local ranks that they are: torchrun's ``--role rank``, and what begins anew."""
    if _begin_anew(labels, paths, manifest):
        labels = [_localized(replace(label, tagged=True)) if _is_field(label) else label for label in labels]
    if not _are_local(labels, paths, manifest):
        return [label if label.role is None else replace(label, role=None) for label in labels]
    return [_localized(label) for label in labels]


def _is_field(label: PrefixLabels) -> bool:
    """Whether a wrapper's field, or a word before the lines, tells a rank, and nobody else does."""
    return label.rank is not None and not label.tagged and label.local is None and label.host is None


def _begin_anew(labels: Sequence[PrefixLabels], paths: Sequence[Origin], manifest: Manifest) -> bool:
    """Whether such ranks count from 0 on, and most of them stand in the files of several machines."""
    homes: defaultdict[int, set[str]] = defaultdict(set)
    for label, path in zip(labels, paths, strict=True):
        if _is_field(label) and label.rank is not None and path.node and path.rank is None:
            homes[label.rank].add(path.node)
    several = sum(len(nodes) > 1 for nodes in homes.values())
    return 2 * several > len(homes) != manifest.world_size and sorted(homes) == list(range(len(homes)))


def _localized(label: PrefixLabels) -> PrefixLabels:
    if label.role is not None:  # torch itself writes the rank of the job behind it
        return replace(label, local=label.role, role=None)
    return replace(label, local=label.rank, rank=None) if label.tagged else label


def _are_local(labels: Sequence[PrefixLabels], paths: Sequence[Origin], manifest: Manifest) -> bool:
    """Whether the numbers in ``[rank0]:`` count from anew on every node.

    They do when two different ones stand before a line, and when most of them come from several tasks or machines while
    the job has more ranks than numbers.
    """
    if any(label.role is not None and label.role != label.rank for label in labels):
        return True
    tasks: defaultdict[int, set[int]] = defaultdict(set)
    nodes: defaultdict[int, set[str]] = defaultdict(set)
    for label, path in zip(labels, paths, strict=True):
        if label.rank is not None and label.tagged:
            tasks[label.rank].update(() if label.task is None else (label.task,))
            nodes[label.rank].update(filter(None, (label.host or path.node,)))
    each = _ranks_of_a_node(manifest)
    if not tasks or (each is not None and (max(tasks) >= each or manifest.world_size == len(tasks))):
        return False
    return any(
        2 * sum(len(place) > 1 for place in places.values()) > len(places) and any(places.values())
        for places in (tasks, nodes)
    )


def _ranks_of_a_node(manifest: Manifest) -> int | None:
    if manifest.node_ranks:
        return max(map(len, manifest.node_ranks.values()))
    return -(-manifest.world_size // len(manifest.nodes)) if manifest.world_size and manifest.nodes else None
