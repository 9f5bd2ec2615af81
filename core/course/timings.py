"""Numbers that the ranks print with their iterations, rank by rank: their own parts of a step.

A slow rank makes all ranks slow, because they wait for it: the time of a whole step rises everywhere. What a rank
measures of its own work rises on that rank alone, and what it measures of waiting rises on all others.
"""

import re
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from core.course.iterations import Iterations
from core.course.pace import SECOND
from core.events.table import EventTable, rows_by
from core.job import LogFile
from core.text import each_row

MOST_ROWS = 40_000  # lines that are read again, evenly spread over the run of each rank: a third of a second
LAG = "time behind the others"
# A name and a number, as loggers join them: data_time=0.12, "fwd: 12.3", time 22.7s, elapsed (ms): 203.4
_PAIR = re.compile(
    r"([A-Za-z][A-Za-z_./-]*(?: [A-Za-z_./-]+){0,3}?)[\"']?(?: ?\(\w+\))?[\"']?\s*[:= ]\s*[\"']?"
    r"(\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\d.]*[/:\d])"
)
_DURATION = re.compile(
    r"time|sec\b|secs|seconds|\bms\b|_ms|_s$|dur|elapsed|latency|wait|s/it|sec/it"
    r"|(?:^|[_ .-])(?:fwd|bwd|forward|backward|data|load|comm|optim\w*|step)(?:[_ .-]|$)",
    re.IGNORECASE,
)
_RATE = re.compile(r"tps\b|it/s|per.?sec|/s$|/sec|throughput|tflops?|mfu|tokens_per", re.IGNORECASE)
_MILLISECONDS = re.compile(r"\bms\b|_ms\b|millis|-compute$|-comm", re.IGNORECASE)  # Megatron's timers are, unnamed
_COUNTS = re.compile(r"^(?:global.?)?(?:step|steps|iter|iteration|epoch|batch)$", re.IGNORECASE)

Values = Mapping[int, Mapping[int, float]]  # rank -> iteration -> value


def find_timings(table: EventTable, files: Mapping[str, LogFile], iterations: Iterations) -> Mapping[str, Values]:
    """Durations by name, rank and iteration; of rates their inverse; and by how much each rank is later.

    Only ranks that count their own iterations are read.
    """
    rank = table.rank_of_voice[iterations.voices]
    chosen = _spread(rank)
    found: dict[str, dict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    if len(chosen):
        number = dict(zip(iterations.marks[chosen].tolist(), chosen.tolist(), strict=True))
        for row, text in each_row(files, table, np.sort(iterations.marks[chosen])):
            place = number[row]
            for name, value in _pairs(text):
                found[name][int(rank[place])][int(iterations.numbers[place])] = value
    return {**{name: found[name] for name in sorted(found)}, LAG: _lags(iterations)}


def is_rate(name: str) -> bool:
    """Whether a number of this name is a rate, whose inverse is kept: no seconds, but a time that one takes."""
    return _RATE.search(name) is not None


def is_milliseconds(name: str) -> bool:
    """Whether a duration of this name is told in milliseconds."""
    return _MILLISECONDS.search(name) is not None


def _spread(rank: NDArray[np.int32]) -> NDArray[np.intp]:
    """Places of the markers that are read: of each rank as many, evenly spread."""
    own = list(rows_by(rank, np.flatnonzero(rank >= 0)))
    each = max(1, MOST_ROWS // max(1, len(own)))
    parts = [places[np.unique(np.linspace(0, len(places) - 1, each).astype(np.intp))] for _, places in own]
    return np.concatenate([np.zeros(0, np.intp), *parts])


def _pairs(text: str) -> list[tuple[str, float]]:
    """Names and durations of a line; a rate counts as the time that one takes."""
    pairs = []
    for name, number in _PAIR.findall(text):
        value = float(number)
        if _COUNTS.match(name) or value <= 0:
            continue
        if _RATE.search(name):
            pairs.append((name, 1.0 / value))
        elif _DURATION.search(name):
            pairs.append((name, value))
    return pairs


def _lags(iterations: Iterations) -> Values:
    """Seconds by which each rank says later than the first one that an iteration is complete."""
    first: dict[int, int] = {}
    for course in iterations.courses.values():
        for number, time in zip(course.numbers.tolist(), course.times.tolist(), strict=True):
            first[number] = min(first.get(number, time), time)
    return {
        rank: {
            number: (time - first[number]) / SECOND
            for number, time in zip(course.numbers.tolist(), course.times.tolist(), strict=True)
        }
        for rank, course in sorted(iterations.courses.items())
    }
