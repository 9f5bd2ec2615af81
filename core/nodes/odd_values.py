"""What a machine tells of itself otherwise than all others, once: in a list of all machines, or in a log of its own.

``gpustat`` of each node while a job hangs, clocks of all cards, rates of ports: one row has 0 % where all others have
100, or 960 MHz where they have 1,950; a check before the start finds a link of 40 Gb/s where all others have 200.
Nothing changes in them: it is told where nothing else tells who stands apart.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from core.events.row_text import each_row
from core.facts import complains
from core.judge.ending import Ending
from core.judge.ranking import quote
from core.nodes.gauges import STEADY
from core.nodes.sign import Sign, short
from core.nodes.told_subjects import named_node, numbers_of
from core.nodes.votes import of_each
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS

ODD, SEVERAL = 0.45, 0.55  # as who does not answer (core.nodes.stall); as sure as a look is worth, of several numbers
MAX_ROWS, MAX_ALL = 1024, 8192  # rows of a file and of all files that are read: a list of 128 machines with 8 cards
AGAINST_ZERO = 10.0  # where all others have 0: one or two are what a counter of errors has anywhere
MAX_EVENTS = 256  # messages that each node says once, as many as core.nodes.settings looks at
_PLACE = re.compile(r"pid|proc|task|group|world|size|session|seed|version|slot|device|cuda|index", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Odd:
    """A number of one node that is far from those of all others, between the least and the most of theirs."""

    node: str
    value: float
    least: float
    most: float
    row: int
    text: str
    others: str = "all others have"

    @property
    def says(self) -> str:
        """What is odd, as the end of a sentence about the node."""
        usual = f"{self.least:g}" if self.least == self.most else f"{self.least:g} to {self.most:g}"
        return f"has {self.value:g} where {self.others} {usual}"

    @property
    def because(self) -> str:
        return f"{self.node} {self.says}: \u201c{short(quote(self.text))}\u201d."


def odd_value_signs(parsed: Parsed, ending: Ending) -> list[Sign]:
    """A sign for the one node whose numbers in a list of all machines are far from those of all others.

    Of a job that took longer than good ones, or of which nobody knows its pace, also by what each node says once.
    """
    if parsed.unit != "node" or len(parsed.nodes) <= 1:
        return []
    slower = ending.slow is not None and ending.slow.than_good_jobs
    if len(parsed.nodes) < MIN_RANKS:
        return _of_pair(parsed) if slower else []
    values: dict[Hashable, dict[str, list[tuple[float, int, str]]]] = defaultdict(lambda: defaultdict(list))
    for node, row, text in _rows_of_nodes(parsed):
        numbers = numbers_of(text)
        for place, number in enumerate(numbers):
            name = "" if number.name == node else number.name
            values[len(numbers), place, name][node].append((number.value, row, text))
    signs = _signs(parsed, values, "in a list of all machines it")
    if signs or not (slower or (ending.slow is None and ending.allowed is None)):
        return signs
    return _signs(parsed, _said_once(parsed), "it")


def _signs(
    parsed: Parsed, values: Mapping[Hashable, Mapping[str, Sequence[tuple[float, int, str]]]], where: str
) -> list[Sign]:
    """A sign for the one node that most of these numbers tell from the others."""
    found = [odd for of_nodes in values.values() if (odd := _odd(of_nodes, len(parsed.nodes))) is not None]
    counts = Counter(odd.node for odd in found).most_common(2)
    if not counts or (len(counts) > 1 and counts[0][1] < 2 * counts[1][1]):
        return []  # they point to several: to nobody
    node, often = counts[0]
    own = [odd for odd in found if odd.node == node]
    check = f"Compare {node} with a healthy node in what that list shows."
    says = f"{where} {own[0].says}"
    rows = tuple(sorted({odd.row for odd in own}))
    return [Sign(node, "odd", SEVERAL if often > 1 else ODD, own[0].because, says=says, check=check, rows=rows)]


def _said_once(parsed: Parsed) -> dict[Hashable, dict[str, list[tuple[float, int, str]]]]:
    """The numbers of what each node says once, on which all others agree."""
    table, found = parsed.table, defaultdict[Hashable, dict[str, list[tuple[float, int, str]]]](dict)
    for event, rows in sorted(_once(parsed).items()):
        of_event = defaultdict[tuple[int, str], dict[str, list[tuple[float, int, str]]]](dict)
        for row, text in each_row(parsed.files, table, rows):
            node = table.origins[table.voice[row]].node
            for place, number in enumerate(numbers_of(text)):
                if node and not of_each(number.name) and _may_be_measure(number.name):
                    of_event[place, number.name].setdefault(node, []).append((number.value, row, text))
        for key, of_nodes in of_event.items():
            counts = Counter(values[0][0] for values in of_nodes.values()).most_common()
            if len(of_nodes) == len(parsed.nodes) and len(counts) == 2 and counts[1][1] == 1:
                found[event, *key] = of_nodes
    return found


def _once(parsed: Parsed) -> dict[int, NDArray[np.intp]]:
    """The rows of messages with numbers that each node says once, by their first event.

    Messages that begin with the same word are one, if each node says one of them: who tells another rate tells another
    standard behind it.
    """
    table, nodes = parsed.table, len(parsed.nodes)
    alike: dict[str, list[int]] = defaultdict(list)
    for event, template in enumerate(table.templates):
        if table.heads[event] <= nodes and not template.block and "<NUM>" in template.sample:
            word = (template.sample.split(None, 1) or [""])[0]
            alone = table.heads[event] == nodes or "<" in word
            alike[f"{event}" if alone else word].append(event)
    groups = [events for events in alike.values() if int(table.heads[events].sum()) == nodes][:MAX_EVENTS]
    found = {}
    for events in groups:
        rows = np.sort(np.concatenate(list(table.rows_of(events).values())))
        if not any(complains(table.templates[event].sample) for event in events):
            found[events[0]] = rows
    return found


def _may_be_measure(name: str) -> bool:
    """Whether a word may name what a machine has: no process, and no place of its own in the job."""
    return _PLACE.search(name) is None


# What a number is of, behind it: the lower it is, the longer everything takes.
_RATE = re.compile(r"(?<![\w.])(\d{1,9}(?:\.\d{1,3})?) ?([KMGT]?(?:b/s(?:ec)?|bps|bit/s|B/s|T/s)|[MG]Hz)(?![\w/])")


def _of_pair(parsed: Parsed) -> list[Sign]:
    """A hint for the one of two machines that says of a link or a clock, once, that it is slower than the other's."""
    table, found = parsed.table, dict[str, _Odd]()
    for rows in _once(parsed).values():
        told = [
            (float(match[1]), match[2], row, text)
            for row, text in each_row(parsed.files, table, rows)
            if (match := _RATE.search(text))
        ]
        nodes = [table.origins[table.voice[row]].node or "" for *_, row, _ in told]
        if len(told) != len(parsed.nodes) or set(nodes) != set(parsed.nodes) or len({unit for _, unit, *_ in told}) > 1:
            continue
        (low, _, row, text), (high, *_) = sorted(told)
        if low * STEADY < high:
            node = table.origins[table.voice[row]].node or ""
            found.setdefault(node, _Odd(node, low, high, high, row, text, "the other has"))
    if len(found) != 1:
        return []
    ((node, odd),) = found.items()
    check = f"Compare {node} with the other machine in what that line tells."
    return [Sign(node, "odd", ODD, odd.because, says=f"it {odd.says}", check=check, rows=(odd.row,))]


