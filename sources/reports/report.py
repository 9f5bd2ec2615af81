"""What a scheduler says of one node, whichever scheduler it is; as an incident of its history, and as a verdict."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.checks.check_verdict import CheckOutcome
from core.facts import fact_of
from core.history.repeats import Incident
from core.next.from_diagnosis import broken
from core.next.situation import FaultClass

DAY_S = 86_400.0  # seconds
_CLASS = 40  # characters of a reason that stand for its class, where no rule knows what it means
# A person or the scheduler meant it: no fault of the node. Slurm's own words are those of its node_mgr.c: "reboot
# ASAP", "reboot issued", "reboot complete"; "Node unexpectedly rebooted" and "reboot timed out" are faults.
_PLANNED = re.compile(
    r"\bmaint|\bscheduled\b|\breboot (?:asap|requested|issued|complete)|\bupgrad|\bfirmware update|\breserv"
    r"|\bpower(?:ed|ing)?[ _-]?(?:down|off|sav)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class NodeReport:
    """A node in the words of its scheduler.

    start, end: seconds since the epoch; None where it is not told, of end: not over. out: whether the node gets no new
    jobs; planned: whether somebody meant that.
    """

    node: str
    reason: str
    start: float | None = None
    end: float | None = None
    out: bool = True
    planned: bool = False


def is_planned(reason: str) -> bool:
    """Whether a reason is that of somebody who meant it: maintenance, a reservation, saving power."""
    return _PLANNED.search(reason) is not None


def incidents_of(reports: Sequence[NodeReport]) -> tuple[Incident, ...]:
    """Incidents, by time: what is not planned and has a clock."""
    found = [
        Incident(
            report.start / DAY_S,
            report.node,
            class_of(report.reason),
            None if report.end is None or report.end < report.start else report.end / DAY_S,
        )
        for report in reports
        if report.out and not report.planned and report.start is not None
    ]
    return tuple(sorted(found, key=lambda incident: (incident.day, incident.node)))


def class_of(reason: str) -> str:
    """The class of what broke, in the words of diagnoses; the reason itself where no rule knows it."""
    fact = fact_of(reason, block=False)
    kind = broken(fact, reason) if fact is not None and fact.known else FaultClass.UNKNOWN
    return str(kind) if kind is not FaultClass.UNKNOWN else reason[:_CLASS].strip() or str(kind)


def verdict_of(reports: Sequence[NodeReport]) -> tuple[CheckOutcome, str]:
    """What the scheduler says of a node now. One that is out on purpose is unknown, not failed."""
    now = [report for report in reports if report.end is None and report.out]
    bad = next((report for report in now if not report.planned), None)
    if bad is not None:
        return CheckOutcome.FAILED, f"out: {bad.reason or 'no reason is told'}"
    if now:
        return CheckOutcome.UNKNOWN, f"out on purpose: {now[0].reason}"
    return CheckOutcome.PASSED, ""
