"""What the names of files beside each other tell: a machine, and the process of it that wrote each.

``ix-044_gpu0.csv``, ``out.tulip.0``: in all of them a name stands before a number, which counts the processes of each
machine, or those of the job.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath

from core.logs.paths import strip
from core.logs.voices import FileSpeaker
from core.shares import MIN_RANKS

MIN_HOSTS = 2  # of one alone the name may be of all machines
_NUMBER = re.compile(
    r"(?:[gnh]pu|cuda|dev(?:ice)?|p|proc|r|rank|w|worker|local)?[-_]?(?P<number>\d{1,4})", re.IGNORECASE
)
_JOINED = re.compile(r"(?P<host>[A-Za-z][A-Za-z0-9-]{0,62}?)-(?P<number>\d{1,5})")
_NAME = re.compile(r"(?=[\w-]*[A-Za-z])[A-Za-z0-9][A-Za-z0-9-]{1,62}")
# What a run, a program or a stream has several of: no machine is called so
_PART = re.compile(
    r"(?:std)?(?:out|err)(?:put)?|logs?|train\w*|val\w*|eval\w*|test|main|run|attempt|epoch|step|stage|phase|part|job"
    r"|shard|trial|fold|rank|local|proc(?:ess)?|task|worker|node|console|debug|info|error|data|metrics?|events?|loss"
    r"|actor|learner|server|client|ps|chief|encoder|decoder|model|layer|expert|gpu|npu|cuda|device",
    re.IGNORECASE,
)


def by_host_and_number(names: Iterable[str]) -> dict[str, FileSpeaker]:
    """The machine of each file, and its rank where the numbers count those of the whole job."""
    beside: dict[tuple[str, str, int], list[str]] = defaultdict(list)
    for name in names:
        path = PurePosixPath(strip(name))
        beside[str(path.parent), path.suffix if not path.suffix[1:].isdigit() else "", len(_parts(name))].append(name)
    found: dict[str, FileSpeaker] = {}
    for group in beside.values():
        found |= _of_group(sorted(group)) or _joined(sorted(group))
    return found


def called_after(names: Iterable[str], machines: Collection[str]) -> dict[str, str]:
    """The machine of each file whose name ends with that of one of several: ``nemotron_916478_cw-dgx-013.out``.

    Only of files that are called alike but for it.
    """
    groups: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for name in sorted(names):
        path = PurePosixPath(strip(name))
        before, sign, last = path.stem.rpartition("_")
        if sign and last in machines:
            groups[str(path.parent), before][name] = last
    alike = (of for of in groups.values() if len(set(of.values())) == len(of) >= MIN_HOSTS)
    return {name: machine for of in alike for name, machine in of.items()}


def _joined(group: list[str]) -> dict[str, FileSpeaker]:
    """Of files called ``bee-0``, ``bee-1``, ``cat-2``, ``cat-3``: the numbers go on from machine to machine.

    Machines have numbers of their own as well: then they begin anew, or each name has one.
    """
    stems = [_JOINED.fullmatch(".".join(_parts(name))) for name in group]
    named = sorted((int(stem["number"]), stem["host"], name) for stem, name in zip(stems, group, strict=True) if stem)
    hosts = [host for _, host, _ in named]
    each = len(hosts) // max(1, len(set(hosts)))
    in_order = hosts == [host for host in dict.fromkeys(hosts) for _ in range(each)]
    if len(named) < len(group) or [number for number, *_ in named] != list(range(len(named))):
        return {}
    if each < 2 or not in_order or len(set(hosts)) < MIN_HOSTS or any(_PART.match(host) for host in hosts):
        return {}
    return {name: FileSpeaker(host, rank) for rank, host, name in named}


def _parts(name: str) -> list[str]:
    """The parts of a file's name: ``out.tulip.0`` has three."""
    path = PurePosixPath(strip(name))
    stem = path.name if path.suffix[1:].isdigit() else path.stem
    return re.split(r"[._]", stem)


def _of_group(group: list[str]) -> dict[str, FileSpeaker]:
    columns = [column for column in zip(*map(_parts, group), strict=True) if len(set(column)) > 1]
    if len(columns) != 2 or len(group) < MIN_RANKS:
        return {}
    hosts, numbers = columns[0], [_NUMBER.fullmatch(part) for part in columns[1]]
    if not all(_NAME.fullmatch(host) and not _PART.match(host) for host in hosts):
        return {}
    counted = [int(number["number"]) for number in numbers if number is not None]
    own: dict[str, list[int]] = defaultdict(list)
    for host, number in zip(hosts, counted, strict=False):
        own[host].append(number)
    of_job = sorted(counted) == list(range(len(group)))
    of_each = all(sorted(numbers) == list(range(len(numbers))) for numbers in own.values())
    if len(counted) < len(group) or len(own) < MIN_HOSTS or not (of_job or (of_each and len(group) > len(own))):
        return {}
    ranks = counted if of_job else [None] * len(group)
    return {name: FileSpeaker(host, rank) for name, host, rank in zip(group, hosts, ranks, strict=True)}


def nodes_by_likeness(files: Mapping[int, str], known: Mapping[int, str]) -> dict[int, str]:
    """The machine of files that are called as others are after theirs: gpu-9.log beside gpu-7.log and gpu-8.log.

    Args:
        files: names by place. known: the only machine of files of which it is known, by place.
    """
    patterns = {_split(files[place], node) for place, node in known.items() if node in files[place]}
    if len(patterns) != 1 or len(known) < MIN_HOSTS:
        return {}
    (before, behind, shape) = patterns.pop()
    found = {}
    for place, name in files.items():
        middle = name[len(before) : len(name) - len(behind)]
        fits = name.startswith(before) and name.endswith(behind) and re.sub(r"\d+", "#", middle) == shape
        if place not in known and fits:
            found[place] = middle
    return found if len(set(found.values()) | set(known.values())) == len(found) + len(known) else {}


def _split(name: str, node: str) -> tuple[str, str, str]:
    before, _, behind = name.partition(node)
    return before, behind, re.sub(r"\d+", "#", node)
