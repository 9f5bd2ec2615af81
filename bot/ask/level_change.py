"""Where a number went to another level and stayed there: "since when", "before and after", "how much slower"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.ask.find_values import FoundValue, is_length, values_of_kind
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, quoted
from bot.ask.subject import Subject
from bot.ask.wanted_value import asks
from bot.note.claim_source import clock
from bot.text import wording
from core.answer.job_lookup import found_rows
from core.logs.lines import NO_TIME
from core.naming import natural

FEWEST = 3  # values on each side of a change
APART = 1.25  # times of the other level; chosen: less is the spread of healthy steps
WITHIN = 0.9  # share of the values of each side that lie on that side of the border between the levels
NEAR = 0.5  # share of the largest change from which another speaker's is the same one
START = 0.25  # share of the values in which a job may still be starting
MOST = 10.0  # times from which on a change is not more of one: a load that goes to 0 is no number of times less
MAX_KINDS = 120  # kinds of messages whose numbers are read, those with most lines first
_UNIT = re.compile(r"(?<=[0-9]) ?[A-Za-z%][A-Za-z/%]{0,8}$")
# Names of what counts on by itself or falls as it learns, which no change of level is read from
_COUNTS = re.compile(
    r"loss|verlust|nll|perplexity|ppl|lr\b|rate\b|step|iter|epoch|samples|tokens|grad|norm|eta|elapsed|pid|port|seed|损失",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LevelChange:
    """The middles before and since, the last value before and the first one since, and who told it of how many."""

    name: str
    before: float
    since: float
    last: FoundValue
    first: FoundValue
    who: tuple[str, ...]
    speakers: int
    latest: str = ""  # the last value of what rises on and on, where that is no level

    @property
    def times(self) -> float:
        """How many times one level is the other, 1 or more."""
        low, high = sorted((abs(self.before), abs(self.since)))
        return high / max(low, 1e-3 * high, 1e-12)


def level_change(subject: Subject, found: Sequence[FoundValue], *, late: bool = False) -> LevelChange | None:
    """The change of the values under one name, by the speaker who changed most; None where nobody's changed.

    What nobody is named for goes file by file: without a clock the lines of two files have no order.

    Args:
        late: a change in the first values is how a job starts, and none.
    """
    by_who: dict[tuple[str, int], list[FoundValue]] = {}
    for item in found:
        if item.named.number is not None and np.isfinite(item.named.number):
            by_who.setdefault((item.who, int(subject.parsed.table.file[item.row])), []).append(item)
    numbers = {key: [item.named.number or 0.0 for item in mine] for key, mine in by_who.items()}
    splits = {key: parts for key, mine in numbers.items() if (parts := split(mine, late=late)) is not None}
    rises = {} if late else {key: parts for key, mine in numbers.items() if (parts := rise(mine)) is not None}
    begins = min((parts.at for parts in splits.values()), default=0)
    grows = bool(rises) and (not splits or min(parts.at for parts in rises.values()) < begins - 1)
    splits = rises if grows else splits  # what rises on and on has no second level: its beginning is told
    if not splits:
        return None
    most = max(sorted(splits), key=lambda key: abs(splits[key].since - splits[key].before))
    at, before, since = splits[most].at, splits[most].before, splits[most].since
    alike = sorted(key for key, parts in splits.items() if (parts.since - parts.before) / (since - before) >= NEAR)
    mine = by_who[most]
    who = tuple(key[0] for key in sorted(alike, key=lambda key: (natural(key[0]), key[1])))
    latest = mine[-1].named.value if grows else ""
    return LevelChange(mine[0].named.name, before, since, mine[at - 1], mine[at], who, len(by_who), latest)


def change_of_lead(subject: Subject) -> Lines:
    """Since when the number went another way by which the diagnosis names somebody; empty where no line names it."""
    lead, diagnosis, table = subject.leading, subject.diagnosis, subject.parsed.table
    if lead is None or not lead.ordinary or not diagnosis.nodes:
        return []
    because = f"{diagnosis.headline} {diagnosis.nodes[0].because}"
    place = next((at for at, template in enumerate(table.templates) if template.id == lead.event), None)
    rows = table.rows_of([place]).get(place, np.zeros(0, np.intp)) if place is not None else np.zeros(0, np.intp)
    for name, found in values_of_kind(subject, rows).items():
        if len(name) > 2 and name in because.split():
            mine = [item for item in found if item.who.endswith(diagnosis.nodes[0].node)]
            return told_change(subject, mine)
    return []


def told_change(subject: Subject, found: Sequence[FoundValue]) -> Lines:
    """A sentence about the change of one name's values with the lines on both sides; empty where there is none."""
    change = level_change(subject, found)
    return _told(subject, change) if change is not None else []


