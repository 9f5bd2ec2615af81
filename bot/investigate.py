"""The story of a diagnosis from the outside: fetch, match, diagnose, recall, then draft and present.

One line a step in ``investigate``; no step calls the next. The command line and the Slack worker both call it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from bot.chat.model_choice import model_from
from bot.fetch.attempts import Progress, earlier_attempts
from bot.fetch.jobs import Inputs, Request, fetch_inputs
from bot.library.session import known_so_far, library_session
from bot.note.about_outcome import Outcome
from bot.note.note import Note
from bot.note.write import write_note
from bot.outcome.job_outcome import outcome_of
from bot.outgoing.clean import cleaned, cleaned_excerpts
from bot.outgoing.redact import Redactor
from bot.report.citations import cited_places
from bot.settings import Settings
from bot.text.known_fault import KnownFault
from core.diagnose import EventRow, diagnose_parsed, events
from core.errors import BadSettings
from core.flows.answer import FlowsAnswer
from core.job import Job
from core.logs.context import Excerpt, Place, lines_around
from core.model import Diagnosis, Skipped
from core.parsed import Parsed, parse_job
from core.safe_import import elsewhere

OnMatch = Callable[[tuple[KnownFault, ...]], None]


@dataclass(frozen=True, slots=True)
class Answer:
    """The job, the diagnosis, the known faults like it, and the note; None until it is drafted.

    outcome: how it came to its end; None of an answer that was stored.
    """

    job: Job
    diagnosis: Diagnosis
    known: tuple[KnownFault, ...] = ()
    note: Note | None = None
    outcome: Outcome | None = None


def investigate(
    request: Request, settings: Settings, progress: Progress | None = None, on_match: OnMatch | None = None
) -> Answer:
    """Everything from a job id to a diagnosis and the known faults like it.

    Args:
        on_match: is told at once, before anything is judged, which faults of the library have all their events here.
    """
    inputs = fetch_inputs(request, settings, progress)
    parsed = parsed_of(inputs, progress)
    parsed, unmeasured = _measured(parsed, request, settings)
    network, unread = network_of(request, inputs.job)
    earlier = earlier_attempts(inputs.job, inputs.neighbours, inputs.cache, links=settings.follow_links)
    with library_session(settings) as library:
        matches = library.match(parsed)
        if matches and on_match:
            on_match(known_so_far(matches))
        diagnosis = diagnose_parsed(parsed, method=request.method, earlier=earlier, network=network)
        known = library.recall(diagnosis, matches)
        skipped = (*diagnosis.skipped, *inputs.skipped, *unmeasured, *unread, *library.skipped)
    return Answer(parsed.job, replace(diagnosis, skipped=skipped), known, outcome=outcome_of(parsed, diagnosis))


def draft(answer: Answer, settings: Settings, *, use_model: bool = True) -> Answer:
    """The answer with its note: true claims in the order of the settings' model, or of code."""
    try:
        model = model_from(settings) if use_model else None
    except BadSettings as trouble:
        note = write_note(answer.diagnosis, answer.known, outcome=answer.outcome)
        return replace(answer, note=note.model_copy(update={"unavailable": trouble.message}))
    redact = settings.redact_addresses
    note = write_note(answer.diagnosis, answer.known, model, outcome=answer.outcome, redact_addresses=redact)
    return replace(answer, note=note)


def list_events(
    request: Request, settings: Settings, progress: Progress | None = None
) -> tuple[Job, Iterator[EventRow]]:
    """The job and every line of it with its event, by the same steps."""
    inputs = fetch_inputs(request, settings, progress)

    def rows() -> Iterator[EventRow]:
        with inputs.readers() as workers:
            yield from events(
                inputs.job,
                inputs.baseline,
                cache=inputs.cache,
                workers=workers,
                memory=inputs.memory,
                progress=progress,
            )

    return inputs.job, rows()


def page(answer: Answer, *, version: str, redacted: bool = False) -> str:
    """The answer as one self-contained HTML page, with the raw lines around each cited one.

    Args:
        redacted: take secrets out of it, for a page that leaves the machine.
    """
    with elsewhere():
        from bot.report.page import render_report  # noqa: PLC0415 matplotlib takes half a second; only pages need it

    diagnosis, excerpts = _quoted(answer, redacted=redacted)
    return render_report(diagnosis, excerpts, known=answer.known, note=answer.note, version=version)


def phone(answer: Answer, *, version: str, redacted: bool = False) -> bytes:
    """The same as a PDF of narrow sheets, shorter; ``redacted`` as for the page."""
    with elsewhere():
        from bot.report.phone_report import render_phone  # noqa: PLC0415 as above

    diagnosis, excerpts = _quoted(answer, redacted=redacted)
    clean = Redactor().redact if redacted else str
    return render_phone(diagnosis, excerpts, known=answer.known, note=answer.note, version=version, clean=clean)


def _quoted(answer: Answer, *, redacted: bool) -> tuple[Diagnosis, Mapping[Place, Excerpt]]:
    """The diagnosis, and the raw lines around those that it cites."""
    excerpts = lines_around(answer.job, cited_places(answer.diagnosis))
    if redacted:
        return cleaned(answer.diagnosis), cleaned_excerpts(excerpts)
    return answer.diagnosis, excerpts


def parsed_of(inputs: Inputs, progress: Progress | None) -> Parsed:
    """The job of fetched inputs, read, with the good jobs that it is compared with."""
    with inputs.readers() as workers:
        return parse_job(
            inputs.job, inputs.baseline, cache=inputs.cache, workers=workers, memory=inputs.memory, progress=progress
        )


def network_of(request: Request, job: Job) -> tuple[FlowsAnswer | None, tuple[Skipped, ...]]:
    """What the job's network flows tell, if there are any, and why not, if they cannot be used."""
    if request.flows is None and not job.flows:
        return None, ()
    from bot.fetch.flows import flows_beside, flows_of  # noqa: PLC0415 few jobs have flows; polars takes its time

    return (flows_of(request.flows, request.topology), ()) if request.flows else flows_beside(job)


def _measured(parsed: Parsed, request: Request, settings: Settings) -> tuple[Parsed, tuple[Skipped, ...]]:
    """The job with the metrics that Prometheus has of it, where one is set, and why not, if it cannot be asked."""
    address = request.metrics or settings.metrics
    if not address:
        return parsed, ()
    from bot.fetch.prometheus import authorization_for, with_live_metrics  # noqa: PLC0415 few have one set

    proof = authorization_for(address, settings)
    return with_live_metrics(parsed, address, settings.metrics_query, authorization=proof)
