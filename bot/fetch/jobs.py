"""Where a diagnosis begins: the job that somebody asks for, and the successful jobs that it is compared with."""

from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from bot.fetch.attempts import Progress, manifests_of
from bot.fetch.cache import FolderCache
from bot.fetch.cluster import readers
from bot.settings import Settings
from core.baseline import choose_baseline
from core.errors import BadJobId, JobNotFound, NoLogs, SourceUnavailable, UnreadableLog
from core.job import Job
from core.model import Skipped
from sources.jobs import JobSource, open_path, open_source


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody asks: a job, where jobs live (None: where the settings say), and how to look at it.

    insecure: whether the scheduler may be one that proves nothing; also when the settings say so.
    flows, topology: files of the job's network flows; without them those in flows/ of its folder.
    metrics: address of a Prometheus; None: where the settings say.
    paths: whether ``job`` may be a path. Only for a person at a command line: from a chat it would read any file.
    """

    job: str
    jobs: str | None = None
    method: str = "firstfault"
    workers: int | None = None
    memory: int | None = None
    scheduler: str | None = None
    insecure: bool = False
    use_cache: bool = True
    use_baseline: bool = True
    paths: bool = False
    flows: Path | None = None
    topology: Path | None = None
    metrics: str | None = None


@dataclass(frozen=True, slots=True)
class Inputs:
    """What there is to read. neighbours: where the jobs live that it may be compared with; skipped: why it is not all.

    cache: of what was read before; None: read anew. memory: bytes of parsed logs that are held in it.
    """

    job: Job
    baseline: tuple[Job, ...]
    neighbours: str
    skipped: tuple[Skipped, ...]
    cache: FolderCache | None
    memory: int
    scheduler: str
    threads: int
    insecure: bool

    def readers(self) -> AbstractContextManager[int | Executor]:
        """Who reads the logs: threads, or the workers of a cluster."""
        jobs = (self.job, *self.baseline)
        return readers(self.scheduler, jobs, threads=self.threads, insecure=self.insecure)


def fetch_inputs(request: Request, settings: Settings, progress: Progress | None = None) -> Inputs:
    """The job and its baseline, and how they are read: what the request leaves open, the settings decide."""
    job, neighbours = fetch(request, settings)
    baseline, skipped = fetch_baseline(request, job, neighbours, progress, links=settings.follow_links)
    return Inputs(
        job,
        baseline,
        neighbours,
        skipped,
        cache=FolderCache(settings.cache) if request.use_cache else None,
        memory=settings.memory if request.memory is None else request.memory,
        scheduler=settings.scheduler if request.scheduler is None else request.scheduler,
        threads=request.workers or settings.workers,
        insecure=request.insecure or settings.scheduler_insecure,
    )


def fetch(request: Request, settings: Settings) -> tuple[Job, str]:
    """The job, and where the jobs live that it may be compared with.

    With a separator in it, JOB is a path. Without one it is an id below the jobs folder; when there is no such job, and
    nobody said which jobs folder is meant, a file or folder of that name in the current directory is taken.
    """
    jobs = request.jobs or settings.jobs
    if request.paths and ("/" in request.job or request.job in (".", "..")):
        return _fetch_path(request, settings)
    try:
        return open_source(jobs, links=settings.follow_links).job(request.job), jobs
    except (JobNotFound, BadJobId, SourceUnavailable):
        if request.jobs or not request.paths or not Path(request.job).exists():
            raise
    return _fetch_path(request, settings)


def fetch_baseline(
    request: Request, job: Job, jobs: str, progress: Progress | None = None, *, links: Sequence[Path] = ()
) -> tuple[tuple[Job, ...], tuple[Skipped, ...]]:
    """The successful jobs to compare with; that none can be had is an answer, not an error."""
    if not request.use_baseline:
        return (), ()
    try:
        source = open_source(jobs, links=links)
        chosen = choose_baseline(job.manifest, manifests_of(source, progress, "successful jobs"))
        return tuple(found for job_id in chosen if (found := _job(source, job_id)) is not None), ()
    except SourceUnavailable as trouble:
        return (), (Skipped("search for successful jobs", trouble.message),)


def _fetch_path(request: Request, settings: Settings) -> tuple[Job, str]:
    """A job given by its path; its neighbours are the jobs beside it, unless ``--jobs`` says otherwise."""
    job = open_path(request.job)
    if request.jobs:
        return job, request.jobs
    if "://" in request.job:
        return job, request.job.rstrip("/").rpartition("/")[0]
    beside = Path(request.job, "job.json").is_file()
    return job, str(Path(request.job).resolve().parent) if beside else settings.jobs


def _job(source: JobSource, job_id: str) -> Job | None:
    try:
        return source.job(job_id)
    except (JobNotFound, NoLogs, UnreadableLog):
        return None
