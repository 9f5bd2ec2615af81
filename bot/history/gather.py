"""The attempts of a run: job folders that share ``run`` in job.json, one job or log file, or a CSV of progress."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from bot.fetch.attempts import Progress, in_order, manifests_of, read_attempts
from bot.fetch.cache import FolderCache
from bot.fetch.jobs import Request, fetch, fetch_baseline
from bot.settings import Settings
from core.baseline import choose_baseline
from core.cache import ByteCache
from core.errors import FirstfaultError, JobNotFound, NoLogs, UnreadableLog
from core.history.attempt import Attempt
from core.history.dashboard_points import attempts_of_points
from core.job import Job, Manifest
from sources.jobs import open_source
from sources.tables import read_progress


@dataclass(frozen=True, slots=True)
class HistoryRequest:
    """What somebody asks: a run by name, a path, or the folder of its jobs and ``name``.

    jobs: where jobs live; None: where the settings say. seconds: an iteration takes. paths: whether ``run`` may be one.
    """

    run: str
    jobs: str | None = None
    name: str | None = None
    seconds: float | None = None
    use_cache: bool = True
    paths: bool = False


@dataclass(frozen=True, slots=True)
class RunAttempts:
    """A run's attempts, what it is called, and sentences about what was guessed or left out."""

    name: str
    attempts: tuple[Attempt, ...]
    problems: tuple[str, ...] = ()


def gather(wanted: HistoryRequest, settings: Settings, progress: Progress | None = None) -> RunAttempts:
    """Find and read the attempts of a run. Raises FirstfaultError where there is none."""
    if not wanted.run.strip():
        raise JobNotFound("No run is named.", "Its name, its folder, one of its jobs, or a CSV of its progress.")
    path = Path(wanted.run)
    if wanted.paths and path.is_file() and _tells_progress(path):
        attempts, problems = attempts_of_points(read_progress(wanted.run), wanted.seconds)
        return RunAttempts(path.stem, attempts, problems)
    cache = FolderCache(settings.cache) if wanted.use_cache else None
    if wanted.paths and path.exists() and not _holds_jobs(path):
        request = Request(wanted.run if "/" in wanted.run else f"./{wanted.run}", wanted.jobs, paths=True)
        job, neighbours = fetch(request, settings)
        if not job.manifest.run or wanted.name == job.id:
            good, _ = fetch_baseline(request, job, neighbours, progress, links=settings.follow_links)
            return _all(job.id, [(job, good)], cache, (), progress)
        wanted = HistoryRequest(job.manifest.run, neighbours)
    jobs, name = (wanted.run, wanted.name) if wanted.paths and path.is_dir() else (wanted.jobs, wanted.run)
    source = open_source(jobs or settings.jobs, links=settings.follow_links)
    manifests = manifests_of(source, progress)
    members, problems = _members(name, manifests, jobs or settings.jobs)
    guessed, anchor = bool(problems), name
    read: list[tuple[Job, tuple[Job, ...]]] = []
    for manifest in members:
        try:
            alike = choose_baseline(manifest, manifests)
            read.append((source.job(manifest.job_id), tuple(map(source.job, alike))))
        except (NoLogs, UnreadableLog, JobNotFound) as trouble:
            problems = (*problems, f"{manifest.job_id} was left out: {trouble.message}")
    if not read:
        raise NoLogs(f"No attempt of {name or wanted.run} has logs.", "Were they moved, or not yet copied?")
    called = members[0].run or name or wanted.run
    found = _all(called, read, cache, problems, progress)
    return _continuing(found, anchor) if guessed else found


def _tells_progress(path: Path) -> bool:
    """Whether a file is a table of progress and no log: by its name, for any log may begin with numbers."""
    return path.suffix == ".csv" or "tfevents" in path.name or (path.parent.name == "metrics" and not path.suffix)


def _holds_jobs(path: Path) -> bool:
    """Whether a folder is one of job folders, and no job itself."""
    if not path.is_dir() or (path / "job.json").exists() or (path / "logs").exists():
        return False
    return any((below / "job.json").exists() or (below / "logs").is_dir() for below in path.iterdir())


