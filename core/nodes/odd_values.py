"""What a machine tells of itself otherwise than all others, in a list of all machines that nobody repeats.

``gpustat`` of each node while a job hangs, clocks of all cards, rates of ports: one row has 0 % where all others have
100, or 960 MHz where they have 1,950. Nothing changes in them: it is told where nothing else tells who stands apart.
So is what each machine says once, in its own log, with one number that all others have alike: a port that came up at
40 Gb/sec beside 200.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from core.events.row_text import each_row, read_rows
from core.facts import complains
from core.judge.ranking import quote
from core.nodes.sign import Sign, short
from core.nodes.told_subjects import named_node, numbers_of
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS

ODD, SEVERAL = 0.45, 0.55  # as who does not answer (core.nodes.stall); as sure as a look is worth, of several numbers
MAX_ROWS, MAX_ALL = 1024, 8192  # rows of a file and of all files that are read: a list of 128 machines with 8 cards
TIMES = 3.0  # as much, or a third: load and clocks of healthy nodes move by less than twice when their job does
STEADY = 1.5  # times by which a number may differ among the others
AGAINST_ZERO = 10.0  # where all others have 0: one or two are what a counter of errors has anywhere
MAX_MESSAGES = 256  # that each machine says once, the first to be said first: a tenth of a second
SELDOM = 4  # times that each says it: once for a port, of which it has a few
Told = tuple[str, int, str]  # a node, a row and its text
Key = tuple[int, int, str]  # numbers of a line, which of them it is, and the word before it


@dataclass(frozen=True, slots=True)
class OddNumber:
    """A number of one node that is far from those of all others, between the least and the most of theirs.

    name: of its column or as the line names it; empty where nothing does.
    """

    node: str
    value: float
    least: float
    most: float
    row: int
    text: str
    name: str = ""

    @property
    def shown(self) -> str:
        """The number, for a sentence."""
        return _text(self.value)

    @property
    def usual(self) -> str:
        """The value or the range of values that all others have, for a sentence."""
        return _text(self.least) if self.least == self.most else f"{_text(self.least)} to {_text(self.most)}"

    @property
    def far(self) -> float:
        """How many times it is the nearest of theirs, or the other way round; zero counts as one."""
        value, least, most = (max(number, 1.0) for number in (self.value, self.least, self.most))
        return value / most if self.value > self.most else least / value

    @property
    def because(self) -> str:
        """What is odd, as a sentence with the line that tells it, or with the name of its column."""
        if self.name:
            return f"On {self.node} {self.name} is {self.shown}, on all others {self.usual}."
        shown = "" if is_bare(self.text) else f": {self.quoted(120)}"
        return f"{self.node} has {self.shown} where all others have {self.usual}{shown}."

    def quoted(self, most: int) -> str:
        """The line that tells it, of at most so many characters, among them the number."""
        text = quote(self.text)
        place = text.find(f"{self.value:g}")
        start = max(0, place - most // 2) if len(text) > most else 0
        cut = "\u2026" if start else ""
        return f"\u201c{cut}{short(text[start:], most)}\u201d"


def is_bare(text: str) -> bool:
    """Whether a line is a row of a table with nothing but numbers: without its head nobody can read it."""
    return not any(character.isalpha() for character in text)


def odd_value_signs(parsed: Parsed) -> list[Sign]:
    """A sign for the one node whose numbers are far from those of all others, in a list or in what each says once."""
    if parsed.unit != "node" or len(parsed.nodes) < MIN_RANKS:
        return []
    found = _all_odd(list(_rows_of_nodes(parsed)), parsed)
    is_list = bool(found)
    if not is_list:
        of_messages = (odd for told in _said_once(parsed) for odd in _all_odd(told, parsed))
        found = [odd for odd in of_messages if odd.least == odd.most]
    counts = Counter(odd.node for odd in found).most_common(2)
    if not counts or (len(counts) > 1 and counts[0][1] < 2 * counts[1][1]):
        return []  # they point to several: to nobody
    node, often = counts[0]
    own = [odd for odd in found if odd.node == node]
    if not is_list:
        return [sign_of_odd(own, ODD, f"it says {own[0].quoted(60)}, where all others have {own[0].usual}")]
    says = f"in a list of all machines it has {own[0].shown} where all others have {own[0].usual}"
    return [sign_of_odd(own, SEVERAL if often > 1 else ODD, says)]


def sign_of_odd(own: Sequence[OddNumber], weight: float, says: str) -> Sign:
    """The sign for a node by its odd numbers, the most telling first."""
    first, rows = own[0], tuple(sorted({odd.row for odd in own}))
    what = first.name or ("the row that shows it" if is_bare(first.text) else f"what {first.quoted(60)} tells")
    check = f"Compare {first.node} with a healthy node: {what}."
    return Sign(first.node, "odd", weight, first.because, says=says, check=check, rows=rows)


def _text(number: float) -> str:
    """A number for a sentence: 45,164,400, 0.25."""
    return f"{number:,.0f}" if number.is_integer() else f"{number:.6g}"


def _all_odd(told: Sequence[Told], parsed: Parsed) -> list[OddNumber]:
    """Each number of these lines that one node has otherwise than all others."""
    values: dict[Key, dict[str, list[tuple[float, int, str]]]] = defaultdict(lambda: defaultdict(list))
    for node, row, text in told:
        numbers = numbers_of(text)
        for place, number in enumerate(numbers):
            name = "" if number.name == node else number.name
            values[len(numbers), place, name][node].append((number.value, row, text))
    odds = (odd_number(of_nodes, len(parsed.nodes)) for _, of_nodes in sorted(values.items()))
    return [odd for odd in odds if odd is not None]


def _said_once(parsed: Parsed) -> Iterator[list[Told]]:
    """The lines of each message that every machine says as often as the others, and seldom, as the first to be said."""
    table = parsed.table
    known = {name: place for place, name in enumerate(table.nodes)}
    places = [known[name] for name in parsed.nodes if name in known]
    if len(places) < len(parsed.nodes):
        return
    likely = [
        event
        for event, template in enumerate(table.templates)
        if len(places) <= table.heads[event] <= SELDOM * len(places)
        and not (template.block or complains(template.sample))  # core.nodes.votes compares what complains
    ]
    by_event = table.rows_of(likely)
    for event in sorted(likely, key=lambda event: int(by_event[event][0]))[:MAX_MESSAGES]:
        rows = by_event[event][table.head[by_event[event]]]
        counts = Counter(table.node[rows].tolist())
        if set(counts) == set(places) and len(set(counts.values())) == 1:
            texts = read_rows(parsed.files, table, rows)
            yield [(table.nodes[table.node[row]], row, texts[row]) for row in rows.tolist() if row in texts]


def _rows_of_nodes(parsed: Parsed) -> Iterator[Told]:
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


def odd_number(
    values: Mapping[str, Sequence[tuple[float, int, str]]], nodes: int, times: float = STEADY
) -> OddNumber | None:
    """The only node with a value that is so many times all of all others, which agree, or such a part of them."""
    if len(values) < max(MIN_RANKS, nodes * MAJORITY):
        return None
    apart = []
    for node, own in sorted(values.items()):
        others = [value for other, of in values.items() if other != node for value, _, _ in of]
        least, most = min(others), max(others)
        if least < 0 or most > STEADY * least:
            continue
        far = [item for item in own if item[0] * times < least or item[0] > (times * most or AGAINST_ZERO)]
        if far:
            value, row, text = far[0]
            apart.append(OddNumber(node, value, least, most, row, text))
    return apart[0] if len(apart) == 1 else None
