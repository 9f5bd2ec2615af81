"""Clocks of several zones in one job: a logger's UTC beside c10d's local time, a scheduler's beside a container's.

A file is written in the order of time, so where its clock falls back by a quarter of an hour and more another clock
speaks; and a job cannot have been stopped before it began. Zones differ by whole hours, some by halves. The clock that
most lines have is taken as the job's, and the lines of the others are told by it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.course.job_clock import HALF_HOUR, moment, zone
from core.events.row_text import read_rows
from core.events.table import EventTable
from core.events.table_rows import SettledTimes
from core.job import LogFile, Manifest
from core.logs.file_rows import TIMED
from core.logs.lines import FAR, NO_TIME, clock_form
from core.memory import Memory
from core.shares import MAJORITY

HOUR = 2 * HALF_HOUR
FURTHEST = 26 * HOUR  # between the zones of the tz database: UTC-12 to UTC+14
SLACK = 60_000_000  # microseconds by which lines of several buffers may stand in another order
NEAR = 120_000_000  # microseconds: two clocks of half an hour's difference are believed when they fit so well
AHEAD = 2 * HOUR  # from so far on a clock that goes on after a pause is one of another zone, if it is so
FITS = 600_000_000  # microseconds at most behind whole hours: of pauses of any length one in six is
SECOND, MONTHS = 1_000_000, 12  # microseconds; of a year
MAX_JUMPS = 256  # of all files: a job of more has clocks that wander
_OF_WRAPPER = "wrapper"
MAX_ROWS = 1 << 16  # rows of a stretch whose times are changed


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Rows of a file, in a row, by one clock; first, last: times of the first and the last row that has it.

    after: how many rows stand behind the last one that has it.
    """

    file: int
    rows: range
    after: int
    first: int
    last: int
    form: str = ""


def settle_zones(
    table: EventTable, files: Mapping[str, LogFile], manifest: Manifest, memory: Memory | None = None
) -> EventTable:
    """The table in which all clocks are of the zone that most lines have."""
    start, end = moment(manifest.start), moment(manifest.end)
    planned = None if start is None or end is None else (start, end)

    def find() -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        return _shifted(table, files, planned)

    rows, time = memory.arrays(f"zones {planned}", find) if memory else find()
    return replace(table, settled=SettledTimes(rows, time)) if len(rows) else table


