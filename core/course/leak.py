"""Memory that grows with the iterations and never comes back: it ends a job, if nothing else does before."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from core.course.iterations import Iterations
from core.course.values import values_of
from core.events.row_text import each_row
from core.events.table import EventTable, rows_by
from core.job import LogFile

GREW = 1.4  # times as much at last as at first: caches that fill and pools that are kept come to rest below, or soon
PARTS = 4  # of its course since it began; it grew in each of them, for what fills up grows ever less
EVENLY = 0.5  # of the mean of the parts that the last one grew by at least
MIN_LINES = 12  # of a rank; of fewer the first allocations are most
MOST_LINES = 240  # of a rank, evenly spread
NAME = 2  # words before a number that name it: "rss MB"
MAX_RANKS = 64  # evenly spread: what all do alike, these do
_MEMORY = re.compile(
    r"(?:^|[_.\W])(?:mem(?:ory)?|rss|vram|heap|alloc(?:ated)?)(?:$|[_.\W])|_mb$|_gb$|_mib$|_gib$", re.IGNORECASE
)
# One of these stands in each name that the expression above finds; most lines have none.
_MAY_BE_MEMORY = re.compile(r"mem|rss|vram|heap|alloc|_[mg]i?b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Leak:
    """A number that tells of memory, by its name: since which iteration it grew on each of these ranks, from and to.

    ranks: that leak; others: that tell it too and do not.
    """

    name: str
    iteration: int
    ranks: tuple[int, ...]
    others: tuple[int, ...]
    before: float
    after: float


def find_leak(table: EventTable, files: Mapping[str, LogFile], iterations: Iterations) -> Leak | None:
    """The memory that grew most, by the lines with which ranks count their iterations."""
    found = []
    for name, of_rank in sorted(_told(table, files, iterations).items()):
        began = {rank: at for rank, values in of_rank.items() if (at := _began(values)) is not None}
        if not began:
            continue
        first = min(began)
        values = of_rank[first]
        found.append(
            Leak(
                name,
                iteration=values[began[first]][0],
                ranks=tuple(sorted(began)),
                others=tuple(sorted(of_rank.keys() - began)),
                before=values[began[first]][1],
                after=values[-1][1],
            )
        )
    return max(found, key=lambda leak: (leak.after / leak.before, leak.name), default=None)


def _told(
    table: EventTable, files: Mapping[str, LogFile], iterations: Iterations
) -> Mapping[str, Mapping[int, Sequence[tuple[int, float]]]]:
    """By name and rank the memory in each iteration."""
    ranks = table.rank_of_voice[iterations.voices]
    readings: dict[str, dict[int, list[tuple[int, float]]]] = defaultdict(lambda: defaultdict(list))
    speakers = list(rows_by(ranks, np.flatnonzero(ranks >= 0)))
    of_row: dict[int, tuple[int, int]] = {}
    for place in np.unique(np.linspace(0, len(speakers) - 1, MAX_RANKS).astype(np.intp)).tolist() if speakers else ():
        rank, own = speakers[place]
        at = own[np.unique(np.linspace(0, len(own) - 1, MOST_LINES).astype(np.intp))]
        for row, number in zip(iterations.marks[at].tolist(), iterations.numbers[at].tolist(), strict=True):
            of_row[row] = rank, number
    for row, text in each_row(files, table, np.array(sorted(of_row), np.intp)):
        if _MAY_BE_MEMORY.search(text) is None:
            continue
        rank, number = of_row[row]
        for value in values_of(text):
            name = " ".join(value.words[-NAME:])
            if _MEMORY.search(name) and value.text.replace(".", "", 1).isdecimal():
                readings[name][rank].append((number, float(value.text)))
    return readings


def _began(values: Sequence[tuple[int, float]]) -> int | None:
    """From which place on it grew without end; None where it did not."""
    if len(values) < MIN_LINES:
        return None
    numbers = np.array([value for _, value in values])
    began = int(
        np.flatnonzero(numbers <= numbers[: MIN_LINES // 2].min() * 1.02)[-1]
    )  # the last time at its first level
    course = numbers[began:]
    if len(course) < MIN_LINES or course[0] <= 0 or course[-1] < GREW * course[0]:
        return None
    rises = np.diff(course[np.linspace(0, len(course) - 1, PARTS + 1).astype(np.intp)])
    if (rises <= 0).any() or rises[-1] < EVENLY * rises.mean():
        return None
    return began if sum(one > other for one, other in pairwise(course.tolist())) * 10 <= len(course) else None