def _rows_of_nodes(parsed: Parsed) -> Iterator[tuple[str, int, str]]:
    """Rows of files that are a list of all machines, one block of lines after the other, with the node of each.

    The node that a line names, else the one that the last heading above it began with.
    """
    known = {name: name for name in parsed.nodes}
    for rows in _short_files(parsed):
        found, above = list[tuple[str, int, str]](), None
        for row, text in each_row(parsed.files, parsed.table, rows):
            first = (text.split(None, 1) or [""])[0].strip(":=-[],")
            above = known.get(first, above)
            if node := named_node(text, known) or above:
                found.append((node, row, text))
        blocks = [(node, len(list(own))) for node, own in groupby(found, key=lambda entry: entry[0])]
        sizes = [size for _, size in blocks]
        is_list = len(blocks) == len({node for node, _ in blocks}) > len(known) * MAJORITY
        if is_list and max(sizes) - min(sizes) <= 1:
            yield from found


def _short_files(parsed: Parsed) -> Iterator[NDArray[np.intp]]:
    """The rows of each short file; of more than can be read, of the first files by name."""
    table, left = parsed.table, MAX_ALL
    for file in range(len(table.files)):
        rows = table.rows_of_file(file)
        if len(parsed.nodes) <= len(rows) <= min(MAX_ROWS, left):
            left -= len(rows)
            yield np.arange(rows.start, rows.stop)


def _odd(values: Mapping[str, Sequence[tuple[float, int, str]]], nodes: int) -> _Odd | None:
    """The only node with a value that is far from all of all others, which agree."""
    if len(values) < max(MIN_RANKS, nodes * MAJORITY):
        return None
    apart = []
    for node, own in sorted(values.items()):
        others = [value for other, of in values.items() if other != node for value, _, _ in of]
        least, most = min(others), max(others)
        if least < 0 or most > STEADY * least:
            continue
        far = [item for item in own if item[0] * STEADY < least or item[0] > (STEADY * most or AGAINST_ZERO)]
        if far:
            value, row, text = far[0]
            apart.append(_Odd(node, value, least, most, row, text))
    return apart[0] if len(apart) == 1 else None
