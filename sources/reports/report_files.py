"""Files in which somebody kept what a scheduler said of nodes: whose it is, is told by the text itself."""

from pathlib import Path

from core.errors import UnreadableLog
from core.history.repeats import Incident
from sources.named_files import read_given, why_unreadable
from sources.reports import kubernetes, slurm
from sources.reports.report import NodeReport, incidents_of
from sources.tables import incidents_in

MOST_BYTES = 64 << 20  # a year of events of a thousand nodes has some megabytes
_HINT = (
    "It is what sinfo -R, scontrol show node, sacctmgr show event, kubectl get events -o json, get nodes -o json or "
    "describe node print"
)


def read_incidents(path: str) -> tuple[Incident, ...]:
    """Incidents of nodes, of a scheduler's output or of a CSV with the columns start, end, node, class.

    Raises:
        UnreadableLog: it cannot be read, or holds nothing of this kind.
    """
    text = _text(path)
    if not (slurm.reads(text) or kubernetes.reads(text)):
        return incidents_in(text, path)
    return incidents_of(_reports(path, text))


def read_reports(path: str) -> dict[str, tuple[NodeReport, ...]]:
    """What a scheduler's output says, by node. Raises UnreadableLog."""
    text = _text(path)
    if not (slurm.reads(text) or kubernetes.reads(text)):
        raise UnreadableLog(f"{path} is nothing that a scheduler says of nodes.", f"{_HINT}.")
    return by_node(_reports(path, text))


def by_node(reports: tuple[NodeReport, ...]) -> dict[str, tuple[NodeReport, ...]]:
    """The reports of each node, in their order."""
    found: dict[str, list[NodeReport]] = {}
    for report in reports:
        found.setdefault(report.node, []).append(report)
    return {node: tuple(own) for node, own in found.items()}


def reports_in(text: str) -> tuple[NodeReport, ...]:
    """The reports in what ``scontrol show node`` printed just now."""
    return tuple(slurm.reports(text)) if slurm.reads(text) else ()


def _reports(path: str, text: str) -> tuple[NodeReport, ...]:
    try:
        return tuple((slurm if slurm.reads(text) else kubernetes).reports(text))
    except ValueError as error:
        raise UnreadableLog(f"{path} cannot be read: {error}.", f"{_HINT}.") from error


def _text(path: str) -> str:
    try:
        return read_given(Path(path), MOST_BYTES).decode("utf-8-sig", "replace")
    except OSError as error:
        reason = why_unreadable(error)
        raise UnreadableLog(f"{path} cannot be read: {reason}.", f"{_HINT}, or a CSV with a header.") from error
