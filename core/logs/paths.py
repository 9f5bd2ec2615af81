"""Who speaks in a file, as far as its path tells (docs/reference/logs.md, "Layouts")."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import PurePosixPath

from core.job import Manifest
from core.logs.hosts import Hosts
from core.logs.speaker_columns import speakers_in
from core.logs.units import is_daemon
from core.logs.voices import Origin, Program

_NODE_NAME = re.compile(
    r"(?:node|worker|host|pod|server|machine|gpu|dgx|nid|cn|compute|ip|instance)[-_]?[\w.-]*\d[\w.-]*"
    r"|(?:node|worker|host|pod|server|machine)[-_][a-z]|master(?:[-_]\d+)?|localhost|\d{1,3}(?:\.\d{1,3}){3}"
    r"|(?!.*(?:data|load))[\w.-]+-(?:master|worker|launcher)-\d{1,5}",  # pods of a Kubernetes job
    re.IGNORECASE,
)
_OF_PODS = re.compile(r"[\w.-]+-(?:master|worker|launcher)", re.IGNORECASE)
# In German and French, ranks are called so, too: Rang
_RANK_NAME = re.compile(r"(?:^|[-_.])(?:rank|rang|proc|process|workerlog)[-_.]?(\d{1,6})(?=$|[-_.])", re.IGNORECASE)
# Of Paddle (workerlog.0) and detectron2 (log.txt.rank1), and of an address: an ending is none
_RANK_AT_END = re.compile(
    r"(?:^|[-_.])(?:rank\.?|workerlog\.)\d{1,6}$|(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}$",
    re.IGNORECASE,
)
# What names of machines end with, and no log: reserved for private use (RFC 6762, RFC 2606, ICANN), or given to anybody
_DOMAIN = re.compile(
    r"\.(?:local|lan|lab|home|intranet|internal|private|corp|cluster|hpc|localdomain|example|test|com|net|org|edu|gov)$",
    re.IGNORECASE,
)
_LOCAL_NAME = re.compile(r"(?:^|[-_.])local[-_]?(?:rank)?[-_.]?(\d{1,3})(?=$|[-_.])", re.IGNORECASE)
_ATTEMPT = re.compile(r"attempt_(\d{1,4})")
_NUMBERED_HOST = re.compile(r"(?P<host>.+?)[-_.](?P<marked>r(?=\d))?(?P<rank>\d{1,6})")
_HOST_WITH_NUMBER = re.compile(r"(?=.*[A-Za-z])(?=.*\d)[A-Za-z0-9.-]+")  # no underscore is in the name of a host
_ADDRESSED = re.compile(r"(?:[A-Za-z][\w-]{0,40}[-_.@])?(?P<address>\d{1,3}(?:\.\d{1,3}){3})")
_NUMBERED_PROCESS = re.compile(r"[a-z]+[-_]?\d+[.@_]((?=.*[A-Za-z])[\w.-]+)")
_OF_MACHINE = re.compile(r"(?:train(?:er|ing)?|log|out|output|stdout|console|job|run|main)[-_.](.+)", re.IGNORECASE)
_OF_MACHINES = re.compile(r"(?:node|host|machine|instance|pod)s", re.IGNORECASE)  # a folder with a folder for each
_MACHINE = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+|[A-Za-z]+\d+")
_OF_A_RUN = re.compile(
    r"logs?|run|attempt|epoch|step|iter|version|ver|v\d|checkpoint|ckpt|rank|local|stage|task|part|job|shard|try|trial|exp|proc"
    r"|seed|fold|phase|restart|events|data|split",
    re.IGNORECASE,
)
MIN_SHARED, MAX_OWN = 2, 2  # letters that names of machines have in common, and that are each one's own
_NUMBERED_FILE = re.compile(r"([A-Za-z]+|[A-Za-z0-9_.-]{0,80}[A-Za-z0-9](?=[-_.]))[-_.]?(\d{1,6})")
_ENDING = re.compile(r"(?:\.(?:logs?|txt|csv|tsv|jsonl?|(?:std)?(?:out|err))){1,4}$", re.IGNORECASE)
LAUNCHER = re.compile(r"torchrun|elastic|agent|launch|mpirun|deepspeed|accelerate|composer", re.IGNORECASE)
_UNPACK = (".gz", ".zst", ".xz")

# The kubelet's /var/log/pods/<namespace>_<pod>_<uid>/<container>/<restarts>.log, and the links of /var/log/containers.
_POD_FOLDER = re.compile(
    r"[a-z0-9-]+_(?P<pod>[a-z0-9.-]+)_(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{4,32})"
)
_POD_FILE = re.compile(r"(?P<pod>[a-z0-9.-]+)_[a-z0-9-]+_(?P<container>[a-z0-9-]+)-[0-9a-f]{64}")
# kubernetes/kubernetes apimachinery/pkg/util/rand/rand.go (1.29) makes the ends of pods' names of these letters
_POD = re.compile(r"[a-z0-9][a-z0-9.-]{0,200}-\d{1,5}-[bcdfghjklmnpqrstvwxz2456789]{5}")
# google/glog src/logging.cc (0.7): <program>.<machine>.<user>.log.<severity>.<date>-<time>.<process>
_GLOG_FILE = re.compile(
    r"[\w-]{1,100}\.(?P<host>[\w.-]{1,253}?)\.[\w-]{1,64}\.log\.(?:INFO|WARNING|ERROR|FATAL)\.\d{8}-\d{6}\.\d{1,10}"
)
# submitit: <job>_<task>_log.out, of an array <job>_<place>_<task>_log.out
_SUBMITIT = re.compile(r"\d+(?:_\d+)?_(?P<task>\d{1,6})_log")


@dataclass(frozen=True, slots=True)
class Layout:
    """What all paths of a job tell together.

    hosts: of files called ``<host>-<rank>``. machines: of those called ``<process>.<host>`` or, as they are alike,
    ``train-<host>``, by the file's stem.
    behind_numbers: the machine of each folder that is called ``node2_gpu-7``.
    told: machine and number of files whose names tell both (``core.logs.speaker_columns``), and whether it is a local
    one.
    ranks: of files called ``worker_3`` of as many workers as there are ranks, by the file's stem. folders: those called
    after machines, as they are alike. tasks_are_nodes: submitit's tasks are not ranks but nodes.
    """

    manifest: Manifest
    known: Hosts
    hosts: tuple[str, ...]
    machines: Mapping[str, str]
    ranks: Mapping[str, int]
    folders: frozenset[str]
    tasks_are_nodes: bool
    behind_numbers: Mapping[str, str]
    told: Mapping[str, tuple[str, int, bool]]


def layout(names: Iterable[str], manifest: Manifest, known: Hosts) -> Layout:
    """Look at the paths of a job."""
    names = list(names)
    stems = [_stem(name) for name in names]
    tasks = {int(match["task"]) for stem in stems if (match := _SUBMITIT.fullmatch(stem))}
    ranks = manifest.world_size or sum(map(len, manifest.node_ranks.values()))
    return Layout(
        manifest,
        known,
        manifest.nodes or _numbered_hosts(stems, manifest),
        _addressed(stems) or behind_numbers(stems) or _behind_words(stems) or _pods(stems),
        {} if any(known.node(stem) for stem in stems) else _numbered_ranks(stems, ranks),
        _machines(names),
        tasks_are_nodes=tasks == set(range(len(manifest.nodes))) and len(tasks) < ranks,
        behind_numbers=behind_numbers(_folders(names)),
        told=_told_together(names, manifest, known),
    )


def _told_together(names: Iterable[str], manifest: Manifest, known: Hosts) -> dict[str, tuple[str, int, bool]]:
    """Machine and number of each file whose name is made of both; of job.json's machines, where it has any."""
    stems = {name: _ENDING.sub("", strip(name)) for name in names if not _ATTEMPT.search(name)}
    told = speakers_in(set(stems.values()))
    nodes = {node: known.called(node) if manifest.nodes else node for node, *_ in told.values()}
    found = {name: told[stem] for name, stem in stems.items() if stem in told}
    return {
        name: (called, number, is_local)
        for name, (node, number, is_local) in found.items()
        if (called := nodes[node]) is not None
    }


