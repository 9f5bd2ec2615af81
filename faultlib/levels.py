"""How far a job and a pattern agree in what is the core of the fault, and how often such an answer was right.

The core is compared first and alone: the trace that leads, or the way in which the job went. All else, such as words,
stage and who stood apart, only orders patterns that agree equally far. ``score.toml`` holds how likely an answer of
each level is right, fitted on labelled jobs; ``python -m benchmarks.quality.recall_fit`` fits anew.
"""

import math
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files

from core.facts import telling_words
from core.model import Stage
from faultlib.course import Course, SlowPart
from faultlib.findings import Finding
from faultlib.known_meanings import named_stops, of_machines, wordings
from faultlib.lexical import Lexicon
from faultlib.pattern import Aspect, Part, Pattern, Trait
from faultlib.resources import Resource

SAME_MESSAGE = 0.6  # likeness of two errors of one class, by words: two programs have other paths and values in them
# Likeness of two known messages from which they are the same: of pairs of labelled jobs that reach it 56 of 62 had the
# same cause, of those with the same telling words and less 96 of 151 (docs/LOG.md).
SAME_TEXT = 0.8
# Wordings in which a meaning is known: a full file system has 8, a setting that is wrong 21. Of pairs of labelled jobs
# with the same meaning in other words 66 of 84 had the same cause for 4 wordings at most, 96 of 191 up to 16, and 22
# of 149 above.
NARROW, BROAD = 4, 16
PRIOR = 1  # a job whose answer was right and one whose was wrong are added to a count: of few nothing is certain


class Level(StrEnum):
    """What a job and a pattern agree in, the most telling first."""

    MESSAGE = "the same message"
    WORDS = "the same cause in the same words"
    CAUSE = "the same cause in other words"
    ABOUT = "an error is about the same thing, by its words"
    ERROR = "the same error, which nobody wrote down"
    WORDS_ELSEWHERE = "the same cause in the same words, under other circumstances"
    KIND = "the same kind of cause"
    FACT = "the same public fact"
    CAUSE_ELSEWHERE = "the same cause in other words, under other circumstances"
    OWN_WORK = "a process slowed the others down by its own work"
    BROAD = "the same kind of thing is wrong"
    BROKEN = "the same resource failed or ran out"
    STOP = "the same stop from outside"
    APART = "one process stood apart in the same way"
    KILLED = "a process was killed or gone at once"
    FROZEN = "a process did not end when it was told to"
    ACTIVITY = "a process stood in the same work"
    PART = "slow by the same part of a step"
    SLOWED = "a process slowed the others down"
    SILENT = "a process went silent"
    SLOW = "slow in the same way"
    HUNG = "stood still in the same way"
    DIED = "died in the same way"


_COURSES = {
    Course.KILLED: Level.KILLED,
    Course.FROZEN: Level.FROZEN,
    Course.SILENT: Level.SILENT,
    Course.ALL: Level.HUNG,
    **dict.fromkeys((Course.LEFT, Course.AGAIN, Course.CUT_OFF, Course.ASTRAY), Level.APART),
}
_WAYS = {Finding.SLOW: Level.SLOW, Finding.HUNG: Level.HUNG, Finding.DIED: Level.DIED}
ORDER = tuple(Level)
# A full disk is met where a checkpoint is saved; the same words at another stage are mostly of another fault.
_ELSEWHERE: Mapping[Level, Level | None] = {
    Level.WORDS: Level.WORDS_ELSEWHERE,
    Level.CAUSE: Level.CAUSE_ELSEWHERE,
    Level.KIND: Level.BROAD,
    Level.BROKEN: None,  # a disk of one node and the file server of all; 12 of 34 pairs had the same cause, others 22
}
# A trace says what broke; jobs of the other levels only went alike.
CAUSES = frozenset(
    {Level.MESSAGE, Level.FACT, Level.ERROR, Level.BROAD, Level.ABOUT, *_ELSEWHERE, *filter(None, _ELSEWHERE.values())}
)
_OF_TRACES = CAUSES - {Level.ERROR}  # of a known meaning
_CORE = (Part.CAUSE, Part.SYMPTOM)
# Whoever reports it does not tell the part, nor does a step of which one unnamed part grew (core/nodes/slow.py): of 6
# pairs of labelled jobs with the second none had the same cause.
_UNTOLD = frozenset({SlowPart.REPORTED.value, "a part of the work of all ranks took longer"})
# A fault of these parts is one of them only where both jobs tell it; own work is what most slow processes have.
_TOLD_OF_BOTH = frozenset({SlowPart.DATA.value, SlowPart.NETWORK.value, SlowPart.SAVE.value})
_STILL = frozenset({Course.FROZEN.value, Course.SILENT.value})
_STOOD = _STILL | {Course.STUCK.value}
_GONE = _STILL | {Course.KILLED.value}
_LOADING = frozenset({Stage.MODEL_LOADING.value, Stage.CHECKPOINT_LOADING.value})
_OVER_NETWORK = frozenset({Resource.NETWORK.value})


