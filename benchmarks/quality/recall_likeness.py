"""Which likeness finds a fault again: meaning, words, both, with shared events, filtered; and from which threshold."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.recall_cases import RecallCase
from faultlib.embedding import Embedder
from faultlib.lexical import Lexicon
from faultlib.pattern import Entry
from faultlib.recall import LEXICAL, SEMANTIC, contradictions, share, shared_events

THRESHOLDS = tuple(round(0.3 + 0.01 * step, 2) for step in range(66))
EVENTS = 0.2  # weight of shared events where they are a part of the likeness

CROSS_CHOSEN = (
    "likeness", "lab: from", "first", "told", "public: from", "first", "told",
)  # fmt: skip
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Grid:
    """Every job (row) against the pattern of every job (column), in the order of the cases.

    shared: share of the direct traces that both have. against: what they contradict each other in.
    """

    semantic: Scores
    lexical: Scores
    shared: Scores
    against: Scores


@dataclass(frozen=True, slots=True)
class SetTally:
    """What became of the jobs of a set.

    first, three: of ``known`` jobs (another job has their kind) a pattern of their kind was the first, among three.
    told: of ``unknown`` jobs (their kind was taken out) any pattern was shown.
    """

    known: int
    first: int
    three: int
    unknown: int
    told: int


def cross_chosen(failed: Sequence[RecallCase], sets: tuple[str, str], embedder: Embedder) -> Iterable[Sequence[object]]:
    """A row for each likeness: on each set, with the threshold that suits the other set best."""
    grid = grid_of(failed, embedder)
    of_set = {name: [row for row, case in enumerate(failed) if case.set_name == name] for name in sets}
    for name, likeness in LIKENESS.items():
        scores = likeness(grid)
        cells: list[object] = [name]
        for measured, other in (sets, sets[::-1]):
            threshold = best_threshold(scores, failed, of_set[other] or of_set[measured])
            counts = tally_at(scores, failed, of_set[measured], threshold)
            cells += [f"{threshold:.2f}", f"{counts.first}/{counts.known}", f"{counts.told}/{counts.unknown}"]
        yield cells


def _sum(grid: Grid) -> Scores:
    return SEMANTIC * grid.semantic + LEXICAL * grid.lexical


LIKENESS: Mapping[str, Callable[[Grid], Scores]] = {
    "meaning": lambda grid: grid.semantic,
    "words": lambda grid: grid.lexical,
    "meaning + words": lambda grid: (grid.semantic + grid.lexical) / 2,
    f"{SEMANTIC} meaning + {LEXICAL} words": _sum,
    "the same + shared events": lambda grid: (1 - EVENTS) * _sum(grid) + EVENTS * grid.shared,
    "the same, filtered by what is known": lambda grid: np.where(grid.against > 0, 0.0, _sum(grid)),
}


def grid_of(cases: Sequence[RecallCase], embedder: Embedder) -> Grid:
    """Everything that a likeness may be made of."""
    entries = [case.entry for case in cases]
    semantic, lexical, shared, against = np.zeros((4, len(cases), len(cases)))
    for row, case in enumerate(cases):
        if not case.query.text:
            continue
        cosines = cosines_of(case.query.text, entries, embedder)
        lexicon = Lexicon(entry.pattern.words() for entry in entries if entry is not case.entry)
        for column, other in enumerate(cases):
            known = {"stages": (other.query.stage,), "framework": other.query.framework}  # as if the pattern held them
            pattern = other.entry.pattern.model_copy(update=known)
            semantic[row, column] = cosines[other.entry.id]
            lexical[row, column] = lexicon.similarity(case.query.text, pattern.words())
            shared[row, column] = share(case.query, pattern, shared_events(case.query, pattern))
            against[row, column] = len(contradictions(case.query, pattern))
    return Grid(semantic, lexical, shared, against)


def tally_at(scores: Scores, cases: Sequence[RecallCase], chosen: Sequence[int], threshold: float) -> SetTally:
    """What a threshold makes of some of the jobs; nobody is compared with itself."""
    kinds = np.array([case.kind for case in cases])
    first = three = known = other_kinds = 0
    for row in chosen:
        others = np.flatnonzero(np.arange(len(cases)) != row)
        best = [column for column in others[np.argsort(-scores[row, others], kind="stable")]
                if scores[row, column] >= threshold]  # fmt: skip
        found = kinds[best[:3]].tolist()
        if np.count_nonzero(kinds == kinds[row]) > 1:
            known += 1
            first += found[:1] == [kinds[row]]
            three += kinds[row] in found
        other_kinds += bool(np.any(kinds[best] != kinds[row]))
    return SetTally(known, first, three, len(chosen), other_kinds)


def best_threshold(scores: Scores, cases: Sequence[RecallCase], chosen: Sequence[int]) -> float:
    """Where the share of those found first exceeds that of those told something wrong the most; the middle of ties."""
    gains = []
    for threshold in THRESHOLDS:
        counts = tally_at(scores, cases, chosen, threshold)
        gains.append(counts.first / (counts.known or 1) - counts.told / (counts.unknown or 1))
    best = [number for number, gain in enumerate(gains) if gain >= max(gains) - 1e-9]
    return THRESHOLDS[best[len(best) // 2]]


def cosines_of(text: str, entries: Sequence[Entry], embedder: Embedder) -> Mapping[str, float]:
    """The cosine of a text and each pattern, by pattern id."""
    vectors = embedder.embed([entry.pattern.words() for entry in entries])
    cosines = vectors @ embedder.embed([text])[0]
    return dict(zip((entry.id for entry in entries), cosines.tolist(), strict=True))
