"""The trivial methods that L4 compares itself with (section 5), and one more: who falls silent first.

They need no successful jobs, accuse somebody whenever nodes are known, and say nothing about stage and iteration. Their
parsing is ours, so a traceback counts as one event; with lines as events they are weaker.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.events.table import rows_by
from core.model import Confidence, Diagnosis, EventEvidence, Line, NodeEvidence, Role, Scope
from core.parsed import Parsed

MAX_SUSPECTS = 8  # as many as L4 shows (section 4.3)
MAX_LINES = 3  # cited lines an event
# within words too: "RuntimeError" is one
_ERROR = re.compile(r"error|exception|fatal|critical|fail|panic|abort|traceback", re.IGNORECASE)
_NEVER = 1 << 62  # microseconds: later than any clock

Rows = NDArray[np.intp]


def error_time(parsed: Parsed) -> Diagnosis:
    """Events with error words, the earliest first; the suspect is who said the earliest."""
    errors, times = _errors(parsed), _times(parsed)
    rows = np.concatenate([*errors, np.zeros(0, np.intp)]).astype(np.intp)
    earliest = rows[np.argsort(times[rows], kind="stable")]
    nodes = list(dict.fromkeys(_nodes(parsed, earliest)))
    return _diagnosis(parsed, "Error_time", sorted(errors, key=lambda own: times[own].min()), nodes)


def error_count(parsed: Parsed) -> Diagnosis:
    """Events with error words, the most frequent first; the suspect is who says most of them."""
    errors = _errors(parsed)
    counter = Counter(node for rows in errors for node in _nodes(parsed, rows))
    nodes = sorted(counter, key=lambda node: -counter[node])
    return _diagnosis(parsed, "Error_count", sorted(errors, key=lambda rows: -len(rows)), nodes)


def silence(parsed: Parsed) -> Diagnosis:
    """No events; the suspect is the node whose last line comes first, whichever of its programs says it.

    Of its ranks alone is weaker: top-1 of 17 lab jobs 7 instead of 13.
    """
    table, last = parsed.table, dict[str, int]()
    if parsed.unit == "node":
        spoke = np.flatnonzero((table.node >= 0) & (table.time >= 0))
        last = {table.nodes[node]: int(table.time[rows].max()) for node, rows in rows_by(table.node, spoke)}
    return _diagnosis(parsed, "silence", [], sorted(sorted(last), key=lambda node: last[node]))


def _errors(parsed: Parsed) -> list[Rows]:
    """Rows of each event with an error word, in the order of the log."""
    table = parsed.table
    telling = [event for event, template in enumerate(table.templates) if _ERROR.search(template.text)]
    groups = [rows for _, rows in rows_by(table.event, np.flatnonzero(np.isin(table.event, telling)))]
    return sorted(groups, key=lambda rows: int(rows[0]))


def _times(parsed: Parsed) -> NDArray[np.int64]:
    return np.where(parsed.table.time < 0, _NEVER, parsed.table.time)


def _nodes(parsed: Parsed, rows: Rows) -> Sequence[str]:
    """Who says these rows, where nodes are known."""
    table = parsed.table
    return [table.nodes[node] for node in table.node[rows].tolist() if node >= 0] if parsed.unit == "node" else []


def _diagnosis(parsed: Parsed, method: str, ordered: Sequence[Rows], nodes: Sequence[str]) -> Diagnosis:
    suspects = nodes[:MAX_SUSPECTS]
    scope = Scope.NODE if suspects else Scope.JOB if ordered else Scope.UNKNOWN
    return Diagnosis(
        job=parsed.job.id,
        method=method,
        scope=scope,
        confidence=Confidence.WEAK,
        headline=f"{method}: {', '.join(suspects) or scope}",
        events=tuple(_event(f"E{n}", parsed, rows) for n, rows in enumerate(ordered, start=1)),
        nodes=tuple(_node(f"N{n}", node, n) for n, node in enumerate(suspects, start=1)),
    )


def _event(name: str, parsed: Parsed, rows: Rows) -> EventEvidence:
    table = parsed.table
    template = table.templates[table.event[rows[0]]]
    return EventEvidence(
        id=name,
        score=1.0,
        because=f"An error word, on {len(rows)} lines.",
        lines=tuple(Line(table.files[table.file[row]], int(table.line[row]), "") for row in rows[:MAX_LINES].tolist()),
        event=template.id,
        template=template.text,
        role=Role.ROOT,
        count=len(rows),
    )


def _node(name: str, node: str, place: int) -> NodeEvidence:
    return NodeEvidence(id=name, score=1 / place, because=f"Number {place} of those who said it.", node=node)
