"""What machines measure of themselves again and again, where one stands far from all others when the job ends.

A node exporter's text, ``vmstat 5``, a sampler of cards: the last values of one machine are a third of those of all
others, or three times them; it swaps, throttles or counts errors, and they do not. No moment is needed, nor a clock:
what was otherwise all along tells as much as what changed.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.course.level_shift import MOST
from core.events.row_text import read_rows
from core.events.table import rows_by
from core.facts import complains
from core.job import Status
from core.nodes.number_messages import alike, kinds
from core.nodes.odd_values import ODD, TIMES, OddNumber, is_bare, odd_number, sign_of_odd
from core.nodes.sign import Sign
from core.nodes.table_heads import column_names
from core.nodes.told_subjects import GAUGE, MIN_SIDE, numbers_of
from core.nodes.votes import of_each
from core.parsed import Parsed
from core.shares import few_of

ENOUGH = 4  # machines: of three, two that happen to agree would make the third the odd one
LAST = 8  # of each number of a machine, whose middle is its level at the end; of fewer than MIN_SIDE nobody knows it
MOST_TOGETHER = 16  # rows of one time that are of a card each: no machine has more
MAX_ROWS = 1 << 14  # rows that are read in all: eight of 128 machines for each of 16 messages
MAX_EVENTS = 64  # messages that are looked at, those said most often first
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,12})?")


def probe_signs(parsed: Parsed) -> list[Sign]:
    """A sign for the one machine of which some measured number ends far from that of all others."""
    if parsed.unit != "node" or len(parsed.nodes) < ENOUGH or parsed.job.status is Status.COMPLETED:
        return []
    found = sorted(_odd_levels(parsed), key=lambda odd: -odd.far)
    if len({odd.node for odd in found}) != 1:
        return []  # they point to several: to nobody
    first = replace(found[0], name=_column(parsed, found[0]))
    says = f"its {first.name} is {first.shown}, that of all others {first.usual}"
    if not first.name:
        shown = first.shown if is_bare(first.text) else first.quoted(60)
        says = f"it measured {shown}, where all others have {first.usual}"
    return [sign_of_odd([first, *found[1:]], ODD, says)]


def _column(parsed: Parsed, odd: OddNumber) -> str:
    """What the head of a table calls the number of a row that is nothing but numbers, or an exporter its gauge."""
    if (gauge := GAUGE.match(odd.text)) is not None:
        return gauge["name"]
    words = odd.text.split()
    if not all(map(_NUMBER.fullmatch, words)):
        return ""
    pairs = zip(column_names(parsed, odd.row, odd.text), words, strict=False)
    return next((name for name, number in pairs if float(number) == odd.value), "")


def _odd_levels(parsed: Parsed) -> Iterator[OddNumber]:
    """Each odd number at the end of what machines measure, the message that is said most often first."""
    left = MAX_ROWS
    for events in _probe_messages(parsed):
        rows = _last_of_machines(parsed, events)
        if len(rows) > left:
            return
        left -= len(rows)
        yield from _of_message(parsed, rows)


def _probe_messages(parsed: Parsed) -> list[tuple[int, ...]]:
    """Messages with numbers beside the progress that most nodes say often, and that complain of nothing."""
    table = parsed.table
    marks = set(np.unique(table.event[parsed.iterations.marks]).tolist())
    likely = [
        event
        for event, template in enumerate(table.templates)
        if event not in marks and not template.block and "<NUM>" in template.sample and not complains(template.sample)
    ]
    heads = {events: int(table.heads[list(events)].sum()) for events in alike(parsed, likely)}
    found = [events for events, count in heads.items() if count >= MIN_SIDE * ENOUGH]
    return sorted(found, key=lambda events: (-heads[events], events))[:MAX_EVENTS]


def _last_of_machines(parsed: Parsed, events: tuple[int, ...]) -> NDArray[np.intp]:
    """The last rows in which each machine, and none of its ranks, says one of these; none where some hardly do.

    Of a machine with one rank what it measures may be told as that rank's, in a file that counts no iterations.
    """
    table = parsed.table
    rows = table.all_rows_of(events)
    counting = np.unique(table.file[parsed.iterations.marks])
    one_each = len(table.ranks) <= len(parsed.nodes)
    measured = (table.rank[rows] < 0) | (one_each & ~np.isin(table.file[rows], counting))
    rows = rows[(table.node[rows] >= 0) & measured]
    of_node = _until_the_first_end(parsed, [own for _, own in rows_by(table.node, rows)])
    counts = [len(own) for own in of_node]
    if len(counts) < len(parsed.nodes) - few_of(len(parsed.nodes)) or min(counts, default=0) < MIN_SIDE:
        return np.zeros(0, np.intp)
    last = sorted(read_rows(parsed.files, table, of_node[0][-LAST:]).items())
    each = LAST * max(len(kinds(parsed, last)), _together(parsed, of_node[0]))  # a gauge a line: as many of each
    return np.asarray(np.sort(np.concatenate([own[-each:] for own in of_node])), np.intp)


def _together(parsed: Parsed, rows: NDArray[np.intp]) -> int:
    """How many rows a machine writes at one time, as a sampler of cards does; one where no clock tells."""
    if not parsed.table.timed[rows].all():
        return 1
    counts = np.unique(parsed.table.time[rows], return_counts=True)[1]
    return min(MOST_TOGETHER, int(np.median(counts)))


def _until_the_first_end(parsed: Parsed, of_node: Sequence[NDArray[np.intp]]) -> list[NDArray[np.intp]]:
    """The same rows of each machine up to the moment at which the first of them ends, as far as clocks tell.

    One sample more, of cards that idle because the job is over, is of another time than those of all others.
    """
    table = parsed.table
    if not of_node or not all(table.timed[own[-1:]].all() for own in of_node):
        return list(of_node)
    end = min(int(table.time[own[-1:]][0]) for own in of_node)
    return [own[table.time[own] <= end] for own in of_node]


def _of_message(parsed: Parsed, rows: NDArray[np.intp]) -> Iterator[OddNumber]:
    """The numbers of these lines whose middle is odd on one machine."""
    table = parsed.table
    values: dict[tuple[int, int, str], dict[str, list[tuple[float, int, str]]]] = defaultdict(lambda: defaultdict(list))
    for row, text in sorted(read_rows(parsed.files, table, rows).items()):
        node, numbers = table.nodes[table.node[row]], numbers_of(text)
        for place, number in enumerate(numbers):
            if not of_each(number.name):
                values[len(numbers), place, number.name][node].append((number.value, row, text))
    for _, of_nodes in sorted(values.items()):
        ends = {node: sorted(own) for node, own in of_nodes.items() if len(own) >= MIN_SIDE}
        middle = {node: [own[len(own) // 2]] for node, own in ends.items()}
        odd = odd_number(middle, len(parsed.nodes), TIMES)
        if odd is not None and _keeps_apart(odd, [value for value, _, _ in ends[odd.node]]):
            yield odd


def _keeps_apart(odd: OddNumber, values: Sequence[float]) -> bool:
    """Whether most of the last values are far off: a card that idles now and then has an odd middle by chance."""
    far = [value * TIMES < odd.least or value > TIMES * odd.most for value in values]
    return sum(far) >= MOST * len(far)
