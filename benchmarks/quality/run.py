"""Run methods over labelled jobs, all in one process, with what successful jobs say kept in memory."""

from collections.abc import Mapping, Sequence
from time import perf_counter

from benchmarks.quality.labels import Place, Truth
from benchmarks.quality.methods import Method
from benchmarks.quality.score import Score, score_job
from core.baseline import choose_baseline
from core.cache import ByteCache, MemoryCache
from core.diagnose import events
from core.errors import FirstfaultError
from core.job import Job
from sources.jobs import JobSource


def run(source: JobSource, truths: Sequence[Truth], methods: Mapping[str, Method]) -> dict[str, list[Score]]:
    """Scores of each method, in the order of the truths."""
    manifests = [source.manifest(job_id) for job_id in source.job_ids()]
    cache = MemoryCache()
    scores: dict[str, list[Score]] = {name: [] for name in methods}
    for truth in truths:
        try:
            job = source.job(truth.job_id)
            baseline = [source.job(job_id) for job_id in choose_baseline(job.manifest, manifests)]
            lines = {(row.file, row.line): row.event for row in events(job, baseline, cache=cache)}
        except FirstfaultError:
            for name in methods:
                scores[name].append(score_job(truth, None, {}))
            continue
        for name, method in methods.items():
            scores[name].append(_score(truth, method, job, baseline, cache, lines))
    return scores


def _score(
    truth: Truth, method: Method, job: Job, baseline: Sequence[Job], cache: ByteCache, lines: Mapping[Place, str]
) -> Score:
    started = perf_counter()
    try:
        diagnosis = method(job, baseline, cache)
    except FirstfaultError:
        diagnosis = None
    return score_job(truth, diagnosis, lines, seconds=perf_counter() - started)
