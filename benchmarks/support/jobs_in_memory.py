"""Jobs held in memory, for tests and examples; the same contract tests run over it as over the real ones."""

import hashlib
import io
from collections.abc import Mapping
from functools import partial

from core.job import Job, Manifest
from sources.job_ids import check_job_id, is_job_id, job_not_found
from sources.layout import MANIFEST, StoredFile, assemble, read_manifest
from sources.limits import DEFAULT_LIMITS, Limits


class FakeJobs:
    """Job folders given as values: job id -> path below its folder -> stored bytes."""

    def __init__(self, folders: Mapping[str, Mapping[str, bytes]], *, limits: Limits = DEFAULT_LIMITS) -> None:
        self._folders = {job_id: dict(files) for job_id, files in folders.items()}
        self._limits = limits

    def job_ids(self) -> tuple[str, ...]:
        """Names of all job folders, sorted."""
        return tuple(sorted(name for name in self._folders if is_job_id(name)))

    def manifest(self, job_id: str) -> Manifest:
        """What the job's job.json says."""
        files = {file.name: file for file in self._files(job_id)}
        return read_manifest(job_id, files.get(MANIFEST), self._limits)[0]

    def job(self, job_id: str) -> Job:
        """The job and its files."""
        return assemble(job_id, self._files(job_id), place=f"the fake's {job_id}", limits=self._limits)

    def _files(self, job_id: str) -> list[StoredFile]:
        files = self._folders.get(check_job_id(job_id))
        if files is None:
            raise job_not_found(job_id, "the fake", self.job_ids())
        return [
            StoredFile(name, len(content), hashlib.sha256(content).hexdigest(), partial(io.BytesIO, content))
            for name, content in files.items()
        ]