def read_path(name: str, paths: Layout) -> Origin:
    """Who speaks in that file."""
    parts = PurePosixPath(strip(name)).parts
    folders, stem = parts[:-1], _stem(name)
    attempt = next((int(match[1]) for part in parts if (match := _ATTEMPT.fullmatch(part))), 0)
    if (told := paths.told.get(name)) is not None:
        return _of_process(*told)
    origin = Origin(attempt=attempt)
    for place, part in enumerate(folders):
        if pod := _POD_FOLDER.fullmatch(part):
            return _of_pod(pod["pod"], (*folders[place + 1 :], "")[0], stem, paths)
        if node := _folder_of(part, paths):
            origin = replace(origin, node=node)
        elif rank := _RANK_NAME.search(part):
            origin = replace(origin, rank=int(rank[1]))
    if "attempt_" in name and len(folders) >= 2 and folders[-1].isdigit():
        return replace(origin, local_rank=int(folders[-1]), program=Program.RANK)
    if glog := _GLOG_FILE.fullmatch(parts[-1]):
        origin = replace(origin, node=paths.known.node(glog["host"]) or glog["host"])
    return _read_stem(origin, stem, paths)


def _of_process(node: str, number: int, is_local: bool) -> Origin:  # noqa: FBT001 (as it is told)
    rank, local = (None, number) if is_local else (number, None)
    return Origin(node=node, rank=rank, local_rank=local, program=Program.RANK)


