"""A job as every method sees it: its event table, iterations, stages, and what is normal in jobs like it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.baseline import Normal, Profile, normal, profile_job
from core.cache import ByteCache
from core.iterations import Iterations, find_iterations
from core.job import Job, LogFile
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
    stages: NDArray[np.int8]
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
    job: Job, baseline: Sequence[Job], *, cache: ByteCache | None, workers: int, progress: Progress | None
) -> Parsed:
    """Read a job and the successful jobs beside it, and find their common templates (L4, section 4.2).

    One parse over all of them, so that the same message has the same event in each.
    """
    reading = read_job(job, workers=workers, progress=progress)
    profiles = tuple(profile_job(good, cache=cache, workers=workers, progress=progress) for good in baseline)
    counts = Counter(reading.counts())
    for profile in profiles:
        counts.update(profile.texts())
    templates = find_templates(counts)
    table = reading.table(templates)
    nameless = not (table.nodes or job.manifest.nodes) and len(table.ranks) > 1
    table = with_ranks_as_nodes(table) if nameless else table
    files = {file.name: file for file in job.logs}
    iterations = find_iterations(table, files, job.manifest.total_iterations)
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
