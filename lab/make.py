"""Makes a set: runs the planned jobs, labels them, and makes those again whose fault did not take effect."""
# ruff: noqa: T201 - tells how far it is

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lab import journal, launch, slurm
from lab.cgroups import open_group
from lab.cluster import may_use_namespaces, sweep
from lab.errors import LabError
from lab.fault_kinds import FAULTS, HEALTHY, RESUMED
from lab.files import write_corpus
from lab.labels import truth_of
from lab.model import COMPILER, CPU, MEMORY, NETNS, Fault, PlannedJob
from lab.plan import plan_jobs
from lab.run import STOPPING, run_job
from lab.settings import SETTINGS, SLURM, SUPERVISORD, Settings

ATTEMPTS = 2  # a fault that left no trace is made once more


@dataclass(frozen=True, slots=True)
class Order:
    """What set to make, where, and with what."""

    out: Path
    seed: int
    jobs: int
    kinds: tuple[str, ...]
    settings: tuple[str, ...]
    python: Path
    parallel: int
    loopback: bool


def abilities() -> frozenset[str]:
    """What this machine lets the lab do."""
    able = {COMPILER} if shutil.which("cc") else set[str]()
    if may_use_namespaces():
        able |= {NETNS}
        group = open_group(f"lab{os.getpid()}x0-probe")
        if group is not None:
            group.close()
            able |= {MEMORY, CPU}
    return frozenset(able)


def fault_of(plan: PlannedJob) -> Fault:
    """The kind of a planned job."""
    return FAULTS.get(plan.kind, RESUMED if plan.resume else HEALTHY)


def make(order: Order) -> int:
    """Make a set; the exit code is 1 when jobs had to be given up."""
    able = abilities() - ({NETNS, MEMORY, CPU} if order.loopback else set())
    if NETNS not in able:
        gone = ", ".join(sorted(fault.kind for fault in FAULTS.values() if fault.needs - able))
        print(f"No network namespaces (they need root): all nodes share the loopback device. Left out: {gone}.")
    sweep()
    groups = _groups(order.python, order.settings or tuple(SETTINGS), netns=NETNS in able)
    plans = plan_jobs(order.seed, order.jobs, kinds=order.kinds, settings=groups, able=able)
    scratch = Path(tempfile.mkdtemp(prefix="lab-"))
    write_corpus(scratch / "corpus")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    pool = ThreadPoolExecutor(order.parallel)
    dropped: list[str] = []
    try:
        fresh = [plan for plan in plans if plan.kind == "none" and not plan.resume]  # they leave checkpoints
        for batch in (fresh, plans[len(fresh) :]):
            futures = [pool.submit(_one, plan, order, scratch, plans.index(plan), NETNS in able) for plan in batch]
            dropped += [name for future in futures if (name := future.result())]
    finally:
        STOPPING.set()
        pool.shutdown(cancel_futures=True)
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"{len(plans) - len(dropped)} jobs made, {len(dropped)} given up. {'; '.join(dropped)}")
    return 1 if dropped else 0


def _groups(python: Path, names: Sequence[str], *, netns: bool) -> Sequence[str]:
    """Those of the groups whose programs and daemons are here; a sentence for each of the others."""
    if not _has(python, "torch"):
        raise LabError(f"{python} has no torch.", "Name an interpreter that has it: --python (lab/README.md).")
    missing = {name: missing_for(SETTINGS[name], python, netns=netns) for name in names if name in SETTINGS}
    for name, what in missing.items():
        if what:
            print(f"The group {name} is left out: {what}.")
    return tuple(name for name in names if not missing.get(name))


def missing_for(settings: Settings, python: Path, *, netns: bool) -> str:
    """Why a group cannot be made here; empty when it can."""
    modules = [name for name in settings.program.modules if not _has(python, name)]
    if modules:
        return f"{python} has no {', '.join(modules)}"
    if settings.launcher == SLURM and not (netns and slurm.available()):
        return "it needs Slurm and munge, and network namespaces for them" if slurm.available() else "no Slurm is here"
    if settings.layout.frame == "journal" and not (netns and journal.available()):
        return "it needs journald, and namespaces for it"
    if settings.launcher == SUPERVISORD and not launch.find("supervisord", python):
        return "no supervisord is here"
    return ""


def _has(python: Path, module: str) -> bool:
    script = f"import importlib.util as u, sys; sys.exit(u.find_spec('{module}') is None)"
    return subprocess.run([python, "-c", script], check=False).returncode == 0  # noqa: S603 - the user's interpreter


def _one(plan: PlannedJob, order: Order, scratch: Path, index: int, netns: bool) -> str:  # noqa: FBT001 - a pool calls
    """Make one job; what to say if it had to be given up."""
    complaint = ""
    for attempt in range(ATTEMPTS):
        if STOPPING.is_set():
            complaint = complaint or "The lab was interrupted."
            break
        number = ATTEMPTS * index + attempt
        shown, status = f"{plan.job_id} {plan.settings_id:19}{plan.kind:26}", ""
        try:
            outcome = run_job(
                plan, fault_of(plan), python=order.python, out=order.out, scratch=scratch, number=number, netns=netns
            )
            status = f"{outcome.status:10}{outcome.seconds:4.0f} s  "
            complaint = label(order.out, _recorded(order.out, {"plan": asdict(plan), "outcome": asdict(outcome)}))
        except (LabError, OSError) as error:
            complaint = str(error)
        print(shown, status, complaint, sep="", flush=True)
        if not complaint:
            return ""
    shutil.rmtree(order.out / "jobs" / plan.job_id, ignore_errors=True)
    for folder in ("truth", "runs"):
        (order.out / folder / f"{plan.job_id}.json").unlink(missing_ok=True)
    return f"{plan.job_id} ({plan.kind}): {complaint}"


def _recorded(out: Path, record: dict[str, Any]) -> dict[str, Any]:
    """Keep what was planned and how it ended, so that labels can be made again."""
    _write(out / "runs" / f"{record['plan']['job_id']}.json", record)
    return record


def label(out: Path, record: dict[str, Any]) -> str:
    """Write a job's truth; the complaint if its fault did not take effect."""
    plan = PlannedJob(**{**record["plan"], "noise": tuple(record["plan"]["noise"])})
    truth, complaint = truth_of(plan, fault_of(plan), record["outcome"], out / "jobs" / plan.job_id)
    _write(out / "truth" / f"{plan.job_id}.json", truth)
    return complaint


def label_all(out: Path) -> tuple[str, ...]:
    """Label every job of a set again; complaints."""
    complaints = []
    for path in sorted((out / "runs").glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        complaint = label(out, record) if (out / "jobs" / path.stem).is_dir() else ""
        if complaint:
            complaints.append(f"{path.stem} ({record['plan']['kind']}): {complaint}")
    return tuple(complaints)


def _write(path: Path, document: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
