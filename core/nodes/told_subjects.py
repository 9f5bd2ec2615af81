"""What the numbers of a line are of: its speaker, or the rank, the node or the device that it names or counts.

``rank 3: busy 0.31 s``, ``Part 3, Epoch Time(s): 8.1``, ``gpu-7   3.44  0.30``, ``2026/08/14 09:20:14, 5, 90, 243 W``:
one speaker tells of several, each by a name, or by a number that comes as often as every other.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from core.course.timings import may_be_duration
from core.events.table import EventTable
from core.logs.wraps.shared_files import ALL_DIGITS_ALIKE
from core.nodes.rank_values import CLOCK
from core.shares import MIN_RANKS

MIN_SIDE = 4  # values on either side of a change: four before something changes, as in core.nodes.rank_values
UNEVEN = 2.0  # times as often as the rarest: numbers that count subjects come equally often, but for the ends of a log
NAMED_RANK = re.compile(r"\b(?:global[_ ]?)?rank['\"]?\s{0,8}[=:#]?\s{0,8}(?P<number>\d{1,6})\b", re.IGNORECASE)
_DEVICE = re.compile(
    r"(?<![/\w])(?:[gnh]pu|device|card|dev)['\"]?\s?[=:#_]?\s?['\"]?(?P<number>\d{1,3})\b", re.IGNORECASE
)
# Prometheus' text format (prometheus.io/docs/instrumenting/exposition_formats): what stands in braces tells of what the
# one number behind them is.
GAUGE = re.compile(
    r"^\s{0,8}(?P<name>[A-Za-z_:][\w:]{0,128})\{[^}]{0,1024}\}"
    r"\s{1,8}(?P<value>\d{1,18}(?:\.\d{1,18})?(?:[eE][-+]?\d{1,3})?)\b"
)
# Where a process is in a mesh: at=[2, 0, 1], at=["2", "0", "1"], (0,3)
_COORDINATES = re.compile(r"[\[(] ?[\"']?(\d{1,3})[\"']?(?:, ?[\"']?(\d{1,3})[\"']?){1,3} ?[\])]")
_COUNTED = re.compile(r"[A-Za-z_]{1,8}(\d{1,6})")  # the column of a rank: p07
_RANKS = re.compile(r"(?:by_|per_|all_)?ranks?", re.IGNORECASE)  # "by rank: 1043 1048": what they are of
_BASE = 1_000  # of a coordinate, above the number behind it
# A word, which names the number behind it, or a number: not a part of a word, an address or a version.
_TOKEN = re.compile(
    r"(?P<word>[^\W\d][\w./%@-]*)|(?<![\w.])(?P<number>\d{1,15}(?:\.\d{1,12})?(?:[eE][-+]?\d{1,3})?)(?!\.?\d|[-:]\d)"
)


class Subject(NamedTuple):
    """What a number is of: a rank, a device of a node, or a node; -1 where it is none of these."""

    node: str
    rank: int = -1
    device: int = -1


class Number(NamedTuple):
    """A number of a line: which of those with the same word before it, that word, its value."""

    place: int
    name: str
    value: float


_SHAPES, _LONG = 4096, 512  # of lines whose places are kept, and characters of each: 60 MB at worst, seldom one
_Places = TypeVar("_Places")
_UNIT = re.compile(r" ?(m?s)\b")  # behind a number: it tells a time by whatever word


def numbers_of(text: str, *, names_rank: bool = True) -> list[Number]:
    """The numbers of a line in order, each with the word before it, if no other number stands between.

    No clock is one, nor the number of a rank that the line names.
    """
    if (gauge := GAUGE.match(text)) is not None:
        return [Number(0, gauge["name"], float(gauge["value"]))]
    found, times = list[Number](), dict[str, int]()
    for begin, end, unit, start, stop in _of_shape(_number_places, text, names_rank):
        name = text[begin:end]
        if unit and name and not may_be_duration(name):
            name = f"{name} {unit}"
        place = times.get(name, 0)
        times[name] = place + 1
        found.append(Number(place, name, float(text[start:stop])))
    return found


def _named_rank(text: str) -> str | None:
    """The number of the rank that a line names first."""
    at = _of_shape(_rank_place, text)
    return None if at is None else text[at[0] : at[1]]


def _of_shape(find: Callable[..., _Places], text: str, *options: bool) -> _Places:
    """What stands where in a text: lines of one message differ in their digits alone, and are of few shapes.

    No expression here knows one digit from another.
    """
    octets = text.encode("utf-8", "surrogatepass")  # whose translation takes a tenth of a string's
    shape = octets.translate(ALL_DIGITS_ALIKE).decode("utf-8", "surrogatepass")
    return find(shape, *options) if len(shape) <= _LONG else cast(Any, find).__wrapped__(shape, *options)


@lru_cache(_SHAPES)
def _rank_place(shape: str) -> tuple[int, int] | None:
    found = NAMED_RANK.search(shape)
    return None if found is None else found.span("number")


@lru_cache(_SHAPES)
def _word_places(shape: str) -> tuple[tuple[int, int], ...]:
    return tuple(token.span("word") for token in _TOKEN.finditer(shape) if token["word"])


@lru_cache(_SHAPES)
def _number_places(shape: str, names_rank: bool) -> tuple[tuple[int, int, str, int, int], ...]:  # noqa: FBT001
    """Of each number begin and end of the word before it, the unit behind it, its begin and end."""
    clocks = [found.span() for found in CLOCK.finditer(shape)]
    text, at = _without(shape, range(len(shape)), clocks)
    if names_rank and (named := NAMED_RANK.search(text)) is not None:
        text, at = _without(text, at, [named.span()])
    text, at = _without(text, at, [found.span() for found in _COORDINATES.finditer(text)])
    found, name = list[tuple[int, int, str, int, int]](), (0, 0)
    for token in _TOKEN.finditer(text):
        own = at[token.start()], at[token.end() - 1] + 1
        if token["word"]:
            name = own
        else:
            unit = _UNIT.match(text, token.end())
            found.append((*name, unit[1] if unit else "", *own))
            name = (0, 0)
    return tuple(found)


def _without(text: str, at: Sequence[int], spans: Sequence[tuple[int, int]]) -> tuple[str, Sequence[int]]:
    """A text with a blank for each of some stretches, and where each of its characters had stood."""
    parts, places, end = list[str](), list[int](), 0
    for start, stop in spans:
        parts += text[end:start], " "
        places += [*at[end:start], at[start]]
        end = stop
    return "".join([*parts, text[end:]]), [*places, *at[end:]]


def _in_blocks(home: Mapping[int, str], listed: Collection[int]) -> dict[int, str]:
    """The node of each listed rank where only one number of each node is known, and the list is of several of each.

    srun's tasks start one launcher a node; launchers count machine by machine.
    """
    each = len(listed) // max(1, len(home))
    one_each = set(home) == set(range(len(home))) and len(set(home.values())) == len(home)
    if not one_each or each < 2 or set(listed) != set(range(each * len(home))):
        return {}
    return {rank: home[rank // each] for rank in sorted(listed)}


class Subjects:
    """Of the lines of one message, what each number is of.

    Args:
        lines: rows and texts, in order. home: node of each rank. nodes: of the job.
    """

    def __init__(
        self, table: EventTable, lines: Sequence[tuple[int, str]], home: Mapping[int, str], nodes: Sequence[str]
    ) -> None:
        self._table, self._home, self._nodes = table, home, {name: name for name in nodes}
        self._numbers = {text: numbers_of(text) for _, text in lines}  # asked for up to three times
        rows = np.array([row for row, _ in lines], np.intp)
        self._voice = dict(zip(rows.tolist(), table.voice[rows].tolist(), strict=True))
        by_voice: dict[int, list[str]] = defaultdict(list)
        for row, text in lines:
            by_voice[self._voice[row]].append(text)
        ranks = [{rank for text in own if (rank := _named_rank(text))} for own in by_voice.values()]
        named = [{node for text in own if (node := self._named(text))} for own in by_voice.values()]
        self.lists_ranks = any(len(of) >= MIN_RANKS for of in ranks)  # as the last one does of all, Megatron's timers
        # A row of two digits, "rank 10: 2400.00", looks like a label, so that it is taken for speech of that rank.
        self.listed = {rank for of in ranks for rank in of} if self.lists_ranks else set()
        self._home_of_listed = _in_blocks(home, set(map(int, self.listed))) if self.lists_ranks else {}
        self._lists_nodes = any(len(of) >= MIN_RANKS for of in named)
        self._counted = {
            voice: place
            for voice, own in by_voice.items()
            if (place := _counting([self._numbers[text] for text in own])) is not None
        }
        counts = {
            int(numbers[place].value)
            for voice, place in self._counted.items()
            for text in by_voice[voice]
            if len(numbers := self._numbers[text]) > place
        }
        self._counts_ranks = len(home) >= MIN_RANKS and counts == set(home)

    def read(self, row: int, text: str) -> Iterator[tuple[Subject, Number]]:
        """Numbers of one of the lines, and what each is of; none where nobody tells."""
        named = _named_rank(text)
        rank = int(named) if named is not None else -1
        if rank in self._home_of_listed:
            return _of_one(Subject(self._home_of_listed[rank], rank), self._numbers[text])
        return self._by_speaker(row, text, named)

    def _by_speaker(self, row: int, text: str, named: str | None) -> Iterator[tuple[Subject, Number]]:
        """The same of a line that its speaker says of itself, or of those that it names."""
        voice, numbers = self._voice[row], self._numbers[text]
        origin = self._table.origins[voice]
        if named is not None and len(self._home) >= MIN_RANKS and int(named) not in self._home:
            named, numbers = None, numbers_of(text, names_rank=False)  # "compute ms by rank: 1043 1048"
        rank = int(named) if named is not None and (self.lists_ranks or origin.rank is None) else origin.rank
        place = self._counted.get(voice, -1)
        count = int(numbers[place].value) if 0 <= place < len(numbers) else -1
        if named is None and self._counts_ranks and count >= 0:
            rank = count
        other = self._named(text) if self._lists_nodes and named is None else None
        if other is not None and other not in (origin.node, self._home.get(-1 if rank is None else rank)):
            yield from _of_one(Subject(other), numbers)  # a table of all nodes, by one of them
            return
        if rank is not None and (rank in self._home or origin.node is not None):
            process = _process(text, count) if self._table.ranks_are_nodes else -1  # of several in one file
            yield from _of_one(Subject(self._home.get(rank) or origin.node or "", rank, process), numbers)
            return
        node = self._named(text) if self._lists_nodes else origin.node
        if columns := self._columns_of_ranks(numbers):
            name = "" if columns[-1].name or _RANKS.fullmatch(columns[0].name) else columns[0].name
            for column, of in zip(columns, sorted(self._home), strict=True):
                yield Subject(self._home[of], of), Number(-1, name, column.value)
        elif (
            len(of_columns := [(number, home) for number in numbers if (home := self._column(number)) is not None]) > 1
        ):
            for number, home in of_columns:
                yield home, Number(-1, "", number.value)
        elif node is not None:
            yield from _of_one(Subject(node, device=_process(text, count)), numbers)

    def _columns_of_ranks(self, numbers: Sequence[Number]) -> Sequence[Number]:
        """A number for each rank, in order: the last ones of a line, without names, or all that count the ranks."""
        if len(self._home) < MIN_RANKS:
            return ()
        last = numbers[-len(self._home) :]
        if len(last) == len(self._home) and not any(number.name for number in last[1:]):
            return last
        counted = {
            int(match[1]): number for number in numbers if (match := _COUNTED.fullmatch(number.name)) is not None
        }
        return [counted[rank] for rank in sorted(counted)] if set(counted) == set(self._home) else ()

    def _column(self, number: Number) -> Subject | None:
        """What a number is of by the name of its column: ``gpu-7/1``, a process of a node, or the node alone."""
        name, _, process = number.name.partition("/")
        node = self._nodes.get(name)
        return None if node is None else Subject(node, device=int(process) if process.isdecimal() else -1)

    def _named(self, text: str) -> str | None:
        """The only node that a line names as a word."""
        return named_node(text, self._nodes)


def named_node(text: str, nodes: Mapping[str, str]) -> str | None:
    """The only node that a line names as a word, by its names."""
    found = {node for begin, end in _of_shape(_word_places, text) if (node := nodes.get(text[begin:end]))}
    return found.pop() if len(found) == 1 else None


def _process(text: str, count: int) -> int:
    """Which process or device of a machine a line is of: by its device, else by its coordinates, else by a count."""
    device, mesh = _DEVICE.search(text), _COORDINATES.search(text)
    if device is not None:
        return int(device["number"])
    if mesh is None:
        return count
    place = 0
    for number in re.findall(r"\d+", mesh[0]):
        place = place * _BASE + int(number)
    return place


def _of_one(subject: Subject, numbers: Sequence[Number]) -> Iterator[tuple[Subject, Number]]:
    """Each number with its subject, whose name is not the number's."""
    for number in numbers:
        yield subject, Number(-1, "", number.value) if number.name == subject.node else number


def _counting(rows: Sequence[Sequence[Number]]) -> int | None:
    """The place of the first number that counts subjects from 0 on, in turn and equally often; None where none does.

    Args:
        rows: the numbers of each line.
    """
    width = min((len(numbers) for numbers in rows), default=0)
    for place in range(width):
        values = np.array([numbers[place].value for numbers in rows])
        often = Counter(values.tolist())
        in_turn = len(values) > 1 and float(np.mean(values[1:] == values[:-1])) < 1 / MIN_RANKS
        counts = len(often) > 1 and sorted(often) == list(range(len(often)))
        if (
            counts
            and in_turn
            and min(often.values()) >= 2 * MIN_SIDE
            and max(often.values()) <= UNEVEN * min(often.values())
        ):
            return place
    return None
