"""Set-up that never completes, and jobs that are stopped from outside."""

import signal

from lab.model import CANCELLED, MOUNT, NETNS, Fault, Site, Trace, command, stop_all
from lab.tasks import MASTER_PORT, RENDEZVOUS_PORT

NOWHERE = "trainer-40.cluster.local"
NOBODY = "10.77.0.99"
SQUATTER = "python3 -c \"import socket, time; s = socket.create_server(('', {port})); time.sleep(300)\" &"
NO_MASTER = r"\(trainer-40\.cluster\.local, \d+\)|host trainer-40\.cluster\.local|gaierror"
NO_FIRST_NODE = r"\(MASTER, \d+\)|\[MASTER\]:\d+|host MASTER|10\.77\.0\.99"
NEVER_COMPLETE = r"RendezvousTimeoutError|Timed out after .* waiting for clients|wait timeout after"
TOLD_TO_STOP = r"Received 15 death signal|got signal: 15|SignalException"
SLURM_CANCELLED = r"slurmstepd: error: \*\*\* STEP .* CANCELLED AT"


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
    dynamic = site.settings.launcher == "torchrun" and not site.settings.static
    site.node.mounts += [SQUATTER.format(port=RENDEZVOUS_PORT if dynamic else MASTER_PORT), "sleep 1"]


def _preempt(site: Site) -> None:
    daemons = [pid for pid in site.cluster.pids(site.node) if command(pid).split(b"\0")[1:3] == [b"-m", b"lab.daemon"]]
    stop_all(daemons, signal.SIGTERM)


def _limit(site: Site) -> None:
    (site.work / "ctl" / "limit").touch()


def _cancel(site: Site) -> None:
    (site.work / "ctl" / "cancel").touch()


STOPS = (
    Fault(
        "wrong_master_addr", "{node} was given a master address that does not resolve",
        "user", "configuration error", "node", "initialization",
        (Trace("the master address leads nowhere", NO_MASTER),),
        prepare=_wrong_master, where="later", in_command=r"trainer-40", wall=60.0,
    ),
    Fault(
        "hosts_entry_wrong", "the hosts file of {node} has a wrong address of the first node",
        "platform", "configuration error", "node", "initialization",
        (Trace("the first node does not answer at that address", NO_FIRST_NODE),),
        prepare=_wrong_hosts, needs=frozenset({MOUNT, NETNS}), where="later", wall=60.0,
    ),
    Fault(
        "wrong_world_size", "the job waits for one node more than it has",
        "user", "configuration error", "job", "initialization",
        (Trace("the set-up never completes", NEVER_COMPLETE, anywhere=True),),
        prepare=_too_many_nodes, in_command=r"--nnodes [45] ",
    ),
    Fault(
        "port_in_use", "the port of the job's store on {node} is taken",
        "platform", "misoperation", "node", "initialization",
        (Trace("the port is taken", r"EADDRINUSE|[Aa]ddress already in use"),),
        prepare=_busy_port, needs=frozenset({MOUNT}), where="first",
    ),
    Fault(
        "preemption", "{node} was given back to the scheduler",
        "platform", "preemption", "node", "training",
        (Trace("the node was reclaimed", event="preempted"), Trace("torchrun was told to stop", TOLD_TO_STOP)),
        strike=_preempt,
    ),
    Fault(
        "cancelled", "the job was cancelled by its owner",
        "platform", "cancelled", "job", "training",
        (
            Trace("the job was cancelled", event="cancelled", anywhere=True),
            Trace("Slurm says so", SLURM_CANCELLED, anywhere=True),
        ),
        ends=CANCELLED, strike=_cancel,
    ),
    Fault(
        "time_limit", "the job used up its time",
        "platform", "time limit", "job", "training",
        (
            Trace("the time limit", event="limit", anywhere=True),
            Trace("Slurm says so", SLURM_CANCELLED, anywhere=True),
        ),
        strike=_limit,
    ),
)  # fmt: skip
