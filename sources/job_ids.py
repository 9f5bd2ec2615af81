"""Which names may be a job's: ids come from a chat, so nothing that leads out of the jobs folder gets near a path."""

import difflib
import re
from collections.abc import Iterable

from core.errors import BadJobId, JobNotFound

_JOB_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)


def is_job_id(name: str) -> bool:
    """Letters, digits and ``._-``, up to 128 of them, no dot or dash first."""
    return _JOB_ID.fullmatch(name) is not None


def check_job_id(name: str) -> str:
    """Give the name back, or refuse it."""
    if is_job_id(name):
        return name
    raise BadJobId(
        f"{name[:80]!r} cannot be a job id.", "A job id has letters, digits and . _ - (at most 128), such as 1437825."
    )


def job_not_found(job_id: str, place: str, known: Iterable[str]) -> JobNotFound:
    """Tell that there is no such job, and which ones look like it."""
    close = difflib.get_close_matches(job_id, known, n=5)
    hint = f"Did you mean {', '.join(close)}?" if close else "Is it in another jobs folder (--jobs, FIRSTFAULT_JOBS)?"
    return JobNotFound(f"There is no job {job_id} below {place}.", hint)
