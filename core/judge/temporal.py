"""Temporal: iterations against those before them (L4, section 4.4), and level shifts in the numbers that logs carry.

Differs: the paper's distance is DTW over numeric event ids, in which the numbering decides.
Here a sequence of events is compared as what it is, categories: normalised Levenshtein, multiset difference, and events
that are new or gone. Three-sigma cannot fire among ten; median and MAD, with the tested one left out, can.
"""

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush, heappushpop
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel, Levenshtein
from rapidfuzz.process import cpdist

from core.baseline import Normal
from core.course.iterations import Iterations
from core.events.table import EventTable
from core.model import Series
from core.parsed import Parsed

WINDOW = 10  # iterations before the tested one (L4, section 4.4)
MIN_HISTORY = 4  # of fewer, a median says nothing
MAD_TO_SIGMA = 1.4826  # of a normal distribution
DEVIATIONS = 6.0  # robust deviations; below 4 evaluation and saving steps of good jobs fire (docs/LOG.md)
MIN_DISTANCE = 0.25  # of 1, beyond the usual one; a smaller change of sequence is one stray line
MAX_COMPARED = 20_000  # iterations, the last ones: where jobs end
MAX_TESTED = 64  # iterations, the furthest first; a reader sees three
SEQUENCE_SHARE = 0.6  # the most that other events in an iteration may score: less than a number that broke
SHIFT_SHARE = 0.8  # the most that a shifted level may score: less than the last iteration, which is certain
MIN_RATIO = 2.0  # a level at least doubled: host noise in good lab jobs stays below (docs/LOG.md)


@dataclass(frozen=True, slots=True)
class Odd:
    """An iteration that differs from those before it; score: 0..1."""

    iteration: int
    score: float
    because: str


def find_odd_iterations(parsed: Parsed) -> tuple[Odd, ...]:
    """Iterations that differ from those before them, by their numbers and by their events; the most telling first."""
    shifts = level_shifts(parsed.iterations.series)
    sequences = sequences_of(parsed.table, parsed.iterations, _unusual(parsed.table, parsed.usual))
    return tuple(sorted((*shifts, *odd_sequences(sequences)), key=lambda odd: (-odd.score, odd.iteration)))


def odd_sequences(sequences: Mapping[int, tuple[int, ...]]) -> tuple[Odd, ...]:
    """Iterations whose sequence of events is far from those of the ten before."""
    numbers = sorted(sequences)
    far = _far_from_before([sequences[number] for number in numbers])
    means = dict(zip(numbers[MIN_HISTORY:], far, strict=True)) if len(numbers) > MIN_HISTORY else {}
    odd = []
    for number in sorted(means, key=lambda number: (-means[number], number))[:MAX_TESTED]:
        mean, others = means[number], [value for other, value in means.items() if other != number]
        if mean < MIN_DISTANCE or len(others) < MIN_HISTORY:
            break
        usual = float(np.median(others))
        if mean >= usual + MIN_DISTANCE and deviation(mean, others) >= DEVIATIONS:
            because = (
                f"the events of iteration {number} differ from the {WINDOW} before by {mean:.2f} (usually {usual:.2f})."
            )
            odd.append(Odd(number, min(SEQUENCE_SHARE, mean), because))
    return tuple(odd)


def _far_from_before(sequences: Sequence[tuple[int, ...]]) -> list[float]:
    """Mean distance of each sequence, after the first few, from those before it; what occurs twice is compared once."""
    kinds = {sequence: kind for kind, sequence in enumerate(dict.fromkeys(sequences))}
    of, places = np.array([kinds[sequence] for sequence in sequences], np.int64), range(MIN_HISTORY, len(sequences))
    early = [(at, before) for at in places[: WINDOW - MIN_HISTORY] for before in range(at)]
    later = [(at, at - WINDOW + back) for at in places[WINDOW - MIN_HISTORY :] for back in range(WINDOW)]
    pairs = of[np.array([*early, *later], np.intp).reshape(-1, 2)]
    codes, where = np.unique(pairs[:, 0] * len(kinds) + pairs[:, 1], return_inverse=True)
    far = distances(tuple(kinds), *np.divmod(codes, max(1, len(kinds))))[where]
    ends = np.cumsum([0, *places[: WINDOW - MIN_HISTORY]])
    means = [float(np.mean(far[first:stop])) for first, stop in pairwise(ends.tolist())]
    return [*means, *np.mean(far[len(early) :].reshape(-1, WINDOW), axis=1).tolist()]


def sequences_of(table: EventTable, iterations: Iterations, counted: NDArray[np.bool_]) -> dict[int, tuple[int, ...]]:
    """Events between one iteration marker and the next, of the voice that marks the most iterations.

    Args:
        counted: bool an event of the table; the others are left out of the sequences.
    """
    if iterations.last is None:
        return {}
    voice = Counter(iterations.voices.tolist()).most_common(1)[0][0]
    mine = np.flatnonzero(iterations.voices == voice)[-MAX_COMPARED:]
    marks, numbers = iterations.marks[mine], iterations.numbers[mine]
    rows, events = _said_between(table, voice, marks, counted)
    ends = np.searchsorted(rows, marks, side="right").tolist()
    return {
        number: tuple(events[start:stop].tolist())
        for number, start, stop in zip(numbers[1:].tolist(), ends, ends[1:], strict=False)
    }


