"""What a machine tells of itself otherwise than all others, in a list of all machines that nobody repeats.

``gpustat`` of each node while a job hangs, clocks of all cards, rates of ports: one row has 0 % where all others have
100, or 960 MHz where they have 1,950. Nothing changes in them: it is told where nothing else tells who stands apart.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from core.events.row_text import each_row
from core.judge.ranking import quote
from core.nodes.gauges import STEADY
from core.nodes.sign import Sign, short
from core.nodes.told_subjects import named_node, numbers_of
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS

ODD, SEVERAL = 0.45, 0.55  # as who does not answer (core.nodes.stall); as sure as a look is worth, of several numbers
MAX_ROWS, MAX_ALL = 1024, 8192  # rows of a file and of all files that are read: a list of 128 machines with 8 cards
AGAINST_ZERO = 10.0  # where all others have 0: one or two are what a counter of errors has anywhere
Key = tuple[int, int, str]  # numbers of a line, which of them it is, and the word before it


@dataclass(frozen=True, slots=True)
class _Odd:
    """A number of one node that is far from those of all others, between the least and the most of theirs."""

    node: str
    value: float
    least: float
    most: float
    row: int
    text: str

    @property
    def says(self) -> str:
        """What is odd, as the end of a sentence about the node."""
        usual = f"{self.least:g}" if self.least == self.most else f"{self.least:g} to {self.most:g}"
        return f"has {self.value:g} where all others have {usual}"

    @property
    def because(self) -> str:
        return f"{self.node} {self.says}: \u201c{short(quote(self.text))}\u201d."


def odd_value_signs(parsed: Parsed) -> list[Sign]:
    """A sign for the one node whose numbers in a list of all machines are far from those of all others."""
    if parsed.unit != "node" or len(parsed.nodes) < MIN_RANKS:
        return []
    values: dict[Key, dict[str, list[tuple[float, int, str]]]] = defaultdict(lambda: defaultdict(list))
    for node, row, text in _rows_of_nodes(parsed):
        numbers = numbers_of(text)
        for place, number in enumerate(numbers):
            name = "" if number.name == node else number.name
            values[len(numbers), place, name][node].append((number.value, row, text))
    found = [odd for _, of_nodes in sorted(values.items()) if (odd := _odd(of_nodes, len(parsed.nodes))) is not None]
    counts = Counter(odd.node for odd in found).most_common(2)
    if not counts or (len(counts) > 1 and counts[0][1] < 2 * counts[1][1]):
        return []  # they point to several: to nobody
    node, often = counts[0]
    own = [odd for odd in found if odd.node == node]
    check = f"Compare {node} with a healthy node in what that list shows."
    says = f"in a list of all machines it {own[0].says}"
    rows = tuple(sorted({odd.row for odd in own}))
    return [Sign(node, "odd", SEVERAL if often > 1 else ODD, own[0].because, says=says, check=check, rows=rows)]


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