def _shifted(
    table: EventTable, files: Mapping[str, LogFile], planned: tuple[int, int] | None
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    rows, times = [np.zeros(0, np.intp)], [np.zeros(0, np.int64)]
    for stretch, ahead in _ahead(table, files, planned):
        own = np.arange(stretch.rows.start, min(stretch.rows.stop, stretch.rows.start + MAX_ROWS))
        time = table.time[own]
        mine = (time >= stretch.first - FAR) & (time <= stretch.last + FAR) & (time != NO_TIME)
        rows.append(own[mine])
        times.append(time[mine] - ahead)
    joined = np.concatenate(rows)
    order = np.argsort(joined)
    return joined[order], np.concatenate(times)[order]


def _ahead(
    table: EventTable, files: Mapping[str, LogFile], planned: tuple[int, int] | None
) -> Iterator[tuple[_Stretch, int]]:
    """Stretches by another clock than that of most lines, and the microseconds that it is ahead of that one.

    Args:
        planned: start and end of the job in job.json.
    """
    stretches = _stretches(table)
    if len(stretches) < 2 or not _are_apart(stretches):
        return
    forms = _forms(table, files, stretches)
    known = [replace(stretch, form=form) for stretch, form in zip(stretches, forms, strict=True) if form]
    lengths: Counter[str] = Counter()
    for stretch in known:
        lengths[stretch.form] += len(stretch.rows)
    usual = max(lengths, key=lambda form: (lengths[form], form))
    own = _of_job([stretch for stretch in known if stretch.form == usual])
    began, ended = min(stretch.first for stretch in own), max(stretch.last for stretch in own)
    offsets, of_own = _offsets(known, usual), {stretch.file for stretch in own}
    others = sorted(set(known).difference(own), key=lambda stretch: stretch.rows.start)
    apart: dict[str, set[int]] = {}
    for stretch in others:
        if stretch.file not in of_own:
            apart.setdefault(stretch.form, set()).add(_apart(stretch, began, ended))
    for stretch in others:
        ahead = _day_as_month(stretch, began, ended) or offsets.get(stretch.form)
        if ahead is None and stretch.file not in of_own and 0 not in apart[stretch.form]:
            ahead = _by_job(stretch, began, planned)
            if not ahead and stretch.form != usual:
                # One clock is of one zone: the file that comes nearest to the end of the job tells it of all
                ahead = min(apart[stretch.form], key=lambda of: (abs(of), of))
        if ahead and _is_nearer(stretch, ahead, began, ended):
            yield stretch, ahead


def _of_job(stretches: Sequence[_Stretch]) -> list[_Stretch]:
    """Those that may be of one zone: the longest, and what is less than hours away from one of them."""
    longest = max(stretches, key=lambda stretch: (len(stretch.rows), -stretch.file))
    ordered = sorted(stretches, key=lambda stretch: (stretch.first, stretch.last))
    groups: list[list[_Stretch]] = [[]]
    ended = ordered[0].last
    for stretch in ordered:
        if stretch.first - ended >= AHEAD:
            groups.append([])
        groups[-1].append(stretch)
        ended = max(ended, stretch.last)
    return next(group for group in groups if longest in group)


def _day_as_month(stretch: _Stretch, began: int, ended: int) -> int:
    """How far a file is ahead whose day was read as its month, by the days of the job: 06/11 of 6 November."""
    first = datetime.fromtimestamp(stretch.first // SECOND, UTC)
    if first.day > MONTHS:
        return 0
    meant = first.replace(month=first.day, day=first.month)
    ahead = int((first - meant).total_seconds()) * SECOND
    is_of_job = began - FURTHEST <= stretch.first - ahead <= ended + FURTHEST
    return ahead if is_of_job and abs(ahead) > FURTHEST else 0


def _by_job(stretch: _Stretch, began: int, planned: tuple[int, int] | None) -> int:
    """How far a file is ahead that tells of the time of the job by the clock of job.json, when the others do not."""
    if planned is None or stretch.last < planned[0] or stretch.first > planned[1]:
        return 0
    return -zone(planned[0], began)


def _stretches(table: EventTable) -> list[_Stretch]:
    """What each file says by one clock, as far as rows are held; none where clocks jump too often."""
    if table.in_memory is None:
        return []
    timed = table.in_memory.marks & TIMED != 0
    rows, times = table.in_memory.rows[timed], table.in_memory.time[timed]
    rows, times = rows[times != NO_TIME], times[times != NO_TIME]
    if not len(rows):
        return []
    found = []
    file = table.file[rows]
    new = (np.diff(file) != 0) | (np.abs(np.diff(times)) >= FAR - SLACK)
    starts = np.flatnonzero(np.append([True], new))
    if len(starts) > MAX_JUMPS + len(table.files):
        return []
    for at, to in zip(starts.tolist(), [*starts[1:].tolist(), len(rows)], strict=True):
        whole = table.rows_of_file(int(file[at]))
        stop = int(rows[to]) if to < len(rows) and file[to] == file[at] else whole.stop
        of_file = range(int(rows[at]), stop)
        after = stop - 1 - int(rows[to - 1])
        found.append(_Stretch(int(file[at]), of_file, after, int(times[at]), int(times[to - 1])))
    return found


def _are_apart(stretches: Sequence[_Stretch]) -> bool:
    """Whether any two of them are a quarter of an hour apart at all."""
    return any(abs(stretch.first - stretches[0].first) >= FAR - SLACK for stretch in stretches)


def _forms(table: EventTable, files: Mapping[str, LogFile], stretches: Sequence[_Stretch]) -> list[str]:
    """How the first row of each writes its clock; what has none in its text has the one of its wrapper."""
    texts = read_rows(files, table, [stretch.rows.start for stretch in stretches])
    return [clock_form(texts.get(stretch.rows.start, "").encode()) or _OF_WRAPPER for stretch in stretches]


def _offsets(stretches: Sequence[_Stretch], usual: str) -> dict[str, int]:
    """How far each clock is ahead of the usual one, by neighbours in a file: where time falls back, else leaps."""
    back: dict[str, Counter[int]] = {}
    leaps: dict[str, Counter[int]] = {}
    for above, below in pairwise(stretches):
        if above.file != below.file or (above.form == usual) == (below.form == usual):
            continue
        other = below if above.form == usual else above
        passed = below.first - above.last
        if passed < 0:
            ahead = _zone(-passed)
            found = back.setdefault(other.form, Counter())
        else:
            ahead = passed // HOUR * HOUR if passed >= AHEAD - SLACK and passed % HOUR <= FITS else 0
            found = leaps.setdefault(other.form, Counter())
        if ahead and other.form:
            found[ahead if (other is above) == (passed < 0) else -ahead] += 1
    chosen = {form: counts for form, counts in leaps.items() if len(counts) == 1} | back
    return {form: _most(counts) for form, counts in chosen.items() if counts}


def _most(counts: Counter[int]) -> int:
    return max(counts, key=lambda ahead: (counts[ahead], -abs(ahead)))


def _zone(fell: int) -> int:
    """How far two zones are apart of which one clock is so much before the other, though it comes later."""
    halves = -(-(fell - SLACK) // HALF_HOUR) * HALF_HOUR
    whole = -(-(fell - SLACK) // HOUR) * HOUR
    chosen = halves if halves - fell <= NEAR else whole
    return chosen if 0 < chosen <= FURTHEST else 0


def _apart(stretch: _Stretch, began: int, ended: int) -> int:
    """How far a file of its own is ahead: one that ends before the job began, or begins hours after it ended.

    When a file ended that has a clock in its head alone, above bars and prints, nobody knows.
    """
    early, late = stretch.last < began - FAR, stretch.first >= ended + AHEAD - SLACK
    if early and stretch.after >= len(stretch.rows) * MAJORITY:
        return 0
    if (early or late) and _is_as_long(stretch, ended - began):
        return _beside(stretch, began, ended)
    if early:
        return -_zone(ended - stretch.last)
    leap = stretch.first - ended
    return leap // HOUR * HOUR if late and leap % HOUR <= FITS and leap <= FURTHEST else 0


def _is_as_long(stretch: _Stretch, job: int) -> bool:
    """Whether it tells of most of a job's time and of little more: what a kernel says meanwhile, not a stop at its end.

    Args:
        job: how long it took, in microseconds.
    """
    return job * MAJORITY < stretch.last - stretch.first < job / MAJORITY


def _beside(stretch: _Stretch, began: int, ended: int) -> int:
    """The whole hours that lay the most of it beside the job; of two alike those that bring its begin nearer."""
    ahead = (stretch.first - began) // HOUR * HOUR

    def fit(shift: int) -> tuple[int, int]:
        shared = min(ended, stretch.last - shift) - max(began, stretch.first - shift)
        return shared, -abs(stretch.first - shift - began)

    chosen = max((ahead, ahead + HOUR), key=fit)
    return chosen if abs(chosen) <= FURTHEST else 0


def _is_nearer(stretch: _Stretch, ahead: int, began: int, ended: int) -> bool:
    """Whether what it tells comes nearer to the job by that, and not before it."""

    def away(shift: int) -> int:
        return max(0, began - (stretch.last - shift), (stretch.first - shift) - ended)

    return away(ahead) < away(0)
