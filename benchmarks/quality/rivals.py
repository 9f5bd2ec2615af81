"""The trivial methods that L4 compares itself with (section 5), and one more: who falls silent first.

They need no successful jobs, accuse somebody whenever nodes are known, and say nothing about stage and iteration. Their
parsing is ours, so a traceback counts as one event; with lines as events they are weaker.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from core.cache import ByteCache
from core.diagnose import EventRow, events
from core.job import Job
from core.model import Confidence, Diagnosis, EventEvidence, Line, NodeEvidence, Role, Scope

MAX_SUSPECTS = 8  # as many as L4 shows (section 4.3)
MAX_LINES = 3  # cited lines an event
# within words too: "RuntimeError" is one
_ERROR = re.compile(r"error|exception|fatal|critical|fail|panic|abort|traceback", re.IGNORECASE)
_NEVER = 1 << 63  # microseconds: later than any clock


def error_time(job: Job, baseline: Sequence[Job], cache: ByteCache) -> Diagnosis:
    """Events with error words, the earliest first; the suspect is who said the earliest."""
    errors = _errors(events(job, baseline, cache=cache))
    ordered = sorted(errors, key=lambda event: min(map(_time, errors[event])))
    earliest = sorted((row for rows in errors.values() for row in rows), key=_time)
    nodes = list(dict.fromkeys(row.node for row in earliest if row.node))
    return _diagnosis(job, "Error_time", [errors[event] for event in ordered], nodes)


def error_count(job: Job, baseline: Sequence[Job], cache: ByteCache) -> Diagnosis:
    """Events with error words, the most frequent first; the suspect is who says most of them."""
    errors = _errors(events(job, baseline, cache=cache))
    ordered = sorted(errors, key=lambda event: -len(errors[event]))
    said = Counter(row.node for rows in errors.values() for row in rows if row.node)
    return _diagnosis(
        job, "Error_count", [errors[event] for event in ordered], sorted(said, key=lambda node: -said[node])
    )


def silence(job: Job, baseline: Sequence[Job], cache: ByteCache) -> Diagnosis:
    """No events; the suspect is the node whose last line comes first, whichever of its programs says it.

    Of its ranks alone is weaker: top-1 of 17 lab jobs 7 instead of 13.
    """
    last: dict[str, int] = {}
    for row in events(job, baseline, cache=cache):
        if row.node and row.time is not None:
            last[row.node] = max(last.get(row.node, row.time), row.time)
    return _diagnosis(job, "silence", [], sorted(sorted(last), key=lambda node: last[node]))


def _errors(rows: Iterable[EventRow]) -> dict[str, list[EventRow]]:
    """Rows of each event with an error word, in the order of the log."""
    errors: dict[str, list[EventRow]] = defaultdict(list)
    for row in rows:
        if _ERROR.search(row.template):
            errors[row.event].append(row)
    return errors


def _time(row: EventRow) -> int:
    return _NEVER if row.time is None else row.time


def _diagnosis(job: Job, method: str, ordered: Sequence[Sequence[EventRow]], nodes: Sequence[str]) -> Diagnosis:
    suspects = nodes[:MAX_SUSPECTS]
    scope = Scope.NODE if suspects else Scope.JOB if ordered else Scope.UNKNOWN
    return Diagnosis(
        job=job.id,
        method=method,
        scope=scope,
        confidence=Confidence.WEAK,
        headline=f"{method}: {', '.join(suspects) or scope}",
        events=tuple(_event(f"E{n}", rows) for n, rows in enumerate(ordered, start=1)),
        nodes=tuple(_node(f"N{n}", node, n) for n, node in enumerate(suspects, start=1)),
    )


def _event(name: str, rows: Sequence[EventRow]) -> EventEvidence:
    return EventEvidence(
        id=name,
        score=1.0,
        because=f"An error word, on {len(rows)} lines.",
        lines=tuple(Line(row.file, row.line, "") for row in rows[:MAX_LINES]),
        event=rows[0].event,
        template=rows[0].template,
        role=Role.ROOT,
        count=len(rows),
    )


def _node(name: str, node: str, place: int) -> NodeEvidence:
    return NodeEvidence(id=name, score=1 / place, because=f"Number {place} of those who said it.", node=node)
