"""Nodes that are cut off or gone, and links that are down, slow or flapping."""

import re
import signal
import time
from pathlib import Path
from statistics import median

from lab.model import COMPLETED, CPU, NETNS, Fault, PlannedJob, Site, Trace, own_loop, stop_all
from lab.run import restart_daemon

FLAP_S = 2.5
DARK_S = 8.5  # a reboot takes so long; the scheduler misses the node by then
SLOW_KBIT = 6000
CPU_SHARE = 0.05  # of one CPU, for each rank
SLOWER = 1.5  # median time of an iteration after the fault against before
STEP = re.compile(r"(?:iteration +|step )(\d+)/ *\d+ \|.*?(?:per iteration \(ms\): ([\d.]+)|([\d.]+) ms/step)")

LOST = Trace("the scheduler lost the node", event="lost")
SRUN_LOST = Trace("srun lost the node", r"srun: error: Node failure on NODE")
UNHEARD = Trace("the node cannot reach the scheduler", event="unheard")
PORT_DOWN = Trace("the node's switch port went down", r"\(PORT\) entered disabled state", anywhere=True)
LINK_DOWN = Trace("the node's link went down", r"eth0 <.*> state DOWN")
NO_ROUTE = Trace("the node's network does not answer", r"push .*(timed out|No route to host|unreachable)")


def _cut_power(site: Site) -> None:
    stop_all(site.cluster.pids(site.node), signal.SIGSTOP)  # a node without power writes nothing about its link
    site.cluster.link(site.node, up=False)
    time.sleep(0.2)
    for _ in range(4):
        stop_all(site.cluster.pids(site.node))


def _reboot(site: Site) -> None:
    _cut_power(site)
    time.sleep(DARK_S)
    site.cluster.link(site.node, up=True)
    time.sleep(1)
    restart_daemon(site)


def _pull_cable(site: Site) -> None:
    site.cluster.link(site.node, up=False)


def _flap(site: Site) -> None:
    site.cluster.link(site.node, up=False)
    time.sleep(FLAP_S)
    site.cluster.link(site.node, up=True)


def _isolate(site: Site) -> None:
    site.cluster.isolate(site.node)


def _narrow(site: Site) -> None:
    site.cluster.narrow(site.node, SLOW_KBIT)


def _throttle(site: Site) -> None:
    if site.node.group is not None:
        site.node.group.limit_cpu(CPU_SHARE * site.settings.per_node)


def _was_down(home: Path, plan: PlannedJob) -> bool:
    """The node's daemon saw its link go down."""
    logs = [path for path in home.rglob("*.log") if plan.node in (path.stem, path.parent.name)]
    return any(b"state DOWN" in path.read_bytes() for path in logs)


def _slowed(home: Path, plan: PlannedJob) -> bool:
    """Iterations after the fault take much longer than those before."""
    logs = [path for path in home.rglob("*") if path.is_file()]
    text = "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in logs)
    times = [(int(found[1]), float(found[2] or found[3])) for found in STEP.finditer(text)]
    before = [spent for step, spent in times if step < plan.iteration]
    after = [spent for step, spent in times if step > plan.iteration + 2]
    return bool(before and after) and median(after) > SLOWER * median(before)


NETWORK = (
    Fault(
        "node_power_loss", "{node} lost power: everything on it stops at once",
        "hardware", "node fault", "node", "training",
        (LOST, SRUN_LOST, PORT_DOWN, LINK_DOWN),
        strike=_cut_power, needs=frozenset({NETNS}),
    ),
    Fault(
        "node_reboot", "{node} rebooted in the middle of the run",
        "hardware", "node fault", "node", "training",
        (
            LOST, SRUN_LOST, PORT_DOWN, LINK_DOWN,
            Trace("the daemon started a second time", event="daemon", again=True),
            Trace("the node came back", event="back"),
        ),
        strike=_reboot, needs=frozenset({NETNS}),
    ),
    Fault(
        "link_down", "the link of {node} went down for good",
        "hardware", "network fault", "node", "training",
        (LOST, SRUN_LOST, PORT_DOWN, LINK_DOWN, UNHEARD, NO_ROUTE),
        strike=_pull_cable, needs=frozenset({NETNS}),
    ),
    Fault(
        "network_blackhole", "no frame of {node} got through any more, its link stayed up",
        "hardware", "network fault", "node", "training",
        (LOST, SRUN_LOST, PORT_DOWN, UNHEARD, NO_ROUTE),
        strike=_isolate, needs=frozenset({NETNS}),
    ),
    Fault(
        "link_flap_survived", "the link of {node} was down for some seconds; the job went on and completed",
        None, None, "none", None,
        ends=COMPLETED, strike=_flap, needs=frozenset({NETNS}), sign=_was_down,
    ),
    Fault(
        "slow_link", "the link of {node} became slow; the job took longer and completed",
        None, None, "none", None,
        ends=COMPLETED, strike=_narrow, needs=frozenset({NETNS}), sign=_slowed,
        suits=own_loop,
    ),
    Fault(
        "slow_node", "{node} got a fraction of a CPU; the job took longer and completed",
        None, None, "none", None,
        ends=COMPLETED, strike=_throttle, needs=frozenset({CPU}), sign=_slowed,
        suits=own_loop,
    ),
)  # fmt: skip
