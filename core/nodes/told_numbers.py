"""Numbers that lines tell again and again of ranks, nodes and devices, in whatever words and whoever prints them.

``rank 3: busy 0.31 s``, ``{'rank': 3, 'busy': 0.31}``, ``npu=2 power=156.7W`` of every machine, a row of a table with a
column for each rank: what a number is of tells its speaker, an identifier in the line, or its place in the row.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from core.course.iterations import NO_ITERATION
from core.events.messages import unlabelled
from core.events.row_text import each_row, read_rows
from core.events.table import rows_by
from core.facts import complains
from core.nodes.number_messages import Lines, alike, kinds
from core.nodes.told_subjects import MIN_SIDE, Subject, Subjects
from core.parsed import Parsed
from core.quantiles import median_of_sorted
from core.shares import MAJORITY, MIN_RANKS

MAX_EVENTS = 16  # messages that are looked at, those said most often first
MAX_ROWS = 2_048  # of a message, of all its speakers, evenly spread over the run of each: a thirtieth of a second
MAX_SELDOM = MIN_SIDE  # times that each of them tells it; what is told more often is a series
SEVERAL = 2  # numbers of a message: how long each worked, and how long it waited
MAX_KINDS = 16  # of lines that are alike: as many as there are messages that are looked at
PAIR = 2  # kinds of lines that most tell: then they are tables of their own
MAX_LISTS = 8  # that follow each other
FLOOR_OF_TOP, FLOOR_OF_USUAL = 1 / 256, 1 / 16  # of the largest and the usual value: what is below is told as nearly 0

_BAR = re.compile(
    r"\d/(?:\d{1,12}|\?) \[\d"
)  # tqdm: 74/3000 [00:22<39:02; its numbers without a name are no measurement

# What a process is called; which of them spoke last is chance
_CALLS = re.compile(r"(?:\w{0,40}_)?(?:p|t|uu|gu)?id|port|process|thread", re.IGNORECASE)

_Whom = TypeVar("_Whom")
_Numbers = dict[tuple[int, str], dict[Subject, list[tuple[int, float]]]]  # by place and name, then row and value
Often = tuple[int, str, dict[Subject, list[tuple[int, float]]]]  # a message, a name, and of each subject row and value


@dataclass(frozen=True, eq=False)
class Told:
    """What is told of one subject under one name, in order: values, their logarithms above a floor, rows.

    times: microseconds of the job's clock; empty where not every line has one.
    """

    values: NDArray[np.float64]
    octaves: NDArray[np.float64]
    rows: NDArray[np.intp]
    times: NDArray[np.int64]

    def since(self, place: int) -> "Told":
        """The same without its first values, as many as ``place``."""
        return Told(self.values[place:], self.octaves[place:], self.rows[place:], self.times[place:])

    @cached_property
    def ordered(self) -> NDArray[np.float64]:
        """Its values from the lowest on."""
        return np.sort(self.values)

    @property
    def usual(self) -> float:
        """The median of its values."""
        return median_of_sorted(self.ordered)


def told_often(parsed: Parsed, home: Mapping[int, str]) -> list[Often]:
    """Numbers that lines tell often of most of several subjects, with their message, their name and their rows.

    Args:
        home: node of each rank.
    """
    return parsed.once(("told often", frozenset(home.items())), lambda: _told_often(parsed, home))


def _told_often(parsed: Parsed, home: Mapping[int, str]) -> list[Often]:
    found_of = [(events[0], found) for events in _events(parsed) for found in _numbers_of(parsed, events, home)]
    often = []
    for event, found in _with_longer_messages(found_of):
        for (_, name), of_subject in sorted(found.items()):
            whole = {subject: of for subject, of in sorted(of_subject.items()) if len(of) >= MIN_SIDE}
            if len(whole) >= max(MIN_RANKS, len(of_subject) * MAJORITY):
                often.append((event, name, whole))
    return often


def told_numbers(parsed: Parsed, home: Mapping[int, str]) -> tuple[tuple[int, str, dict[Subject, Told]], ...]:
    """Numbers that are measured of several subjects, with their message and their name.

    Args:
        home: node of each rank.
    """
    question = "told numbers", frozenset(home.items())
    return parsed.once(question, lambda: tuple(_measured(parsed, told_often(parsed, home))))


def _measured(parsed: Parsed, often: Iterable[Often]) -> Iterator[tuple[int, str, dict[Subject, Told]]]:
    """Those of them that are measured, while the job trained."""
    for event, name, whole in often:
        if _is_finite(whole.values()) and not _counts(whole.values()):
            yield event, name, _told(parsed, while_it_trained(parsed, whole))


def counters(parsed: Parsed, often: Iterable[Often]) -> Iterator[tuple[int, str, dict[Subject, Told]]]:
    """Those of them that count: they never fall, on nobody."""
    for event, name, whole in often:
        if _is_finite(whole.values()) and _counts(whole.values()):
            yield event, name, _told(parsed, whole)


def told_seldom(parsed: Parsed, home: Mapping[int, str]) -> Iterator[tuple[int, str, dict[Subject, Told]]]:
    """Numbers that are told of most ranks or nodes once or a few times: what each did in all, a table of a benchmark.

    Args:
        home: node of each rank.
    """
    everyone = len(set(home.values()) or parsed.nodes)
    for event in _seldom(parsed, everyone):
        rows = _chosen(parsed, [event])
        lines = list(each_row(parsed.files, parsed.table, rows))
        for (_, name), of_subject in sorted(_read(parsed, [event], home, lines, rows).items()):
            nodes = {subject.node for subject in of_subject}
            is_told = name and max(value for of in of_subject.values() for _, value in of) > 0
            if is_told and len(of_subject) >= MIN_RANKS and len(nodes) > everyone * MAJORITY:
                yield event, name, _told(parsed, dict(sorted(of_subject.items())))


def _numbers_of(parsed: Parsed, events: Sequence[int], home: Mapping[int, str]) -> list[_Numbers]:
    """The numbers of messages that are alike: of each kind of line that most nodes tell, or of all together."""
    rows = _chosen(parsed, events)
    lines = list(each_row(parsed.files, parsed.table, rows))
    apart = kinds(parsed, lines)
    if PAIR <= len(apart) <= MAX_KINDS:
        found = [_read(parsed, events, home, kind, rows) for kind in apart]
        of_most = [numbers for numbers in found if len(_nodes(numbers)) > len(parsed.nodes) * MAJORITY]
        if len(of_most) >= PAIR:
            return of_most
    return [_read(parsed, events, home, lines, rows)]


def _nodes(numbers: _Numbers) -> set[str]:
    """Nodes of which numbers tell often."""
    return {subject.node for of in numbers.values() for subject, told in of.items() if len(told) >= MIN_SIDE}


def _read(
    parsed: Parsed, events: Sequence[int], home: Mapping[int, str], lines: Lines, rows: NDArray[np.intp]
) -> _Numbers:
    """The numbers of lines, by their place and name, and by what they are of.

    Args:
        rows: of all lines of these messages that are read.
    """
    found: _Numbers = defaultdict(lambda: defaultdict(list))
    subjects = Subjects(parsed.table, lines, home, parsed.nodes)
    heads = _heads(parsed, events, rows, len(subjects.listed)) if subjects.lists_ranks else {}
    for row, text in lines:
        draws = _BAR.search(text) is not None
        for subject, number in subjects.read(row, text):
            if (draws and not number.name) or _CALLS.fullmatch(number.name):
                continue
            name = f"{heads[row]} {number.name}".strip() if row in heads else number.name
            found[number.place, name][subject].append((row, number.value))
    return found


def _with_longer_messages(told: Sequence[tuple[int, _Numbers]]) -> Sequence[tuple[int, _Numbers]]:
    """The same, with each the numbers of a longer message that others say: the first rank tells its loss too.

    A longer message has all its names, and more.
    """
    names = [{name for _, name in found if name} for _, found in told]
    subjects = [{of for found in numbers.values() for of in found} for _, numbers in told]
    for place, (_, found) in enumerate(told):
        for other, (_, more) in enumerate(told):
            if not names[place] or not names[place] < names[other] or subjects[place] & subjects[other]:
                continue
            for key in found.keys() & more.keys():
                found[key].update(more[key])
    return told


def _events(parsed: Parsed) -> list[tuple[int, ...]]:
    """Messages with numbers that are said often, and that complain of nothing; those that are alike together."""
    table = parsed.table
    likely = [event for event, template in enumerate(table.templates) if "<" in template.sample and not template.block]
    often = {events: int(table.heads[list(events)].sum()) for events in alike(parsed, likely)}
    enough = [
        events
        for events, heads in often.items()
        if heads >= 2 * MIN_SIDE and not any(complains(table.templates[event].sample) for event in events)
    ]
    return sorted(enough, key=lambda events: (-often[events], events))[:MAX_EVENTS]


def _seldom(parsed: Parsed, nodes: int) -> list[int]:
    """Messages with several numbers that most nodes may have said, too seldom for a series; the last ones first."""
    table = parsed.table
    found = [
        event
        for event, template in enumerate(table.templates)
        if max(MIN_RANKS, nodes * MAJORITY) <= table.heads[event] <= MAX_SELDOM * max(nodes, len(table.ranks))
        and not template.block
        and template.sample.count("<NUM>") >= SEVERAL
        and not complains(template.sample)
    ]
    last = {event: int(rows[-1]) for event, rows in table.rows_of(found).items()} if found else {}
    return sorted(found, key=lambda event: (-last[event], event))[:MAX_EVENTS]


def _chosen(parsed: Parsed, events: Sequence[int]) -> NDArray[np.intp]:
    """Rows of some events, sorted: of each speaker as many, evenly spread."""
    table = parsed.table
    own = [of for _, of in rows_by(table.voice, _rows_of(parsed, events))]
    each = max(2 * MIN_SIDE, MAX_ROWS // max(1, len(own)))
    parts = [of[np.unique(np.linspace(0, len(of) - 1, each).astype(np.intp))] for of in own[: MAX_ROWS // MIN_SIDE]]
    return np.sort(np.concatenate([np.zeros(0, np.intp), *parts]))


def _rows_of(parsed: Parsed, events: Sequence[int]) -> NDArray[np.intp]:
    return np.sort(np.concatenate(list(parsed.table.rows_of(events).values())))


def _heads(parsed: Parsed, events: Sequence[int], rows: NDArray[np.intp], ranks: int) -> dict[int, str]:
    """What stands above the list that each row belongs to: ``forward-compute:``, of a list of several.

    Of lists that follow each other, of so many ranks each, all headings may stand above the first, in their order.
    """
    every = _rows_of(parsed, events)
    starts = every[np.append([True], np.diff(every) > 1)]
    lengths = np.diff(np.append(np.searchsorted(every, starts), len(every)))
    lists = np.minimum(np.maximum(lengths // max(1, ranks), 1), MAX_LISTS)
    texts = _above(parsed, starts, int(lists.max(initial=1)))
    heads = {}
    for row, at in zip(rows.tolist(), (np.searchsorted(starts, rows, side="right") - 1).tolist(), strict=True):
        start, several = int(starts[at]), int(lists[at])
        place = min((row - start) // max(1, ranks), several - 1)
        own = [texts.get(start - several + number, "") for number in range(several)]
        if all(text.endswith(":") for text in own):
            heads[row] = own[place].strip(" :.")
        elif place or own[-1].endswith(":"):
            heads[row] = f"list {place + 1}" if place else own[-1].strip(" :.")
    return heads


def _above(parsed: Parsed, starts: NDArray[np.intp], most: int) -> dict[int, str]:
    """The lines above some rows, so many of each."""
    rows = np.unique(np.concatenate([starts - number for number in range(1, most + 1)]))
    texts = read_rows(parsed.files, parsed.table, rows[rows >= 0])
    return {row: unlabelled(parsed.table, row, text).strip() for row, text in texts.items()}


def _is_finite(told: Iterable[list[tuple[int, float]]]) -> bool:
    """Whether numbers are what is measured or counted: finite, and not all zero."""
    every = np.array([value for of in told for _, value in of])
    return bool(np.isfinite(every).all() and every.max() > 0)


def _counts(told: Iterable[list[tuple[int, float]]]) -> bool:
    return all((np.diff([value for _, value in of]) >= 0).all() for of in told)


def while_it_trained(
    parsed: Parsed, of_subject: Mapping[_Whom, list[tuple[int, float]]]
) -> Mapping[_Whom, list[tuple[int, float]]]:
    """Rows and values without those before the first iteration, if enough are left: machines idle until then."""
    rows = np.unique([row for of in of_subject.values() for row, _ in of])
    begun = frozenset(rows[parsed.iterations.of_row[rows] != NO_ITERATION].tolist())
    kept = {subject: [(row, value) for row, value in of if row in begun] for subject, of in of_subject.items()}
    return kept if min(map(len, kept.values())) >= 2 * MIN_SIDE else of_subject


def _told(parsed: Parsed, of_subject: Mapping[Subject, list[tuple[int, float]]]) -> dict[Subject, Told]:
    every = np.array([value for of in of_subject.values() for _, value in of])
    floor = max(float(every.max()) * FLOOR_OF_TOP, float(np.median(every)) * FLOOR_OF_USUAL)
    rows = np.array([row for of in of_subject.values() for row, _ in of], np.intp)
    octaves = np.log2(np.maximum(every, floor))
    times, timed = parsed.table.time[rows], parsed.table.timed[rows]  # of all at once: of each apart it takes as long
    found, start = {}, 0
    for subject, of in of_subject.items():
        own = slice(start, start + len(of))
        has_clock = timed[own].all()
        found[subject] = Told(every[own], octaves[own], rows[own], times[own] if has_clock else times[:0])
        start += len(of)
    return found
