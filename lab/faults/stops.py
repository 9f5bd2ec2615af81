"""Set-up that never completes, and jobs that are stopped from outside."""

import signal

from lab.cluster import kill
from lab.launch import RENDEZVOUS_PORT
from lab.model import CANCELLED, MASTER_PORT, NETNS, Fault, Outside, Site, Trace
from lab.settings import LIGHTNING, SLURM, TORCHRUN, Settings
from lab.slurm import urgent_job

NOWHERE = "trainer-40.cluster.local"
NOBODY = "10.77.0.99"
SQUATTER = "python3 -c \"import socket, time; s = socket.create_server(('', {port})); time.sleep(300)\" &"
NO_MASTER = r"\(trainer-40\.cluster\.local, \d+\)|host trainer-40\.cluster\.local|gaierror"
NO_FIRST_NODE = r"\(MASTER, \d+\)|\[MASTER\]:\d+|host MASTER|10\.77\.0\.99"
NEVER_COMPLETE = r"RendezvousTimeoutError|Timed out after .* waiting for clients|wait timeout after"
TOLD_TO_STOP = r"Received 15 death signal|got signal: 15|SignalException"
LIMIT_S = 60.0  # a job's time, where nothing but the lab limits it
ORDERS = (
    Trace("Slurm ends the job", r"slurmstepd\S*: error: \*\*\* (JOB|STEP) \S+ ON \S+ CANCELLED AT", anywhere=True),
    Trace("Slurm's controller was told to end the job", r"REQUEST_KILL_JOB|Time limit exhausted for", anywhere=True),
    Trace("Slurm's controller preempts the job", r"preempted JobId|to preempt|PREEMPT", anywhere=True),
)


def _wrong_master(site: Site) -> None:
    site.launcher.setdefault(site.plan.node, {})["master"] = NOWHERE


def _wrong_hosts(site: Site) -> None:
    path = site.home() / "hosts"
    first = site.cluster.nodes[0]
    path.write_text(path.read_text(encoding="utf-8").replace(f"{first.address} ", f"{NOBODY} "), encoding="utf-8")


def _too_many_nodes(site: Site) -> None:
    settings = site.settings
    for node in settings.nodes:
        extra = {"nnodes": len(settings.nodes) + 1, "world": settings.world + settings.per_node}
        site.launcher.setdefault(node, {}).update(extra)


def _busy_port(site: Site) -> None:
    dynamic = site.settings.launcher == TORCHRUN and not site.settings.static
    site.node.mounts += [SQUATTER.format(port=RENDEZVOUS_PORT if dynamic else MASTER_PORT), "sleep 1"]


def _drain(site: Site) -> None:
    kill(site.launcher_pid(), signal.SIGTERM)


def _torchrun(settings: Settings) -> bool:
    return settings.launcher == TORCHRUN


def _believes_its_environment(settings: Settings) -> bool:
    """Lightning asks Slurm how many there are, and refuses at once."""
    return not (settings.program is LIGHTNING and settings.launcher == SLURM)


def _slurm(settings: Settings) -> bool:
    return settings.launcher == SLURM


STOPS = (
    Fault(
        "wrong_master_addr", "{node} was given a master address that does not resolve",
        "user", "configuration error", "node", "initialization",
        (Trace("the master address leads nowhere", NO_MASTER),),
        prepare=_wrong_master, where="later", in_command=r"trainer-40",
    ),
    Fault(
        "hosts_entry_wrong", "the hosts file of {node} has a wrong address of the first node",
        "platform", "configuration error", "node", "initialization",
        (Trace("the first node does not answer at that address", NO_FIRST_NODE),),
        prepare=_wrong_hosts, needs=frozenset({NETNS}), where="later",
    ),
    Fault(
        "wrong_world_size", "the job waits for one node more than it has",
        "user", "configuration error", "job", "initialization",
        (Trace("the set-up never completes", NEVER_COMPLETE, anywhere=True),),
        prepare=_too_many_nodes, suits=_believes_its_environment, in_command=r"--nnodes [45] ",
    ),
    Fault(
        "port_in_use", "the port of the job's store on {node} is taken",
        "platform", "misoperation", "node", "initialization",
        (Trace("the port is taken", r"EADDRINUSE|[Aa]ddress already in use"),),
        prepare=_busy_port, needs=frozenset({NETNS}), where="first",
    ),
    Fault(
        "preemption", "a job with a higher priority took all nodes",
        "platform", "preemption", "job", "training",
        ORDERS, ends=CANCELLED, strike=urgent_job, suits=_slurm,
    ),
    Fault(
        "node_reclaimed", "{node} was given back: its torchrun was told to end",
        "platform", "preemption", "node", "training",
        (Trace("torchrun was told to stop", TOLD_TO_STOP),),
        strike=_drain, suits=_torchrun,
    ),
    Fault(
        "cancelled", "the job was cancelled by its owner",
        "platform", "cancelled", "job", "training",
        ORDERS, shows=_slurm, ends=CANCELLED, outside=Outside(0.0, "strike"), strike=lambda _: None,
    ),
    Fault(
        "time_limit", "the job used up its time",
        "platform", "time limit", "job", "training",
        ORDERS, shows=_slurm, ends=CANCELLED, outside=Outside(LIMIT_S, "start", limit=1),
    ),
)  # fmt: skip
