"""Who alone waits for something of its own since the job stands still, as its own count of seconds tells.

``no bytes from part-00411.rec for 120 s, still in read()``, then ``for 180 s``: in whatever words, a number of seconds
that grows as time passes tells since when somebody waits. Who counts so in the words of a collective waits for the
others; who alone counts otherwise is the one that they wait for.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.course.pace import SECOND
from core.events.row_text import each_row
from core.judge.ending import Ending
from core.judge.ranking import quote
from core.nodes.rank_levels import is_wait
from core.nodes.sign import Sign, short
from core.parsed import Parsed

COUNTS_ALONE = 0.6  # as who stood elsewhere than most (core.nodes.waits): it says itself that it does not go on
LEAST = 3  # numbers that grow; of two the second is the larger one every second time
MAX_EVENTS, MAX_ROWS = 32, 512  # messages that are looked at, said most often first, and rows of each
PASSES = 0.25  # of the time between two lines, by which their numbers may differ from it: a poll comes late
# In words for 120 s, after 600 seconds, or as a field: waited_s=30
_SECONDS = re.compile(
    r"(?:_s(?:ec(?:ond)?s?)?[\"']?\s?[=:]\s?(?P<named>\d{1,6}(?:\.\d{1,6})?)\b)"
    r"|(?<![\w.:-])(?P<plain>\d{1,6}(?:\.\d{1,6})?) ?(?:s|secs?|seconds)\b"
)


def counted_wait_signs(parsed: Parsed, ending: Ending) -> list[Sign]:
    """A sign for the only node that counts the seconds of a wait of its own since progress ended."""
    if ending.allowed is not None and not ending.hung:
        return []  # it made progress until its end
    if parsed.iterations.last is None:
        return []  # before the first iteration whoever counts waits for all others to come
    found: dict[str, tuple[int, int, str]] = {}
    for event, node, row, text in _counts(parsed, ending):
        if not is_wait(text):
            found.setdefault(node, (event, row, text))
    if len(found) != 1 or len(parsed.nodes) <= 1:
        return []  # of several each may wait for the same storage
    ((node, (event, row, text)),) = found.items()
    said = short(quote(text))
    return [
        Sign(
            node,
            "waits",
            COUNTS_ALONE,
            f"{node} alone counts the seconds of a wait of its own since then: \u201c{said}\u201d.",
            event,
            says=f"it alone has waited for something of its own since then: \u201c{short(said, 60)}\u201d",
            check=f"Look at what {node} waits for: stacks of its processes, its storage, its data loader.",
            rows=(row,),
        )
    ]


def _counts(parsed: Parsed, ending: Ending) -> Iterator[tuple[int, str, int, str]]:
    """Event, node, first row and text of each message in which a node counts seconds since progress ended."""
    table = parsed.table
    for event, rows in sorted(table.rows_of(_events(parsed)).items()):
        told: dict[tuple[str, int], list[tuple[int, float, str]]] = defaultdict(list)
        for row, text in each_row(parsed.files, table, _since(parsed, ending, rows)[:MAX_ROWS]):
            origin = table.origins[table.voice[row]]
            if origin.node and (match := _SECONDS.search(text)):
                value = float(match["named"] or match["plain"])
                told[origin.node, -1 if origin.rank is None else origin.rank].append((row, value, text))
        for (node, _), lines in sorted(told.items()):
            if _counts_up(parsed, ending, lines):
                yield event, node, lines[0][0], lines[0][2]


def _events(parsed: Parsed) -> list[int]:
    """Messages that tell seconds and never count iterations."""
    table = parsed.table
    marks = set(np.unique(table.event[parsed.iterations.marks]).tolist())
    found = [
        event
        for event, template in enumerate(table.templates)
        if table.heads[event] >= LEAST
        and event not in marks
        and not template.block
        and _SECONDS.search(template.sample.replace("<NUM>", "0"))
    ]
    return sorted(found, key=lambda event: (-int(table.heads[event]), event))[:MAX_EVENTS]


def _since(parsed: Parsed, ending: Ending, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """The rows that were said once progress had ended; none of a message that was said before."""
    table = parsed.table
    if ending.progressed is not None:
        later = rows[table.timed[rows] & (table.time[rows] > ending.progressed)]
        return later if len(later) == len(rows) else rows[:0]
    last = np.full(len(table.files), -1, np.intp)
    files = table.file_of_voice[parsed.iterations.voices]
    np.maximum.at(last, files, parsed.iterations.marks)
    return rows if (rows > last[table.file[rows]]).all() else rows[:0]


def _counts_up(parsed: Parsed, ending: Ending, lines: list[tuple[int, float, str]]) -> bool:
    """Whether these numbers grow with the time that passes, from the end of progress on."""
    values = [value for _, value, _ in lines]
    if len(values) < LEAST or any(later <= earlier for earlier, later in pairwise(values)):
        return False
    if ending.progressed is None:
        return True
    times = [int(parsed.table.time[row]) / SECOND for row, *_ in lines]
    grew = values[-1] - values[0]
    passed = times[-1] - times[0]
    began = times[0] - values[0] - ending.progressed / SECOND
    return abs(grew - passed) <= PASSES * passed and abs(began) <= max(ending.allowed or 0.0, values[0])
