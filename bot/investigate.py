"""The story of a diagnosis from the outside: fetch, match, diagnose, recall, then draft and present.

One line a step in ``investigate``; no step calls the next. The command line and the Slack worker both call it.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from bot.ask.answer import Reply, ask
from bot.ask.choose import Turn
from bot.ask.classify import Classifier
from bot.ask.neighbours import Neighbours
from bot.ask.subject import Subject
from bot.chat.choose import model_from
from bot.chat.model import OnText
from bot.fetch.attempts import earlier_attempts
from bot.fetch.cache import FolderCache
from bot.fetch.cluster import readers
from bot.library.session import at_once, shelf
from bot.note.note import Note
from bot.note.write import write_note
from bot.outgoing.clean import cleaned, cleaned_excerpts
from bot.report.citations import cited_places
from bot.settings import Settings
from bot.text.known_fault import KnownFault
from core.baseline import choose_baseline
from core.diagnose import EventRow, diagnose_parsed, events
from core.elsewhere import elsewhere
from core.errors import BadJobId, BadSettings, JobNotFound, NoLogs, SourceUnavailable, UnreadableLog
from core.flows.answer import FlowsAnswer
from core.job import Job, Manifest
from core.logs.context import lines_around
from core.model import Diagnosis, Skipped
from core.parsing.parsed import parse_job
from faultlib.models import embedder_for
from sources.jobs import JobSource, open_path, open_source

Progress = Callable[[str, int, int], None]
OnMatch = Callable[[tuple[KnownFault, ...]], None]


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody asks: a job, where jobs live (None: where the settings say), and how to look at it.

    insecure: whether the scheduler may be one that proves nothing; also when the settings say so.
    flows, topology: files of the job's network flows; without them those in flows/ of its folder.
    paths: whether ``job`` may be a path. Only for a person at a command line: from a chat it would read any file.
    """

    job: str
    jobs: str | None = None
    method: str = "firstfault"
    workers: int | None = None
    memory: int | None = None
    scheduler: str | None = None
    drain: str = "distinct"
    insecure: bool = False
    use_cache: bool = True
    use_baseline: bool = True
    paths: bool = False
    flows: Path | None = None
    topology: Path | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The job, the diagnosis, the known faults like it, and the note; None until it is drafted."""

    job: Job
    diagnosis: Diagnosis
    known: tuple[KnownFault, ...] = ()
    note: Note | None = None


def investigate(
    request: Request, settings: Settings, progress: Progress | None = None, on_match: OnMatch | None = None
) -> Answer:
    """Everything from a job id to a diagnosis and the known faults like it.

    Args:
        on_match: is told at once, before anything is judged, which faults of the library have all their events here.
    """
    cache = FolderCache(settings.cache) if request.use_cache else None
    memory = _memory(request, settings)
    job, neighbours = fetch(request, settings)
    baseline, skipped = fetch_baseline(request, job, neighbours, progress, links=settings.follow_links)
    with _readers(request, settings, (job, *baseline)) as workers:
        parsed = parse_job(
            job, baseline, drain=request.drain, cache=cache, workers=workers, memory=memory, progress=progress
        )
    network, unread = _network(request, job)
    earlier = earlier_attempts(job, neighbours, cache, links=settings.follow_links)
    with shelf(settings) as library:
        matches = library.match(parsed)
        if matches and on_match:
            on_match(at_once(matches))
        diagnosis = diagnose_parsed(parsed, method=request.method, earlier=earlier, network=network)
        known = library.recall(diagnosis, matches)
        skipped = (*diagnosis.skipped, *skipped, *unread, *library.skipped)
    return Answer(job, replace(diagnosis, skipped=skipped), known)


def draft(answer: Answer, settings: Settings, *, use_model: bool = True, on_text: OnText | None = None) -> Answer:
    """The answer with its note: true claims in the order of the settings' model, or of code."""
    try:
        model = model_from(settings) if use_model else None
    except BadSettings as trouble:
        note = write_note(answer.diagnosis, answer.known)
        return replace(answer, note=note.model_copy(update={"unavailable": trouble.message}))
    redact = settings.redact_addresses
    note = write_note(answer.diagnosis, answer.known, model, redact_addresses=redact, on_text=on_text)
    return replace(answer, note=note)


