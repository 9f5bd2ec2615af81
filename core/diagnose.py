"""The method, one line a step (L4, FSE-Companion 2025; sections beside the steps). No step calls the next."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core import present
from core.baseline import normal, profile_job
from core.blame import assign_roles
from core.cache import ByteCache
from core.crossjob import crowd, find_candidates
from core.iterations import find_iterations
from core.job import Job
from core.model import Diagnosis, Skipped
from core.parse import Progress, read_job
from core.rank import rank_candidates
from core.spatial import suspects
from core.stages import STAGES, find_stages
from core.suspicion import find_signs
from core.table import EventTable
from core.templates import find_templates
from core.temporal import level_shifts, odd_sequences
from core.verdict import decide


def diagnose(
    job: Job,
    baseline: Sequence[Job],
    *,
    method: str = "firstfault",
    cache: ByteCache | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> Diagnosis:
    """Find the failure-indicating events, nodes, stage and iteration of a job.

    Args:
        job: the job in question.
        baseline: successful jobs with the same settings; without any, cross-job filtering is skipped and said so.
        method: ``firstfault`` or ``l4``, the paper as it stands.
        cache: keeps what successful jobs say between diagnoses.

    Raises:
        NoLogs: the job has no log files.
    """
    reading = read_job(job, workers=workers, progress=progress)
    profiles = [profile_job(good, cache=cache, workers=workers, progress=progress) for good in baseline]
    templates = find_templates(_counts(reading.counts(), [profile.texts() for profile in profiles]))  # 4.2 Drain
    table = reading.table(templates)
    files = {file.name: file for file in job.logs}
    iterations = find_iterations(table, files, job.manifest.total_iterations)
    stages = find_stages(table, iterations.marks)  # 4.4
    usual = normal(profiles, templates) if profiles else None
    candidates = find_candidates(table, usual, iterations, crowd=crowd(job.manifest))  # 4.2 cross-job
    candidates = assign_roles(table, candidates)  # beyond the paper: who only tells of it
    candidates = rank_candidates(table, candidates, files, stages)
    signs = find_signs(table, candidates, iterations, job.manifest, files)  # 4.3 spatial
    odd = (*level_shifts(iterations.series), *odd_sequences(table, iterations))  # 4.4 temporal
    stage = present.stage_of_failure(table, candidates, stages, iterations)
    verdict = decide(job.status, candidates, suspects(signs), table.nodes, stage, iterations)
    skipped = [] if profiles else [Skipped("cross-job", "no successful job with these settings to compare with")]
    return present.diagnosis(reading, table, candidates, verdict, iterations, stages, stage, odd, profiles, files, skipped)


@dataclass(frozen=True, slots=True)
class EventRow:
    """A line with its event, as ``firstfault events`` prints it. time: microseconds since the epoch."""

    file: str
    line: int
    event: str
    template: str
    node: str | None
    rank: int | None
    time: int | None
    stage: str


def events(
    job: Job,
    baseline: Sequence[Job],
    *,
    cache: ByteCache | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> Iterator[EventRow]:
    """Every line of a job with its event, file after file; ids are those of ``diagnose`` with the same baseline."""
    reading = read_job(job, workers=workers, progress=progress)
    profiles = [profile_job(good, cache=cache, workers=workers, progress=progress) for good in baseline]
    templates = find_templates(_counts(reading.counts(), [profile.texts() for profile in profiles]))
    table = reading.table(templates)
    iterations = find_iterations(table, {file.name: file for file in job.logs}, job.manifest.total_iterations)
    yield from _rows(table, find_stages(table, iterations.marks).tolist())


def _rows(table: EventTable, stages: Sequence[int]) -> Iterator[EventRow]:
    columns = zip(table.file.tolist(), table.line.tolist(), table.event.tolist(), table.voice.tolist(), table.time.tolist(), stages, strict=True)
    for file, line, event, voice, time, stage in columns:
        template, origin = table.templates[event], table.origins[voice]
        known = time if time >= 0 else None
        yield EventRow(table.files[file], line, template.id, template.text, origin.node, origin.rank, known, STAGES[stage].value)


def _counts(own: dict[str, int], others: Sequence[dict[str, int]]) -> dict[str, int]:
    joined = dict(own)
    for counts in others:
        for text, count in counts.items():
            joined[text] = joined.get(text, 0) + count
    return joined
