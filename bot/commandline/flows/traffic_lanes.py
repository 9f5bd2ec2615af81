"""The traffic of a job's groups in numbers that a page can hold: relative times, few enough marks."""

from dataclasses import dataclass
from typing import Any

from bot.commandline.flows.terminal import KINDS, QUIET, who
from bot.text.harmless import harmless
from core.flows.answer import JobAnswer, Lane
from core.flows.transfers import SILENCE_US, merge

MAX_LANES = 40  # of a job: more are no picture
MAX_MARKS = 20_000  # of a job, a third of a megabyte
NAME = 48  # characters; chosen: the page cuts longer ones anyway


@dataclass(frozen=True)
class DrawnLanes:
    """Lanes of a job.

    Attributes:
        document: ``lanes`` [{name, group, marks: [start, length, bytes, ...]}], ``steps`` [end, ...], ``findings``
            [{id, title, start, end, quiet}], ``first`` and ``last``; microseconds since ``first``.
        left_out: lanes that are not in it.
        silence: microseconds; transfers with less between them are one mark.
    """

    document: dict[str, Any]
    left_out: int
    silence: int


def drawn_lanes(job: JobAnswer) -> DrawnLanes:
    """The lanes of groups that a finding names first, then in their order; marks joined until they are few enough."""
    blamed = {finding.subject.group for finding in job.findings if finding.subject}
    chosen = sorted(job.lanes, key=lambda lane: lane.group not in blamed)[:MAX_LANES]
    chosen = [lane for lane in job.lanes if lane in chosen] if len(job.lanes) <= MAX_LANES else chosen
    silence = SILENCE_US
    marks = [lane.transfers for lane in chosen]
    while sum(map(len, marks)) > MAX_MARKS:
        silence *= 2
        marks = [merge(mark, silence) for mark in marks]
    first = min([int(mark[0, 0]) for mark in marks] + job.timeline.start[:1].tolist(), default=0)
    last = max([int(mark[:, 1].max()) for mark in marks] + [finding.end for finding in job.findings], default=first + 1)
    document = {
        "job": job.id,
        "first": 0,
        "last": last - first,
        "begun": first,
        "lanes": [_lane(lane, lane_marks, first) for lane, lane_marks in zip(chosen, marks, strict=True)],
        "steps": (job.timeline.end - first).tolist(),
        "findings": [
            {
                "start": finding.start - first,
                "end": finding.end - first,
                "title": f"{KINDS[finding.kind]}, {who(finding.subject)}",
                "quiet": finding.kind in QUIET,
            }
            for finding in job.findings
        ],
    }
    return DrawnLanes(document, len(job.lanes) - len(chosen), silence)


def _lane(lane: Lane, marks: Any, first: int) -> dict[str, Any]:
    columns = marks.copy()
    columns[:, 1] -= columns[:, 0]
    columns[:, 0] -= first
    kind = lane.group.rpartition(".")[2].rstrip("0123456789")
    return {"name": harmless(lane.name, NAME), "group": lane.group, "kind": kind, "marks": columns.ravel().tolist()}
