"""How long a job stood still whose lines have no clock, by what its progress bar says to have run and by job.json.

A bar counts from its own beginning (tqdm: ``[03:08<``), and job.json tells when the job began and ended. Between the
beginnings of both lies the set-up, of which nobody tells how long it took.
"""

from dataclasses import dataclass

from core.course.job_clock import moment
from core.course.pace import SECOND
from core.course.patience import ANNOUNCED_SECONDS, END_STEPS, patience
from core.job import Status
from core.parsed import Parsed

SET_UP = 75.0  # seconds from the start in job.json to the first step: 15 to 75 in 139 labelled jobs (docs/LOG.md)


@dataclass(frozen=True, slots=True)
class BarEnding:
    """How the progress of a bar ended.

    quiet: seconds without progress at the end, if the set-up took no time. allowed: seconds of it that are no hang.
    usual: the same of a job that was set up at once. vague: the set-up may have taken the rest, or it may have hung.
    """

    quiet: float
    allowed: float
    usual: float
    vague: bool


def ending_by_bar(parsed: Parsed) -> BarEnding | None:
    """The same of a job without any clock but these two; None where one of them is missing, or it completed."""
    manifest, course = parsed.job.manifest, parsed.iterations.drawn
    start, end = moment(manifest.start), moment(manifest.end)
    pace = None if course is None else course.pace()
    if course is None or pace is None or start is None or end is None or parsed.job.status is Status.COMPLETED:
        return None
    quiet = (end - start - int(course.times[-1])) / SECOND
    usual = patience(pace.progress, pace.progress, pace.longest, steps=END_STEPS)
    is_vague = usual + SET_UP < quiet <= usual + ANNOUNCED_SECONDS  # large weights take minutes to load
    return BarEnding(max(0.0, quiet), usual + (ANNOUNCED_SECONDS if is_vague else SET_UP), usual, is_vague)
