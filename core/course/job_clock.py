"""The clock of job.json beside that of the logs: they may be of different zones."""

from datetime import UTC, datetime

from core.course.pace import SECOND
from core.job import Manifest

HALF_HOUR = 1800 * SECOND  # zones of clocks differ by whole half hours
BEFORE_START = 60 * SECOND  # a log may begin so much before the start in job.json: clocks differ


def moment(clock: str | None) -> int | None:
    """Microseconds since the epoch of a time in ISO 8601, UTC where it names no zone; None of anything else."""
    try:
        when = datetime.fromisoformat(clock) if clock else None
    except ValueError:
        return None
    if when is None:
        return None
    return round((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * SECOND)


def zone(start: int, first_line: int) -> int:
    """Microseconds that the clock of the logs is ahead: their first line comes shortly after the start in job.json."""
    return (first_line - start + BEFORE_START) // HALF_HOUR * HALF_HOUR


def end_by_logs(manifest: Manifest, first_line: int) -> int | None:
    """The end in job.json by the clock of the logs."""
    start, end = moment(manifest.start), moment(manifest.end)
    return None if start is None or end is None else end + zone(start, first_line)
