"""A job as every method sees it: its event table, iterations, stages, and what is normal in jobs like it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from core.baseline import Normal, Profile, normal, profile_job
from core.cache import ByteCache, Memory
from core.column import Column
from core.iterations import Iterations, find_iterations
from core.job import Job, LogFile
from core.last_words import settle_last_words
from core.parse import Progress, Reading, read_job
from core.stages import find_stages
from core.table import EventTable, with_ranks_as_nodes
from core.templates import Template, find_templates


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """A parsed job.

    unit: what is compared, "node", or "rank" where nobody names a node: then ranks stand for nodes in the table.
    stages: int8 a row of the table, place in ``core.stages.STAGES``. usual: what is normal; None without a baseline.
    """

    job: Job
    reading: Reading
    table: EventTable
    iterations: Iterations
    stages: Column
    profiles: tuple[Profile, ...]
    templates: Mapping[str, Template]  # of every message text, of the good jobs too
    usual: Normal | None
    files: Mapping[str, LogFile]
    unit: str = "node"

    @property
    def nodes(self) -> tuple[str, ...]:
        """Nodes of the job: as the manifest names them, else as they spoke."""
        return self.job.manifest.nodes or self.table.nodes


def parse_job(
    job: Job,
    baseline: Sequence[Job],
    *,
    cache: ByteCache | None,
    workers: int | Executor,
    memory: int | None = None,
    progress: Progress | None,
) -> Parsed:
    """Read a job and the successful jobs beside it, and find their common templates (L4, section 4.2).

    One parse over all of them, so that the same message has the same event in each.
    """
    reading = read_job(job, workers=workers, memory=memory, cache=cache, progress=progress)
    profiles = tuple(
        profile_job(good, cache=cache, workers=workers, memory=memory, progress=progress) for good in baseline
    )
    counts = Counter(reading.counts())
    for profile in profiles:
        counts.update(profile.texts())
    templates = find_templates(counts)
    table = settle_last_words(reading.table(templates))
    nameless = not (table.nodes or job.manifest.nodes) and len(table.ranks) > 1
    table = with_ranks_as_nodes(table) if nameless else table
    files = {file.name: file for file in job.logs}
    remember = Memory(cache, reading.key) if cache is not None and reading.is_large else None
    iterations = find_iterations(table, files, job.manifest.total_iterations, remember)
    return Parsed(
        job=job,
        reading=reading,
        table=table,
        iterations=iterations,
        stages=find_stages(table, iterations.marks),
        profiles=profiles,
        templates=templates,
        usual=normal(profiles, templates) if profiles else None,
        files=files,
        unit="rank" if nameless else "node",
    )
