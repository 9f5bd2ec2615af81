"""Runs one planned job: files, nodes, the fault, an end from outside, and the job folder that is left."""

import json
import shutil
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from lab.cluster import Cluster
from lab.errors import LabError
from lab.files import lay_out, scrub
from lab.labels import last_iteration
from lab.model import Fault, PlannedJob, Site
from lab.processes import Processes
from lab.settings import SLURM
from lab.slurm import CONTROLLER, SlurmJob

STOPPING = threading.Event()  # set when the lab is interrupted: every job ends and cleans up
GUARD_S = 400.0  # should nothing end it
POLL_S = 0.15  # chosen: finer than any clock in a log that shows whole seconds


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended; ``struck`` is the last complete iteration when the fault was made from outside."""

    status: str
    seconds: float
    notes: tuple[str, ...]
    struck: int | None = None


class Job(Protocol):
    """A job that somebody runs: Slurm, or the lab itself."""

    def start(self) -> None:
        """Start it; it is running, or submitted."""

    def over(self) -> bool:
        """Whether it has ended; asked again and again."""

    def stop(self) -> None:
        """End it from outside."""

    def collect(self) -> None:
        """Fetch logs that are elsewhere."""

    @property
    def status(self) -> str:
        """How it ended, once it is over."""

    @property
    def exit_codes(self) -> dict[str, dict[str, int | None]]:
        """Fields of job.json."""


def run_job(
    plan: PlannedJob, fault: Fault, *, python: Path, out: Path, scratch: Path, number: int, netns: bool
) -> Outcome:
    """Run the job and write its folder; everything else is removed, whatever happens."""
    home, work = out / "jobs" / plan.job_id, scratch / plan.job_id
    for folder in (home, work):
        shutil.rmtree(folder, ignore_errors=True)
    slurm = plan.settings.launcher == SLURM
    cluster = Cluster(plan.settings.nodes, number, netns=netns, controller=CONTROLLER if slurm else "")
    site = Site(plan, fault, cluster, work, home / "logs", python)
    job: Job = SlurmJob(site) if slurm else Processes(site)
    started = time.time()
    try:
        lay_out(site, scratch)
        _arm(site)
        cluster.open(work / "harness.log")
        outcome = _watch(site, job)
    finally:
        cluster.close()
    job.collect()
    scrub(site)
    _manifest(site, outcome, job, home, started)
    _keep_checkpoint(site, scratch, outcome)
    shutil.rmtree(work, ignore_errors=True)
    return outcome


def _arm(site: Site) -> None:
    fault = site.fault
    targets = site.settings.nodes if fault.everywhere else (site.plan.node,)
    for node in targets if fault.code else ():
        for anchor, lines in fault.code:
            text = lines.replace("RANK", str(site.plan.rank)).replace("ITERATION", str(site.plan.iteration))
            site.insert(node, anchor, text)
    if fault.prepare is not None:
        fault.prepare(site)


def _watch(site: Site, job: Job) -> Outcome:
    """Make the fault when its iteration has come, end what does not end by itself, and wait."""
    job.start()
    started = time.monotonic()
    progress = Progress(site, started)
    pending, struck = site.fault.strike, None
    while not job.over():
        if STOPPING.is_set():
            raise LabError("The lab was interrupted.")
        iteration = progress.look()
        if pending is not None and iteration >= site.plan.iteration:
            pending(site)
            pending, struck = None, last_iteration(site.logs.parent)
            progress.struck = time.monotonic()
        if progress.due():
            job.stop()
        if time.monotonic() - started > GUARD_S:
            site.notes.append("the job did not end")
            break
        time.sleep(POLL_S)
    if pending is not None:
        site.notes.append("the fault was not made: the iteration was not reached")
    return Outcome(job.status, time.monotonic() - started, tuple(site.notes), struck)


class Progress:
    """How far a job is, and whether the time has come to end it from outside."""

    def __init__(self, site: Site, started: float) -> None:
        self._site = site
        self._outside = None if site.minutes else site.fault.outside  # else Slurm's limit ends it
        self._started = started
        self._iteration = 0
        self._moved = 0.0
        self.struck = 0.0

    def look(self) -> int:
        """The last complete iteration."""
        now = last_iteration(self._site.logs.parent)
        if now > self._iteration:
            self._iteration, self._moved = now, time.monotonic()
        return self._iteration

    def due(self) -> bool:
        """Whether to end the job now; said once."""
        if self._outside is None:
            return False
        since = {"progress": self._moved, "strike": self.struck, "start": self._started}[self._outside.since]
        waits = self._site.fault.strike is not None and not self.struck
        due = since > 0 and not waits and time.monotonic() - since >= self._outside.after
        self._outside = None if due else self._outside
        return due


def _manifest(site: Site, outcome: Outcome, job: Job, home: Path, started: float) -> None:
    settings, plan = site.settings, site.plan
    document = {
        "job_id": plan.job_id,
        "status": outcome.status,
        "start": _iso(started),
        "end": _iso(started + outcome.seconds),
        "model": settings.program.model,
        "framework": settings.program.framework,
        "software": {"torch": "2.13.0+cpu", "backend": "gloo"},
        "settings_id": settings.name,
        "nodes": settings.nodes,
        "world_size": settings.world,
        "node_ranks": {node: settings.ranks(node) for node in settings.nodes},
        "node_addresses": {node.name: node.address for node in site.cluster.nodes},
        "total_iterations": site.iterations,
        **job.exit_codes,
    }
    (home / "job.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _keep_checkpoint(site: Site, scratch: Path, outcome: Outcome) -> None:
    kept = scratch / "checkpoints" / site.settings.name
    if outcome.status == "COMPLETED" and not kept.exists() and any(site.checkpoints.iterdir()):
        shutil.copytree(site.checkpoints, kept)
