"""How the answer stands worse conditions: the same jobs measured as they are and changed (``variations``)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from benchmarks.quality.case import Case
from benchmarks.quality.labels import Place
from benchmarks.quality.measures import Measures, measure
from benchmarks.quality.score import Score
from benchmarks.quality.variations import (
    Rename,
    renamed,
    shuffled,
    with_history,
    with_skew,
    without_files,
    without_status,
)
from core.diagnose import diagnose_parsed
from core.model import Diagnosis

HISTORY = (0, 1, 3)  # successful jobs; only jobs that have as many as the last are measured
LOST = (0.1, 0.25, 0.5)  # share of the log files
SKEWS = (1.0, 5.0)  # seconds between the first and the last clock
ORDER, NAMES, STATUS = "files in another order", "nodes renamed", "status not told"


@dataclass(frozen=True, slots=True)
class Varied:
    """A job as it is and changed. differs: what of the answer is another, where nothing may be."""

    before: Score
    after: Score
    differs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangeResult:
    """What a change does to the jobs that it can be made to; worse: those that lose something, and what."""

    name: str
    before: Measures
    after: Measures
    worse: Mapping[str, tuple[str, ...]]
    differs: Mapping[str, tuple[str, ...]]


def vary(case: Case, ours: Diagnosis) -> dict[str, Varied]:
    """Our answer under each change that can be made to this job; of a healthy job only its status can be withheld.

    Nothing is asked of lost files.
    """
    before, found = case.score(ours), {}
    for name, change in CHANGES.items():
        if (case.truth.failed or name == STATUS) and (changed := change(case)):
            found[name] = Varied(before, changed.score(diagnose_parsed(changed.parsed)))
    if case.truth.failed and (changed := shuffled(case)):
        found[ORDER] = _the_same(case, ours, changed)
    if case.truth.failed and (pair := renamed(case)):
        found[NAMES] = _the_same(case, ours, *pair)
    return found


def rows(varied: Mapping[str, Mapping[str, Varied]]) -> list[ChangeResult]:
    """A row for each change that could be made to any job, by job id."""
    found = []
    for name in (*CHANGES, ORDER, NAMES):
        jobs = {job_id: by_name[name] for job_id, by_name in varied.items() if name in by_name}
        if jobs:
            found.append(
                ChangeResult(
                    name,
                    measure([job.before for job in jobs.values()]),
                    measure([job.after for job in jobs.values()]),
                    {job_id: lost for job_id, job in jobs.items() if (lost := what_is_lost(job.before, job.after))},
                    {job_id: job.differs for job_id, job in jobs.items() if job.differs},
                )
            )
    return found


def what_is_lost(before: Score, after: Score) -> tuple[str, ...]:
    """What was right before and is not any more, and whether somebody is accused where nobody is at fault."""
    lost = [name for name in _ANSWERS if getattr(before, name) is True and getattr(after, name) is False]
    return (*lost, "accuses") if after.accuses_wrongly and not before.accuses_wrongly else tuple(lost)


def _history(jobs: int) -> Callable[[Case], Case | None]:
    return lambda case: with_history(case, jobs) if len(case.baseline) >= HISTORY[-1] else None


CHANGES: Mapping[str, Callable[[Case], Case | None]] = {
    **{f"{jobs} successful job{'s' * (jobs != 1)} to compare with": _history(jobs) for jobs in HISTORY},
    **{f"{share:.0%} of the files lost": partial(without_files, share=share) for share in LOST},
    **{f"clocks {seconds:g} s apart": partial(with_skew, seconds=seconds) for seconds in SKEWS},
    STATUS: without_status,
}
_ANSWERS = ("scope", "first", "top1", "quiet", "stage", "iteration")


# --- the same answer ----------------------------------------------------------------------------------------------


def _the_same(case: Case, ours: Diagnosis, changed: Case, rename: Rename = str) -> Varied:
    theirs = diagnose_parsed(changed.parsed)
    was, now = _told(case, ours, rename), _told(changed, theirs, str)
    differs = tuple(name for name in was if was[name] != now[name])
    return Varied(case.score(ours), changed.score(theirs), differs)


def _told(case: Case, diagnosis: Diagnosis, rename: Rename) -> dict[str, object]:
    """What a diagnosis says, without ids of templates, which hold names, and without the order of equal suspects."""
    lines: dict[str, set[Place]] = {event.event: set() for event in diagnosis.events}
    for (file, line), event in case.events.items():
        if event in lines:
            lines[event].add((rename(file), line))
    return {
        "scope": diagnosis.scope,
        "confidence": diagnosis.confidence,
        "stage": diagnosis.stage,
        "iterations": [iteration.iteration for iteration in diagnosis.iterations],
        "nodes": sorted((rename(node.node), round(node.score, 6)) for node in diagnosis.nodes),
        "events": [(item.role, item.count, round(item.score, 6), lines[item.event]) for item in diagnosis.events],
        "headline": rename(diagnosis.headline),
    }
