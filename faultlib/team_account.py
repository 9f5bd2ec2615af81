"""What a team's patterns cost, which came back, and which a person should look at again: for `library report`.

Nothing is decided here: what is old, alike or in conflict is a suggestion, with the command that would follow it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from faultlib.life import job_of_draft
from faultlib.near_duplicates import alike, contradict
from faultlib.pattern import Entry, Origin, Status
from faultlib.software_gone import Gone, Software, software_gone

OLD = timedelta(days=365)  # not seen for so long: hardware and software of a cluster have changed since


@dataclass(frozen=True, slots=True)
class Cost:
    """A fault and the jobs that it was seen in. node_hours: of those jobs whose manifest tells; None: of none."""

    entry: Entry
    jobs: tuple[str, ...]
    node_hours: float | None


@dataclass(frozen=True, slots=True)
class Account:
    """What is told of a library.

    costs: patterns that jobs showed, the costliest first. returned: with the jobs that showed them after they were
    confirmed, and their fix known. silent: the team's, in use, and no job but their own ever showed them. old: the
    team's, not seen for a year. gone: the team's, whose software no job has any more. conflicts: the same events and
    another cause. twins: nearly the same words.
    """

    costs: tuple[Cost, ...]
    returned: tuple[tuple[Entry, tuple[str, ...]], ...]
    silent: tuple[Entry, ...]
    old: tuple[Entry, ...]
    gone: tuple[Gone, ...]
    conflicts: tuple[tuple[Entry, Entry], ...]
    twins: tuple[tuple[Entry, Entry], ...]


def account(
    entries: Iterable[Entry], *, now: datetime, node_hours: Mapping[str, float], software: Sequence[Software] = ()
) -> Account:
    """Count it all.

    Args:
        entries: all of the library.
        node_hours: by job id, as far as they are known.
        software: what jobs ran, as far as it is known.
    """
    approved = [entry for entry in entries if entry.status is Status.APPROVED]
    team = [entry for entry in approved if entry.origin is Origin.TEAM]
    costs = [_cost(entry, node_hours) for entry in approved if entry.sightings]
    later = [(entry, _later(entry)) for entry in team]
    return Account(
        costs=tuple(sorted(costs, key=lambda cost: (-(cost.node_hours or 0), -len(cost.jobs), cost.entry.id))),
        returned=tuple(
            sorted(((entry, jobs) for entry, jobs in later if jobs), key=lambda item: (-len(item[1]), item[0].id))
        ),
        silent=tuple(
            entry for entry in team if not {sighting.job for sighting in entry.sightings} - {job_of_draft(entry)}
        ),
        old=tuple(entry for entry in team if now - _last(entry) > OLD),
        gone=tuple(software_gone(team, software)),
        conflicts=tuple(contradict(approved)),
        twins=tuple(alike(team)),
    )


def _cost(entry: Entry, node_hours: Mapping[str, float]) -> Cost:
    jobs = tuple(sighting.job for sighting in entry.sightings)
    known = [node_hours[job] for job in jobs if job in node_hours]
    return Cost(entry, jobs, sum(known) if known else None)


def _later(entry: Entry) -> tuple[str, ...]:
    """Jobs that showed it after it was confirmed; the job that it was drafted for is none of them."""
    confirmed = entry.confirmed
    since = confirmed.at if confirmed else ""
    return tuple(
        sighting.job
        for sighting in entry.sightings
        if confirmed and sighting.at > since and sighting.job != job_of_draft(entry)
    )


def _last(entry: Entry) -> datetime:
    """When it was seen or decided on last."""
    sentences: Sequence[str] = [*(sighting.at for sighting in entry.sightings), *(step.at for step in entry.history)]
    return max(
        (datetime.fromisoformat(at).astimezone(UTC) for at in sentences), default=datetime.min.replace(tzinfo=UTC)
    )
