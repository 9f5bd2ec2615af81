"""What ``firstfault flows`` does."""

import sys
from pathlib import Path

from rich.console import Console

from bot.commandline.flows.documents import to_document
from bot.commandline.flows.terminal import print_flows
from bot.commandline.output import patient_reader
from bot.report.json_document import to_json
from core.flows.analyse import analyse
from core.flows.answer import FlowsAnswer
from core.flows.table import table_from
from core.flows.topology import Topology
from sources.flows.read import read_flows, read_topology

ANSWERED, INCONCLUSIVE = 0, 1


def flows(file: Path, topology: Path | None, *, json: bool) -> int:
    """Read a capture, answer in the wanted form; the exit code (docs/how-to/flows.md)."""
    attached = read_topology(topology) if topology is not None else Topology()
    records = read_flows(file)
    answer = analyse(table_from(records.frame, str(file)), attached, records.told)
    with patient_reader() as reader:
        sys.stdout.write(to_json(to_document(answer)) if json else _text(answer))
    return reader.exit_code or (ANSWERED if answer.jobs else INCONCLUSIVE)


def _text(answer: FlowsAnswer) -> str:
    """The answer as wide and as coloured as standard output is."""
    console = Console()
    with console.capture() as capture:
        print_flows(answer, console)
    return capture.get()
