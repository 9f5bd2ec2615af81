"""What really happened to a job, as JSON: facts from the plan, labels from rules over its log lines."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.messages import Message, read_messages
from lab.model import Fault, PlannedJob
from lab.rules import Rules, Verdict

ITERATION = re.compile(
    rb"(?:iteration +|step[ =])(\d+)/ *\d+[ :]|(?:step: +|\\?\"step\\?\": )(\d+)\b|\| +(\d+)/(\d+) \["
)
EVALUATION = 20  # steps: a progress bar of so few is no training
DATED = frozenset({"training", "evaluation", "checkpoint saving"})  # stages that have an iteration


def truth_of(plan: PlannedJob, fault: Fault, outcome: dict[str, Any], home: Path) -> tuple[dict[str, Any], str]:
    """The truth of a job, and what is wrong with it: a fault that did not take effect."""
    failed = outcome["status"] != "COMPLETED"
    found = label_lines(plan, fault, read_messages(home, plan.settings)) if failed else ()
    labels = sorted(found, key=lambda label: (label["file"], label["line"]))
    struck = fault.scope == "node"
    placed = struck and fault.placed(plan.settings)
    ranks = [plan.rank] if fault.guilty_rank else list(plan.settings.ranks(plan.node)) if struck else []
    facts = {"node": plan.node, "rank": plan.rank, "iteration": plan.iteration}
    truth = {
        "job_id": plan.job_id,
        "failed": failed,
        "kind": fault.kind,
        "category": fault.category,
        "subtype": fault.subtype,
        "scope": "unknown" if struck and not placed else fault.scope,
        "faulty_nodes": [plan.node] if placed else [],
        "faulty_ranks": ranks if placed else [],
        "stage": fault.stage,
        "iteration": _iteration(fault, outcome, home) if failed else None,
        "summary": fault.summary.format_map(facts),
        "labels": labels,
    }
    if struck and not placed:
        truth["injected_nodes"] = [plan.node]
    return truth, _complaint(plan, fault, outcome, home, labels)


def _iteration(fault: Fault, outcome: dict[str, Any], home: Path) -> int | None:
    """The one at which it failed, or the first slow one."""
    if not fault.dated or fault.stage not in DATED:
        return None
    if fault.onset:
        return int(outcome["struck"]) + 1
    return last_iteration(home) or None


def last_iteration(home: Path) -> int:
    """The last complete iteration that any log tells of."""
    files = [path for path in (home / "logs").rglob("*") if path.is_file()]
    found = [groups for path in files for groups in ITERATION.findall(path.read_bytes())]
    steps = [int(step or done or bar) for step, done, bar, total in found if not bar or int(total) > EVALUATION]
    return max(steps, default=0)


def _complaint(
    plan: PlannedJob, fault: Fault, outcome: dict[str, Any], home: Path, labels: list[dict[str, Any]]
) -> str:
    if outcome["notes"]:
        return "; ".join(outcome["notes"])
    if outcome["status"] != fault.ends:
        return f"ended {outcome['status']}, not {fault.ends}"
    if fault.sign is not None and not fault.sign(home, plan):
        return "the fault left no sign"
    shown = fault.traces and fault.shows(plan.settings)
    if shown and not any(label["role"] == "root" for label in labels):
        return "no line is a direct trace of the fault"
    return ""


def label_lines(plan: PlannedJob, fault: Fault, messages: tuple[Message, ...]) -> Iterator[dict[str, Any]]:
    """A label for every message that a rule knows, and one for the last line of a block that is a trace as well."""
    rules = Rules(plan, fault)
    for message in messages:
        found = rules.judge(message)
        if found is not None:
            yield from _labels(message, found)
            last = message.lines[-1]
            if found.role == "root" and found.line is not last and rules.is_trace(last):
                yield _label(message, Verdict("root", f"{found.reason}: its last line", last), None)


def _labels(message: Message, found: Verdict) -> Iterator[dict[str, Any]]:
    """One label, or one for each run of lines of a block that others interrupted."""
    for run in message.runs:
        yield _label(message, found, list(run) if message.is_error else None)


def _label(message: Message, found: Verdict, block: list[int] | None) -> dict[str, Any]:
    return {
        "file": message.file, "line": found.line.number, "block": block, "role": found.role,
        "node": message.node or None, "text": found.line.raw, "reason": found.reason,
    }  # fmt: skip
