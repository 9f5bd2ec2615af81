"""What a test of machines two by two measures: the one with which every pair is slow, and no pair without it.

nccl-tests, ``ib_write_bw`` or a script of one's own runs over all pairs: a heading names two machines, and what is said
once below each heading is the result of that pair. No pair alone tells which of both it is.
"""

import re
from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from core.events.row_text import each_row, read_rows
from core.nodes.odd_values import STEADY
from core.nodes.sign import Sign
from core.nodes.slow import OWN_PART
from core.nodes.told_subjects import numbers_of
from core.nodes.votes import of_each
from core.parsed import Parsed

Pair = tuple[str, str]
Results = Mapping[Pair, tuple[float, int]]  # value and row
ENOUGH = 4  # machines: of three, each pair shares a machine with each other one
MAX_PAIRS = 8192  # all pairs of 128 machines
MAX_EVENTS = 64  # messages that are said once for each pair, the first to be said first
_WORD = re.compile(r"[\w.-]*\w")


def pair_signs(parsed: Parsed) -> list[Sign]:
    """A sign for the one machine of which all pairs measured a number far from that of all pairs without it."""
    if parsed.unit != "node" or len(parsed.nodes) < ENOUGH:
        return []
    headings = _headings(parsed)
    if len(headings) < len(parsed.nodes):
        return []
    for name, results in _results(parsed, headings).items():
        nodes = sorted({node for pair in results for node in pair})
        apart = [node for node in nodes if len(nodes) >= ENOUGH and _is_apart(node, results)]
        if len(apart) == 1:
            return [_sign(apart[0], name, results)]
    return []


def _headings(parsed: Parsed) -> dict[int, Pair]:
    """The rows that name two machines, each pair once, and those two."""
    table, known = parsed.table, frozenset(parsed.nodes)
    found: dict[int, Pair] = {}
    for event, template in enumerate(table.templates):
        if template.block or not len(known) <= table.heads[event] <= MAX_PAIRS:
            continue
        rows = table.rows_of([event])[event]
        pairs = {}
        for row, text in each_row(parsed.files, table, np.sort(rows)):
            named = [word for word in _WORD.findall(text) if word in known]
            if len(set(named)) != 2:
                break  # each of them names a pair, or none is a heading
            pairs[row] = (named[0], next(word for word in named if word != named[0]))
        if len(pairs) == len(rows) == len({frozenset(pair) for pair in pairs.values()}) > len(found):
            found = pairs
    return found


def _results(parsed: Parsed, headings: Mapping[int, Pair]) -> dict[str, Results]:
    """By its name each number that is said once below each heading, or in it."""
    table, starts = parsed.table, np.array(sorted(headings), np.intp)
    found: dict[str, dict[Pair, tuple[float, int]]] = defaultdict(dict)
    often = [event for event in range(len(table.templates)) if table.heads[event] == len(starts)]
    by_event = table.rows_of(often)
    for event in sorted(often, key=lambda event: int(by_event[event][0]))[:MAX_EVENTS]:
        rows = np.sort(by_event[event])
        places = np.searchsorted(starts, rows, side="right") - 1
        if not np.array_equal(places, np.arange(len(starts))):
            continue
        for (row, text), start in zip(sorted(read_rows(parsed.files, table, rows).items()), starts, strict=True):
            for place, number in enumerate(numbers_of(text)):
                if not of_each(number.name):
                    found[f"{number.name or 'number'} ({event}, {place})"][headings[int(start)]] = number.value, row
    return {name: results for name, results in found.items() if len(results) == len(starts)}


def _is_apart(node: str, results: Results) -> bool:
    own = [value for pair, (value, _) in results.items() if node in pair]
    others = [value for pair, (value, _) in results.items() if node not in pair]
    if len(own) < 2 or not others:
        return False
    return max(own) * STEADY < min(others) or min(own) > STEADY * max(others) > 0


def _sign(node: str, name: str, results: Results) -> Sign:
    own = sorted(value for pair, (value, _) in results.items() if node in pair)
    others = sorted(value for pair, (value, _) in results.items() if node not in pair)
    rows = tuple(sorted(row for pair, (_, row) in results.items() if node in pair))
    name = name.rpartition(" (")[0]
    told = f"Of all {len(own)} pairs with {node} {name} is {own[0]:.4g} to {own[-1]:.4g}"
    because = f"{told}; of the {len(others)} pairs without it {others[0]:.4g} to {others[-1]:.4g}."
    says = f"{name} of its pairs is {own[0]:.4g} to {own[-1]:.4g}, of all others {others[0]:.4g} or more"
    says = says if own[-1] < others[0] else f"{name} of its pairs is {own[0]:.4g} or more, of no other pair"
    check = f"Test {node} alone and with a spare one: its cards, links and cables."
    return Sign(node, "odd", OWN_PART, because, says=says, check=check, rows=rows)
