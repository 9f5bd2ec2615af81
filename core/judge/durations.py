"""How long work took, each time, on each rank: by messages that tell it, and by the clocks of spans.

``checkpoint shard of step 25: 747 kB in 25.5 s``, and what passes between ``saving`` and ``saved``.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.events.row_text import read_rows
from core.events.table import EventTable
from core.judge.phrase import without_head
from core.judge.work_spans import Span
from core.parsed import Parsed

MAX_EVENTS = 64  # messages that are looked at, those said least often first
MAX_ROWS = 256  # of each message, evenly spread
MAX_NAME = 60  # characters of a message in a sentence
# Not of each iteration, as a bar has it (224.46s/it): steps are compared by core.nodes.slow.
_TIMED = re.compile(r"<NUM> ?(?:ms|s|sec|secs|seconds)\b(?!/)")
_TOOK = re.compile(r"(?<![\w.])(?P<number>\d+(?:\.\d+)?) ?(?P<unit>ms|s|sec|secs|seconds)\b(?!/)")


@dataclass(frozen=True, slots=True)
class Durations:
    """What took how long: seconds each time, of each rank in the order of its run; and the iteration before each.

    what: how a sentence calls it. iterations: as many as values, -1 before the first iteration. usual: good jobs tell
    it, too.
    """

    what: str
    took: Mapping[int, Sequence[float]]
    iterations: Mapping[int, Sequence[int]]
    usual: bool = False


def find_durations(parsed: Parsed, spans: Sequence[Span]) -> tuple[Durations, ...]:
    """All durations of a job but those of its steps."""
    table = parsed.table
    marks = set(np.unique(table.event[parsed.iterations.marks]).tolist())
    events = [event for event in _timed(table) if event not in marks]
    durations = [_told(parsed, event, rows) for event, rows in sorted(table.rows_of(events).items())]
    for span in spans:
        begins, ends = (_short(without_head(text)) for text in (span.begins, span.ends))
        durations.append(Durations(f"from \u201c{begins}\u201d to \u201c{ends}\u201d", span.took, span.iterations))
    return tuple(durations)


def is_timed(sample: str) -> bool:
    """Whether a message, with its numbers taken out, tells how long something took."""
    return _TIMED.search(sample) is not None


def last_duration(text: str) -> float | None:
    """Seconds of the last duration that a line tells; None where it tells none."""
    matches = list(_TOOK.finditer(text))
    return float(matches[-1]["number"]) / (1000 if matches[-1]["unit"] == "ms" else 1) if matches else None


def _timed(table: EventTable) -> list[int]:
    """Messages of ranks that tell how long something took, those said least often first."""
    timed = [event for event, template in enumerate(table.templates) if is_timed(template.sample)]
    return sorted(timed, key=lambda event: (int(table.heads[event]), event))[:MAX_EVENTS]


def _told(parsed: Parsed, event: int, rows: NDArray[np.intp]) -> Durations:
    """Seconds that each rank tells, message by message: the last duration of each."""
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, MAX_ROWS).astype(np.intp))]
    took: dict[int, list[float]] = defaultdict(list)
    iterations: dict[int, list[int]] = defaultdict(list)
    ranks, reached = parsed.table.rank[rows].tolist(), parsed.iterations.of_row[rows].tolist()
    known = dict(zip(rows.tolist(), zip(ranks, reached, strict=True), strict=True))
    for row, text in sorted(read_rows(parsed.files, parsed.table, rows).items()):
        rank, iteration = known[row]
        seconds = last_duration(text)
        if seconds is not None and rank >= 0:
            took[rank].append(seconds)
            iterations[rank].append(iteration)
    template = parsed.table.templates[event]
    usual = parsed.usual is not None and template.id in parsed.usual.anywhere
    return Durations(f"\u201c{_short(without_head(template.sample))}\u201d", dict(took), dict(iterations), usual)


def _short(text: str) -> str:
    return text if len(text) <= MAX_NAME else text[: MAX_NAME - 1].rstrip() + "\u2026"
