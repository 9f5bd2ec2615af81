"""The answer of ``firstfault flows`` as one self-contained page; the same capture gives the same bytes."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

from markupsafe import Markup
from matplotlib.figure import Figure

from bot.commandline.flows import pictures
from bot.commandline.flows.terminal import KINDS, QUIET, TITLES, headline, job_row, read_sentence, who
from bot.commandline.flows.traffic_lanes import drawn_lanes
from bot.report.page import NARROW, WIDE
from bot.report.page_template import STYLES, environment_of, own_file, script_hash
from bot.report.style import as_svg
from bot.text.harmless import harmless
from core.flows.answer import FlowsAnswer, JobAnswer
from core.flows.topology import Topology

MAX_FINDINGS = 40  # of a job: each may have a picture of a hundred kilobytes
_FOLDER = Path(__file__).parent


def render(answer: FlowsAnswer, topology: Topology, *, file: str, version: str) -> str:
    """The page of an answer whose lanes were kept.

    Args:
        file: what the capture is called.
    """
    environment = environment_of(_FOLDER)
    script = own_file(_FOLDER / "timeline.js")
    return environment.get_template("page.html.j2").render(
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
            "series": _plot(
                f"{job.id}-series-{number}",
                partial(pictures.series, finding),
                f"{finding.because} One line for each of {len(finding.series.things) if finding.series else 0}.",
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
        "durations": _plot(
            f"{job.id}-durations",
            partial(pictures.durations, job),
            f"Length of the {len(job.timeline)} steps of {job.id}.",
        ),
        "layout": _plot(
            f"{job.id}-layout",
            partial(pictures.layout, job, topology),
            f"NICs of {job.id} below their switches; {len(job.groups)} groups.",
        ),
        "max_nics": pictures.MAX_NICS,
        "kinds": sorted({kind for _, _, kind in job.pairs}),
        "part": pictures.PART,
    }


def _plot(name: str, draw: Callable[[float], Figure | None], words: str) -> Markup:
    drawn = []
    for size, width in (("wide", WIDE), ("narrow", NARROW)):
        figure = draw(width)
        if figure is not None:
            svg = as_svg(figure, f"{name}-{size}", harmless(words, 400))
            drawn.append(svg.replace('class="plot ', f'class="plot {size} ', 1))
    return Markup("\n".join(drawn))  # noqa: S704 drawn and escaped by matplotlib and as_svg
