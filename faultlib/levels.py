"""How far a job and a pattern agree in what is the core of the fault, and how often such an answer was right.

The core is compared first and alone: the trace that leads, or the way in which the job went. All else, such as words,
stage and who stood apart, only orders patterns that agree equally far. ``score.toml`` holds how often answers of each
level were right on labelled jobs; ``python -m benchmarks.quality.recall_fit`` counts anew.
"""

import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from statistics import fmean

from core.model import Scope
from faultlib.findings import Finding
from faultlib.lexical import Lexicon
from faultlib.pattern import Aspect, Part, Pattern, Trait

SAME_MESSAGE = 0.6  # likeness of two errors of one class, by words: two programs have other paths and values in them
WORDS, TRACE, STAGE = 0.5, 0.3, 0.2  # what orders patterns of one level: set by hand, nothing was fitted
ENOUGH = 20  # answers of a team: a share of fewer is known to a tenth at best
PRIOR = 1  # an answer that was right and one that was wrong are added to each count: of few nothing is certain


class Level(StrEnum):
    """What a job and a pattern agree in, the most telling first."""

    WORDS = "the same cause in the same words"
    CAUSE = "the same cause in other words"
    WORDS_ELSEWHERE = "the same cause in the same words, at another stage"
    ERROR = "the same error, which nobody wrote down"
    CAUSE_ELSEWHERE = "the same cause in other words, at another stage"
    STOP = "the same stop from outside"
    PART = "slow by the same part of a step"
    SLOW = "slow in the same way"
    HUNG = "stood still in the same way"
    DIED = "died in the same way"


_COURSES = {Finding.SLOW: Level.SLOW, Finding.HUNG: Level.HUNG, Finding.DIED: Level.DIED}
ORDER = tuple(Level)
# A full disk is met where a checkpoint is saved; the same words at another stage are mostly of another fault.
_ELSEWHERE = {Level.WORDS: Level.WORDS_ELSEWHERE, Level.CAUSE: Level.CAUSE_ELSEWHERE}
# A trace says what broke; jobs of the other levels only went alike.
CAUSES = frozenset({*_ELSEWHERE, *_ELSEWHERE.values(), Level.ERROR})
_CORE, _TOLD = (Part.CAUSE, Part.SYMPTOM), (Part.CAUSE, Part.SUPPORT)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a pattern agrees with a job. likeness: 0..1, what orders patterns of one level."""

    level: Level
    likeness: float

    @property
    def order(self) -> tuple[int, float]:
        """Sorts the most telling first."""
        return ORDER.index(self.level), -self.likeness


@dataclass(frozen=True, slots=True)
class Count:
    """How many answers were right of how many."""

    right: int
    answers: int

    @property
    def share(self) -> float:
        """How likely the next one is right, 0..1."""
        return (self.right + PRIOR) / (self.answers + 2 * PRIOR)


def agreement(asked: Pattern, known: Pattern, lexicon: Lexicon, *, literal: bool) -> Agreement | None:
    """How far ``known`` agrees with the draft of a job; None where the core of one is not that of the other.

    Args:
        literal: whether the events of the pattern are in the job, and one of them leads its diagnosis.
    """
    level = _level(asked.signature.traits, known.signature.traits) or (Level.ERROR if literal else None)
    if level is None:
        return None
    trace = max((lexicon.similarity(here, there) for here in _events(asked) for there in _events(known)), default=0.0)
    if level is Level.ERROR and trace < SAME_MESSAGE and not literal:
        return None
    words = lexicon.similarity(asked.model_copy(update={"cause": ""}).words(), known.words())
    stages = {texts(pattern.signature.traits, Aspect.STAGE) for pattern in (asked, known)}
    if len(stages) > 1:
        level = _ELSEWHERE.get(level, level)
    return Agreement(level, WORDS * words + TRACE * trace + STAGE * (len(stages) == 1))


def texts(traits: Sequence[Trait], aspect: Aspect, parts: Collection[Part] = tuple(Part)) -> frozenset[str]:
    """The texts of the traits of an aspect."""
    return frozenset(trait.text for trait in traits if trait.aspect is aspect and trait.part in parts)


@cache
def likelihood(level: Level, *, alone: bool) -> float:
    """How likely the best pattern of a level is right: the mean of the teams that were counted.

    Args:
        alone: no other pattern agrees as far.
    """
    return fmean(count.share for count in counted(level, alone=alone))


@cache
def counted(level: Level, *, alone: bool) -> tuple[Count, ...]:
    """What was counted of each team, from ``score.toml``; what was hardly met there is as likely right as wrong."""
    table = tomllib.loads(files("faultlib").joinpath("score.toml").read_text(encoding="utf-8"))
    counts = [Count(*pair) for pair in table.get(level.name.lower(), {}).get("alone" if alone else "beside", ())]
    return tuple(count for count in counts if count.answers >= ENOUGH) or (Count(0, 0),)


def _level(here: Sequence[Trait], there: Sequence[Trait]) -> Level | None:
    """How far two cores agree: first by what traces say, then by how the jobs went."""
    if _meet(here, there, Aspect.WORDS, (Part.CAUSE,)):
        return Level.WORDS
    if _meet(here, there, Aspect.MEANS, _TOLD):
        return Level.CAUSE
    finding = texts(here, Aspect.FINDING)
    if not finding or finding != texts(there, Aspect.FINDING):
        return None
    found = Finding(next(iter(finding)))
    if found is Finding.RAISED:
        return Level.ERROR if _meet(here, there, Aspect.RAISED, (Part.CAUSE,)) else None
    return _level_of_course(found, here, there)


def _level_of_course(found: Finding, here: Sequence[Trait], there: Sequence[Trait]) -> Level | None:
    """The level of two jobs that went alike, of which no trace says what broke."""
    scope = texts(here, Aspect.SCOPE)
    if scope != texts(there, Aspect.SCOPE):
        return None
    if (slower := texts(here, Aspect.SLOWER)) and slower == texts(there, Aspect.SLOWER):
        return Level.PART
    means = texts(here, Aspect.MEANS, _CORE)
    if not means or means != texts(there, Aspect.MEANS, _CORE):
        return None
    if found is Finding.STOPPED:  # of any other scope it may have hung before, and no clock tells
        return Level.STOP if scope == {Scope.NONE.value} else None
    return _COURSES.get(found)


def _meet(here: Sequence[Trait], there: Sequence[Trait], aspect: Aspect, parts: Collection[Part]) -> bool:
    """Whether what is the cause of one of them is said by the other."""
    cause = texts(here, aspect, (Part.CAUSE,)), texts(there, aspect, (Part.CAUSE,))
    return bool(cause[0] & texts(there, aspect, parts) or cause[1] & texts(here, aspect, parts))


def _events(pattern: Pattern) -> tuple[str, ...]:
    return tuple(event for clause in pattern.signature.must for event in clause.events)
