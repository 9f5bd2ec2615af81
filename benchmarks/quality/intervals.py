"""How sure the measures are: percentile bootstrap over jobs, the seed fixed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.quality.measures import f1_of
from benchmarks.quality.score import Score, Verdict

RESAMPLES = 2_000
LEVEL = 95  # percent
SEED = 4


@dataclass(frozen=True, slots=True)
class Interval:
    """A measure with the bounds between which it lies in LEVEL percent of the resamples; jobs: that ask for it."""

    value: float
    low: float
    high: float
    jobs: int


Part = tuple[float, float]  # what a job adds above and below the line of a fraction


def intervals(scores: Sequence[Score]) -> dict[str, Interval]:
    """An interval for each measure that any job asks for."""
    found = {}
    for name, part in MEASURES.items():
        parts = np.array([one for score in scores if (one := part(score))[1] > 0], dtype=np.float64).reshape(-1, 2)
        if len(parts):
            picked = np.random.default_rng(SEED).integers(len(parts), size=(RESAMPLES, len(parts)))
            above, below = parts[:, 0][picked].sum(axis=1), parts[:, 1][picked].sum(axis=1)
            low, high = np.percentile(above / below, [(100 - LEVEL) / 2, (100 + LEVEL) / 2])
            found[name] = Interval(float(parts[:, 0].sum() / parts[:, 1].sum()), float(low), float(high), len(parts))
    return found


def _answer(name: str) -> Callable[[Score], Part]:
    def part(score: Score) -> Part:
        value = getattr(score, name)
        return (0.0, 0.0) if value is None else (float(value), 1.0)

    return part


def _macro_f1(score: Score) -> Part:
    return (f1_of(score), 1.0) if score.failed and score.groups else (0.0, 0.0)


def _precision(score: Score) -> Part:
    right, wrong = score.count(Verdict.RIGHT), score.count(Verdict.WRONG)
    return (right, right + wrong) if score.failed else (0.0, 0.0)


def _recall(score: Score) -> Part:
    return (score.found, score.groups) if score.failed else (0.0, 0.0)


def _useful(score: Score) -> Part:
    return (score.count(Verdict.RIGHT), len(score.verdicts)) if score.failed else (0.0, 0.0)


def _shown(score: Score) -> Part:
    return (len(score.verdicts), 1.0) if score.failed else (0.0, 0.0)


def _role(score: Score) -> Part:
    return (sum(score.roles), len(score.roles))


def _accused(score: Score) -> Part:
    return (score.accused, 1.0) if score.faulty else (0.0, 0.0)


MEASURES: Mapping[str, Callable[[Score], Part]] = {
    "macro_f1": _macro_f1,
    "precision": _precision,
    "recall": _recall,
    "useful": _useful,
    "shown": _shown,
    **{name: _answer(name) for name in ("first", "root3", "top1")},
    "accused": _accused,
    "role": _role,
    **{name: _answer(name) for name in ("quiet", "scope", "stage", "iteration", "verdict")},
}
