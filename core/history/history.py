"""The history of a run as a reader wants it: account, causes, failures, nodes that repeat, changes, advice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

import numpy as np

from core.history.accounting import Account, TimeUse, account
from core.history.advice import OwnStandbys, best_interval, ettr_of, own_standbys, standbys
from core.history.attempt import Attempt, End
from core.history.changes import changes, last_good
from core.history.rates import FEW, HOUR, Mtbf, mtbf_of, recoveries
from core.history.repeats import WINDOW, Incident, Repeater, back_from_repair, least_told, merged, repeaters
from core.history.sliding_share import Sliding, sliding

DAY = 24 * HOUR  # milliseconds
SOME = 2  # failures: a rate that one alone tells is anything
REPLACED = (1.0, 24.0)  # hours until a standby that was used is replaced: by a person on call, by the next day


@dataclass(frozen=True, slots=True)
class Cause:
    """What ended attempts: how often, and the milliseconds that it cost, by part. planned: a person or a time limit."""

    name: str
    planned: bool
    attempts: tuple[str, ...]
    lost: Mapping[TimeUse, int]

    @property
    def total(self) -> int:
        """All that it cost, in milliseconds."""
        return sum(self.lost.values())


@dataclass(frozen=True, slots=True)
class Change:
    """What differs between an attempt and one before it: the last good one, or the one that ended in ``gone``.

    ended: what ended the attempt; new: no attempt before it ended so. gone: what had ended the attempt before, and came
    back in none since the change, although they got further. It went away with the change; nobody knows whether by it.
    """

    attempt: str
    good: str
    phrases: tuple[str, ...]
    ended: str
    new: bool
    gone: str = ""


@dataclass(frozen=True, slots=True)
class SaveAdvice:
    """How often to save, in seconds. best: a range where failures are few. present: None where nobody knows.

    saving: that a checkpoint stops the training. iterations: of the best interval. lost: the share of time that saving,
    computing again and restarting take at the present interval and at the best; None where the present one is unknown.
    """

    saving: float
    best: tuple[float, float]
    iterations: tuple[int, int]
    present: float | None
    lost: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class History:
    """A run.

    standbys: by hours until one is replaced, a range; own: the same by the faults that its nodes had, where those of 60
    days are known. back: days since a suspect came back from repair. incidents: of the window; told_from: how many a
    node must have had to be told from chance.
    """

    name: str
    account: Account
    causes: tuple[Cause, ...]
    mtbf: Mtbf
    recoveries: tuple[int, ...]
    repeaters: tuple[Repeater, ...]
    back: Mapping[str, float]
    changes: tuple[Change, ...]
    saving: SaveAdvice | None
    standbys: Mapping[float, tuple[int, int]]
    problems: tuple[str, ...]
    windows: Sliding | None = None
    own: Mapping[float, OwnStandbys] = field(default_factory=dict)
    incidents: int = 0
    told_from: int = 0


def history(
    name: str,
    attempts: Sequence[Attempt],
    *,
    incidents: Sequence[Incident] = (),
    seconds: float | None = None,
    problems: Sequence[str] = (),
    window: int = 0,
) -> History:
    """Tell the history of a run.

    Args:
        name: of the run.
        attempts: of it, in any order; at least one.
        incidents: of nodes, from elsewhere.
        seconds: an iteration takes, where points are too sparse to tell.
        problems: sentences about what could not be read.
        window: milliseconds, for the share of time in sliding windows; 0: none is wanted.
    """
    run = account(attempts, seconds)
    often, back_again = mtbf_of(run), tuple(recoveries(run.attempts))
    end = max(attempt.end for attempt in run.attempts)
    own = [
        Incident(attempt.end / DAY, suspect.node, suspect.kind, job=attempt.name)
        for attempt in run.attempts
        for suspect in attempt.suspects
    ]
    recent = [incident for incident in (*own, *incidents) if 0 <= end / DAY - incident.day <= WINDOW]
    named = {incident.node for incident in own}
    since = back_from_repair(incidents, end / DAY)
    exposed = _exposure(run, incidents, end)
    return History(
        name,
        run,
        _causes(run),
        often,
        back_again,
        repeaters(recent, exposed),
        {node: days for node, days in sorted(since.items()) if node in named},
        _changes(run.attempts),
        _saving(run, often, back_again),
        _standbys(run, often),
        (*problems, *run.problems),
        sliding(run, window) if window else None,
        _own_standbys(run, (*own, *incidents)),
        len(recent),
        least_told(recent, exposed),
    )


def _causes(run: Account) -> tuple[Cause, ...]:
    """By what ended attempts, the dearest first."""
    groups: dict[tuple[bool, str], list[int]] = {}
    for place, attempt in enumerate(run.attempts):
        if attempt.ended in (End.FAILED, End.PLANNED):
            name = attempt.cause or "nothing that the logs tell"
            groups.setdefault((attempt.ended is End.PLANNED, name), []).append(place)
    found = [
        Cause(
            name,
            planned,
            tuple(run.attempts[place].name for place in places),
            {part: sum(run.lost[place][part] for place in places) for part in TimeUse},
        )
        for (planned, name), places in groups.items()
    ]
    return tuple(sorted(found, key=lambda cause: (-cause.total, cause.name)))


def _exposure(run: Account, incidents: Sequence[Incident], end: int) -> dict[str, float]:
    """Days of the window in which each node was in use: of those of other tables all of them."""
    start = end - WINDOW * DAY
    days: dict[str, float] = {}
    for attempt in run.attempts:
        for node in attempt.nodes:
            days[node] = days.get(node, 0.0) + max(0.0, attempt.end - max(start, attempt.start)) / DAY
    if not incidents:
        return days
    known = {incident.node for incident in incidents} | days.keys()
    return dict.fromkeys(known, min(WINDOW, end / DAY - min(incident.day for incident in incidents)))


def _changes(attempts: Sequence[Attempt]) -> tuple[Change, ...]:
    found = []
    for place, attempt in enumerate(attempts):
        good = last_good(list(attempts[:place]))
        differs = changes(good, attempt) if good else None
        if good and differs:
            new = not any(attempt.ended_as(earlier) for earlier in attempts[:place])
            found.append(
                Change(attempt.name, good.name, differs, attempt.cause if attempt.ended is End.FAILED else "", new)
            )
        if place and (went := _went_away(attempts, place)) is not None:
            found.append(went)
    return tuple(found)


def _went_away(attempts: Sequence[Attempt], place: int) -> Change | None:
    """A change against the attempt before, whose failure came back in none from then on; they got beyond it."""
    before, attempt = attempts[place - 1], attempts[place]
    differs = changes(before, attempt)
    if not differs or before.ended is not End.FAILED or not before.cause:
        return None
    since = attempts[place:]
    reached = max((int(later.numbers[-1]) for later in since if len(later.numbers)), default=0)
    if not len(before.numbers) or reached <= int(before.numbers[-1]) or any(map(before.ended_as, since)):
        return None
    return Change(attempt.name, before.name, differs, "", new=False, gone=before.cause)


def _saving(run: Account, often: Mtbf, back: Sequence[int]) -> SaveAdvice | None:
    """The best interval; None where nobody knows what a checkpoint costs, or how often the run fails."""
    saves = sum(
        saved < attempt.numbers[-1] for attempt in run.attempts for saved in attempt.checkpoints
    )  # a step came after it
    spent = run.parts[TimeUse.SAVING]
    steps = [float(np.median(np.diff(attempt.times))) for attempt in run.attempts if len(attempt.times) > 1]
    if not (saves and spent and often.hours and often.high and back and steps):
        return None
    saving, restart = spent / int(saves) / 1000, median(back) / 1000
    span = (often.low, often.high) if often.failures < FEW else (often.hours, often.hours)
    first, last = (best_interval(mtbf=hours * 3600, saving=saving, restart=restart) for hours in span)
    step = median(steps) / 1000 / max(1, _stride(run.attempts))
    gaps = [after - before for attempt in run.attempts for before, after in pairwise(attempt.checkpoints)]
    every = [attempt.every for attempt in run.attempts if attempt.every]
    present = median(gaps or every) * step if gaps or every else None
    mean = often.hours * 3600

    def lost_at(seconds: float) -> float:
        return 1 - ettr_of(seconds, mtbf=mean, saving=saving, restart=restart)

    lost = (
        (lost_at(present), lost_at(best_interval(mtbf=mean, saving=saving, restart=restart).seconds))
        if present
        else None
    )
    iterations = (max(1, round(first.seconds / step)), max(1, round(last.seconds / step)))
    return SaveAdvice(saving, (first.seconds, last.seconds), iterations, present, lost)


def _stride(attempts: Sequence[Attempt]) -> float:
    return median([float(np.median(np.diff(attempt.numbers))) for attempt in attempts if len(attempt.numbers) > 1])


def _standbys(run: Account, often: Mtbf) -> dict[float, tuple[int, int]]:
    nodes = max((len(attempt.nodes) for attempt in run.attempts), default=0)
    if not (nodes and often.hours and often.high) or often.failures < SOME:
        return {}
    span = (often.high, often.low) if often.failures < FEW else (often.hours, often.hours)
    rates = [24 / hours / nodes for hours in span]
    return {hours: (standbys(nodes, rates[0], hours), standbys(nodes, rates[1], hours)) for hours in REPLACED}


def _own_standbys(run: Account, incidents: Sequence[Incident]) -> dict[float, OwnStandbys]:
    """By hours until one is replaced, from all faults of the run's nodes; of all nodes where the run names none."""
    nodes = {node for attempt in run.attempts for node in attempt.nodes}
    faults = [
        (incident.day, incident.node, incident.kind)
        for incident in merged(incidents)
        if not nodes or incident.node in nodes
    ]
    found = {hours: own_standbys(faults, hours) for hours in REPLACED}
    return {hours: own for hours, own in found.items() if own is not None}
