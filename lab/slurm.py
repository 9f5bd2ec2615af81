"""Slurm itself: munged, slurmctld and slurmd on the nodes of a job, and the job as a batch script with srun.

Every job has a Slurm of its own, with its configuration, key and state in the job's work folder; nothing of the
machine's Slurm is touched. All lines under Slurm's names are its own.
"""

import re
import secrets
import shlex
import shutil
import time
from pathlib import Path

from lab.cluster import Node
from lab.errors import LabError
from lab.launch import program, rank_environment
from lab.model import CANCELLED, COMPLETED, FAILED, Site

CONTROLLER = "slurm-ctl1"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "scancel", "sinfo")
SOCKET = Path("/run/munge/munge.socket.2")  # where Slurm looks for munged; /run is each node's own
UP_S = 90.0  # until all nodes are idle
LOOK_S = 1.0  # between questions about the job
THAW_S = 45.0  # after the order to end: longer than Slurm's KillWait and srun's patience
SETTLE_S = 3.0  # chosen: for the last lines of srun and slurmd
CONFIGURATION = """ClusterName=cluster
SlurmctldHost={controller}({address})
AuthType=auth/munge
CredType=cred/munge
SlurmUser=root
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
ReturnToService=2
SlurmdParameters=config_overrides
SlurmdTimeout=30
MessageTimeout=10
TCPTimeout=5
PropagateResourceLimits=NONE
SlurmdSpoolDir={folder}/%n.spool
SlurmdPidFile={folder}/%n.pid
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/slurmctld.log
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdLogFile={folder}/%n.log
FirstJobId={number}
{nodes}
PartitionName=gpu Nodes={names} Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE PriorityTier=1
PartitionName=urgent Nodes={names} MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE PriorityTier=9
"""
NODE = "NodeName={name} NodeAddr={address} CPUs=64 RealMemory=480000 State=UNKNOWN"
STATES = {"COMPLETED": COMPLETED, "CANCELLED": CANCELLED, "TIMEOUT": CANCELLED, "PREEMPTED": CANCELLED}
ALIVE = frozenset({"PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED"})


def available() -> bool:
    """Whether the machine has Slurm and munge."""
    return all(shutil.which(name) for name in PROGRAMS)


def folder_of(site: Site) -> Path:
    """Where the job's Slurm lives."""
    return site.work / "slurm"


def write_files(site: Site) -> None:
    """Configuration and key, before the nodes come up."""
    folder = folder_of(site)
    (folder / "state").mkdir(parents=True)
    nodes = [NODE.format(name=node.name, address=node.address) for node in site.cluster.nodes]
    names = ",".join(site.settings.nodes)
    text = CONFIGURATION.format(
        controller=CONTROLLER, address=_controller(site).address, folder=folder, number=site.plan.number,
        nodes="\n".join(nodes), names=names,
    )  # fmt: skip
    (folder / "slurm.conf").write_text(text, encoding="utf-8")
    key = secrets.token_bytes(1024)
    for node in site.cluster.machines:
        path = folder / f"{node.name}.key"
        path.touch(0o600)
        path.write_bytes(key)
        node.mounts += ["mount -t tmpfs tmpfs /run", f"mkdir -m 755 {SOCKET.parent}"]


def start_node(site: Site, node: Node, *words: str) -> None:
    """munged and slurmd of a node, or slurmctld on the scheduler's; further words for the daemon."""
    folder, name = folder_of(site), node.name
    munged = [
        "munged", "--foreground", "--force", "--num-threads=2", f"--key-file={folder}/{name}.key",
        f"--socket={SOCKET}", f"--pid-file={folder}/{name}.munged.pid",
        f"--log-file={folder}/{name}.munged.log", f"--seed-file={folder}/{name}.seed",
    ]  # fmt: skip
    daemon = ["slurmctld" if node is site.cluster.controller else "slurmd", "-D", "-f", f"{folder}/slurm.conf", *words]
    with (folder / f"{name}.out").open("ab") as log:
        site.cluster.spawn(node, munged, {}, out=log)
        _wait_for(Path(f"/proc/{node.holder}/root{SOCKET}"))
        site.cluster.spawn(node, daemon, _environment(site), out=log)


def urgent_job(site: Site) -> None:
    """Somebody with a higher priority wants all nodes."""
    count = f"--nodes={len(site.settings.nodes)}"
    _ask(site, "sbatch", "--partition=urgent", count, "--job-name=urgent", "--output=/dev/null", "--wrap=sleep 30")