def strip(name: str) -> str:
    """The path without what says how the file is packed."""
    for suffix in _UNPACK:
        name = name.removesuffix(suffix)
    return name


def without_ending(file: str) -> tuple[str, str]:
    """The name of a file, and its ending with the dot, which is none in ``log.txt.rank1`` and ``gpu-5.lab``."""
    stem, dot, ending = file.rpartition(".")
    whole = not dot or _RANK_AT_END.search(file) or _DOMAIN.search(file)
    return (file, "") if whole else (stem, dot + ending)


def _stem(name: str) -> str:
    return without_ending(PurePosixPath(strip(name)).name)[0]


def _numbered_hosts(stems: Iterable[str], manifest: Manifest) -> tuple[str, ...]:
    """Hosts of files called ``<host>-<rank>``, ``<host>_r<rank>``: when their numbers are 0, 1, ... once each.

    None where one host had all of them and job.json tells of several, or it is called as a pod.
    """
    named = [match for stem in stems if (match := _NUMBERED_HOST.fullmatch(stem))]
    found = [match for match in named if match["marked"] or _HOST_WITH_NUMBER.fullmatch(match["host"])]
    ranks = sorted(int(match["rank"]) for match in found)
    hosts = tuple(match["host"] for match in found)
    of_one = hosts[0] if len(set(hosts)) == 1 else ""
    are_pods = bool(of_one) and (
        manifest.extra.get("num_nodes") == len(hosts) or _OF_PODS.fullmatch(of_one) is not None
    )
    return hosts if len(ranks) > 1 and ranks == list(range(len(ranks))) and not are_pods else ()


def _folders(names: Iterable[str]) -> set[str]:
    """The names of all folders but that of all logs."""
    return {part for name in names for part in PurePosixPath(strip(name)).parts[:-1]} - {"logs"}


def _numbered_ranks(stems: Iterable[str], ranks: int) -> dict[str, int]:
    """The ranks of files with one name and the numbers of all ranks, and no others like it.

    ``worker_0``, ``worker_1``, ...; ``20331_0``, which srun makes of ``--output=%j_%t.out``.
    """
    matches = {stem: match for stem in set(stems) if (match := _NUMBERED_FILE.fullmatch(stem))}
    for name in sorted({match[1] for match in matches.values()}):
        found = {stem: int(match[2]) for stem, match in matches.items() if match[1] == name}
        if ranks > 1 and sorted(found.values()) == list(range(ranks)):
            return found
    return {}


def _machines(names: Iterable[str]) -> frozenset[str]:
    """Folders side by side that differ in a number or a letter and hold no numbered parts of a run: pc-11, pc-12.

    And those within a folder that is called ``nodes``.
    """
    beside: dict[tuple[str, ...], set[str]] = {}
    for name in names:
        parts = PurePosixPath(strip(name)).parts[:-1]
        for place, part in enumerate(parts):
            if _MACHINE.fullmatch(part) and not _OF_A_RUN.match(part):
                beside.setdefault(parts[:place], set()).add(part)
    return frozenset(
        part
        for above, folders in beside.items()
        if _are_alike(folders) or (above and _OF_MACHINES.fullmatch(above[-1]))
        for part in folders
    )


