"""Arguments and options that several commands of ``firstfault`` share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Method(StrEnum):
    """How events, nodes and iterations are ranked."""

    FIRSTFAULT = "firstfault"
    L4 = "l4"


Job = Annotated[str, typer.Argument(metavar="JOB", help="Job id, or path to a job folder or log file.")]
Jobs = Annotated[
    str | None,
    typer.Option("--jobs", metavar="URL", help="Where jobs live: a folder or s3://bucket/prefix. [FIRSTFAULT_JOBS]"),
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, metavar="N", help="Threads that read logs; changes no answer.")
]


def _in_bytes(size: str) -> int:
    """Read --memory; loads what --help must not."""
    from bot.settings import in_bytes  # noqa: PLC0415

    try:
        return in_bytes(size)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


Memory = Annotated[
    int | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        parser=_in_bytes,
        help="Parsed logs that are held in memory, like 500MB; more goes to disk and changes no answer.",
    ),
]
Ranking = Annotated[Method, typer.Option("--method", help="l4: the paper's own, to compare with.")]
Page = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write one self-contained page.")]
Sheets = Annotated[Path | None, typer.Option("--pdf", metavar="FILE", help="Write the report for a phone.")]
Trace = Annotated[
    Path | None, typer.Option("--perfetto", metavar="FILE", help="Write the timeline for ui.perfetto.dev.")
]
Stacks = Annotated[
    Path | None, typer.Option("--speedscope", metavar="FILE", help="Write the merged stacks for www.speedscope.app.")
]
Flows = Annotated[
    Path | None, typer.Option("--flows", metavar="FILE", help="The job's network flows. [flows/ in its folder]")
]
Topology = Annotated[
    Path | None, typer.Option("--topology", metavar="FILE", help="Of --flows: what is attached to what.")
]


def _web_address(url: str | None) -> str | None:
    if url is not None and not url.startswith(("http://", "https://")):
        raise typer.BadParameter("begins with http:// or https://", param_hint="--metrics")
    return url


Prometheus = Annotated[
    str | None,
    typer.Option("--metrics", metavar="URL", callback=_web_address, help="A Prometheus to ask. [FIRSTFAULT_METRICS]"),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="URL",
        help="Dask scheduler, tls://host:8786, whose workers read large jobs. [FIRSTFAULT_SCHEDULER]",
    ),
]
Insecure = Annotated[
    bool,
    typer.Option("--insecure", help="Let the scheduler be tcp://host:8786, with nothing that proves who it is."),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Read everything anew and keep nothing.")]
NoBaseline = Annotated[bool, typer.Option("--no-baseline", help="Do not compare with successful jobs.")]
NoModel = Annotated[bool, typer.Option("--no-model", help="Let no language model draft the note.")]
