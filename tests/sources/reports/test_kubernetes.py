"""What kubectl prints of nodes and their events becomes incidents and verdicts."""

import json
from pathlib import Path
from typing import Any

from core.checks.check_verdict import CheckOutcome
from sources.moments import moment
from sources.reports.report import verdict_of
from sources.reports.report_files import read_incidents, read_reports


def event(node: str, reason: str, when: str, *, kind: str = "Warning", says: str = "", about: str = "Node") -> Any:
    """An event as ``kubectl get events -o json`` has it (core/v1), cut to what is read."""
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "involvedObject": {"kind": about, "name": node, "uid": node},
        "reason": reason,
        "message": says,
        "source": {"component": "node-controller"},
        "firstTimestamp": when,
        "lastTimestamp": when,
        "count": 1,
        "type": kind,
    }


EVENTS = [
    event("n1", "NodeNotReady", "2026-11-18T10:00:00Z", kind="Normal", says="Node n1 status is now: NodeNotReady"),
    event("n1", "NodeReady", "2026-11-18T11:00:00Z", kind="Normal", says="Node n1 status is now: NodeReady"),
    event(
        "n2", "KernelOops", "2026-11-18T12:00:00Z", says="kernel: BUG: unable to handle kernel NULL pointer dereference"
    ),
    event("n3", "InvalidDiskCapacity", "2026-11-18T12:00:00Z", says="invalid capacity 0 on image filesystem"),
    event("n4", "NodeNotSchedulable", "2026-11-18T12:00:00Z", kind="Normal"),
    event("trainer-0", "BackOff", "2026-11-18T12:00:00Z", about="Pod", says="Back-off restarting failed container"),
]


def node(name: str, *, ready: str = "True", problem: str = "False", cordoned: bool = False) -> Any:
    """A node of ``kubectl get nodes -o json`` with a condition of the kubelet and one of node-problem-detector."""
    since = "2026-11-18T10:00:00Z"
    conditions = [
        {
            "type": "KernelDeadlock",
            "status": problem,
            "reason": "DockerHung" if problem == "True" else "KernelHasNoDeadlock",
            "message": "kernel has no deadlock" if problem == "False" else "task docker:7 blocked for more than 120 s",
            "lastTransitionTime": since,
        },
        {
            "type": "Ready",
            "status": ready,
            "reason": "KubeletReady" if ready == "True" else "NodeStatusUnknown",
            "message": "kubelet is posting ready status" if ready == "True" else "Kubelet stopped posting node status.",
            "lastTransitionTime": since,
        },
    ]
    spec = {"unschedulable": True} if cordoned else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "spec": spec,
        "status": {"conditions": conditions},
    }


HEARTBEAT, SINCE = "Wed, 18 Nov 2026 09:58:00 +0000", "Wed, 18 Nov 2026 10:00:00 +0000"
DESCRIBED = f"""\
Name:               n7
Roles:              <none>
Unschedulable:      false
Conditions:
  Type             Status    LastHeartbeatTime                 LastTransitionTime                Reason    Message
  ----             ------    -----------------                 ------------------                ------    -------
  MemoryPressure   Unknown   {HEARTBEAT}   {SINCE}   NodeStatusUnknown   Kubelet stopped posting node status.
  Ready            Unknown   {HEARTBEAT}   {SINCE}   NodeStatusUnknown   Kubelet stopped posting node status.
Addresses:
  InternalIP:  10.0.0.7
Events:
  Type    Reason        Age   From             Message
  ----    ------        ----  ----             -------
  Normal  NodeNotReady  13m   node-controller  Node n7 status is now: NodeNotReady
"""


def written(folder: Path, told: Any) -> str:
    path = folder / "told.json"
    path.write_text(told if isinstance(told, str) else json.dumps(told), encoding="utf-8")
    return str(path)


def test_events_of_nodes_are_incidents_and_end_when_the_node_is_ready_again(tmp_path: Path) -> None:
    """Warnings, and what is no warning by its type; not those of pods, of the set-up, and of a person who cordons."""
    found = read_incidents(written(tmp_path, {"kind": "List", "items": EVENTS}))

    assert [(one.node, one.until) for one in found] == [
        ("n1", (moment("2026-11-18T11:00:00Z") or 0) / 86_400),
        ("n2", None),
    ]


def test_conditions_are_verdicts(tmp_path: Path) -> None:
    """Ready has to be true and the others false; a node that a person took out is neither good nor bad."""
    nodes = [node("n1"), node("n2", ready="Unknown"), node("n3", problem="True"), node("n4", cordoned=True)]
    reports = read_reports(written(tmp_path, {"kind": "List", "items": nodes}))

    assert {name: verdict_of(own)[0] for name, own in reports.items()} == {
        "n1": CheckOutcome.PASSED,
        "n2": CheckOutcome.FAILED,
        "n3": CheckOutcome.FAILED,
        "n4": CheckOutcome.UNKNOWN,
    }
    assert verdict_of(reports["n2"])[1] == "out: NodeStatusUnknown: Kubelet stopped posting node status."


def test_a_described_node_tells_its_conditions_with_their_times(tmp_path: Path) -> None:
    """Its events have ages without a clock, and are left out."""
    (one,) = read_incidents(written(tmp_path, DESCRIBED))

    assert (one.node, one.day) == ("n7", (moment("2026-11-18T10:00:00Z") or 0) / 86_400)


def test_hostile_json_is_no_crash(tmp_path: Path) -> None:
    """Values of other kinds than Kubernetes writes."""
    told = {"items": [{"kind": "Event", "involvedObject": 5}, {"kind": "Node", "metadata": [], "status": 1}, 7, None]}

    assert read_incidents(written(tmp_path, told)) == ()
