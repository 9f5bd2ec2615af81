"""Where jobs come from, whatever holds them: the protocol, and the choice by address."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from core.job import Job, Manifest
from sources.folder import JobsFolder, job_at
from sources.limits import DEFAULT_LIMITS, Limits


class JobSource(Protocol):
    """A place that holds jobs. Nothing is ever written there.

    Ids are checked before they come near a path (``BadJobId``); an unknown one is ``JobNotFound``, with close names in
    the hint; a place that does not answer is ``SourceUnavailable``. What is wrong with a job's files is told in its
    problems.
    """

    def job_ids(self) -> tuple[str, ...]:
        """Ids of all jobs, sorted."""
        ...

    def manifest(self, job_id: str) -> Manifest:
        """What is known of a job without its logs; cheap enough to ask for every job."""
        ...

    def job(self, job_id: str) -> Job:
        """The job with its files; ``NoLogs`` when it has neither logs nor dumps."""
        ...


def open_source(url: str, *, links: Sequence[Path] = (), limits: Limits = DEFAULT_LIMITS) -> JobSource:
    """Find what holds the jobs: a local folder, or a bucket or server by its fsspec URL (``s3://bucket/jobs``).

    Args:
        links: folders elsewhere that a job of a local folder may be a link into; buckets have no links.
        limits: how much a job may ask of us.
    """
    scheme, separator, path = url.partition("://")
    if not separator:
        return JobsFolder(url, links=links, limits=limits)
    if scheme in {"file", "local"}:
        return JobsFolder(path, links=links, limits=limits)
    from sources.bucket import JobsBucket  # noqa: PLC0415 (a local folder needs no fsspec)

    return JobsBucket(url, limits=limits)


def open_path(path: str, *, limits: Limits = DEFAULT_LIMITS) -> Job:
    """Open one job by the path or URL of its folder, or by the path of a single log file.

    For a person at a command line: a path reads whatever its user may read, so never pass one that came from a chat.
    """
    scheme, separator, below = path.partition("://")
    if not separator:
        return job_at(path, limits=limits)
    if scheme in {"file", "local"}:
        return job_at(below, limits=limits)
    jobs, _, job_id = path.rstrip("/").rpartition("/")
    return open_source(jobs, limits=limits).job(job_id)
