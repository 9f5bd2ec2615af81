"""How likely a pattern is right about a job: a logistic score over what both say, fitted on labelled jobs.

``score.toml`` holds what was fitted and how; ``python -m benchmarks.quality.recall_fit`` writes it anew.
"""

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp

from faultlib.lexical import Lexicon
from faultlib.pattern import Aspect, Part, Pattern, Trait

NAMES = (
    *("symptom", "cause differs", "raised", "raised differs", "trace", "no trace", "signature", "words"),
    *("signs", "consequences", "ending differs", "scope differs", "stage differs"),
)
_FAR = 30.0  # log odds beyond which a share is 0 or 1
Features = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Weights:
    """What was fitted: log odds are the intercept and a weight a feature.

    slope, offset: make of the log odds of a job's best pattern the share of such answers that was right. The best of
    many is more often wrong than a pair taken by chance.
    """

    intercept: float
    weights: Mapping[str, float]
    slope: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights for a pattern that shares a cause with the job, where stage and scope say little, and for the others."""

    cause: Weights
    others: Weights


def features(asked: Pattern, known: Pattern, lexicon: Lexicon, *, matched: bool) -> Features:
    """What speaks for ``known`` and against it, in the order of ``NAMES``.

    Args:
        asked: the draft of the job.
        matched: all events of the pattern's signature are in the job.
    """
    here, there = asked.signature.traits, known.signature.traits
    cause = _of(here, Aspect.MEANS, Part.CAUSE), _of(there, Aspect.MEANS, Part.CAUSE)
    symptom = _of(here, Aspect.MEANS, Part.SYMPTOM), _of(there, Aspect.MEANS, Part.SYMPTOM)
    raised = _of(here, Aspect.RAISED, Part.CAUSE), _of(there, Aspect.RAISED, Part.CAUSE)
    traces = _traces(asked), _traces(known)
    same_symptom = float(bool(symptom[0] & symptom[1]))
    trace = max((lexicon.similarity(character, other) for character in traces[0] for other in traces[1]), default=0.0)
    words = lexicon.similarity(asked.model_copy(update={"cause": ""}).words(), known.words())
    return (
        same_symptom,
        float((any(cause) or all(symptom)) and not cause[0] & cause[1] and not same_symptom),
        float(bool(raised[0] & raised[1])),
        float(all(raised) and not raised[0] & raised[1]),
        trace,
        float(not all(traces)),
        float(matched),
        words,
        _jaccard(_of(here, Aspect.SIGN), _of(there, Aspect.SIGN)),
        _jaccard(_of(here, Aspect.MEANS, Part.AFTER), _of(there, Aspect.MEANS, Part.AFTER)),
        *(float(_of(here, aspect) != _of(there, aspect)) for aspect in (Aspect.ENDING, Aspect.SCOPE, Aspect.STAGE)),
    )


def shares_cause(asked: Pattern, known: Pattern) -> bool:
    """Whether a trait of the cause, or an exception that is no messenger's, is in both."""
    return any(
        _of(asked.signature.traits, aspect, Part.CAUSE) & _of(known.signature.traits, aspect, Part.CAUSE)
        for aspect in (Aspect.MEANS, Aspect.RAISED)
    )


def probability(values: Features, by: Weights) -> float:
    """How likely the pattern is right, 0..1."""
    total = by.intercept + sum(by.weights[name] * value for name, value in zip(NAMES, values, strict=True))
    return logistic(by.slope * max(-_FAR, min(_FAR, total)) + by.offset)


@cache
def fitted() -> Fitted:
    """What was fitted, from ``score.toml``."""
    coefficients = tomllib.loads(files("faultlib").joinpath("score.toml").read_text(encoding="utf-8"))
    return Fitted(Weights(**coefficients["cause"]), Weights(**coefficients["others"]))


def logistic(odds: float) -> float:
    """The share of these log odds."""
    return 1 / (1 + exp(-odds))


def _of(traits: Sequence[Trait], aspect: Aspect, part: Part | None = None) -> frozenset[str]:
    return frozenset(trait.text for trait in traits if trait.aspect is aspect and part in (None, trait.part))


def _traces(pattern: Pattern) -> tuple[str, ...]:
    return tuple(event for clause in pattern.signature.must for event in clause.events)


def _jaccard(one: Collection[str], other: Collection[str]) -> float:
    either = len({*one, *other})
    return sum(text in other for text in one) / either if either else 0.0
