"""Numbers that name a node: error counters of its daemon, and how far its ranks came in collectives.

Sequences do not change when a cable is bad, counters do (docs/explain/method.md, "Temporal"). In collectives, who is
behind its group's maximum is the one that the others wait for; when all are equal nobody is.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from core.events.row_text import read_rows
from core.events.table import rows_by
from core.nodes.sign import Sign
from core.parsed import Parsed
from core.readings import collectives_of, counters_of, may_complete, may_count
from core.shares import MIN_RANKS, few_of

COUNTER = 0.35  # a hint: counters rise on victims too, less
BEHIND_GROUP = 0.5
NEVER_BEGAN = (
    0.65  # as who most others blame (core.nodes.spatial): each of them tells that it is in the same collective
)
MIN_RATIO = 3.0  # times the most of any other node; healthy lab nodes differ by less than two
MIN_RISE = 50  # events; below, a node's start-up noise decides
MAX_ROWS = 400  # readings of one node and event: counters only grow, so the last ones do


def counter_signs(parsed: Parsed) -> list[Sign]:
    """The node whose error counter rose far beyond that of any other."""
    signs = []
    for name, by_node in sorted(_readings(parsed).items()):
        ordered = sorted(by_node.items(), key=lambda entry: (-entry[1], entry[0]))
        if len(ordered) < MIN_RANKS:
            continue
        (node, most), (_, second) = ordered[0], ordered[1]
        if most >= MIN_RATIO * max(second, 1) and most - second >= MIN_RISE:
            because = f"On {node} {name} rose to {most:,}; on the other nodes to {second:,} at most."
            signs.append(Sign(node, "counter", COUNTER, because))
    return signs


def collective_signs(parsed: Parsed, node_of_rank: Mapping[int, str]) -> list[Sign]:
    """Ranks that the others of their process group wait for: who completed fewer collectives, or began no further one.

    Each group counts its own collectives, so that only ranks of one group are compared.
    """
    told: dict[str, dict[int, tuple[int, int]]] = {}
    for row, text in _texts(parsed, may_complete):
        found, rank = collectives_of(text), int(parsed.table.rank[row])
        if found is not None and rank >= 0:
            of_group = told.setdefault(found.group, {})
            completed, enqueued = of_group.get(rank, (0, 0))
            of_group[rank] = (max(completed, found.completed), max(enqueued, found.enqueued))
    waited_for: dict[int, tuple[float, str]] = {}
    for _, of_group in sorted(told.items()):
        for rank, reason in _waited_for(of_group).items():
            waited_for.setdefault(rank, reason)
    return [
        Sign(node_of_rank[rank], "collective", weight, because, says=_BEHIND, ranks=(rank,))
        for rank, (weight, because) in sorted(waited_for.items())
        if rank in node_of_rank
    ]


_BEHIND = "a process there never came to the collective that the others waited in"


def _waited_for(told: Mapping[int, tuple[int, int]]) -> dict[int, tuple[float, str]]:
    """How sure it is that the others of a group wait for a rank, and why; completed and begun collectives are given."""
    if len(told) < MIN_RANKS:
        return {}
    most = max(completed for completed, _ in told.values())
    behind = {rank: completed for rank, (completed, _) in told.items() if completed < most}
    if behind:
        found = {
            rank: (BEHIND_GROUP, f"rank {rank} completed collective {own:,}; the others reached {most:,}.")
            for rank, own in behind.items()
        }
    else:
        idle = [rank for rank, (completed, enqueued) in told.items() if enqueued == completed]
        weight = NEVER_BEGAN if len(idle) <= few_of(len(told)) else BEHIND_GROUP
        others = f"{len(told) - len(idle)} others waited"
        found = {
            rank: (weight, f"rank {rank} began no collective after {most:,}; {others} in the next.") for rank in idle
        }
    return found if len(found) * 2 <= len(told) else {}


def _readings(parsed: Parsed) -> Mapping[str, Mapping[str, int]]:
    """Highest reading of each counter on each node."""
    table = parsed.table
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for row, text in _texts(parsed, may_count):
        if table.node[row] >= 0:
            node = table.nodes[table.node[row]]
            for name, value in counters_of(text):
                found[name][node] = max(found[name].get(node, 0), value)
    return found


def _texts(parsed: Parsed, wanted: Callable[[str], bool]) -> Iterator[tuple[int, str]]:
    """Raw text of the last rows of each speaker whose messages may hold what is wanted."""
    table = parsed.table
    events = [event for event, template in enumerate(table.templates) if wanted(template.sample)]
    rows = np.sort(np.concatenate([np.zeros(0, np.intp), *table.rows_of(events).values()]))
    chosen = [of_voice[-MAX_ROWS:] for _, of_voice in rows_by(table.voice, rows)]
    yield from sorted(read_rows(parsed.files, table, np.concatenate(chosen)).items()) if chosen else ()
