"""What all ranks tell in messages of one kind, value by value: the numbers of a step, of a save, of an episode."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.course.values import values_of
from core.events.row_text import each_row
from core.facts import complains
from core.nodes.votes import of_each
from core.parsed import Parsed
from core.shares import MAJORITY, MIN_RANKS

LEAST = 7  # times that each rank tells it: four before something changes, and three after
MAX_EVENTS = 6  # messages that are looked at, those said most often first
MAX_ROWS = 4_000  # of a message, of all ranks in the same iterations, evenly spread: a twentieth of a second
_UNIT = re.compile(r"[mun]?s|secs?|seconds|min|h|%|[KMGT]i?B|[a-z]{1,12}/s(?:ec)?|m?s/[a-z]{1,12}", re.IGNORECASE)
# What each machine measures for itself, alike for a while by chance.
_MEASURED = re.compile(
    r"time|elapsed|took|secs?|mem|rss|alloc|reserv|util|temp|load|power|queue|cpu|gpu|rate|eta|speed|tps"
)
# A clock is no value: each machine has its own.
CLOCK = re.compile(r"(?:\b\d{2,4}[-/]\d{2}[-/]\d{2,4}[ T_-]|\b)\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?")
_COUNTED = re.compile(r"bytes|files|tokens|samples|rows|records|shards|tensors|param(?:eter)?s", re.IGNORECASE)

Key = tuple[int, int]  # an iteration, and which of the messages of this kind in it


@dataclass(frozen=True, slots=True)
class RankValues:
    """A value of a message by its name: what each rank told each time, and in which row of the event table."""

    event: int
    name: str
    values: Mapping[Key, Mapping[int, str]]
    rows: Mapping[tuple[Key, int], int]


def told_by_all(parsed: Parsed, ranks: int) -> Iterator[RankValues]:
    """The values that most of so many ranks tell often; none that each machine measures for itself."""
    for event in _events(parsed, ranks):
        rows, keys = _chosen(parsed, event)
        speaker = dict(zip(rows.tolist(), zip(keys, parsed.table.rank[rows].tolist(), strict=True), strict=True))
        row_of = {spoken: row for row, spoken in speaker.items()}
        of_keys: dict[tuple[int, str], dict[Key, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
        for row, text in each_row(parsed.files, parsed.table, rows):
            key, rank = speaker[row]
            for place, name, value in _read(text):
                of_keys[place, name][key][rank] = value
        for (_, name), values in sorted(of_keys.items()):
            if name and enough(values, ranks):
                yield RankValues(event, name, values, row_of)


def enough(values: Mapping[Key, Mapping[int, str]], ranks: int) -> frozenset[int]:
    """The ranks that tell a value at least every second time; empty where these are not most of all."""
    speakers = Counter(rank for of_rank in values.values() for rank in of_rank)
    often = frozenset(rank for rank, times in speakers.items() if times * 2 >= len(values))
    return often if len(often) >= max(MIN_RANKS, ranks * MAJORITY) else frozenset()


def _events(parsed: Parsed, ranks: int) -> list[int]:
    """Messages with values that most ranks say often, and that complain of nothing."""
    table = parsed.table
    often = LEAST * max(MIN_RANKS, int(ranks * MAJORITY))
    found = [
        event
        for event, template in enumerate(table.templates)
        if table.heads[event] >= often
        and not template.block
        and "<" in template.sample
        and not complains(template.sample)
    ]
    return sorted(found, key=lambda event: (-int(table.heads[event]), event))[:MAX_EVENTS]


def _chosen(parsed: Parsed, event: int) -> tuple[NDArray[np.intp], list[Key]]:
    """Rows of an event, sorted, that are read, and what brings those of all ranks together."""
    table = parsed.table
    rows = table.rows_of([event])[event]
    rows = rows[table.rank[rows] >= 0]
    numbers, ranks = parsed.iterations.of_row[rows].astype(np.int64), table.rank[rows]
    each = max(LEAST, MAX_ROWS // max(1, len(np.unique(ranks))))
    known = np.unique(numbers)
    wanted = known[np.unique(np.linspace(0, len(known) - 1, each).astype(np.intp))] if len(known) else known
    chosen = np.flatnonzero(np.isin(numbers, wanted))[: 4 * MAX_ROWS]
    times: Counter[tuple[int, int]] = Counter()
    keys = []
    for number, rank in zip(numbers[chosen].tolist(), ranks[chosen].tolist(), strict=True):
        keys.append((number, times[number, rank]))
        times[number, rank] += 1
    return rows[chosen], keys


def _read(text: str) -> Iterator[tuple[int, str, str]]:
    """Values of a line with their places and names."""
    for value in values_of(CLOCK.sub(" ", text)):
        if not (_UNIT.fullmatch(value.behind) or of_each(value.name) or _MEASURED.search(value.name.lower())):
            yield value.place, value.behind if _COUNTED.fullmatch(value.behind) else value.name, value.text
