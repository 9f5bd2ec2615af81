"""Lines that say that an iteration is complete: found by their templates, read again for their numbers."""

import re
import tomllib
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from importlib.resources import files as package_files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.course.counters import CountingEvent, find_counter
from core.events.row_text import each_row
from core.events.table import EventTable, rows_by
from core.job import LogFile
from core.logs.lines import NO_TIME
from core.memory import Memory

_MAX_MARKERS = 400_000  # lines read again for their numbers, at 10 us each; of more, each n-th of each voice and event
_BAR = 3  # weight of progress bars in rules/iterations.toml
_NO_TOTAL = -1
_LIGHT = 1  # of what no rule knows, or only beside other ranks
SAME = 0.5  # of the iterations that other ranks count; who warns of a few of them counts none
_ANY = re.compile("")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?:,\d{3}){0,2}(?![\d,]))")  # of "step 1,200,000"; of a row of numbers none
_WEIGHTY = 6  # of dialects that count together
_SECOND = 1_000_000  # microseconds
# What a step learns from, at least, and what it can be divided by: batches are powers of two, times nodes. Iterations
# that are printed seldom are so by tens or hundreds.
_BATCH, _EVEN, _MOSTLY = 1_024, 64, 0.9
_AT_ONCE = 1 << 12  # rows whose clocks are asked for at once
_ELAPSED = re.compile(r"\[(?:(\d{1,4}):)?(\d{2}):(\d{2})<")
_NO_NUMBER = re.compile(r"(?<![A-Za-z])-?(?:nan|inf)(?![A-Za-z])", re.IGNORECASE)
_MAX_DIGITS = 9  # nobody trains for 10**9 iterations


