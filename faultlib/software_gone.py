"""Patterns whose software no job has any more: a suggestion to retire them, of faults that a version can have.

A cable or a power supply breaks with any version, so hardware and platform are left out. What a job ran is told by its
manifest; of jobs that are deleted nobody knows it, and a pattern of which no job is left is not suggested.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from faultlib.pattern import Category, Entry

RECENT = 20  # jobs: fewer may all be of one person who tries a version out
_OF_SOFTWARE = (Category.FRAMEWORK, Category.USER, Category.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Software:
    """What a job ran: versions by name, such as {"torch": "2.6.0"}. start: ISO 8601, as its manifest tells."""

    job: str
    start: str
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Gone:
    """A pattern, a software by name, the versions that its jobs had, and those of the latest jobs; both sorted."""

    entry: Entry
    name: str
    had: tuple[str, ...]
    now: tuple[str, ...]


def software_gone(entries: Iterable[Entry], jobs: Sequence[Software]) -> Iterator[Gone]:
    """Patterns of whose jobs none of the latest ``RECENT`` has a version, at most one software of each."""
    in_order = sorted((job for job in jobs if job.start), key=lambda job: (job.start, job.job))
    by_job = {job.job: job.versions for job in jobs}
    for entry in entries:
        if entry.pattern.category not in _OF_SOFTWARE:
            continue
        shown = [by_job[sighting.job] for sighting in entry.sightings if sighting.job in by_job]
        names = sorted(set.intersection(*map(set, shown))) if shown else []
        gone = (found for name in names if (found := _gone(entry, name, shown, in_order)) is not None)
        yield from list(gone)[:1]


def _gone(entry: Entry, name: str, shown: Sequence[Mapping[str, str]], in_order: Sequence[Software]) -> Gone | None:
    """Whether the latest jobs that tell of this software have other versions of it than the pattern's jobs had."""
    latest = [job.versions[name] for job in in_order if name in job.versions][-RECENT:]
    had = {versions[name] for versions in shown}
    if len(latest) < RECENT or had & set(latest):
        return None
    return Gone(entry, name, tuple(sorted(had)), tuple(sorted(set(latest))))
