"""What a job said again and again while it stood still, of which no node stands apart: what it waits for.

A lock that nobody gives back, a service that never answers, acks that never come; in whatever words.
"""

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from core.answer.findings import Findings
from core.answer.slow_work import TIMES, SlowWork, first_quote, shown_event, speakers
from core.events.table import EventTable
from core.judge.late_lines import is_message, last_marks
from core.judge.repeats import LAST, MAX_FILES
from core.shares import MAJORITY

# How a launcher tells that its processes ended, by whatever program
_EXITED = re.compile(r"\bexit(?:ed|ing)?\b.{0,24}\b(?:code|status|signal)\b|\bTerminated\b|\bKilled\b", re.IGNORECASE)
_WAITS = "said again and again while the job stood still"


def find_repeated(findings: Findings) -> SlowWork | None:
    """The message that the fewest repeat since the last progress, and nobody said before; None without any.

    Where nothing counts progress, the one that most of the last lines of a file are.
    """
    parsed, ending = findings.parsed, findings.ending
    counts = len(parsed.iterations.marks) > 0
    if not (ending.hung if counts else findings.dumped):
        return None
    shown = [
        shown_event(parsed.table, event, rows, _WAITS)
        for event, rows in (_since(findings) if counts else _most_of_the_end(parsed.table))
        if is_message(parsed, event) and not _EXITED.search(parsed.table.templates[event].sample)
    ]
    if not shown:
        return None
    first = min(shown, key=lambda event: (len(event.ranks) or len(event.nodes), -event.count, int(event.rows[0])))
    text, who = first_quote(findings, first.rows), speakers(findings, first)
    because = f"While the job stood still, {who} said \u201c{text}\u201d, {first.count} times."
    return SlowWork((first,), because, 0.0)


def _since(findings: Findings) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Events that are said only after the last progress, and over most of the time until the end."""
    table, ending = findings.parsed.table, findings.ending
    last = last_marks(table, findings.parsed.iterations.marks)
    known = {item.event for item in findings.candidates if item.fact.known}
    few = [
        event
        for event, template in enumerate(table.templates)
        if event not in known and table.heads[event] >= TIMES and not template.block
    ]
    for event, rows in sorted(table.rows_of(few).items()):
        after = np.where(
            table.timed[rows] & (ending.progressed is not None),
            table.time[rows] > (ending.progressed or 0),
            (last[table.file[rows]] >= 0) & (rows > last[table.file[rows]]),
        )
        times = table.time[rows[table.timed[rows]]]
        lasts = not len(times) or int(np.ptp(times)) >= MAJORITY * ending.quiet * 1e6
        if after.all() and lasts:
            yield event, rows


def _most_of_the_end(table: EventTable) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """The event that most of the last messages of a file are."""
    for file in range(min(len(table.files), MAX_FILES)):
        whole = table.rows_of_file(file)
        rows = np.arange(max(whole.start, whole.stop - LAST), whole.stop)
        rows = rows[table.head[rows]]
        events, counts = np.unique(table.event[rows], return_counts=True)
        if len(rows) and counts.max() >= max(TIMES, len(rows) * MAJORITY + 1):
            event = int(events[counts.argmax()])
            yield event, table.rows_of([event])[event]
