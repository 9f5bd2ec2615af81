"""The raw lines behind one piece of evidence, read again from where the job lives."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from bot.outgoing.redact import Redactor
from bot.report.citations import MAX_LINES, Citation, citations
from core.errors import FirstfaultError
from core.job import Job
from core.logs.context import Excerpt, Place, lines_around
from core.model import Diagnosis, Evidence, Line
from sources.jobs import JobSource

LARGE = 256 << 20  # bytes of a file that is read through for one line: about a second; the report has the lines too


def find_evidence(diagnosis: Diagnosis, name: str) -> Evidence | None:
    """The evidence of that id."""
    return next(
        (evidence for evidence in (*diagnosis.events, *diagnosis.nodes, *diagnosis.iterations) if evidence.id == name),
        None,
    )


def read_citations(diagnosis: Diagnosis, evidence: Evidence, open_jobs: Callable[[], JobSource]) -> list[Citation]:
    """Its lines with what is around them; where that cannot be read, the lines as the diagnosis holds them."""
    cited = evidence.lines[:MAX_LINES]
    try:
        excerpts = _excerpts(open_jobs().job(diagnosis.job), cited)
    except FirstfaultError as trouble:
        excerpts = {(line.file, line.line): _alone(line, trouble.message) for line in cited}
    redactor = Redactor()
    return [_clean(citation, redactor) for citation in citations(evidence, excerpts, set())]


def _clean(citation: Citation, redactor: Redactor) -> Citation:
    """No secret that stands beside the evidence is shown to a channel."""
    rows = tuple(replace(row, text=redactor.redact(row.text)) for row in citation.rows)
    return replace(citation, rows=rows)


def _excerpts(job: Job, cited: tuple[Line, ...]) -> Mapping[Place, Excerpt]:
    large = {log.name for log in job.logs if log.size > LARGE}
    found = dict(lines_around(job, [(line.file, line.line) for line in cited if line.file not in large]))
    for line in cited:
        found.setdefault((line.file, line.line), _alone(line, "The file is large: the report has the lines around."))
    return found


def _alone(line: Line, why: str) -> Excerpt:
    return Excerpt(line.file, line.line, (line,), why)