def _members(name: str | None, manifests: Sequence[Manifest], jobs: str) -> tuple[list[Manifest], tuple[str, ...]]:
    """The attempts of a run: those that share it, else those alike, which is said to be a guess."""
    named = [manifest for manifest in manifests if manifest.run is not None and manifest.run == name]
    runs = sorted({manifest.run for manifest in manifests if manifest.run is not None})
    if name is None and len(runs) == 1:
        named = [manifest for manifest in manifests if manifest.run == runs[0]]
    if named:
        return in_order(named), ()
    same = next((manifest for manifest in manifests if manifest.job_id == name), None)
    if same is not None and same.run:
        return in_order([manifest for manifest in manifests if manifest.run == same.run]), ()
    if name is not None and same is None:
        raise JobNotFound(f"There is no run {name} below {jobs}.", _instead(name, runs))
    if name is None and runs:
        raise JobNotFound(f"{jobs} holds {len(runs)} runs.", f"Choose one with --run: {', '.join(runs[:5])}.")
    alike = [manifest for manifest in manifests if same is None or _alike(same, manifest)]
    guess = "No job.json names a run: jobs of the same settings and arguments are taken for its attempts, a guess."
    return in_order(alike), (guess,) if len(alike) > 1 else ()


def _instead(name: str, runs: Sequence[str]) -> str:
    """What may have been meant, or what there is."""
    if near := get_close_matches(name, runs, n=1):
        return f"Did you mean {near[0]}?"
    return f"Runs there: {', '.join(runs[:5])}." if runs else "No job.json there has a run."


def _alike(manifest: Manifest, other: Manifest) -> bool:
    return (manifest.settings_id, manifest.model, manifest.framework, manifest.arguments, other.run) == (
        other.settings_id,
        other.model,
        other.framework,
        other.arguments,
        None,
    )


def _all(
    name: str,
    read: Sequence[tuple[Job, Sequence[Job]]],
    cache: ByteCache | None,
    problems: tuple[str, ...],
    progress: Progress | None,
) -> RunAttempts:
    attempts: list[Attempt] = []
    for number, (job, good) in enumerate(read, start=1):
        if progress:
            progress(f"reading {job.id}", number, len(read))
        found = read_attempts(job, good, cache)
        if not found:
            problems = (*problems, f"{job.id} was left out: no line of its logs has a clock.")
        elif not any(len(attempt.numbers) for attempt in found):
            problems = (*problems, f"{job.id}: no line with a clock counts iterations, so all of it counts as startup.")
        attempts += found
    if not attempts:
        raise NoTime(f"No attempt of {name} has a line with a clock.", "An account of time needs clocks in the logs.")
    return RunAttempts(name, tuple(attempts), problems)


def _continuing(guess: RunAttempts, anchor: str | None) -> RunAttempts:
    """The attempts of a guess that continue each other, of the chain that holds the one that was named."""
    ordered = sorted(guess.attempts, key=lambda attempt: (attempt.start, attempt.end, attempt.name))
    chain = _chain(ordered)
    named = [attempt for attempt in ordered if anchor is not None and attempt.name.partition(" #")[0] == anchor]
    if named and named[0] not in chain:
        chain = _chain(ordered[ordered.index(named[0]) :])
    left = sorted({attempt.name.partition(" #")[0] for attempt in ordered if attempt not in chain})
    if not left:
        return guess
    more = f" and {len(left) - 1} more" if len(left) > 1 else ""
    says = f"{left[0]}{more} continue nothing (beside another attempt, or beyond where one had come): left out."
    return replace(guess, attempts=tuple(chain), problems=(*guess.problems, says))


def _chain(ordered: Sequence[Attempt]) -> list[Attempt]:
    """From the first on, each that begins when the one before is over, at or before the iteration after its last."""
    chain: list[Attempt] = []
    reached, over = 0, 0
    for attempt in ordered:
        first = int(attempt.numbers[0]) if len(attempt.numbers) else 0
        stride = int(attempt.numbers[1] - attempt.numbers[0]) if len(attempt.numbers) > 1 else 1
        if chain and (attempt.start < over or first > reached + stride):
            continue
        chain.append(attempt)
        over, reached = max(over, attempt.end), max(reached, int(attempt.numbers[-1]) if len(attempt.numbers) else 0)
    return chain


class NoTime(FirstfaultError):
    """No line of any attempt has a clock."""