class Grade(StrEnum):
    """What the score tells apart: a weight for each level fitted the authors of some jobs, and not others."""

    SAME = "the cause is said in the same words, or means the same"
    KIND = "the same kind of cause, or one process was slow or frozen in the same way"
    COURSE = "a process went the same way, which has many causes"
    ENDING = "the job ended alike"


_GRADES = {
    **dict.fromkeys((Level.MESSAGE, Level.WORDS, Level.CAUSE, Level.ABOUT, Level.ERROR), Grade.SAME),
    **dict.fromkeys((Level.KILLED, Level.SILENT, Level.ACTIVITY), Grade.COURSE),
    **dict.fromkeys((Level.SLOW, Level.HUNG, Level.DIED), Grade.ENDING),
}


def grade_of(level: Level) -> Grade:
    """What the score knows of a level."""
    return _GRADES.get(level, Grade.KIND)


class Backing(StrEnum):
    """How many confirmed jobs agree as far with the first pattern of a level, and how many with others."""

    ONCE = "one job, and no other pattern"
    OFTEN = "several jobs, and no other pattern"
    MOST = "several jobs, at least half of all"
    BESIDE = "no more than others"


def backing(own: int, others: int) -> Backing:
    """The backing of a pattern with which so many jobs agree, beside the jobs of other patterns."""
    if not others:
        return Backing.ONCE if own == 1 else Backing.OFTEN
    return Backing.MOST if own > 1 and own >= others else Backing.BESIDE


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a pattern agrees with a job. likeness: 0..1, what orders patterns of one level."""

    level: Level
    likeness: float

    @property
    def order(self) -> tuple[int, float]:
        """Sorts the most telling first."""
        return ORDER.index(self.level), -self.likeness


def agreement(asked: Pattern, known: Pattern, lexicon: Lexicon, *, literal: bool) -> Agreement | None:
    """How far ``known`` agrees with the draft of a job; None where the core of one is not that of the other.

    Args:
        literal: whether the events of the pattern are in the job, and one of them leads its diagnosis.
    """
    here, there = asked.signature.traits, known.signature.traits
    found = [level for level in _levels(asked, known, lexicon, literal=literal) if level is not None]
    return Agreement(min(found, key=ORDER.index), _overlap(here, there)) if found else None


def _levels(asked: Pattern, known: Pattern, lexicon: Lexicon, *, literal: bool) -> Iterator[Level | None]:
    """Each way in which two cores agree: by their traits, as a public fact, word by word; the most telling counts."""
    here, there = asked.signature.traits, known.signature.traits
    level, other_number = _level(here, there), _other_number(here, there)
    if level in _OF_TRACES and _loads_other_file(here, there):
        return
    if other_number or _other_place(here, there):
        level = _ELSEWHERE.get(level, level) if level is not None else None
    elif level is Level.WORDS and _same_message(asked, known, lexicon):
        level = Level.MESSAGE
    if level is Level.ERROR and not _same_error(asked, known, lexicon):
        level = None
    yield level
    yield Level.FACT if _both(here, there, Aspect.FACT) and not other_number else None
    yield Level.ERROR if literal else None


def _overlap(here: Sequence[Trait], there: Sequence[Trait]) -> float:
    """Which part of all traits of two faults both have, 0..1."""
    one, other = ({(trait.aspect, trait.text) for trait in traits} for traits in (here, there))
    return len(one & other) / (len(one | other) or 1)


def texts(traits: Sequence[Trait], aspect: Aspect, parts: Collection[Part] = tuple(Part)) -> frozenset[str]:
    """The texts of the traits of an aspect."""
    return frozenset(trait.text for trait in traits if trait.aspect is aspect and trait.part in parts)


@dataclass(frozen=True, slots=True)
class Score:
    """How likely the first pattern of a level is right: log odds, added up. sure: of ``is_sure``, 0..1."""

    base: float = 0.0
    grades: Mapping[Grade, float] = field(default_factory=dict)
    backings: Mapping[Backing, float] = field(default_factory=dict)
    sure: float = 0.5

    def likelihood(self, level: Level, backed: Backing) -> float:
        """How likely it is right, 0..1."""
        if is_sure(level, backed):
            return self.sure
        odds = self.base + self.grades.get(grade_of(level), 0.0) + self.backings.get(backed, 0.0)
        return 1 / (1 + math.exp(-odds))


def is_sure(level: Level, backed: Backing) -> bool:
    """Whether several confirmed jobs of one pattern have the same message, and no job of another one has."""
    return level is Level.MESSAGE and backed is Backing.OFTEN


@cache
def shipped_score() -> Score:
    """What was fitted on labelled jobs (``score.toml``)."""
    return read_score(files("faultlib").joinpath("score.toml").read_text(encoding="utf-8"))


def read_score(text: str) -> Score:
    """A score as ``benchmarks.quality.recall_fit`` writes it."""
    table = tomllib.loads(text)
    right, jobs = table["sure"]
    return Score(
        base=table["base"],
        grades={grade: table["grade"].get(grade.name.lower(), 0.0) for grade in Grade},
        backings={backed: table["backing"][backed.name.lower()] for backed in Backing},
        sure=(right + PRIOR) / (jobs + 2 * PRIOR),
    )


def _level(here: Sequence[Trait], there: Sequence[Trait]) -> Level | None:
    """How far two cores agree: first by what traces say, then by how the jobs went."""
    if said := _level_of_cause(here, there):
        return said
    if courses := _courses(here, there):
        return _level_of_course(courses, here, there)
    finding = texts(here, Aspect.FINDING)
    if not finding or finding != texts(there, Aspect.FINDING):
        return None
    found = Finding(next(iter(finding)))
    if found is Finding.RAISED:
        return Level.ERROR if _both(here, there, Aspect.RAISED) else None
    return _level_of_ending(found, here, there)


def _level_of_cause(here: Sequence[Trait], there: Sequence[Trait]) -> Level | None:
    """How far what traces say, or the numbers of the job, is the same cause."""
    if _both(here, there, Aspect.WORDS):
        return Level.WORDS
    if meanings := _both(here, there, Aspect.MEANS):
        known_wordings = min(wordings().get(meaning, 0) for meaning in meanings)
        if known_wordings <= BROAD:
            return Level.CAUSE if known_wordings <= NARROW else Level.KIND
        if not meanings <= of_machines():
            return Level.BROAD
        return Level.BROKEN if _both(here, there, Aspect.RESOURCE) else None
    if Resource.HOST_MEMORY in _both(here, there, Aspect.RESOURCE):  # it fails in one way: it runs out
        return Level.BROKEN
    return Level.ABOUT if _about(here) & _about(there) else None


def _courses(here: Sequence[Trait], there: Sequence[Trait]) -> frozenset[str]:
    """What became of the process that the others waited for, as both tell it; empty where one does not tell it."""
    courses = texts(here, Aspect.COURSE), texts(there, Aspect.COURSE)
    return courses[0] | courses[1] if all(courses) else frozenset()


def _level_of_course(courses: frozenset[str], here: Sequence[Trait], there: Sequence[Trait]) -> Level | None:
    """The level of two jobs of which both tell what became of a process: another course is another fault.

    What a frozen or silent process was doing is a slot, for it may freeze anywhere: of pairs of labelled jobs of which
    one tells it 32 of 73 had the same cause, of those of which none does 53 of 147. Who stood still is not who died (15
    of 147 pairs), and at another stage it is another fault (0 of 39; docs/LOG.md).
    """
    if (courses <= _GONE and _other_end(here, there)) or (courses <= _STOOD and _other_stage(here, there)):
        return None
    if len(courses) > 1:  # whether a silent process is frozen shows only where somebody tells it to end
        return Level.SILENT if courses == _STILL else None
    course = Course(next(iter(courses)))
    if course is Course.SLOWED:
        return _level_of_slow_one(here, there)
    if course is Course.STUCK:
        doing = texts(here, Aspect.ACTIVITY)
        same = doing == texts(there, Aspect.ACTIVITY)
        return (Level.ACTIVITY if doing else Level.HUNG) if same else None
    return _COURSES[course]


def _other_end(here: Sequence[Trait], there: Sequence[Trait]) -> bool:
    """Whether one job stood still until somebody ended it, and the other died."""
    return texts(here, Aspect.FINDING) != texts(there, Aspect.FINDING)


def _other_stage(here: Sequence[Trait], there: Sequence[Trait]) -> bool:
    """Whether two jobs stood still at other stages; of what traces say that is no contradiction."""
    stages = texts(here, Aspect.STAGE), texts(there, Aspect.STAGE)
    return all(stages) and stages[0] != stages[1]


def _level_of_slow_one(here: Sequence[Trait], there: Sequence[Trait]) -> Level | None:
    """The level of two jobs that one process slowed down: by what took it longer, and never over a network and not.

    Of pairs of labelled jobs that agree in own work 149 of 174 had the same cause, of those that agree in another part,
    or of which one tells no part, 55 of 99; of 40 with a network at one side only 2 (docs/LOG.md).
    """
    if texts(here, Aspect.RESOURCE) & _OVER_NETWORK != texts(there, Aspect.RESOURCE) & _OVER_NETWORK:
        return None
    parts = texts(here, Aspect.SLOWER) | texts(there, Aspect.SLOWER)
    if len(parts - _UNTOLD) > 1:
        return None
    both = bool(texts(here, Aspect.SLOWER) and texts(there, Aspect.SLOWER))
    if both and parts == {SlowPart.OWN.value}:
        return Level.OWN_WORK
    return Level.SLOWED if both or not parts & _TOLD_OF_BOTH else None


def _level_of_ending(found: Finding, here: Sequence[Trait], there: Sequence[Trait]) -> Level | None:
    """The level of two jobs that ended alike, of which no trace says what broke."""
    if found is Finding.STOPPED:
        return _level_of_stop(here, there)
    if texts(here, Aspect.SCOPE) != texts(there, Aspect.SCOPE):
        return None
    if (slower := texts(here, Aspect.SLOWER) - _UNTOLD) and slower == texts(there, Aspect.SLOWER):
        return Level.PART
    means = texts(here, Aspect.MEANS, _CORE)
    if not means or means != texts(there, Aspect.MEANS, _CORE):
        return None
    return _WAYS.get(found)


def _level_of_stop(here: Sequence[Trait], there: Sequence[Trait]) -> Level | None:
    """The level of two jobs that were stopped: by the same limit, or by a machine that was taken away.

    Who else told a job to end, a person or a command, is no part of any fault, and that somebody did no core: of 28
    pairs of jobs of sets that nobody had fitted 8 had the same cause (docs/LOG.md).
    """
    stops = [texts(traits, Aspect.MEANS, _CORE) & named_stops() for traits in (here, there)]
    return Level.STOP if stops[0] and stops[0] == stops[1] else None


def _both(here: Sequence[Trait], there: Sequence[Trait], aspect: Aspect) -> frozenset[str]:
    """What is the cause of both. What only stands beside the cause of one tells nothing: 2 of 79 such pairs agreed."""
    return texts(here, aspect, (Part.CAUSE,)) & texts(there, aspect, (Part.CAUSE,))


def _other_place(here: Sequence[Trait], there: Sequence[Trait]) -> bool:
    """Whether one fault is of a node and one of all.

    Another stage is no contradiction: of pairs of labelled jobs with the same words 34 of 40 had the same cause there.
    """
    scopes = texts(here, Aspect.SCOPE), texts(there, Aspect.SCOPE)
    return all(scopes) and scopes[0] != scopes[1]


def _loads_other_file(here: Sequence[Trait], there: Sequence[Trait]) -> bool:
    """Whether what fails is met while one job loads its model and the other trains, so that it is of other files.

    A broken machine fails at any stage; of other causes 0 of 22 pairs of labelled jobs had the same (docs/LOG.md).
    """
    stages = texts(here, Aspect.STAGE), texts(there, Aspect.STAGE)
    loads = [bool(stage & _LOADING) for stage in stages]
    trains = [stage == {Stage.TRAINING.value} for stage in stages]
    apart = any(loads) and any(trains)
    return apart and not _both(here, there, Aspect.MEANS) & of_machines()


def _other_number(here: Sequence[Trait], there: Sequence[Trait]) -> bool:
    """Whether the errors that are the causes of two faults have other numbers or signals."""
    codes = texts(here, Aspect.CODE, (Part.CAUSE,)), texts(there, Aspect.CODE, (Part.CAUSE,))
    return all(codes) and not codes[0] & codes[1]


def _same_message(asked: Pattern, known: Pattern, lexicon: Lexicon) -> bool:
    """Whether a message that tells the cause of both is nearly the same text; its paths and numbers are slots."""
    common = _both(asked.signature.traits, known.signature.traits, Aspect.WORDS)
    here, there = ([text for text in _events(pattern) if telling_words(text) in common] for pattern in (asked, known))
    return any(lexicon.similarity(one, other) >= SAME_TEXT for one in here for other in there)


def _same_error(asked: Pattern, known: Pattern, lexicon: Lexicon) -> bool:
    """Whether two errors of one class, which nobody wrote down, say nearly the same."""
    pairs = ((one, other) for one in _events(asked) for other in _events(known))
    return any(lexicon.similarity(one, other) >= SAME_MESSAGE for one, other in pairs)


def _about(traits: Sequence[Trait]) -> frozenset[str]:
    """What the cause is about, as a fact means it or the words of an unknown error tell."""
    return texts(traits, Aspect.MEANS, (Part.CAUSE,)) | texts(traits, Aspect.ABOUT, (Part.CAUSE,))


def _events(pattern: Pattern) -> tuple[str, ...]:
    return tuple(event for clause in pattern.signature.must for event in clause.events)
