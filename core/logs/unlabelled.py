"""Who wrote the lines that nobody labelled, by what stands beside them: in the same file, or in one called alike."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.job import Manifest
from core.logs.paths import strip, trains
from core.logs.prefixes import PrefixLabels
from core.logs.voices import Origin, Program, Voice

_STREAM = re.compile(r"(?<![A-Za-z])(?:std)?(?:out|err)(?![A-Za-z])")
_PROCESS = re.compile(r"(?P<letters>[A-Za-z]{1,4})[-_]?(?P<number>\d{1,6})")
MIN_STEMS = 2  # of one alone the other file may be of all machines
MIN_FILES = 3  # of two that differ, one may be of all machines


def shape_of(file: str) -> str:
    """What files have in common that are called alike but for numbers."""
    return re.sub(r"\d+", "#", strip(file))


def with_the_unlabelled(
    voices: Sequence[Voice], labels: Sequence[PrefixLabels], seen: Sequence[Origin], manifest: Manifest
) -> list[Origin]:
    """When all that is labelled in a file names one rank or node, that also wrote what its wrapper says nothing of.

    Of files that are called alike, and one of which has lines of several ranks, each is of a node and of no rank.
    """
    named: dict[str, list[Origin]] = defaultdict(list)
    for voice, label, origin in zip(voices, labels, seen, strict=True):
        if label.wrapped and (label.host or label.rank is not None) and origin.program is not Program.DAEMON:
            named[voice.file].append(origin)
    nodes = _of_a_node_each(named, manifest)
    sole = {file: one for file, origins in named.items() if (one := _same(origins)) is not None} | nodes
    hosts = {file: one for file, one in _one_host_each(voices, labels, seen).items() if file not in sole}
    own = sole or hosts
    return [
        _like(origin, own[voice.file])
        if voice.file in own and not label.names_somebody
        else replace(origin, node=hosts[voice.file].node)
        if voice.file in hosts and origin.node is None
        else origin
        for voice, label, origin in zip(voices, labels, seen, strict=True)
    ]


def _of_a_node_each(named: Mapping[str, Sequence[Origin]], manifest: Manifest) -> dict[str, Origin]:
    """Files called alike that are of a node each, by the ranks in them, where one has several ranks.

    Args:
        named: what labels tell in each file.
    """
    homes = manifest.node_of_rank
    alike: dict[str, dict[str, str]] = defaultdict(dict)
    several = set()
    for file, origins in named.items():
        nodes = {origin.node or homes.get(-1 if origin.rank is None else origin.rank) for origin in origins}
        if len(nodes) == 1 and (node := nodes.pop()) is not None:
            alike[shape_of(file)][file] = node
        if len({origin.rank for origin in origins} - {None}) > 1:
            several.add(shape_of(file))
    return {
        file: trains(Origin(node), manifest)
        for shape, of_file in alike.items()
        if shape in several and len(set(of_file.values())) == len(of_file) > 1
        for file, node in of_file.items()
    }


def beside_their_stem(voices: Sequence[Voice], labels: Sequence[PrefixLabels], seen: Sequence[Origin]) -> list[Origin]:
    """Files called alike, but for ending or stream, are of one speaker: w0.err and w0.jsonl, stderr.3 and stdout.3.

    What daemons say in a journal is theirs, whoever else speaks in it.
    """
    of_stem: dict[str, dict[tuple[str | None, int | None], Origin]] = defaultdict(dict)
    for voice, origin in zip(voices, seen, strict=True):
        if (origin.node or origin.rank is not None) and origin.program is not Program.DAEMON:
            for stem in _stems(voice):
                of_stem[stem][origin.node, origin.rank] = origin
    sole = {stem: next(iter(found.values())) for stem, found in of_stem.items() if len(found) == 1}
    nodes = {stem: {node for node, _ in found} for stem, found in of_stem.items() if stem not in sole}
    sole |= {stem: Origin(own.pop(), program=Program.LAUNCHER) for stem, own in nodes.items() if len(own) == 1}
    if len({(origin.node, origin.rank) for origin in sole.values()}) < MIN_STEMS:
        return list(seen)
    beside = [next((sole[stem] for stem in _stems(voice) if stem in sole), None) for voice in voices]
    parents = {
        voice.file for voice, item in zip(voices, seen, strict=True) if (item.rank, item.local_rank) != (None, None)
    }
    return [
        _like(origin, item)
        if item is not None and origin.node in (None, item.node) and not (voice.file in parents or label.is_daemon)
        else origin
        for voice, label, origin, item in zip(voices, labels, seen, beside, strict=True)
    ]


def _stems(voice: Voice) -> tuple[str, str]:
    """What a file has in common with the others of its speaker: all but its ending, or all but its stream."""
    name = strip(voice.file)
    return name.rpartition(".")[0], _STREAM.sub("*", name)


def _one_host_each(
    voices: Sequence[Voice], labels: Sequence[PrefixLabels], seen: Sequence[Origin]
) -> dict[str, Origin]:
    """Who wrote each file, where programs put their machine before their lines, and each file has its own machine."""
    hosts: dict[str, dict[str, Origin]] = defaultdict(dict)
    for voice, label, origin in zip(voices, labels, seen, strict=True):
        if label.host and origin.node and origin.program is not Program.DAEMON:
            hosts[voice.file][origin.node] = origin
    alone = {file: next(iter(named.values())) for file, named in hosts.items() if len(named) == 1}
    nodes = {origin.node for origin in alone.values()}
    return alone if len(alone) == len(hosts) == len(nodes) >= MIN_FILES else {}


def _same(origins: Sequence[Origin]) -> Origin | None:
    """The one that all of them are, as far as each tells; None when two differ."""
    nodes, ranks = ({getattr(origin, name) for origin in origins} - {None} for name in ("node", "rank"))
    if len(nodes) > 1 or len(ranks) > 1:
        return None
    return max(origins, key=lambda origin: (origin.node is not None) + (origin.rank is not None))


def _like(origin: Origin, sole: Origin) -> Origin:
    if origin.node and sole.node and origin.node != sole.node:
        return origin
    return replace(
        origin, node=origin.node or sole.node, rank=sole.rank, local_rank=sole.local_rank, program=sole.program
    )


def with_numbered_processes(
    voices: Sequence[Voice], labels: Sequence[PrefixLabels], of_paths: Sequence[Origin]
) -> list[PrefixLabels]:
    """Labels as ranks that look like machines: g0 to g11, all numbers once, several in each file of a machine.

    ``[g4]`` in gpu-7.log is a process of gpu-7, whatever a program calls them.
    """
    files: dict[str, set[str]] = defaultdict(set)
    for voice, label, path in zip(voices, labels, of_paths, strict=True):
        if label.host and path.node and label.host != path.node:
            files[label.host].add(voice.file)
    found = {host: match for host in files if (match := _PROCESS.fullmatch(host)) is not None}
    numbers = sorted(int(match["number"]) for match in found.values())
    homes = {file for of_host in files.values() for file in of_host}
    alike = len({match["letters"] for match in found.values()}) == 1
    once = all(len(of_host) == 1 for of_host in files.values())
    if not alike or len(found) < len(files) or not once or len(homes) < MIN_STEMS or len(files) <= len(homes):
        return list(labels)
    if len(set(numbers)) < len(numbers):
        return list(labels)
    return _as_numbers(labels, found, are_local=False)


def _as_numbers(
    labels: Sequence[PrefixLabels], found: Mapping[str, re.Match[str]], *, are_local: bool
) -> list[PrefixLabels]:
    """The names that were found as the numbers in them, where nothing else tells that number."""
    numbers = {host: int(match["number"]) for host, match in found.items()}
    return [_as_number(label, numbers.get(label.host or ""), are_local=are_local) for label in labels]


def _as_number(label: PrefixLabels, number: int | None, *, are_local: bool) -> PrefixLabels:
    if number is None:
        return label
    if are_local:
        return replace(label, host=None, local=number if label.local is None else label.local)
    return replace(label, host=None, rank=number if label.rank is None else label.rank)


def with_processes_of_each(
    voices: Sequence[Voice], labels: Sequence[PrefixLabels], of_paths: Sequence[Origin]
) -> list[PrefixLabels]:
    """Labels as processes of a machine that look like machines: g0 to g3, the same from 0 on in the file of each."""
    named: dict[str, set[str]] = defaultdict(set)
    homes: set[str] = set()
    for voice, label, path in zip(voices, labels, of_paths, strict=True):
        if label.host and path.node and label.host != path.node:
            named[voice.file].add(label.host)
            homes.add(path.node)
    found = {host: match for host in set().union(*named.values()) if (match := _PROCESS.fullmatch(host)) is not None}
    numbers = sorted(int(match["number"]) for match in found.values())
    alike = len({match["letters"] for match in found.values()}) == 1 and numbers == list(range(len(numbers)))
    if not alike or len(homes) < MIN_STEMS or any(own != set(found) for own in named.values()):
        return list(labels)
    return _as_numbers(labels, found, are_local=True)


def without_foreign_ranks(
    labels: Sequence[PrefixLabels], of_paths: Sequence[Origin], manifest: Manifest
) -> list[PrefixLabels]:
    """Labels without numbers that are no ranks: of most, job.json has that rank on another node than their speaker's.

    ``d=1`` of the second machine may be its place in a mesh.
    """
    homes = manifest.node_of_rank
    told = {
        (label.rank, node)
        for label, path in zip(labels, of_paths, strict=True)
        if label.rank is not None and label.rank in homes and not label.tagged
        for node in (label.host or path.node,)
        if node in manifest.node_ranks
    }
    if 2 * sum(homes[rank] != node for rank, node in told) <= len(told):
        return list(labels)
    return [label if label.tagged else replace(label, rank=None) for label in labels]
