"""The steps, traffic and findings of a capture as a trace that ui.perfetto.dev and chrome://tracing open.

The format is Chrome's Trace Event Format: complete events ("X") with a process a job and a thread a lane.
"""

import json
from collections.abc import Iterator
from typing import Any

from bot.commandline.flows.terminal import KINDS, who
from bot.report.trace import name_event
from bot.text.harmless import storable
from core.flows.answer import FlowsAnswer, JobAnswer

_STEPS, _FINDINGS, _LANES = 1, 2, 3  # threads of a job, the lanes from the third on


def to_trace(answer: FlowsAnswer) -> str:
    """The trace; times are microseconds since 1970, and the same answer gives the same bytes."""
    events = [event for number, job in enumerate(answer.jobs, start=1) for event in _job(job, number)]
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": events}, separators=(",", ":")) + "\n"


def _job(job: JobAnswer, process: int) -> Iterator[dict[str, Any]]:
    names = ["steps", "findings", *(lane.name for lane in job.lanes)]
    yield name_event("process_name", process, 0, f"{job.id}, {len(job.nics)} NICs")
    for thread, name in enumerate(names, start=1):
        yield name_event("thread_name", process, thread, name)
        yield {"ph": "M", "name": "thread_sort_index", "pid": process, "tid": thread, "args": {"sort_index": thread}}
    spans = zip(job.timeline.start.tolist(), job.timeline.end.tolist(), strict=True)
    for number, (start, end) in enumerate(spans):
        yield _event(process, _STEPS, f"step {number}", (start, end), {})
    for finding in job.findings:
        title = f"{KINDS[finding.kind]}, {who(finding.subject)}"
        why = {"because": storable(finding.because)}
        yield _event(process, _FINDINGS, storable(title), (finding.start, finding.end), why)
    for thread, lane in enumerate(job.lanes, start=_LANES):
        for start, end, size in lane.transfers.tolist():
            yield _event(process, thread, lane.group, (start, end), {"bytes": size})


def _event(process: int, thread: int, name: str, span: tuple[int, int], args: dict[str, Any]) -> dict[str, Any]:
    start, end = span
    return {"ph": "X", "name": name, "pid": process, "tid": thread, "ts": start, "dur": end - start, "args": args}
