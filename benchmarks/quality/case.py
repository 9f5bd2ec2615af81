"""A labelled job that was read once: what every measurement starts from."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter

from benchmarks.quality.labels import Place, Truth
from benchmarks.quality.score import Score, score_job
from core.baseline import choose_baseline, profile_job
from core.cache import ByteCache
from core.job import Job
from core.model import Diagnosis
from core.parsed import Parsed, parse_job
from sources.jobs import JobSource


@dataclass(frozen=True, eq=False)
class Case:
    """A job with its truth; seconds: what reading it took, what successful jobs say being known from before."""

    truth: Truth
    baseline: tuple[Job, ...]
    parsed: Parsed
    cache: ByteCache
    seconds: float

    @cached_property
    def events(self) -> dict[Place, str]:
        """The event of each line, as ``firstfault events`` prints it."""
        table = self.parsed.table
        ids = [template.id for template in table.templates]
        columns = (table.file.tolist(), table.line.tolist(), table.event.tolist())
        return {(table.files[file], line): ids[event] for file, line, event in zip(*columns, strict=True)}

    def score(self, diagnosis: Diagnosis, seconds: float = 0.0) -> Score:
        """A diagnosis of this job against its truth."""
        return score_job(self.truth, diagnosis, self.events, seconds=self.seconds + seconds)


class Shelf:
    """Jobs of one place, and what is kept of the successful ones."""

    def __init__(self, source: JobSource, cache: ByteCache) -> None:
        self._source, self._cache = source, cache
        self._manifests = [source.manifest(job_id) for job_id in source.job_ids()]

    def case(self, truth: Truth) -> Case:
        """The job that a truth tells of.

        Raises:
            FirstfaultError: it is not there, or has no logs.
        """
        job = self._source.job(truth.job_id)
        baseline = [self._source.job(job_id) for job_id in choose_baseline(job.manifest, self._manifests)]
        return read_case(truth, job, baseline, self._cache)


def read_case(truth: Truth, job: Job, baseline: Sequence[Job], cache: ByteCache) -> Case:
    """Read a job beside successful ones."""
    for good in baseline:
        profile_job(good, cache=cache, workers=1, progress=None)
    started = perf_counter()
    parsed = parse_job(job, baseline, cache=cache, workers=1, progress=None)
    return Case(truth, tuple(baseline), parsed, cache, perf_counter() - started)