def follow_up(
    question: str,
    request: Request,
    settings: Settings,
    *,
    found: tuple[Diagnosis, tuple[KnownFault, ...]] | None = None,
    thread: Sequence[Turn] = (),
    progress: Progress | None = None,
) -> Reply:
    """Answer a question about a job from its evidence and its raw lines, which are read again.

    Args:
        found: diagnosis and known faults of before; without them the job is diagnosed first.
        thread: what was asked and answered before.
    """
    cache = FolderCache(settings.cache) if request.use_cache else None
    job, neighbours = fetch(request, settings)
    baseline, _ = fetch_baseline(request, job, neighbours, progress, links=settings.follow_links)
    memory = _memory(request, settings)
    with _readers(request, settings, (job, *baseline)) as workers:
        parsed = parse_job(
            job, baseline, drain=request.drain, cache=cache, workers=workers, memory=memory, progress=progress
        )
    if found is None:
        with shelf(settings) as library:
            matches = library.match(parsed)
            diagnosis = diagnose_parsed(parsed, network=_network(request, job)[0])
            found = diagnosis, library.recall(diagnosis, matches)
    beside = Neighbours(neighbours, cache, links=settings.follow_links)
    classifier = Classifier(embedder_for(settings.embeddings), FolderCache(settings.cache))
    subject = Subject(parsed, *found, beside)
    return ask(question, subject, model_from(settings), thread=thread, classifier=classifier)


def list_events(
    request: Request, settings: Settings, progress: Progress | None = None
) -> tuple[Job, Iterator[EventRow]]:
    """The job and every line of it with its event, by the same steps."""
    cache = FolderCache(settings.cache) if request.use_cache else None
    memory = _memory(request, settings)
    job, neighbours = fetch(request, settings)
    baseline, _ = fetch_baseline(request, job, neighbours, progress, links=settings.follow_links)

    def rows() -> Iterator[EventRow]:
        with _readers(request, settings, (job, *baseline)) as workers:
            yield from events(
                job, baseline, drain=request.drain, cache=cache, workers=workers, memory=memory, progress=progress
            )

    return job, rows()


def page(answer: Answer, *, version: str, redacted: bool = False) -> str:
    """The answer as one self-contained HTML page, with the raw lines around each cited one.

    Args:
        redacted: take secrets out of it, for a page that leaves the machine.
    """
    with elsewhere():
        from bot.report.page import render_report  # noqa: PLC0415 matplotlib takes half a second; only pages need it

    excerpts = lines_around(answer.job, cited_places(answer.diagnosis))
    diagnosis = answer.diagnosis
    if redacted:
        diagnosis, excerpts = cleaned(diagnosis), cleaned_excerpts(excerpts)
    return render_report(diagnosis, excerpts, known=answer.known, note=answer.note, version=version)


def _network(request: Request, job: Job) -> tuple[FlowsAnswer | None, tuple[Skipped, ...]]:
    """What the job's network flows tell, if there are any, and why not, if they cannot be used."""
    if request.flows is None and not job.flows:
        return None, ()
    from bot.fetch.flows import flows_beside, flows_of  # noqa: PLC0415 few jobs have flows; polars takes its time

    return (flows_of(request.flows, request.topology), ()) if request.flows else flows_beside(job)


def _readers(request: Request, settings: Settings, jobs: Sequence[Job]) -> AbstractContextManager[int | Executor]:
    scheduler = settings.scheduler if request.scheduler is None else request.scheduler
    insecure = request.insecure or settings.scheduler_insecure
    return readers(scheduler, jobs, threads=request.workers or settings.workers, insecure=insecure)


def _memory(request: Request, settings: Settings) -> int:
    return settings.memory if request.memory is None else request.memory


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
        chosen = choose_baseline(job.manifest, _manifests(source, progress))
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


def _manifests(source: JobSource, progress: Progress | None) -> Iterator[Manifest]:
    job_ids = source.job_ids()
    for number, job_id in enumerate(job_ids, start=1):
        if progress:
            progress("looking for successful jobs", number, len(job_ids))
        try:
            yield source.manifest(job_id)
        except (JobNotFound, BadJobId, UnreadableLog):
            continue  # removed or broken meanwhile: another job's trouble


def _job(source: JobSource, job_id: str) -> Job | None:
    try:
        return source.job(job_id)
    except (JobNotFound, NoLogs, UnreadableLog):
        return None
