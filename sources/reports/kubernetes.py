"""What Kubernetes says of nodes: ``kubectl get events -o json``, ``get nodes -o json``, and ``describe node``.

Reasons are those of the kubelet and the node controller (kubernetes/kubernetes pkg/kubelet/events/event.go,
pkg/controller/nodelifecycle) and of node-problem-detector. A cluster keeps events for an hour, if nobody says
otherwise.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sources.moments import moment
from sources.reports.report import NodeReport

# Of type Normal, and yet something is wrong with the node.
_BAD = {"NodeNotReady", "NodeHasDiskPressure", "NodeHasInsufficientMemory", "NodeHasInsufficientPID"}
_OVER = {  # what ends it; Starting is a kubelet that is there again
    "NodeReady": "NodeNotReady",
    "NodeHasNoDiskPressure": "NodeHasDiskPressure",
    "NodeHasSufficientMemory": "NodeHasInsufficientMemory",
    "NodeHasSufficientPID": "NodeHasInsufficientPID",
}
# Warnings of a node that are of its set-up, or of a program that used too much memory.
_NO_FAULT = {"InvalidDiskCapacity", "CheckLimitsForResolvConf", "DNSConfigForming", "OOMKilling", "SystemOOM"}
_CORDONED = "cordoned"
_ROW = re.compile(
    r"^  (?P<type>\w{1,64}) +(?P<status>True|False|Unknown) +"
    r"(?:\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}) +"
    r"(?P<since>\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}) +(?P<reason>\w{1,128}) *(?P<says>.{0,1024})$"
)
_NAME = re.compile(r"^Name: {1,64}(\S{1,253})$", re.MULTILINE)


def reads(text: str) -> bool:
    """Whether a text is one that kubectl prints of nodes or events."""
    return text.lstrip().startswith("{") or _NAME.match(text) is not None


def reports(text: str) -> Iterator[NodeReport]:
    """The reports in the output of one of the commands; ValueError where it is broken JSON."""
    if not text.lstrip().startswith("{"):
        yield from _described(text)
        return
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    items = [entry for entry in document.get("items") or [document] if isinstance(entry, dict)]
    yield from _events([item for item in items if item.get("kind") == "Event"])
    for item in items:
        if item.get("kind") == "Node":
            yield from _node(item)


def _events(items: Sequence[Mapping[str, Any]]) -> Iterator[NodeReport]:
    """Events of nodes; one that is told again later (``count``) is one, and lasts until what ends it."""
    known = sorted((item for item in map(_event, items) if item is not None), key=lambda item: (item[0], item[1]))
    for place, (start, node, reason, is_bad, says) in enumerate(known):
        if not is_bad:
            continue
        later = known[place + 1 :]
        end = next((time for time, whose, word, _, _ in later if whose == node and _OVER.get(word) == reason), None)
        yield NodeReport(node, f"{reason}: {says}" if says else reason, start, end)


def _event(event: Mapping[str, Any]) -> tuple[float, str, str, bool, str] | None:
    """Time, node, reason, whether it is trouble, and its words; None of what is not about a node."""
    about = _table(event.get("involvedObject") or event.get("regarding"))
    reason, says = _text(event.get("reason")), _text(event.get("message") or event.get("note"))
    times = (event.get("firstTimestamp"), event.get("eventTime"), event.get("deprecatedFirstTimestamp"))
    start = next((found for time in times if (found := moment(_text(time))) is not None), None)
    if about.get("kind") != "Node" or start is None or not _text(about.get("name")):
        return None
    is_bad = reason in _BAD or (event.get("type") == "Warning" and reason not in _NO_FAULT)
    return start, _text(about["name"]), reason, is_bad, says


def _node(node: Mapping[str, Any]) -> Iterator[NodeReport]:
    """A node's conditions, each that tells of trouble; one report that it is well where none does."""
    name = _text(_table(node.get("metadata")).get("name"))
    conditions = map(_table, _table(node.get("status")).get("conditions") or [])
    rows = [
        (
            _text(condition.get("type")),
            _text(condition.get("status")),
            _text(condition.get("reason")),
            _text(condition.get("message")),
            moment(_text(condition.get("lastTransitionTime"))),
        )
        for condition in conditions
    ]
    is_cordoned = _table(node.get("spec")).get("unschedulable") is True
    if name:
        yield from _conditions(name, rows, is_cordoned=is_cordoned)


def _conditions(
    name: str, rows: Sequence[tuple[str, str, str, str, float | None]], *, is_cordoned: bool
) -> Iterator[NodeReport]:
    """Ready has to be True, every other condition False; what is Unknown says that the kubelet is silent."""
    bad = [
        NodeReport(name, f"{reason}: {says}" if says else reason, since)
        for kind, status, reason, says, since in rows
        if (status != "True" if kind == "Ready" else status == "True")
    ]
    yield from bad
    if is_cordoned:
        yield NodeReport(name, _CORDONED, planned=True)
    elif not bad:
        yield NodeReport(name, "", out=not rows)


def _described(text: str) -> Iterator[NodeReport]:
    """``kubectl describe node``: the conditions; its events have ages, and no clock."""
    name, rows, is_cordoned = "", list[tuple[str, str, str, str, float | None]](), False
    for line in [*text.splitlines(), "Name:    end"]:
        if match := _NAME.match(line):
            if name:
                yield from _conditions(name, rows, is_cordoned=is_cordoned)
            name, rows, is_cordoned = match[1], [], False
        elif row := _ROW.match(line):
            since = datetime.strptime(row["since"], "%a, %d %b %Y %H:%M:%S %z").timestamp()
            rows.append((row["type"], row["status"], row["reason"], row["says"].strip(), since))
        is_cordoned = is_cordoned or line.split() == ["Unschedulable:", "true"]


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value[:1024] if isinstance(value, str) else ""