# Characters of a template in which the words stand that mark a step or open a stage. Of the labelled jobs none has one
# further right; 20 MB of lines of 10 kB, each another, took eight seconds of looking.
MARKED_WITHIN = 2_048


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one framework prints that an iteration is complete (rules/iterations.toml)."""

    name: str
    marker: re.Pattern[str]
    read: re.Pattern[str]
    weight: int


@dataclass(frozen=True, slots=True)
class Measure:
    """A number that such lines carry. words: one of them stands, in lower case, in each line that carries it."""

    name: str
    read: re.Pattern[str]
    scale: float
    words: tuple[str, ...]

    def find(self, text: str, lower: str) -> re.Match[str] | None:
        """Where a line tells it, given in lower case too: the words are found fifty times as fast as the expression."""
        for word in self.words:
            if word in lower:
                return self.read.search(text)
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Markers:
    """Lines that say that an iteration is complete.

    rows: sorted. numbers: the iterations. totals: how many are planned, -1 where they do not say. weights: of the
    dialects. voices, messages: as in the table. times: microseconds, by the clock of the line, else by the elapsed time
    of a progress bar behind the clock above its first line, else carried. timed: whether it is one of the first two.
    elapsed: microseconds that a bar says to have run, -1 where none is drawn.
    """

    rows: NDArray[np.intp]
    numbers: NDArray[np.int64]
    totals: NDArray[np.int64]
    weights: NDArray[np.int64]
    voices: NDArray[np.uint32]
    messages: NDArray[np.uint32]
    times: NDArray[np.int64]
    timed: NDArray[np.bool_]
    elapsed: NDArray[np.int64]

    def only(self, wanted: NDArray[np.bool_] | NDArray[np.intp]) -> "Markers":
        """Some of them: a bool for each, or their places."""
        return Markers(*(column[wanted] for column in self.columns()))

    def columns(self) -> tuple[NDArray[Any], ...]:
        """Its arrays in the order of the fields, as ``core.memory`` keeps them."""
        return tuple(getattr(self, field.name) for field in fields(self))


def find_markers(
    table: EventTable,
    files: Mapping[str, LogFile],
    planned: int | None,
    memory: Memory | None = None,
    *,
    most: int = _MAX_MARKERS,
) -> tuple[Markers, Markers]:
    """The markers that count, and those whose clock tells how fast: bars have one where lines have none.

    Args:
        most: lines that are read at most; of more each n-th.
    """
    if memory is None:
        found = _read(table, files, most)
    else:
        found = Markers(*memory.arrays("markers", lambda: _read(table, files, most).columns()))
    bars = _bars(found, planned)
    chosen = _chosen(found, bars, table.rank_of_voice)
    return chosen, chosen if chosen.timed.any() else found.only(bars)


def dialects() -> tuple[Dialect, ...]:
    """All dialects, in the order in which they are tried."""
    return _rules()[0]


def measures() -> tuple[Measure, ...]:
    """All numbers that are looked for."""
    return _rules()[1]


@cache
def _rules() -> tuple[tuple[Dialect, ...], tuple[Measure, ...]]:
    rules = tomllib.loads(package_files("core.rules").joinpath("iterations.toml").read_text("utf-8"))
    return (
        tuple(
            Dialect(
                rule["name"],
                re.compile(rule["marker"], re.IGNORECASE),
                re.compile(rule["read"], re.IGNORECASE),
                rule["weight"],
            )
            for rule in rules["dialect"]
        ),
        tuple(
            Measure(
                rule["name"],
                re.compile(rule["read"], re.IGNORECASE | re.ASCII),  # ASCII: as lower() ignores case
                rule.get("scale", 1.0),
                tuple(rule["words"]),
            )
            for rule in rules["series"]
        ),
    )


@lru_cache(maxsize=1 << 14)  # several steps ask
def _dialect(template: str) -> Dialect | None:
    template = template[:MARKED_WITHIN]
    return next((dialect for dialect in dialects() if dialect.marker.search(template)), None)


def _rows_of(table: EventTable, events: Sequence[int], limit: int) -> NDArray[np.intp]:
    """Rows of markers, sorted; of too many each n-th of each event of each voice, and its first and last.

    So both ends are kept, and what changed between them. n is the same for all, and who says most is counted backwards
    from the end: ranks that count alike keep the same iterations, and the last one is as long as those before it.
    """
    wanted = np.zeros(len(table.templates) + 1, np.bool_)
    wanted[events] = True
    saying = wanted[table.counts.event]
    pairs, heads = _pairs(table, table.counts.voice[saying], table.counts.event[saying]), table.counts.heads[saying]
    speakers, own = np.unique(pairs, return_inverse=True)
    if heads.sum() <= limit:
        return np.concatenate([np.zeros(0, np.intp), *(places + part.start for part, places in table.heads_of(wanted))])
    each = -(-int(heads.sum()) // max(1, limit - 2 * len(speakers)))
    first_kept = (int(np.bincount(own, heads).max()) - 1) % each
    seen, last = np.zeros(len(speakers), np.int64), np.zeros(len(speakers), np.intp)
    found = list[NDArray[np.intp]]()
    for part, places in table.heads_of(wanted):
        rows = places + part.start
        own = np.searchsorted(speakers, _pairs(table, table.voice[rows], table.event[rows]))
        for speaker, of_speaker in rows_by(own, np.arange(len(rows))):
            before = int(seen[speaker])
            found.append(rows[of_speaker[(first_kept - before) % each :: each]])
            if not before:
                found.append(rows[of_speaker[:1]])
            seen[speaker] += len(of_speaker)
            last[speaker] = rows[of_speaker[-1]]
    return np.unique(np.concatenate([*found, last[seen > 0]]))


def _pairs(table: EventTable, voices: NDArray[Any], events: NDArray[Any]) -> NDArray[np.int64]:
    """A number for each pair of a voice and an event."""
    return np.asarray(voices.astype(np.int64) * (len(table.templates) + 1) + events, np.int64)


def _read(table: EventTable, files: Mapping[str, LogFile], limit: int) -> Markers:
    """What the lines say, in words that a dialect knows, else by what their numbers do."""
    known = {event: dialect for event, template in enumerate(table.templates) if (dialect := _dialect(template.sample))}
    found = _read_events(table, files, limit, known)
    if not (found.weights > _LIGHT).any():
        found = found.only(found.weights > _LIGHT)
    if not len(found.rows):
        counter = find_counter(table, files) or find_counter(table, files, learned=True)
        found = found if counter is None else _in_steps(read_counter(table, files, limit, counter))
    return _with_clock(table, files, limit, found) if len(found.rows) and not found.timed.any() else found


def _in_steps(found: Markers) -> Markers:
    """The same in steps where what a step learns from is counted: a round number of samples or tokens each time."""
    steps = np.diff(np.unique(found.numbers))
    usual = int(np.median(steps)) if len(steps) else 0
    if usual < _BATCH or usual % _EVEN or np.mean(found.numbers % usual == 0) < _MOSTLY:
        return found
    totals = np.where(found.totals > 0, found.totals // usual, found.totals)
    return replace(found, numbers=found.numbers // usual, totals=totals)


def _with_clock(table: EventTable, files: Mapping[str, LogFile], limit: int, found: Markers) -> Markers:
    """Markers without a clock, or those of another speaker who counts the same with one, in steps no longer.

    The screen shows every twentieth step, and a file of metrics has each, with its time.
    """
    others = np.setdiff1d(np.arange(len(table.origins)), found.voices)
    counted = np.unique(found.numbers)
    counter = find_counter(table, files, others, frozenset(counted.tolist())) if len(others) else None
    if counter is None:
        return found
    beside = read_counter(table, files, limit, counter)
    same = _is_finer(beside.numbers, found.numbers) or np.array_equal(np.unique(beside.numbers), counted)
    return beside if same and beside.timed.all() else found


def read_counter(table: EventTable, files: Mapping[str, LogFile], limit: int, counter: CountingEvent) -> Markers:
    """What a message counts whose number rises, and the same message where it is no number any more."""
    dialect = Dialect("a number that rises", _ANY, counter.read, _LIGHT)
    text = _as_numbers(table.templates[counter.event].sample)
    same = [place for place, template in enumerate(table.templates) if _as_numbers(template.sample) == text]
    return _read_events(table, files, limit, dict.fromkeys(same, dialect))


def _as_numbers(sample: str) -> str:
    """A template in which what is no number any more counts as one: a loss of nan makes it another message."""
    return _NO_NUMBER.sub("<NUM>", sample)


def _read_events(
    table: EventTable, files: Mapping[str, LogFile], limit: int, by_event: Mapping[int, Dialect]
) -> Markers:
    """The markers among the messages of these events; one at a time, because there may be many."""
    chosen = _rows_of(table, list(by_event), limit)
    found = array("q")
    asked = zip(chosen.tolist(), table.event[chosen].tolist(), strict=True)
    for row, text in each_row(files, table, chosen):
        dialect = by_event[next(event for asked_row, event in asked if asked_row == row)]  # some cannot be read
        grouped = dialect.weight > _LIGHT and "," in text
        match = dialect.read.search(_THOUSANDS.sub("", text) if grouped else text)
        if match:
            groups = match.groupdict()
            number = groups.get("iteration") or groups.get("step") or groups.get("number")
            total = groups.get("total") or groups.get("planned")
            if number is not None and len(number) <= _MAX_DIGITS:
                planned_here = int(total) if total and len(total) <= _MAX_DIGITS else _NO_TOTAL
                found.extend((row, int(number), planned_here, dialect.weight, _elapsed(text)))
    rows, numbers, totals, weights, elapsed = np.frombuffer(found, np.int64).reshape(-1, 5).T.copy()
    voices, timed, times = table.voice[rows], table.timed[rows], table.time[rows]
    drawn = ~timed & (elapsed >= 0) & (times != NO_TIME)
    for _, mine in rows_by(voices, np.flatnonzero(drawn)):
        began = (times[mine[0]] - elapsed[mine[0]]) // _SECOND * _SECOND  # a bar counts whole seconds
        if began + elapsed[mine[-1]] > _next_clock(table, int(rows[mine[-1]])) + _SECOND:
            drawn[mine] = False  # no clock stands above the bar, and the one below came long after it began
        else:
            times[mine] = began + elapsed[mine]
    return Markers(rows, numbers, totals, weights, voices, table.message[rows], times, timed | drawn, elapsed)


def _next_clock(table: EventTable, row: int) -> int:
    """The time of the next line of the same file that has a clock of its own; none is later than that of no line."""
    stop = table.rows_of_file(int(table.file[row])).stop
    for start in range(row + 1, stop, _AT_ONCE):
        below = np.flatnonzero(table.timed[start : min(stop, start + _AT_ONCE)])
        if len(below):
            return int(table.time[start + int(below[0])])
    return np.iinfo(np.int64).max


def _elapsed(text: str) -> int:
    """Microseconds that a progress bar (tqdm: ``[01:23<``) says to have run; -1 where none is drawn."""
    match = _ELAPSED.search(text)
    if match is None:
        return -1
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((hours * 60 + minutes) * 60 + seconds) * _SECOND


def _bars(found: Markers, planned: int | None) -> NDArray[np.bool_]:
    """Which markers are of the progress bar that counts iterations."""
    bar = found.weights == _BAR
    bars: dict[int, int] = {}
    for number, total in zip(found.numbers[bar].tolist(), found.totals[bar].tolist(), strict=True):
        if total > 0:
            bars[total] = max(bars.get(total, number), number)
    # A bar that did not reach its end is the one at work; evaluation and loading draw short ones to their ends.
    wanted = (
        planned if planned in bars else max(bars, key=lambda total: (bars[total] < total, total), default=_NO_TOTAL)
    )
    return np.asarray(bar & (found.totals == wanted), np.bool_)


def _chosen(found: Markers, bars: NDArray[np.bool_], rank_of_voice: NDArray[np.int32]) -> Markers:
    """The markers that count: of progress bars only the one that counts iterations, and no lighter dialects.

    But for one that tells the same count in smaller steps (DeepSpeed reports every tenth step, its program each), and
    for ranks that speak no heavier one and count the same iterations.
    """
    found = found.only((found.weights != _BAR) | bars)
    heavy = found.weights >= min(found.weights.max(initial=0), _WEIGHTY)
    alone = found.weights == _LIGHT
    if _is_finer(found.numbers[~heavy & ~alone], found.numbers[heavy]):
        return found.only(~alone)
    ranks, counted = rank_of_voice[found.voices], np.unique(found.numbers[heavy])
    light = alone & ~heavy & (ranks >= 0) & ~np.isin(ranks, ranks[heavy])
    for _, mine in rows_by(ranks, np.flatnonzero(light)):
        numbers = np.unique(found.numbers[mine])
        both = np.isin(numbers, counted).sum()
        light[mine] = both >= SAME * max(len(numbers), len(counted))
    return found.only(heavy | light)


def _is_finer(numbers: NDArray[np.int64], coarse: NDArray[np.int64]) -> bool:
    """Whether numbers hold each of the coarse ones, which skip some, and end within a step of them."""
    coarse = np.unique(coarse[coarse > 0])
    if len(coarse) <= 1 or not np.isin(coarse, numbers).all():
        return False
    step = float(np.median(np.diff(coarse)))
    return step > 1 and bool(numbers.max() < coarse[-1] + step)
