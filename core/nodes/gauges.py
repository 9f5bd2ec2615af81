"""What nodes measure of themselves beside the training: a number that left its level on one node when the job did.

A ping every two seconds, clocks of a card, a load, memory, retransmits: probes print them by the name of the number, on
every node alike. Of a job that became slow or hung, the one whose number changed with it is where to look, if that of
the others did not.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.events.row_text import read_rows
from core.events.table import rows_by
from core.facts import complains
from core.judge.ending import Ending
from core.naming import figure
from core.nodes.sign import Sign
from core.nodes.votes import of_each
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS, few_of

CHANGED = 0.6  # as sure as a vote: it tells who differs since then, not why
MIN_VALUES = 3  # on either side of the onset (as in core.course.level_shift)
TIMES = 3.0  # as much, or a third: load and clocks of healthy nodes move by less than twice when their job does
STEADY = 1.5  # times by which it may move on the others,
NEAR = 1 / 3  # or by a third, in octaves, of what it moved by there: small numbers are noisy
FLOOR = 0.1  # of the usual value: what is smaller is noise, and zero has no ratio
MAX_EVENTS = 64  # messages that are looked at, those said most often first
MIN_LETTERS = 4  # that messages begin with alike: a word, and what joins it to its number
MAX_ROWS = 64  # of each node, evenly spread
_NAMED = re.compile(r"\b([A-Za-z_][\w./%]{0,40})\s?[=:]\s?(-?\d{1,12}(?:\.\d{1,9})?)(?![\d:.])")
Level = tuple[float, float]  # medians before and after the onset


def gauge_signs(parsed: Parsed, ending: Ending) -> list[Sign]:
    """Signs for the few nodes of which a number changed with the pace of the job, while it did not elsewhere."""
    onset = onset_of(parsed, ending)
    nodes = parsed.table.nodes
    if onset is None or len(nodes) < MIN_RANKS or parsed.unit != "node":
        return []
    signs: dict[str, Sign] = {}
    for events in probe_messages(parsed):
        for name, levels in sorted(_levels(parsed, events, onset).items()):
            for node, (before, after) in _odd(levels, len(nodes)):
                went = f"went from {figure(before)} to {figure(after)} when the pace of the job changed"
                because = f"On {node} {name} {went}; not so elsewhere."
                check = f"Compare {node} with a healthy node in what {name} measures."
                says = f"its {name} changed when the job slowed down" if not ending.hung else f"its {name} changed"
                row = _first_since(parsed, events, node, onset, name, (before, after))
                event = int(parsed.table.event[row])
                signs.setdefault(
                    node, Sign(node, "gauge", CHANGED, because, event, says=says, check=check, rows=(row,))
                )
    return list(signs.values()) if len(signs) <= few_of(len(nodes)) else []


def onset_of(parsed: Parsed, ending: Ending) -> int | None:
    """When the job became slow or stopped making progress, in microseconds."""
    if ending.hung:
        return ending.progressed
    if ending.slow is None:
        return None
    course = parsed.iterations.course
    before = course.times[course.numbers < ending.slow.iteration]
    return int(before[-1]) if len(before) else None


def probe_messages(parsed: Parsed) -> list[tuple[int, ...]]:
    """Messages with numbers beside the progress that most nodes say often, and that complain of nothing.

    Those that begin alike are one: ``load1=18.0 top=python``, and ``load1=397.6 top=backup`` when another program runs.
    """
    table = parsed.table
    marks = set(np.unique(table.event[parsed.iterations.marks]).tolist())
    alike: dict[str, list[int]] = defaultdict(list)
    for event, template in enumerate(table.templates):
        if event not in marks and not template.block and "<NUM>" in template.sample and not complains(template.sample):
            begins = template.sample.partition("<NUM>")[0]
            alike[begins if len(begins) >= MIN_LETTERS else template.sample].append(event)
    heads = {tuple(events): int(table.heads[events].sum()) for events in alike.values()}
    found = [events for events, count in heads.items() if count >= 2 * MIN_VALUES * MIN_RANKS]
    return sorted(found, key=lambda events: (-heads[events], events))[:MAX_EVENTS]


def _levels(parsed: Parsed, events: Sequence[int], onset: int) -> dict[str, dict[str, Level]]:
    """Of each number by its name its levels on each node."""
    table = parsed.table
    found: dict[str, dict[str, Level]] = defaultdict(dict)
    rows = np.sort(np.concatenate(list(table.rows_of(events).values())))
    rows = rows[table.timed[rows] & (table.node[rows] >= 0)]
    for node, own in rows_by(table.node, rows):
        sides = [_spread(own[table.time[own] <= onset]), _spread(own[table.time[own] > onset])]
        if min(map(len, sides)) < MIN_VALUES:
            continue
        before, after = (dict(_medians(parsed, side)) for side in sides)
        for name in before.keys() & after.keys():
            found[name][table.nodes[node]] = before[name], after[name]
    return found


def _first_since(parsed: Parsed, events: Sequence[int], node: str, onset: int, name: str, level: Level) -> int:
    """The first row after the onset in which a node tells a number that is nearer to its level since then."""
    table = parsed.table
    rows = np.concatenate(list(table.rows_of(events).values()))
    rows = rows[table.timed[rows] & (table.node[rows] == table.nodes.index(node)) & (table.time[rows] > onset)]
    rows = rows[np.lexsort((rows, table.time[rows]))][:MAX_ROWS]
    texts = read_rows(parsed.files, table, np.sort(rows))
    for row in rows.tolist():
        values = [float(value) for called, value in _NAMED.findall(texts.get(row, "")) if called == name]
        if any(abs(value - level[1]) < abs(value - level[0]) for value in values):
            return int(row)
    return int(rows[0])


def _spread(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    places = np.unique(np.linspace(0, max(0, len(rows) - 1), MAX_ROWS).astype(np.intp))
    return np.asarray(rows[places] if len(rows) else rows, np.intp)


def _medians(parsed: Parsed, rows: NDArray[np.intp]) -> Iterator[tuple[str, float]]:
    values: dict[str, list[float]] = defaultdict(list)
    for _, text in sorted(read_rows(parsed.files, parsed.table, rows).items()):
        for name, value in _NAMED.findall(text):
            if not of_each(name):
                values[name].append(float(value))
    for name, many in sorted(values.items()):
        if len(many) >= MIN_VALUES:
            yield name, float(np.median(many))


def _odd(levels: Mapping[str, Level], nodes: int) -> list[tuple[str, Level]]:
    """The few nodes on which it changed by much more, or less, than on all others."""
    if len(levels) < max(MIN_RANKS, nodes * MAJORITY):
        return []
    floor = FLOOR * float(np.median([abs(before) for before, _ in levels.values()])) or 1e-9
    rose = {node: np.log(max(abs(after), floor) / max(abs(before), floor)) for node, (before, after) in levels.items()}
    middle = float(np.median(list(rose.values())))
    apart = {node: abs(value - middle) for node, value in rose.items()}
    odd = sorted(node for node, far in apart.items() if far >= np.log(TIMES))
    if not odd or len(odd) > few_of(len(levels)):
        return []
    near = max(NEAR * min(apart[node] for node in odd), np.log(STEADY))
    return (
        [(node, levels[node]) for node in odd] if all(apart[node] <= near for node in apart if node not in odd) else []
    )
