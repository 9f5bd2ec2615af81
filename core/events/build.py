"""What was read file by file, joined into one table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.events.table import EventTable
from core.events.tallies import Texts
from core.events.template import Template
from core.logs.rows import FileRows
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
    called = [one.node if one.rank is None else one.node or rank_called(one.rank) for one in table.origins]
    origins = [
        one if name is None else replace(one, node=homes.get(name, one.node))
        for one, name in zip(table.origins, called, strict=True)
    ]
    return replace(table, origins=tuple(origins))


def with_ranks_as_nodes(table: EventTable) -> EventTable:
    """The table with each rank standing for itself, so that ranks are compared where nobody names a node."""
    origins = [replace(one, node=rank_called(one.rank)) if one.rank is not None else one for one in table.origins]
    return replace(table, origins=tuple(origins))


def with_nodes_as_ranks(table: EventTable) -> EventTable:
    """The table with a number for each node in place of a rank, so that nodes are compared where nobody tells ranks."""
    trains = [one.node is not None and one.program is not Program.DAEMON for one in table.origins]
    chosen = trains if any(trains) else [one.node is not None for one in table.origins]
    places = {node: place for place, node in enumerate(table.nodes)}
    origins = [
        replace(one, rank=places[one.node], program=Program.RANK) if mine and one.node else one
        for one, mine in zip(table.origins, chosen, strict=True)
    ]
    return replace(table, origins=tuple(origins), ranks_are_nodes=True)