def _are_alike(folders: set[str]) -> bool:
    """Whether names are made alike: with other numbers, or with another letter or two at the end."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(min(folders), max(folders), strict=False))
    shared = len(list(pairs))
    little = shared >= MIN_SHARED and all(len(folder) - shared <= MAX_OWN for folder in folders)
    return len(folders) > 1 and (little or len({re.sub(r"\d+", "#", folder) for folder in folders}) == 1)


def behind_numbers(words: Iterable[str]) -> dict[str, str]:
    """The machine of each ``worker-1.ip-10-0-0-7``; none unless each has its own."""
    words = set(words)
    found = {word: match[1] for word in words if (match := _NUMBERED_PROCESS.fullmatch(word))}
    return found if 1 < len(found) == len(words) == len(set(found.values())) else {}


def _addressed(stems: Iterable[str]) -> dict[str, str]:
    """The address of the machine that each of these is called after: ``train-10.8.4.15``; none of one address alone."""
    found = {stem: match["address"] for stem in stems if (match := _ADDRESSED.fullmatch(stem))}
    return found if len(set(found.values())) > 1 else {}


def _named_before(before: str, paths: Layout) -> str | None:
    """The node of ``gpu-03_rank5``: one that the manifest knows, or a name as nodes have."""
    if paths.manifest.nodes:
        return paths.known.node(before)
    return before if _NODE_NAME.fullmatch(before) else None


def _behind_words(stems: Iterable[str]) -> dict[str, str]:
    """The machine of each ``train-lambda-a``; none unless all files are called so, and their machines are alike."""
    stems = set(stems)
    found = {stem: match[1] for stem in stems if (match := _OF_MACHINE.fullmatch(stem))}
    machines = set(found.values())
    named = all(_MACHINE.fullmatch(machine) and not _OF_A_RUN.match(machine) for machine in machines)
    return found if stems and len(found) == len(stems) == len(machines) and named and _are_alike(machines) else {}


def _pods(stems: Iterable[str]) -> dict[str, str]:
    """Files that are called after pods of a controller, which ends their names at random; none of one alone."""
    found = {stem for stem in stems if _POD.fullmatch(stem)}
    return {stem: stem for stem in found} if len(found) > 1 else {}


def _folder_of(part: str, paths: Layout) -> str | None:
    """The node that a folder is called after."""
    if paths.manifest.nodes:
        return paths.known.called(part)
    if part == "logs" or not (part in paths.folders or _NODE_NAME.fullmatch(part)):
        return None
    return paths.behind_numbers.get(part, part)


def _of_pod(pod: str, container: str, stem: str, paths: Layout) -> Origin:
    """A container of a pod; its file is numbered by its restarts, as far as it was not rotated."""
    restarts = stem.partition(".")[0]
    node = paths.known.node(pod) or pod
    origin = Origin(node=node, attempt=int(restarts) if restarts.isdecimal() and len(restarts) < 5 else 0)
    if is_daemon(container.encode()):
        return replace(origin, program=Program.DAEMON)
    return trains(origin, paths.manifest)


def trains(origin: Origin, manifest: Manifest) -> Origin:
    """What trains on a node, a pod or a unit: its only rank, or the launcher of all of them."""
    ranks = manifest.node_ranks.get(origin.node or "", ())
    if len(ranks) == 1:
        return replace(origin, rank=ranks[0], program=Program.RANK)
    return replace(origin, program=Program.LAUNCHER)


def _read_stem(origin: Origin, stem: str, paths: Layout) -> Origin:
    hosts, nodes = paths.hosts, paths.manifest.nodes
    task, pod = _SUBMITIT.fullmatch(stem), _POD_FILE.fullmatch(stem)
    named_rank = _RANK_NAME.search(stem)
    rank = int(named_rank[1]) if named_rank else paths.ranks.get(stem)
    if pod:
        return _of_pod(pod["pod"], pod["container"], "", paths)
    if rank is not None:
        before = stem[: named_rank.start()] if named_rank else ""
        origin = replace(origin, rank=rank, node=origin.node or _named_before(before, paths))
    elif task and paths.tasks_are_nodes:
        return replace(origin, node=nodes[int(task["task"])], program=Program.LAUNCHER)
    elif task:
        origin = replace(origin, rank=int(task["task"]))
    elif stem not in hosts and (host := _NUMBERED_HOST.fullmatch(stem)) and host["host"] in hosts:
        origin = replace(origin, node=host["host"], rank=int(host["rank"]))
    elif origin.node is None and (named := paths.known.node(stem)):
        origin = replace(origin, node=named)
    elif origin.node is None and not nodes and (stem in paths.machines or _NODE_NAME.fullmatch(stem)):
        origin = replace(origin, node=paths.machines.get(stem, stem))
    local = _LOCAL_NAME.search(stem) if origin.rank is None and origin.node else None
    origin = replace(origin, local_rank=int(local[1])) if local else origin
    if origin.rank is not None or local:
        return replace(origin, program=Program.RANK)
    if origin.node is None:
        return origin
    return replace(origin, program=Program.LAUNCHER if LAUNCHER.search(stem) else Program.DAEMON)