def _said_between(
    table: EventTable, voice: int, marks: NDArray[np.intp], counted: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.uint32]]:
    """Head rows of a voice between its first and its last mark, and their events, of those that count."""
    heads, events = [np.zeros(0, np.intp)], [np.zeros(0, np.uint32)]
    for rows in table.each_row_of([voice]):
        between = rows[(rows > marks[0]) & (rows <= marks[-1])]
        event = table.event[between]
        kept = counted[event]
        kept[kept] = table.head[between[kept]]
        heads.append(between[kept])
        events.append(event[kept])
    return np.concatenate(heads), np.concatenate(events)


def _unusual(table: EventTable, usual: Normal | None) -> NDArray[np.bool_]:
    """Events that good jobs never say; without good jobs all of them (L4 compares what the cross-job filter left)."""
    return np.array([usual is None or template.id not in usual.anywhere for template in table.templates], np.bool_)


def distances(
    sequences: Sequence[tuple[int, ...]], ones: NDArray[np.int64], others: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Distance of pairs of event sequences as categories, 0..1: mean of edit, multiset and set difference.

    Args:
        sequences: all of them.
        ones: places of the first of each pair.
        others: and of the second.
    """
    edits = _compared(sequences, ones, others, Levenshtein.normalized_distance, np.float64)
    # in order, what must be put in or taken out is what one of two bags holds more of
    bags, sets = (
        [tuple(sorted(sequence)) for sequence in sequences],
        [tuple(sorted(set(sequence))) for sequence in sequences],
    )
    more, apart = (_compared(kept, ones, others, Indel.distance, np.int64) for kept in (bags, sets))
    in_bags, in_sets = (np.array([len(bag) for bag in kept], np.int64) for kept in (bags, sets))
    multiset = more / np.maximum(1, in_bags[ones] + in_bags[others])
    union = (in_sets[ones] + in_sets[others] + apart) // 2
    return np.asarray((edits + multiset + apart / np.maximum(1, union)) / 3, np.float64)


def _compared(
    sequences: Sequence[tuple[int, ...]],
    ones: NDArray[np.int64],
    others: NDArray[np.int64],
    scorer: Callable[..., float],
    kind: type[np.generic],
) -> NDArray[Any]:
    """What a scorer of rapidfuzz says of each pair; with a character for each event it is one call for all."""
    events = dict.fromkeys(chain.from_iterable(sequences))
    letters = {event: chr(min(number, sys.maxunicode)) for number, event in enumerate(events)}
    spelled = ["".join([letters[event] for event in sequence]) for sequence in sequences]
    sides = ([spelled[place] for place in places.tolist()] for places in (ones, others))
    return np.asarray(cpdist(*sides, scorer=scorer, dtype=kind))


def deviation(value: float, others: Sequence[float] | NDArray[np.float64]) -> float:
    """Robust deviations of a value from others: distance to the median over the scaled MAD."""
    middle = float(np.median(others))
    spread = float(np.median(np.abs(np.asarray(others) - middle))) * MAD_TO_SIGMA
    return abs(value - middle) / max(spread, 1e-3)


def level_shifts(series: Sequence[Series]) -> tuple[Odd, ...]:
    """Where numbers left their level and stayed away, or stopped being numbers."""
    shifts = []
    for metric in series:
        values = np.asarray(metric.values, dtype=float)
        broken = np.flatnonzero(~np.isfinite(values))
        if len(broken):
            number = metric.iterations[broken[0]]
            shifts.append(Odd(number, 1.0, f"{metric.name} is {metric.values[broken[0]]} from iteration {number} on."))
        elif (rose := _shift(values)) is not None:
            number, before, after = metric.iterations[rose], np.median(values[:rose]), np.median(values[rose:])
            because = f"{metric.name} rose from {before:.4g} to {after:.4g} at iteration {number} and stayed there."
            shifts.append(Odd(number, min(SHIFT_SHARE, 1 - float(before / after)), because))
    return tuple(shifts)


def _shift(values: NDArray[np.float64]) -> int | None:
    """First place from which on all values are MIN_RATIO times the median before, and their median beyond its noise.

    Where the noise is too much, as many values again as were between are waited for, so that few levels are compared.
    """
    lowest_after = np.minimum.accumulate(values[::-1])[::-1]
    lower, upper = _halves(values[:WINDOW].tolist())
    waits_until = 0
    for at in range(WINDOW, len(values) - 2):
        low = (-lower[0] + upper[0]) / 2 if len(lower) == len(upper) else -lower[0]
        if at >= waits_until and low > 0 and lowest_after[at] >= MIN_RATIO * low:
            level = float(np.median(values[at:]))
            if deviation(level, values[:at]) >= DEVIATIONS:
                return at
            waits_until = at + 1 + at // WINDOW
        value = float(values[at])
        heappush(upper, -heappushpop(lower, -value))
        if len(upper) > len(lower):
            heappush(lower, -heappop(upper))
    return None


def _halves(values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Two heaps: the lower half of some values, negative, with the middle one; and the upper half."""
    ordered = sorted(values)
    middle = (len(ordered) + 1) // 2
    return [-value for value in reversed(ordered[:middle])], ordered[middle:]