def first_change(subject: Subject, question: Question, *, lengths: bool = False) -> Lines:
    """The change of level that stands out most of all numbers of the job, of times before others.

    Args:
        lengths: of lengths of time and paces alone.
    """
    changes = [change for found in _every(subject) if (change := level_change(subject, found, late=True)) is not None]
    paced = [change for change in changes if is_length(change.last.named)]  # which tells of slowness before all else
    alone = lengths or asks(question, "slower") or asks(question, "how_slow")
    if (alone and not paced) or not changes:
        return []
    by_unit = [change for change in paced if change.last.named.is_pace]  # the job's own pace
    most = max(by_unit or paced or changes, key=lambda change: (min(change.times, MOST) * len(change.who), change.name))
    return _told(subject, most)


def _told(subject: Subject, change: LevelChange) -> Lines:
    unit = _UNIT.search(change.last.named.value)
    before, since = (f"{value:.4g}{unit[0] if unit else ''}" for value in (change.before, change.since))
    names = list(dict.fromkeys(name for name in change.who if name))
    who = f" of {wording.names(names, 3, 80)}" if names and len(change.who) < change.speakers else ""
    every = f", for all {change.speakers:,} who tell it" if 1 < len(change.who) == change.speakers else ""
    if change.latest:
        kept = f"{change.name}{who}: {change.last.named.value} until {_place(subject, change.last)}, "
        kept += f"{change.first.named.value} from {_place(subject, change.first)} on, {change.latest} at the last."
        return [cited(kept), *quoted(found_rows(subject.parsed, "", [change.last.row, change.first.row]), 2)]
    says = f"{change.name}{who}: {before} until {_place(subject, change.last)}, {since} from "
    says += f"{_place(subject, change.first)} on (medians{every}): {change.times:.2g} times as "
    says += "much." if change.since > change.before else "little."
    return [cited(says), *quoted(found_rows(subject.parsed, "", [change.last.row, change.first.row]), 2)]


def _every(subject: Subject) -> Iterator[list[FoundValue]]:
    """The values of each kind of message, name by name."""
    table = subject.parsed.table
    rows = table.rows_of(range(len(table.templates)))
    often = sorted(
        (event for event, mine in rows.items() if len(mine) >= 2 * FEWEST), key=lambda event: -len(rows[event])
    )
    for event in often[:MAX_KINDS]:
        for name, found in values_of_kind(subject, _in_training(subject, rows[event])).items():
            if not _COUNTS.search(name) or is_length(found[0].named):
                yield found


def _in_training(subject: Subject, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """The rows from the first complete iteration on: what changes before is how a job starts."""
    course = subject.parsed.iterations.course
    times = subject.parsed.table.time[rows]
    return rows[(times == NO_TIME) | (times >= int(course.times[0]))] if len(course) else rows


@dataclass(frozen=True, slots=True)
class Split:
    """Two levels of a series: the place with which the second begins, and the middles of both."""

    at: int
    before: float
    since: float


def split(series: Sequence[float], *, late: bool = False) -> Split | None:
    """Where numbers go to another level; None where they keep theirs or go on by steps.

    Args:
        late: a change in the first of them is how a job starts, and none.
    """
    values = np.array(series, np.float64)
    best: tuple[float, int] | None = None
    for at in range(FEWEST, len(values) - FEWEST + 1):
        spread = float(
            np.abs(values[:at] - np.median(values[:at])).sum() + np.abs(values[at:] - np.median(values[at:])).sum()
        )
        if best is None or spread < best[0]:
            best = spread, at
    if best is None:
        return None
    at = best[1]
    if late and at <= START * len(values):
        rest = split(series[at:])
        return Split(at + rest.at, rest.before, rest.since) if rest is not None else None
    before, since = float(np.median(values[:at])), float(np.median(values[at:]))
    low, high = sorted((abs(before), abs(since)))
    border, rose = (before + since) / 2, since > before
    kept = min(np.mean((values[:at] > border) != rose), np.mean((values[at:] > border) == rose))
    return Split(at, before, since) if high > APART * low and kept >= WITHIN else None


def rise(series: Sequence[float]) -> Split | None:
    """Where numbers leave their range for good, and go on to the last; None where they do not."""
    values = np.array(series, np.float64)
    for at in range(1, len(values) - 1):
        near = values[max(0, at - NEAREST) : at]
        step = max(APART * float(np.abs(near).max()), 1e-9)
        if np.all(values[at:] > step):
            return Split(at, float(values[at - 1]), float(values[-1]))
    return None


NEAREST = 5  # values before that are the range which a rise leaves: a loss that fell before stood higher once


def _place(subject: Subject, item: FoundValue) -> str:
    time = int(subject.parsed.table.time[item.row])
    return ", ".join(part for part in (item.at, clock(time) if time != NO_TIME else "") if part) or "an unknown time"
