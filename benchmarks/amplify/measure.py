"""Make grown jobs, diagnose each in a process of its own, and delete it: one job a worker is on disk at any time."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue

from benchmarks.amplify.alone import MeasuredAnswer
from benchmarks.amplify.cast import CannotGrow, Original, choose_cast
from benchmarks.amplify.grow import grow, read_original
from benchmarks.quality.labels import Truth, parse_truth

RANK_LOGS = frozenset({"stdout.log", "stderr.log"})
ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 300  # seconds; a diagnosis takes twenty at most
FAULTY = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class GrownJob:
    """A job to be grown and diagnosed.

    history: nodes of the successful jobs beside it; 0: as they are, None: no jobs. ranks_only: only what ranks logged
    is there, nothing of launchers, node daemons and the scheduler.
    """

    job_id: str
    nodes: int
    faulty: int
    seed: int
    history: int | None = 0
    ranks_only: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the diagnosis of a grown job did; no answer when it failed. size: bytes of its logs."""

    plan: GrownJob
    truth: Truth
    size: int
    answer: MeasuredAnswer | None
    error: str = ""

    @property
    def blames(self) -> bool:
        """Whether a node is to blame, so that naming it is asked for."""
        return self.truth.scopes == {"node"}

    def top(self, count: int) -> bool:
        """Whether a node at fault is among the first suspects."""
        return self.answer is not None and bool(self.truth.faulty_nodes & set(self.answer.nodes[:count]))

    @property
    def found(self) -> float:
        """Share of the nodes at fault that are accused."""
        named = set(self.answer.nodes) if self.answer else set()
        return len(self.truth.faulty_nodes & named) / max(len(self.truth.faulty_nodes), 1)

    @property
    def scope(self) -> bool:
        """Whether it is right about what is at fault."""
        return self.answer is not None and self.answer.scope in self.truth.scopes

    @property
    def quiet(self) -> bool:
        """Whether nobody is accused."""
        return self.answer is not None and not self.answer.nodes


def make_plans(
    originals: Sequence[Original],
    nodes: Iterable[int],
    faulty: Iterable[int],
    seeds: Iterable[int],
    history: int | None = 0,
) -> Iterator[GrownJob]:
    """All jobs that can grow: those with a node at fault with each number of them, the others once a size and seed."""
    for size in nodes:
        for seed in seeds:
            for original in originals:
                counts = faulty if original.faulty is not None else (1,)
                for count in counts:
                    if not _refused(original, size, count, seed):
                        yield GrownJob(original.id, size, count, seed, history)


def seen_by_ranks(original: Original) -> bool:
    """Whether the logs of ranks alone can tell: ranks are at fault (not a launcher), and they wrote logs."""
    logged = any(path.name in RANK_LOGS for path in original.home.rglob("*.log"))
    return bool(original.truth["faulty_ranks"]) and logged


def _refused(original: Original, nodes: int, faulty: int, seed: int) -> bool:
    try:
        choose_cast(original, nodes, faulty, seed)
    except CannotGrow:
        return True
    return False


def measure(
    plans: Sequence[GrownJob], lab: Path, scratch: Path, *, workers: int, report: Callable[[Outcome], None]
) -> tuple[Outcome, ...]:
    """Outcomes in the order of the plans.

    Args:
        lab: folder with jobs/ and truth/ of the small jobs.
        scratch: an empty folder; each worker keeps the successful jobs and one grown job in it.
        report: is told of each outcome as it comes.
    """
    desks: SimpleQueue[Path] = SimpleQueue()
    for worker in range(workers):
        desks.put(scratch / str(worker))

    def run(plan: GrownJob) -> Outcome:
        desk = desks.get()
        try:
            outcome = _measure_one(plan, lab, desk)
        finally:
            desks.put(desk)
        report(outcome)
        return outcome

    with ThreadPoolExecutor(workers) as pool:
        return tuple(pool.map(run, plans))


def _measure_one(plan: GrownJob, lab: Path, desk: Path) -> Outcome:
    jobs = desk / f"jobs-{plan.history}"
    if not jobs.exists():
        _lay_out_history(lab, jobs, desk / "truth", plan.history)
    original = read_original(lab / "jobs", lab / "truth", plan.job_id)
    kept = desk / "kept"
    if (jobs / plan.job_id).exists():
        (jobs / plan.job_id).rename(kept)  # a successful job that is itself grown
    try:
        grown = grow(choose_cast(original, plan.nodes, plan.faulty, plan.seed), jobs, desk / "truth")
        if plan.ranks_only:
            _leave_ranks(jobs / plan.job_id)
        truth = json.loads((desk / "truth" / f"{plan.job_id}.json").read_text(encoding="utf-8"))
        return _outcome(plan, replace(parse_truth(truth), labels=()), grown.size, jobs)
    finally:
        shutil.rmtree(jobs / plan.job_id, ignore_errors=True)
        if kept.exists():
            kept.rename(jobs / plan.job_id)


def _leave_ranks(job: Path) -> None:
    for path in job.rglob("*.log"):
        if path.name not in RANK_LOGS:
            path.unlink()


def _lay_out_history(lab: Path, jobs: Path, truth: Path, nodes: int | None) -> None:
    """The successful jobs, as they are or grown, or none of them."""
    jobs.mkdir(parents=True)
    for path in sorted((lab / "jobs").iterdir()):
        original = read_original(lab / "jobs", lab / "truth", path.name)
        if original.manifest["status"] != "COMPLETED" or nodes is None:
            continue
        if nodes and not _refused(original, nodes, 1, seed=0):
            grow(choose_cast(original, nodes, 1, seed=0), jobs, truth)
        elif nodes == 0:
            shutil.copytree(path, jobs / path.name)


def _outcome(plan: GrownJob, truth: Truth, size: int, jobs: Path) -> Outcome:
    command = [sys.executable, "-m", "benchmarks.amplify.alone", str(jobs), plan.job_id]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return Outcome(plan, truth, size, None, f"no answer within {TIMEOUT} s")
    if done.returncode:
        return Outcome(plan, truth, size, None, done.stderr.strip()[-300:])
    document = json.loads(done.stdout)
    return Outcome(plan, truth, size, MeasuredAnswer(**document | {"nodes": tuple(document["nodes"])}))
