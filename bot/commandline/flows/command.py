"""What ``firstfault flows`` does."""

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bot.commandline.flows.documents import to_document
from bot.commandline.flows.follow import follow
from bot.commandline.flows.terminal import print_flows
from bot.commandline.flows.trace import to_trace
from bot.commandline.output import check_writable, patient_reader, printed, write
from bot.fetch.cluster import judges
from bot.report.json_document import to_json
from core.errors import UnreadableFlows
from core.flows.analyse import analyse
from core.flows.table import table_from
from core.flows.topology import Topology
from core.safe_import import elsewhere
from sources.flows.flow_files import read_flows, read_topology

ANSWERED, INCONCLUSIVE = 0, 1  # exit codes, as docs/reference/command-line.md has them


@dataclass(frozen=True)
class Forms:
    """The forms that an answer is wanted in beside the terminal's, or in its place (json)."""

    json: bool = False
    html: Path | None = None
    perfetto: Path | None = None


def flows(
    file: Path,
    topology: Path | None,
    forms: Forms,
    *,
    version: str,
    scheduler: str | None = None,
    insecure: bool = False,
) -> int:
    """Read a capture, answer in the wanted forms; the exit code (docs/how-to/flows.md).

    Args:
        scheduler: of a Dask cluster whose workers judge the jobs, a job each.
        insecure: whether it may be one by tcp://.
    """
    for path in filter(None, (forms.html, forms.perfetto)):
        check_writable(path)
    attached = read_topology(topology) if topology is not None else Topology()
    records = read_flows(file)
    drawn = forms.html is not None or forms.perfetto is not None
    table = table_from(records.frame, str(file))
    with judges(scheduler, insecure=insecure) as workers:
        answer = analyse(table, attached, records.remarks, with_lanes=drawn, workers=workers)
    if forms.html is not None:
        with elsewhere():
            from bot.commandline.flows.page import render  # noqa: PLC0415 matplotlib takes half a second; only pages need it

        write(forms.html, render(answer, attached, file=file.name, version=version))
        sys.stderr.write(f"Report: {forms.html}\n")
    if forms.perfetto is not None:
        write(forms.perfetto, to_trace(answer))
        sys.stderr.write(f"Trace: {forms.perfetto}, for https://ui.perfetto.dev\n")
    with patient_reader() as reader:
        sys.stdout.write(to_json(to_document(answer)) if forms.json else printed(partial(print_flows, answer)))
    return reader.exit_code or (ANSWERED if answer.jobs else INCONCLUSIVE)


def followed(folder: Path, topology: Path | None, forms: Forms, window: float, every: float) -> int:
    """Follow the folder of a collector; the exit code. UnreadableFlows where a page of it is wanted."""
    if forms.html is not None or forms.perfetto is not None:
        raise UnreadableFlows("--follow writes no page and no trace", "Ask for one of a single file.")
    return follow(folder, topology, seconds=window, every=every, json=forms.json)
