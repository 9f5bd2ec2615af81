"""The jobs beside the one that is asked about, read from where jobs live, and only when an answer needs them."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from bot.ask.subject import Subject
from bot.fetch.attempts import manifests_of
from core.baseline import choose_baseline
from core.cache import ByteCache
from core.diagnose import diagnose_parsed
from core.errors import FirstfaultError
from core.job import Manifest
from core.parsed import parse_job
from sources.jobs import JobSource, open_source


class Neighbours:
    """Jobs of one place; a place that cannot be read has none."""

    def __init__(self, jobs: str, cache: ByteCache | None, *, links: Sequence[Path] = ()) -> None:
        """jobs: a folder or URL."""
        self._jobs, self._cache, self._links = jobs, cache, links
        self._read: dict[str, Subject] = {}  # a question in parts asks for the same job again

    def manifests(self) -> Sequence[Manifest]:
        """What is known of every job there without its logs."""
        return self._manifests

    def subject(self, job: str) -> Subject | None:
        """Another job, read and diagnosed beside its own successful jobs."""
        if job in self._read:
            return self._read[job]
        manifest = next((manifest for manifest in self._manifests if manifest.job_id == job), None)
        if manifest is None or self._source is None:
            return None
        try:
            good = tuple(map(self._source.job, choose_baseline(manifest, self._manifests)))
            parsed = parse_job(self._source.job(job), good, cache=self._cache, workers=1, progress=None)
        except FirstfaultError:
            return None
        self._read = {job: Subject(parsed, diagnose_parsed(parsed))}
        return self._read[job]

    @cached_property
    def _source(self) -> JobSource | None:
        try:
            return open_source(self._jobs, links=self._links)
        except FirstfaultError:
            return None

    @cached_property
    def _manifests(self) -> list[Manifest]:
        try:
            return manifests_of(self._source, None) if self._source else []
        except FirstfaultError:
            return []