class SlurmJob:
    """The job as Slurm sees it."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._state = "PENDING"
        self._looked = 0.0
        self._stopped = 0.0
        self._ended = 0.0

    def start(self) -> None:
        """Start all daemons, wait for the nodes, and submit."""
        for node in reversed(self._site.cluster.machines):
            start_node(self._site, node)
        wanted, until = f"idle {len(self._site.settings.nodes)}", time.monotonic() + UP_S
        while (text := _ask(self._site, "sinfo", "--noheader", "--partition=gpu", "--format=%t %D").strip()) != wanted:
            if time.monotonic() > until:
                raise LabError(f"Slurm did not come up: {text[-200:]}")
            time.sleep(1)
        self._submit()

    def _submit(self) -> None:
        site, settings = self._site, self._site.settings
        for node in settings.nodes:
            _task_script(site, node)
        script = site.work / "job.sh"
        script.write_text(f"#!/bin/bash\n{_step(site)}\n", encoding="utf-8")
        output = site.logs / ("slurm-%j.out" if not settings.layout.by_rank else "%j_submission.out")
        words = [
            f"--nodes={len(settings.nodes)}", f"--ntasks-per-node={settings.per_node}", "--cpus-per-task=8",
            "--no-requeue", f"--job-name={settings.program.model}", f"--output={output}", "--chdir=/",
            *([f"--time={site.minutes}"] if site.minutes else []), str(script),
        ]  # fmt: skip
        text = _ask(site, "sbatch", *words)
        if not re.search(rf"Submitted batch job {site.plan.number}\b", text):
            raise LabError(f"sbatch said: {text[-200:]}")

    def over(self) -> bool:
        """Ask Slurm now and then; the job is over a little after it has ended, when the last lines are written."""
        now = time.monotonic()
        if now - self._looked > LOOK_S:
            self._looked, self._state = now, self._ask_state()
        if self._state == "COMPLETING":
            self._stopped = self._stopped or now
        if self._state not in ALIVE:
            self._ended = self._ended or now
        self._thaw(now)
        return bool(self._ended) and now - self._ended > SETTLE_S

    def _thaw(self, now: float) -> None:
        """A process that is frozen lets a job complete only when it goes on."""
        group = self._site.node.group if self._site.plan.node else None
        if group is not None and self._stopped and now - self._stopped > THAW_S:
            group.thaw()

    def _ask_state(self) -> str:
        text = _ask(self._site, "scontrol", "--oneliner", "show", "job", str(self._site.plan.number))
        found = re.search(r"JobState=(\w+)", text)
        return found[1] if found else self._state

    def stop(self) -> None:
        """The owner cancels the job."""
        self._stopped = time.monotonic()
        _ask(self._site, "scancel", str(self._site.plan.number))

    @property
    def status(self) -> str:
        """How the job ended."""
        return STATES.get(self._state, FAILED)

    @property
    def exit_codes(self) -> dict[str, dict[str, int | None]]:
        """Slurm's own words tell them."""
        return {}

    def collect(self) -> None:
        """slurmctld's log from the allocation on: what stands before is its own start."""
        text = (folder_of(self._site) / "slurmctld.log").read_text(encoding="utf-8", errors="replace")
        lines = text.splitlines(keepends=True)
        first = next((index for index, line in enumerate(lines) if "sched: Allocate JobId" in line), 0)
        (self._site.logs / "slurmctld.log").write_text("".join(lines[first:]), encoding="utf-8")


def _step(site: Site) -> str:
    """The srun of the batch script."""
    words = ["srun", "--kill-on-bad-exit=1"]
    if site.settings.layout.by_rank:
        words += [f"--output={site.logs}/%j_%t_log.out", f"--error={site.logs}/%j_%t_log.err"]
    else:
        words += ["--label"]
    return shlex.join([*words, "bash", "-c", f". {site.work}/$SLURMD_NODENAME/task.sh"])


def _task_script(site: Site, node: str) -> None:
    """What a task of a node runs: ranks as Slurm numbers them, then the program."""
    place = rank_environment(site, node, 0)
    del place["RANK"], place["LOCAL_RANK"]
    lines = [f"export {name}={shlex.quote(value)}" for name, value in sorted(place.items())]
    lines += ["export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID", f"cd {site.home(node)}/code"]
    lines += [f"exec {shlex.join([str(site.python), *program(site, node)])}"]
    (site.home(node) / "task.sh").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _controller(site: Site) -> Node:
    if site.cluster.controller is None:
        raise LabError("the cluster has no machine for the scheduler")
    return site.cluster.controller


def _environment(site: Site) -> dict[str, str]:
    return {"SLURM_CONF": str(folder_of(site) / "slurm.conf")}


def _ask(site: Site, *words: str) -> str:
    """What a program of Slurm says on the scheduler's machine."""
    return site.cluster.run(_controller(site), words, _environment(site))


def _wait_for(path: Path) -> None:
    until = time.monotonic() + UP_S
    while not path.exists():
        if time.monotonic() > until:
            raise LabError(f"{path.name} did not appear")
        time.sleep(0.05)
