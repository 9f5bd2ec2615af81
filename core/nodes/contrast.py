"""Presence and absence: what one node says that no other does, and what it alone does not say.

For each event the nodes of a cohort are in two groups, those that said it and those that did not; being in the smaller
group is a surprise of -log2(its share) bits. Excess counts only what good jobs never say; absence only what most peers
say. Closed form, no seed, no order. Known failure messages are left out: their own channels weigh those.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.baseline import Normal
from core.events.table import EventTable, rows_by
from core.nodes.sign import Sign, short

WEIGHT = 0.3  # a hint: differing is no fault; alone it accuses nobody, with silence or peers' blame it settles them
MIN_NODES = 3  # of two nodes each differs from the other
MIN_BITS = 3.0  # surprise of one of eight nodes, or of two kinds of lines of one of three
HALF = 0.5  # of the nodes: the smaller side is the odd one
LEAD = 2.0  # the most surprising node must have twice the bits of the next one


def contrast_signs(
    table: EventTable, usual: Normal | None, nodes: Sequence[str], telling: Collection[int]
) -> list[Sign]:
    """The node that differs most from its peers, if one stands out.

    Args:
        nodes: that do the same work.
        telling: events that point to a failure by themselves, and do not count here.
    """
    if len(nodes) < MIN_NODES or len(table.nodes) < MIN_NODES:
        return []
    bits = np.zeros(len(table.nodes))
    reasons: dict[int, list[tuple[float, str]]] = defaultdict(list)
    wanted = set(nodes)
    compared = [place for place, name in enumerate(table.nodes) if name in wanted]
    for cohort, (events, speakers) in _said_by_cohort(table).items():
        is_compared = np.isin(speakers, compared)
        event_of, node_of = events[is_compared], speakers[is_compared]
        present = np.unique(node_of)
        if len(present) < MIN_NODES:
            continue
        for event, places in rows_by(event_of, np.arange(len(event_of))):
            template, saying = table.templates[event], node_of[places]
            if event in telling or (usual is not None and _is_usual(usual, cohort, template.id)):
                continue
            share = len(saying) / len(present)
            few, rare = (saying, share) if share <= HALF else (np.setdiff1d(present, saying), 1 - share)
            reason = f"it {'says' if share <= HALF else 'never says'} \u201c{short(template.sample)}\u201d"
            for node in few.tolist():
                bits[node] -= np.log2(rare)
                reasons[node].append((rare, reason))
    return _outstanding(bits, reasons, table.nodes)


def _said_by_cohort(table: EventTable) -> Mapping[str, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """For each cohort its events and the nodes (places) that said them, each pair once, sorted.

    Without cohorts that one node alone can have.
    """
    cohorts: dict[str, int] = {}
    of_voice = np.array(
        [
            -1
            if not origin.node or origin.cohort.endswith(("|first", "|last"))
            else cohorts.setdefault(origin.cohort, len(cohorts))
            for origin in table.origins
        ],
        np.int64,
    )
    cohort, event = of_voice[table.counts.voice], table.counts.event.astype(np.int64)
    node, nodes = table.node_of_voice[table.counts.voice].astype(np.int64), max(1, len(table.nodes))
    names = list(cohorts)
    return {
        names[place]: np.divmod(np.unique(event[mine] * nodes + node[mine]), nodes)
        for place, mine in rows_by(cohort, np.flatnonzero(cohort >= 0))
    }


def _is_usual(usual: Normal, cohort: str, event: str) -> bool:
    """Whether good jobs say it too; what everybody in that place always says counts, by absence."""
    known = usual.most.get((cohort, event), 0) > 0 or usual.anywhere.get(event, 0) > 0
    return known and event not in usual.always.get(cohort, frozenset())


def _outstanding(
    bits: NDArray[np.float64], reasons: Mapping[int, list[tuple[float, str]]], names: Sequence[str]
) -> list[Sign]:
    order = np.argsort(-bits, kind="stable")
    top, second = int(order[0]), int(order[1])
    if bits[top] < MIN_BITS or bits[top] < LEAD * bits[second]:
        return []
    sentences = [text for _, text in sorted(reasons[top])]
    more = f" and {len(sentences) - 1} more such difference{'s' * (len(sentences) > 2)}" if len(sentences) > 1 else ""
    because = f"{names[top]} differs most from its peers in what it logs: {sentences[0]}{more}."
    return [Sign(names[top], "contrast", WEIGHT, because)]
