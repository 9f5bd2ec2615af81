"""Runs one planned job: files, nodes, scheduler, the fault, and the job folder that is left."""

import json
import shutil
import sys
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lab.cluster import Cluster, Node
from lab.errors import LabError
from lab.files import lay_out, scrub
from lab.labels import last_iteration
from lab.model import Fault, PlannedJob, Site
from lab.tasks import daemon_log, job_output, tasks_of

STOPPING = threading.Event()  # set when the lab is interrupted: every job ends and cleans up
GUARD_S = 170.0  # should the scheduler fail to end it
KILL_WAIT_S, LOST_WAIT_S = 8, 12  # until the others are stopped; peers of a lost node time out first
POLL_S = 0.15


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended."""

    status: str
    seconds: float
    notes: tuple[str, ...]


def run_job(
    plan: PlannedJob, fault: Fault, *, python: Path, out: Path, scratch: Path, number: int, netns: bool
) -> Outcome:
    """Run the job and write its folder; everything else is removed, whatever happens."""
    home, work = out / "jobs" / plan.job_id, scratch / plan.job_id
    for folder in (home, work):
        shutil.rmtree(folder, ignore_errors=True)
    cluster = Cluster(plan.settings.nodes, number, netns=netns)
    site = Site(plan, cluster, work, home / "logs")
    started = time.time()
    try:
        lay_out(site, scratch)
        cluster.open()
        _arm(site, fault)
        outcome = _watch(site, fault, python)
    finally:
        cluster.close()
    scrub(site, python)
    _manifest(site, outcome, home, started)
    _keep_checkpoint(site, scratch, outcome)
    shutil.rmtree(work, ignore_errors=True)
    return outcome


def _arm(site: Site, fault: Fault) -> None:
    targets = site.settings.nodes if fault.everywhere else (site.plan.node,)
    for node in targets if fault.code else ():
        for anchor, lines in fault.code:
            text = lines.replace("RANK", str(site.plan.rank)).replace("ITERATION", str(site.plan.iteration))
            site.insert(node, anchor, text)
    if fault.prepare is not None:
        fault.prepare(site)


def _watch(site: Site, fault: Fault, python: Path) -> Outcome:
    started = time.time()
    _start(site, python)
    ctl = site.work / "ctl"
    pending = fault.strike
    while not (ctl / "ended").exists() and time.time() - started < GUARD_S:
        if STOPPING.is_set():
            raise LabError("The lab was interrupted.")
        if time.time() - started > fault.wall:
            (ctl / "limit").touch()
        if pending is not None and last_iteration(site.logs.parent) >= site.plan.iteration:
            pending(site)
            pending = None
        time.sleep(POLL_S)
    if pending is not None:
        site.note("the fault was not made: the iteration was not reached")
    status = (ctl / "ended").read_text(encoding="utf-8") if (ctl / "ended").exists() else "FAILED"
    seconds = time.time() - started
    time.sleep(1.5)  # last lines
    return Outcome(status, seconds, tuple(site.notes))


def _start(site: Site, python: Path) -> None:
    settings, cluster = site.settings, site.cluster
    address, port = cluster.scheduler
    common: dict[str, Any] = {
        "job": site.plan.job_id, "dialect": settings.dialect, "address": address, "port": port,
        "ctl": str(site.work / "ctl"),
    }  # fmt: skip
    scheduler = common | {
        "logs": str(site.logs), "output": job_output(site), "nodes": settings.nodes, "tasks": settings.world,
        "kill_wait": KILL_WAIT_S, "lost_wait": LOST_WAIT_S, "bridge": cluster.bridge,
    }  # fmt: skip
    _spawn(site, None, "lab.scheduler", scheduler)
    time.sleep(0.5)
    for node in cluster.nodes:
        daemon = common | {
            "node": node.name, "log": str(daemon_log(site, node.name)), "tasks": tasks_of(site, node.name, python),
            "cgroup": f"{cluster.token}-{node.name}" if node.group else "", "device": "eth0" if cluster.netns else "",
            "devices": str(site.home(node.name) / "dev"),
        }  # fmt: skip
        _spawn(site, node, "lab.daemon", daemon)


def _spawn(site: Site, node: Node | None, module: str, config: dict[str, Any]) -> None:
    """Start a module of the lab on a node, or the scheduler on the switch."""
    path = site.work / f"{node.name if node else 'scheduler'}.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    environment = {"PYTHONPATH": str(Path(__file__).parent.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= site.env.get(node.name, {}) if node else {}
    site.cluster.spawn(node, [sys.executable, "-m", module, str(path)], environment, site.work / "harness.log")


def restart_daemon(site: Site) -> None:
    """The struck node is up again, without its tasks."""
    config = json.loads((site.work / f"{site.plan.node}.json").read_text(encoding="utf-8"))
    _spawn(site, site.node, "lab.daemon", config | {"tasks": []})


def _manifest(site: Site, outcome: Outcome, home: Path, started: float) -> None:
    settings, plan = site.settings, site.plan
    document = {
        "job_id": plan.job_id,
        "status": outcome.status,
        "start": _iso(started),
        "end": _iso(started + outcome.seconds),
        "model": settings.program.model,
        "framework": settings.program.framework,
        "software": {"torch": "2.13.0+cpu", "python": "{}.{}.{}".format(*sys.version_info[:3]), "backend": "gloo"},
        "settings_id": settings.name,
        "nodes": settings.nodes,
        "world_size": settings.world,
        "node_ranks": {node: settings.ranks(node) for node in settings.nodes},
        "node_addresses": {node.name: node.address for node in site.cluster.nodes},
        "total_iterations": settings.iterations,
    }
    (home / "job.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _keep_checkpoint(site: Site, scratch: Path, outcome: Outcome) -> None:
    kept = scratch / "checkpoints" / site.settings.name
    if outcome.status == "COMPLETED" and not kept.exists() and any(site.checkpoints.iterdir()):
        shutil.copytree(site.checkpoints, kept)
