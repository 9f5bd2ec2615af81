"""What was read file by file, joined into one table."""

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
