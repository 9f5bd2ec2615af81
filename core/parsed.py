"""A job as every method sees it: its event table, iterations, stages, and what is normal in jobs like it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from core.baseline import Normal, Profile, normal, profile_job
from core.cache import ByteCache
from core.course.event_ages import settle_ages
from core.course.iterations import Iterations, find_iterations
from core.course.last_words import settle_last_words
from core.course.stages import find_stages
from core.course.timings import Values, find_timings
from core.course.zones import settle_zones
from core.events.build import with_actors_as_ranks, with_nodes_as_ranks, with_processes_as_ranks
from core.events.column import Column
from core.events.rows_in_memory import hold
from core.events.table import EventTable
from core.events.template import Template
from core.facts import fact_of
from core.job import Job, LogFile
from core.logs.voices import rank_called
from core.memory import Memory
from core.parsing.launched import NOBODY_LAUNCHED, Launched
from core.parsing.parse import JobReading, Progress, read_job
from core.parsing.places import find_places
from core.parsing.templates import recall_templates
from core.version import core_version

_OPENING = 1 << 14  # rows of a file above its first iteration that are asked for; chosen: lists of settings are shorter


@dataclass(frozen=True, eq=False)
class Parsed:
    """A parsed job.

    unit: what is compared, "node", or "rank" or "actor" where nobody names a node: then these stand for nodes in the
    table.
    telling: events that point to a failure by themselves, places in ``table.templates``.
    stages: int8 a row of the table, place in ``core.course.stages.STAGES``.
    usual: what is normal; None without a baseline.
    launched: what launchers report of ranks, where nobody names nodes.
    memory: keeps what is found in it between diagnoses; None of small jobs.
    """

    job: Job
    reading: JobReading
    table: EventTable
    telling: frozenset[int]
    iterations: Iterations
    stages: Column
    profiles: tuple[Profile, ...]
    templates: Mapping[str, Template]  # of every message text, of the good jobs too
    usual: Normal | None
    files: Mapping[str, LogFile]
    unit: str = "node"
    launched: Launched = NOBODY_LAUNCHED
    memory: Memory | None = None

    def with_numbered_nodes(self) -> "Parsed":
        """The same for comparisons: where nobody tells ranks, and each node has one, a number stands in its place.

        So does one for each of Ray's actors, where a node has as many as ranks, and for each process of a node.
        """
        manifest = self.job.manifest
        ranks = manifest.world_size or sum(map(len, manifest.node_ranks.values()))
        if self.table.ranks or not len(self.table.nodes) > 1:
            return self
        several = ranks > max(1, len(manifest.nodes)) and not self._one_counts_on_each_node()
        table = with_processes_as_ranks(self.table)
        if table is None and several:
            table = with_actors_as_ranks(self.table, manifest.node_ranks)
        elif table is None:
            table = with_nodes_as_ranks(self.table)
        if table is None:
            return self
        iterations = find_iterations(table, self.files, manifest.total_iterations, self.memory)
        return replace(self, table=table, iterations=iterations)

    def _one_counts_on_each_node(self) -> bool:
        """Whether one voice of each node counts iterations, whatever its ranks are: ``host=m1-r08 step=141``."""
        voices = set(self.iterations.voices.tolist())
        nodes = {self.table.origins[voice].node for voice in voices}
        return not self.job.manifest.node_ranks and len(voices) == len(nodes) == len(self.table.nodes) > 1

    @cached_property
    def timings(self) -> Mapping[str, Values]:
        """What the ranks took, by name, rank and iteration; read once, because each question about pace asks for it."""
        return find_timings(self.table, self.files, self.iterations)

    @property
    def ended_before_training(self) -> bool:
        """Whether no iteration was counted, though good jobs of the same program count them."""
        return self.iterations.last is None and self.usual is not None and self.usual.counted

    @property
    def nodes(self) -> tuple[str, ...]:
        """Nodes of the job: as the manifest names them, else as they spoke; its ranks where these stand for nodes."""
        if self.unit == "rank" and not self.job.manifest.nodes:
            return tuple(sorted(map(rank_called, self.table.ranks)))
        return self.table.nodes if self.unit == "actor" else self.job.manifest.nodes or self.table.nodes


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
    remember = _memory(cache, reading, counts) if cache is not None and reading.is_large else None
    templates = recall_templates(counts, remember)
    table = reading.table(templates)
    telling = _telling(table.templates, remember)
    files = {file.name: file for file in job.logs}
    table = settle_zones(hold(table, telling, remember), files, job.manifest, remember)
    table = settle_ages(settle_last_words(table, remember), files)
    places = find_places(table, files, job.manifest)
    table = places.table
    iterations = find_iterations(table, files, job.manifest.total_iterations, remember)
    return Parsed(
        job=replace(job, manifest=places.manifest),
        reading=replace(reading, capped=(*reading.capped, *places.capped)) if places.capped else reading,
        table=table,
        telling=frozenset(telling),
        iterations=iterations,
        stages=find_stages(table, iterations.marks, remember),
        profiles=profiles,
        templates=templates,
        usual=_usual(profiles, templates, table, iterations.marks) if profiles else None,
        files=files,
        unit=places.unit,
        launched=places.launched,
        memory=remember,
    )


def _usual(
    profiles: Sequence[Profile], templates: Mapping[str, Template], table: EventTable, marks: NDArray[np.intp]
) -> Normal:
    """What is normal for a job that counts its iterations in these rows."""
    first = dict(zip(table.file[marks[::-1]].tolist(), marks[::-1].tolist(), strict=True))  # in each file
    starts = [(table.rows_of_file(file).start, row) for file, row in sorted(first.items())]
    above = [np.arange(start, min(row, start + _OPENING)) for start, row in starts]

    def ids(rows: NDArray[np.intp]) -> frozenset[str]:
        return frozenset(table.templates[event].id for event in np.unique(table.event[rows]).tolist())

    return normal(profiles, templates, ids(marks), ids(np.concatenate([np.zeros(0, np.intp), *above])))


def _telling(templates: Sequence[Template], memory: Memory | None) -> list[int]:
    """Places of templates that stand for a fact or look like one; to look takes seconds for ten thousands of them."""

    def look() -> tuple[NDArray[np.intp]]:
        found = [fact_of(template.sample, block=template.block) is not None for template in templates]
        return (np.flatnonzero(found),)

    places: list[int] = (look() if memory is None else memory.arrays("telling templates", look))[0].tolist()
    return places


def _memory(cache: ByteCache, reading: JobReading, counts: Mapping[str, int]) -> Memory:
    """What is found in a job depends on what was read, on the templates of its messages, and on who looks for it."""
    digest = blake2b(digest_size=20)
    for text, count in sorted(counts.items()):
        digest.update(f"{count} {text}\n".encode("utf-8", "surrogatepass"))
    return Memory(cache, f"{reading.key} {digest.hexdigest()} {core_version()}")
