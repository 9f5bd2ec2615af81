"""What providers' own checks came to: schedulers say it, and it is read before anything is run."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from bot.commandline.check_nodes.run import Node, NodeAccess, NodeRunner
from bot.text.harmless import harmless
from core.checks.check_verdict import CheckOutcome
from sources.reports.report import NodeReport, verdict_of
from sources.reports.report_files import by_node, read_reports, reports_in

VERDICTS = "verdicts"
SHOW = ("scontrol", "show", "node")
_SHOW_S = 30.0  # chosen: three times Slurm's own MessageTimeout (10 s)


def verdicts_of(
    nodes: Sequence[Node], runner: NodeRunner, files: Iterable[Path], *, run: bool
) -> dict[str, tuple[CheckOutcome, str]]:
    """The verdict on each node that a file or, through srun, the controller itself tells of; on others none.

    Args:
        files: what schedulers printed, in any form that sources.reports reads.
        run: whether the controller may be asked.
    """
    of_nodes: dict[str, tuple[NodeReport, ...]] = {}
    for path in files:
        for node, reports in read_reports(str(path)).items():
            of_nodes[node] = (*of_nodes.get(node, ()), *reports)
    if run and runner.through is NodeAccess.SRUN and not runner.prefix:
        local = NodeRunner(NodeAccess.LOCAL)
        asked = local.run(nodes[0], [*SHOW, ",".join(node.name for node in nodes)], _SHOW_S)
        of_nodes |= by_node(reports_in(asked.output)) if asked.code == 0 else {}
    found = {node.name: verdict_of(of_nodes[node.name]) for node in nodes if node.name in of_nodes}
    return {name: (outcome, harmless(says, 200)) for name, (outcome, says) in found.items()}
