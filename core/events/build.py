"""What was read file by file, joined into one table."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.events.table import EventTable
from core.events.tallies import Texts
from core.events.template import Template
from core.logs.file_rows import FileRows
from core.logs.voices import Origin, Program, rank_called


def build(
    scans: Sequence[FileRows],
    texts: Texts,
    origins: Mapping[tuple[str, bytes], Origin],
    templates: Mapping[str, Template],
) -> EventTable:
    """Join what was read and parsed file by file into one table."""
    events: dict[Template, int] = {}
    event_of = np.array([events.setdefault(templates[text], len(events)) for text in texts.all], np.uint32)
    return EventTable(
        scans=tuple(scans),
        origins=tuple(origins[scan.name, prefix] for scan in scans for prefix in scan.prefixes),
        templates=tuple(events),
        texts=texts.of_file,
        event_of=event_of,
    )


def with_homes(table: EventTable, homes: Mapping[str, str]) -> EventTable:
    """The table with the nodes of ranks or tasks, by what these are called."""
    called = [
        origin.node if origin.rank is None else origin.node or rank_called(origin.rank) for origin in table.origins
    ]
    origins = [
        origin if name is None else replace(origin, node=homes.get(name, origin.node))
        for origin, name in zip(table.origins, called, strict=True)
    ]
    return replace(table, origins=tuple(origins))


def with_ranks_as_nodes(table: EventTable) -> EventTable:
    """The table with each rank standing for itself, so that ranks are compared where nobody names a node."""
    origins = [
        replace(origin, node=rank_called(origin.rank)) if origin.rank is not None else origin
        for origin in table.origins
    ]
    return replace(table, origins=tuple(origins))


def with_nodes_as_ranks(table: EventTable) -> EventTable:
    """The table with a number for each node in place of a rank, so that nodes are compared where nobody tells ranks."""
    trains = [origin.node is not None and origin.program is not Program.DAEMON for origin in table.origins]
    chosen = trains if any(trains) else [origin.node is not None for origin in table.origins]
    places = {node: place for place, node in enumerate(table.nodes)}
    origins = [
        replace(origin, rank=places[origin.node], program=Program.RANK) if mine and origin.node else origin
        for origin, mine in zip(table.origins, chosen, strict=True)
    ]
    return replace(table, origins=tuple(origins), ranks_are_nodes=True)


PAIR = 2  # processes of a node: of one, the node itself is compared

# What Ray's driver puts before lines of a process on another machine: "(RayTrainWorker pid=4100, ip=10.20.1.5) "
_ACTOR = re.compile(rb"\((?P<actor>\w{1,64}) pid=(?P<pid>\d{1,10}), ip=")


def with_actors_as_ranks(table: EventTable, ranks: Mapping[str, Sequence[int]]) -> EventTable | None:
    """The table with a rank of its node for each of Ray's actors, so that they are compared where nobody tells ranks.

    Which of its node's ranks an actor has is not known: they are numbered by their process. None where a node has
    another number of actors of one class than of ranks; where nobody tells ranks, all have to have as many.
    """
    actors: dict[tuple[bytes, str], dict[int, list[int]]] = {}  # class and node: process: voices
    for voice, origin in enumerate(table.origins):
        match = _ACTOR.search(table.prefix_of(voice))
        if match is not None and origin.node:
            of_node = actors.setdefault((match["actor"], origin.node), {})
            of_node.setdefault(int(match["pid"]), []).append(voice)
    for actor in sorted({actor for actor, _ in actors}):
        counts = {node: len(pids) for (name, node), pids in actors.items() if name == actor}
        ranks = ranks or _in_blocks(counts)
        if counts == {node: len(own) for node, own in ranks.items()}:
            number = {
                voice: ranks[node][place]
                for (name, node), pids in actors.items()
                if name == actor
                for place, pid in enumerate(sorted(pids))
                for voice in pids[pid]
            }
            origins = [
                replace(origin, rank=number[voice], program=Program.RANK) if voice in number else origin
                for voice, origin in enumerate(table.origins)
            ]
            return replace(table, origins=tuple(origins), ranks_are_nodes=True)
    return None


def with_processes_as_ranks(table: EventTable) -> EventTable | None:
    """The table with a number for each process of a node, so that they are compared where nobody tells ranks.

    None where nodes have other numbers of processes, or one each.
    """
    processes: dict[str, set[int]] = {}
    for origin in table.origins:
        if origin.node and origin.local_rank is not None:
            processes.setdefault(origin.node, set()).add(origin.local_rank)
    ranks = _in_blocks({node: len(own) for node, own in processes.items()})
    if any(len(own) < PAIR or processes[node] != set(range(len(own))) for node, own in ranks.items()) or not ranks:
        return None
    origins = [
        replace(origin, rank=ranks[origin.node][origin.local_rank], program=Program.RANK)
        if origin.node and origin.local_rank is not None
        else origin
        for origin in table.origins
    ]
    return replace(table, origins=tuple(origins), ranks_are_nodes=True)


def _in_blocks(counts: Mapping[str, int]) -> Mapping[str, Sequence[int]]:
    """Numbers for processes, node by node, where each has as many; none of one node alone."""
    each = set(counts.values())
    if len(counts) < 2 or len(each) != 1:
        return {}
    size = each.pop()
    return {node: range(place * size, (place + 1) * size) for place, node in enumerate(sorted(counts))}
