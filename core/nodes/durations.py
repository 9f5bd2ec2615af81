"""What takes one rank far longer than the others: by messages that tell how long something took, or by their clocks.

``checkpoint shard of step 25: 747 kB in 25.5 s`` on one rank, and ``in 0.0 s`` on all others: the steps between are as
fast as ever, and yet the job spends its time on waiting for that rank. So it does between ``saving`` and ``saved``.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from core.events.table import EventTable
from core.judge.ranks import MAJORITY
from core.nodes.sign import Sign, short
from core.nodes.slow import FEW, MIN_RANKS, OWN_PART, SHARE
from core.nodes.spans import find_spans, without_head
from core.parsing.parsed import Parsed
from core.text import read_rows

LONGER = (
    4.0  # times as long as on the others: disks and caches of healthy nodes differ by less than three (docs/LOG.md)
)
MAX_EVENTS = 64  # messages that are looked at, those said least often first: steps are compared by core.nodes.slow
MAX_ROWS = 256  # of each message, evenly spread
SECOND = 1_000_000  # microseconds
_TIMED = re.compile(r"<NUM> ?(?:ms|s|sec|secs|seconds)\b")
_TOOK = re.compile(r"(?<![\w.])(?P<number>\d+(?:\.\d+)?) ?(?P<unit>ms|s|sec|secs|seconds)\b")


def duration_signs(parsed: Parsed, home: Mapping[int, str]) -> list[Sign]:
    """Signs for the nodes of the few ranks that most of the job's time was spent on waiting for.

    Args:
        home: node of each rank.
    """
    table, course = parsed.table, parsed.iterations.course
    if len(home) < MIN_RANKS or len(course) < MIN_RANKS:
        return []
    whole = float(course.times[-1] - course.times[0]) / SECOND
    marks = set(np.unique(table.event[parsed.iterations.marks]).tolist())
    events = [event for event in _timed(table) if event not in marks]
    signs = []
    for event, rows in sorted(table.rows_of(events).items()):
        told = _took(parsed, rows[np.unique(np.linspace(0, len(rows) - 1, MAX_ROWS).astype(np.intp))], home)
        text = short(table.templates[event].sample, 60)
        signs += _signs(parsed, f"\u201c{text}\u201d took", told, whole, home)
    for span in find_spans(parsed):
        took = {rank: values for rank, values in span.took.items() if rank in home}
        begins, ends = (short(without_head(text), 60) for text in (span.begins, span.ends))
        signs += _signs(parsed, f"From \u201c{begins}\u201d to \u201c{ends}\u201d took", took, whole, home)
    return signs


def _signs(
    parsed: Parsed, what: str, took: Mapping[int, Sequence[float]], whole: float, home: Mapping[int, str]
) -> list[Sign]:
    """Signs for the nodes of the few ranks that it took much longer, if that is a good part of what the job ran."""
    if len(took) <= len(home) * MAJORITY or len(took) < MIN_RANKS:
        return []
    middle = {rank: float(np.median(values)) for rank, values in took.items()}
    usual = float(np.median(list(middle.values())))
    longer = LONGER * max(usual, 0.01)
    odd = [rank for rank, value in middle.items() if value > longer]
    if odd == [min(home)] and min(took[odd[0]]) > longer:
        return []  # the first rank does more than the others all along: it writes for all of them
    if not odd or len(odd) > max(1, len(took) * FEW):
        return []
    lost = max(sum(value - usual for value in took[rank]) for rank in odd)
    if lost < SHARE * whole:
        return []
    signs = []
    for node in sorted({home[rank] for rank in odd}):
        own = [rank for rank in odd if home[rank] == node]
        because = (
            f"{what} {parsed.table.called(own, node)} {middle[own[0]]:.3g} s each time, the others"
            f" {usual:.3g} s: {lost:.0f} s of {whole:.0f} s that the job ran."
        )
        check = f"Compare {node} with a healthy node: storage, network, load."
        says = "the others waited for it again and again"
        signs.append(Sign(node, "own part", OWN_PART, because, says=says, check=check, ranks=tuple(own)))
    return signs


def _timed(table: EventTable) -> list[int]:
    """Messages of ranks that tell how long something took, those said least often first."""
    found = [event for event, template in enumerate(table.templates) if _TIMED.search(template.sample)]
    return sorted(found, key=lambda event: (int(table.heads[event]), event))[:MAX_EVENTS]


def _took(
    parsed: Parsed, rows: np.ndarray[tuple[int], np.dtype[np.intp]], home: Mapping[int, str]
) -> dict[int, list[float]]:
    """Seconds that each rank tells, message by message: the last duration of each."""
    found: dict[int, list[float]] = defaultdict(list)
    ranks = dict(zip(rows.tolist(), parsed.table.rank[rows].tolist(), strict=True))
    for row, text in sorted(read_rows(parsed.files, parsed.table, rows).items()):
        told = list(_TOOK.finditer(text))
        if told and ranks[row] in home:
            scale = 1000 if told[-1]["unit"] == "ms" else 1
            found[ranks[row]].append(float(told[-1]["number"]) / scale)
    return dict(found)
