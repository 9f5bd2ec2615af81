"""Nodes that are cut off or gone, and links that are down, slow or flapping."""

import re
import signal
import time
from pathlib import Path
from statistics import median

from lab.cluster import kill
from lab.model import CANCELLED, COMPLETED, CPU, NETNS, Fault, Outside, PlannedJob, Site, Trace, never, stop_all
from lab.settings import MEGALITE, PLAIN, SLURM, TIMERS, Settings
from lab.slurm import start_node

FLAP_S = 2.5  # chosen: longer than TCP's first resends, shorter than the time-outs of collectives
DARK_S = 20.0  # a reboot takes so long
SLOW_KBIT = 6000  # chosen; that a step then takes SLOWER times as long is checked of each job
SLOWEST_KBIT = 300  # chosen, as above: for programs that send little
CPU_SHARE, LEAST_SHARE = 0.05, 0.02  # of one CPU, for each rank
SLOWER = 1.5  # median time of an iteration after the fault against before
STEP = re.compile(r"(?:iteration +|step )(\d+)/ *\d+ \|.*?(?:per iteration \(ms\): ([\d.]+)|([\d.]+) ms/step)")
WATCH_S = 40.0  # until somebody ends a slow job

LOST = Trace("Slurm's controller lost the node", r"NODE.* not responding|on failed node NODE|Node NODE .*rebooted")
SRUN_LOST = Trace("srun lost the node", r"srun: error: Node failure on NODE")
NO_ROUTE = Trace("the node's network does not answer", r"push .*(timed out|No route to host|unreachable)")


def _slurm(settings: Settings) -> bool:
    return settings.launcher == SLURM


def _times_steps(settings: Settings) -> bool:
    """The program says how long an iteration took, in a way that ``STEP`` knows."""
    return settings.program in (MEGALITE, PLAIN)


def _times_ranks(settings: Settings) -> bool:
    return TIMERS in settings.program.has


def _cut_power(site: Site) -> None:
    """Nobody hears how the node's processes ended: they stop, the link is cut, and then they are gone."""
    site.lost.add(site.plan.node)
    stop_all([pid for pid in site.cluster.pids(site.node) if pid != site.node.holder], signal.SIGSTOP)
    site.cluster.link(site.node, up=False)
    time.sleep(0.2)
    kill(site.node.holder, signal.SIGKILL)


def _reboot(site: Site) -> None:
    _cut_power(site)
    time.sleep(DARK_S)
    site.cluster.hold(site.node, site.work / "harness.log")
    site.cluster.link(site.node, up=True)
    start_node(site, site.node, "-b")


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


def _choke(site: Site) -> None:
    site.cluster.narrow(site.node, SLOWEST_KBIT)


def _throttle(site: Site, share: float = CPU_SHARE) -> None:
    if site.node.group is not None:
        site.node.group.limit_cpu(share * site.settings.per_node)


def _starve(site: Site) -> None:
    _throttle(site, LEAST_SHARE)


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
        (LOST, SRUN_LOST), shows=_slurm, patient=_slurm,
        strike=_cut_power, needs=frozenset({NETNS}),
    ),
    Fault(
        "node_reboot", "{node} rebooted in the middle of the run",
        "hardware", "node fault", "node", "training",
        (LOST, SRUN_LOST),
        strike=_reboot, needs=frozenset({NETNS}), suits=_slurm, patient=_slurm,
    ),
    Fault(
        "link_down", "the link of {node} went down for good",
        "hardware", "network fault", "node", "training",
        (LOST, SRUN_LOST, NO_ROUTE), shows=_slurm, patient=_slurm,
        strike=_pull_cable, needs=frozenset({NETNS}),
    ),
    Fault(
        "network_blackhole", "no frame of {node} got through any more, its link stayed up",
        "hardware", "network fault", "node", "training",
        (LOST, SRUN_LOST, NO_ROUTE), shows=_slurm, patient=_slurm,
        strike=_isolate, needs=frozenset({NETNS}),
    ),
    Fault(
        "link_flap_survived", "the link of {node} was down for some seconds; the job went on and completed",
        None, None, "none", None,
        ends=COMPLETED, strike=_flap, needs=frozenset({NETNS}),
    ),
    Fault(
        "slow_link_survived", "the link of {node} became slow; the job took longer and completed",
        None, None, "none", None,
        ends=COMPLETED, strike=_narrow, needs=frozenset({NETNS}), sign=_slowed, suits=_times_steps,
    ),
    Fault(
        "slow_node_survived", "{node} got a fraction of a CPU; the job took longer and completed",
        None, None, "none", None,
        ends=COMPLETED, strike=_throttle, needs=frozenset({CPU}), sign=_slowed, suits=_times_steps,
    ),
    Fault(
        "slow_node", "{node} got a fraction of a CPU after iteration {iteration}, until somebody ended the slow job",
        "hardware", "processor throttled", "node", "training",
        placed=_times_ranks, onset=True, ends=CANCELLED, outside=Outside(WATCH_S, "strike"),
        strike=_starve, needs=frozenset({CPU}),
    ),
    Fault(
        "slow_network", "the link of {node} became slow after iteration {iteration}, until somebody ended the slow job",
        "hardware", "network degraded", "node", "training",
        placed=never, onset=True, ends=CANCELLED, outside=Outside(WATCH_S, "strike"),
        strike=_choke, needs=frozenset({NETNS}),
    ),
)  # fmt: skip
