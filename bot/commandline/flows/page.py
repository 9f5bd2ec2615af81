"""The answer of ``firstfault flows`` as one self-contained page; the same capture gives the same bytes."""

import json
from functools import partial
from pathlib import Path

from markupsafe import Markup

from bot.commandline.flows import pictures
from bot.commandline.flows.terminal import KINDS, QUIET, TITLES, headline, job_row, read_sentence, who
from bot.commandline.flows.traffic_lanes import drawn_lanes
from bot.report.page_template import STYLES, own_file, script_hash, template_of
from bot.report.style import at_both_widths
from bot.text.harmless import harmless
from core.flows.answer import FlowFinding, FlowsAnswer, JobAnswer
from core.flows.topology import Topology

MAX_FINDINGS = 40  # of a job: each may have a picture of a hundred kilobytes
MAX_GROUPS, MAX_MEMBERS = 64, 32  # chosen: what a person still reads; --json has all
GROUPS = {
    "dp": "data-parallel",
    "pp": "pipeline, from its first stage on",
    "ep": "experts",
    "emb": "tied embedding",
    "tp": "tensor-parallel",
}
_FOLDER = Path(__file__).parent


def render(answer: FlowsAnswer, topology: Topology, *, file: str, version: str) -> str:
    """The page of an answer whose lanes were kept.

    Args:
        file: what the capture is called.
    """
    script = own_file(_FOLDER / "timeline.js")
    return template_of(_FOLDER).render(
        answer=answer,
        headline=headline(answer),
        titles=TITLES,
        rows=[(job.id, job_row(job)) for job in answer.jobs],
        jobs=[_job(job, topology, answer) for job in answer.jobs],
        read=read_sentence(answer),
        file=file,
        version=version,
        styles=own_file(STYLES),
        more_styles=own_file(_FOLDER / "page.css"),
        script=script,
        script_hash=script_hash(script),
    )


def _job(job: JobAnswer, topology: Topology, answer: FlowsAnswer) -> dict[str, object]:
    """What the page says of a job. Findings keep the numbers that they have in the JSON."""
    before = sum(len(other.findings) for other in answer.jobs[: answer.jobs.index(job)])
    findings = [
        {
            "id": f"F{before + number}",
            "title": f"{KINDS[finding.kind]}, {who(finding.subject)}",
            "quiet": finding.kind in QUIET,
            "because": finding.because,
            "start": finding.start,
            "end": finding.end,
            "series": at_both_widths(
                f"{job.id}-series-{number}", partial(pictures.series, finding), partial(_of_series, finding)
            ),
            "guilty": ", ".join(finding.series.things[place] for place in finding.series.guilty)
            if finding.series
            else "",
            "others": len(finding.series.things) - len(finding.series.guilty) if finding.series else 0,
        }
        for number, finding in enumerate(job.findings[:MAX_FINDINGS], start=1)
    ]
    lanes = drawn_lanes(job)
    return {
        "id": job.id,
        "nics": len(job.nics),
        "steps": len(job.timeline),
        "findings": findings,
        "more": len(job.findings) - len(findings),
        "lanes": Markup(json.dumps(lanes.document, separators=(",", ":")).replace("<", "\\u003c")),  # noqa: S704 "<" is escaped
        "lanes_shown": len(lanes.document["lanes"]),
        "lanes_left_out": lanes.left_out,
        "closed_ms": lanes.silence / 1e3,
        "durations": at_both_widths(
            f"{job.id}-durations",
            partial(pictures.durations, job),
            lambda: f"Length of the {len(job.timeline)} steps of {job.id}.",
        ),
        "layout": at_both_widths(
            f"{job.id}-layout",
            partial(pictures.layout, job, topology),
            lambda: f"NICs of {job.id} below their switches; {len(job.groups)} groups.",
        ),
        "max_nics": pictures.MAX_NICS,
        "groups": _groups(job, topology),
        "groups_left_out": max(0, len(job.groups) - MAX_GROUPS),
        "kinds": sorted({kind for _, _, kind in job.pairs}),
        "part": pictures.PART,
    }


def _groups(job: JobAnswer, topology: Topology) -> list[tuple[str, str, str]]:
    """Of each group its id, what it is, and its NICs with their servers."""
    rows = []
    for group in job.groups[:MAX_GROUPS]:
        members = [f"{topology.server_of(nic)} ({nic})" if nic in topology.server else nic for nic in group.nics]
        more = [f"{len(members) - MAX_MEMBERS} more"] if len(members) > MAX_MEMBERS else []
        rows.append((group.id, GROUPS[group.kind], ", ".join(members[:MAX_MEMBERS] + more)))
    return rows


def _of_series(finding: FlowFinding) -> str:
    lines = len(finding.series.things) if finding.series else 0
    return harmless(f"{finding.because} One line for each of {lines}.", 400)
