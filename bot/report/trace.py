"""The timeline of a job as a trace that ui.perfetto.dev and chrome://tracing open.

The format is Chrome's Trace Event Format: a process a node, with the span in which it logged ("X") and a mark for each
occurrence of an event ("i"); how many lines were logged, by rank or node, are counters ("C").
"""

import json
from collections.abc import Iterator
from typing import Any

from bot.text.harmless import storable
from bot.text.wording import cited_text
from core.model import Activity, Diagnosis, EventEvidence

SPAN, FIRST_EVENT = 1, 2  # threads of a node: when it logged, then a thread an event
EVERYWHERE = "no node"  # whose marks belong to none
MAX_SAID = 200  # characters: the viewer shows a line of about so many


def to_trace(diagnosis: Diagnosis) -> str:
    """The trace; times are microseconds since 1970 as the logs tell them, and the same answer gives the same bytes."""
    events = list(_events(diagnosis))
    metadata = {"job": storable(diagnosis.job), "headline": storable(diagnosis.headline)}
    body = {"displayTimeUnit": "ms", "otherData": metadata, "traceEvents": events}
    return json.dumps(body, separators=(",", ":")) + "\n"


def has_timeline(diagnosis: Diagnosis) -> bool:
    """Whether anything of it has a time."""
    shown = diagnosis.pictures
    return bool(shown.marks or shown.activity or any(bar.first is not None for bar in shown.nodes))


def _events(diagnosis: Diagnosis) -> Iterator[dict[str, Any]]:
    shown = diagnosis.pictures
    suspects = [suspect.node for suspect in diagnosis.nodes]
    names = dict.fromkeys([*suspects, *(bar.node for bar in shown.nodes), *(mark.node for mark in shown.marks)])
    processes = {name: number for number, name in enumerate(names, start=1)}
    threads = {event.id: number for number, event in enumerate(diagnosis.events, start=FIRST_EVENT)}
    by_id = {event.id: event for event in diagnosis.events}
    for name, process in processes.items():
        label = f"{name or EVERYWHERE}{' (suspect)' if name in suspects else ''}"
        yield name_event("process_name", process, 0, label)
        yield {"ph": "M", "name": "process_sort_index", "pid": process, "args": {"sort_index": process}}
        yield name_event("thread_name", process, SPAN, "logs")
    for bar in shown.nodes:
        if bar.first is not None and bar.last is not None:
            span = {"ts": bar.first, "dur": bar.last - bar.first}
            about = {"lines": bar.lines, "score": round(bar.score, 3)}
            yield {"ph": "X", "name": "writes logs", "pid": processes[bar.node], "tid": SPAN, **span, "args": about}
    for process, event in sorted({(processes[mark.node], mark.event) for mark in shown.marks if mark.event in by_id}):
        yield name_event("thread_name", process, threads[event], f"{event} {by_id[event].role}")
    for mark in shown.marks:
        if mark.event in by_id:
            yield _mark(by_id[mark.event], mark.time, processes[mark.node], threads[mark.event])
    if shown.activity is not None:
        yield from _counters(shown.activity, len(processes) + 1)


def _mark(event: EventEvidence, time: int, process: int, thread: int) -> dict[str, Any]:
    about = {"said": storable(cited_text(event)[:MAX_SAID]), "because": storable(event.because)}
    name = f"{event.id} {event.role}"
    place = {"pid": process, "tid": thread}
    return {"ph": "i", "s": "t", "name": name, "cat": str(event.role), "ts": time, **place, "args": about}


def _counters(activity: Activity, process: int) -> Iterator[dict[str, Any]]:
    """How many lines each lane logged, a value a column."""
    yield name_event("process_name", process, 0, "lines logged")
    for lane in activity.lanes:
        width = (activity.last - activity.first) / max(1, len(lane.counts))
        for column, count in enumerate(lane.counts):
            at = {"pid": process, "ts": activity.first + round(column * width)}
            yield {"ph": "C", "name": storable(lane.name), **at, "args": {"lines": count}}


def name_event(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    """How a process or a thread of the trace is called."""
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": storable(name)}}
