"""What a fault is beyond its words: what leads its diagnosis, what its traces mean, who stood apart, where and when.

A trait is said of any job in the same words, whatever its program, nodes and paths are called: of a killed process
"a process was killed (SIGKILL)" stays, of a full disk "a file system was full" and the words that tell it. The core is
the trace or the finding that the diagnosis leads with; all else supports it, or only follows.
"""

import re

from core.facts import telling_words
from core.model import Diagnosis, EventEvidence, Role, Scope, Stage
from faultlib.course import Course, activity_of, course_of, over_network, slow_part_of
from faultlib.findings import (
    GUESSED,
    MESSENGERS,
    RAISED,
    Finding,
    finding_of,
    is_about,
    kind_of,
    own_traces,
    tells_what_broke,
)
from faultlib.meanings import by_course
from faultlib.names import Names
from faultlib.pattern import Aspect, Part, Trait
from faultlib.public_facts import facts_of
from faultlib.resources import Resource, resource_of

MAX_SIGNS, MAX_AFTER = 6, 4  # of one fault: more are told of no labelled job's first suspect
_NO_CAUSE = frozenset({
    *("the program raised an exception", "a program logged an error", "a program logged a warning"),
    *("it was slow", "it hung", "the job was stopped from outside"),  # the finding says so
    "it ended as planned or was stopped from outside",
})  # fmt: skip
# Errors of frameworks that say where something failed, and not what: the one that they pass on stands beside them. Of
# pairs of labelled jobs in which one leads with that of a checkpoint, the other with what stands beside it, 22 of 24
# had the same cause; with any other trace beside the first 5 of 22 (docs/LOG.md).
_SAYS_WHERE = frozenset({
    *("its part of the checkpoint could not be written or read", "one task ended every worker that ran it"),
    *("a task that ran on this worker raised an exception", "an exception was raised while data was loaded"),
})  # fmt: skip
_PASSED_ON = MESSENGERS | {"Exception", "RuntimeError"}  # exceptions of any fault
# What masks leave in a template, for there the number is the fault (core/logs); and signals by their names.
_CODE = re.compile(
    r"\b(Xid|errno|signal|exit ?code)\b\W{0,3}(?:\([^()\n]{0,40}\)\W{0,3})?"
    r"(-?\d{1,5}\b|SIG[A-Z]{2,6}|Killed|Aborted|Bus error|Segmentation fault)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"“[^”]{0,400}”|\((?![A-Z]{3,10}\))[^()]{0,200}\)")
_PLACE = re.compile(r"\b(?:stands?(?: alone)? in|never came to|left with) \S+")
_NUMBER = re.compile(r"\b\d[\d.,-]*(?: ?(?:s|ms|min|h))?\b")
_SPACES = re.compile(r"\s+")


class _Traits:
    """Traits in the order in which they were added, each once."""

    def __init__(self) -> None:
        self.found: dict[tuple[Aspect, str], Trait] = {}

    def add(self, aspect: Aspect, text: str, part: Part) -> None:
        if text:
            self.found.setdefault((aspect, text), Trait(aspect=aspect, text=text, part=part))


def traits_of(diagnosis: Diagnosis) -> tuple[Trait, ...]:
    """All traits of a diagnosis, those of the core first; each once."""
    names, traits, finding = Names.of(diagnosis), _Traits(), finding_of(diagnosis)
    roots = [event for event in diagnosis.events if event.is_trace]
    own = list(own_traces(diagnosis))
    telling = [event for event in own if tells_what_broke(event)]
    leads = next((event for event in telling if event.says not in _SAYS_WHERE), next(iter(telling), None))
    traits.add(Aspect.FINDING, finding.value, Part.CAUSE if finding is Finding.SAID else Part.SYMPTOM)
    if leads is not None:
        _add_trace(traits, leads, Part.CAUSE)
        for fact in facts_of(leads):
            traits.add(Aspect.FACT, fact, Part.CAUSE)
    named = (resource_of(event.template, kind_of(event)) for event in telling)
    traits.add(Aspect.RESOURCE, next((resource for resource in named if resource), ""), Part.CAUSE)
    traits.add(Aspect.MEANS, by_course(diagnosis), Part.CAUSE if leads is None else Part.SUPPORT)
    _add_course(traits, diagnosis, finding)
    cause = diagnosis.next.cause if diagnosis.next else ""
    if finding is Finding.SLOW and not diagnosis.nodes:  # "it was slow: all ranks waited longer for each other"
        cause, _, slower = cause.partition(": ")
        traits.add(Aspect.SLOWER, plain(slower), Part.SYMPTOM)
    if cause not in _NO_CAUSE and not by_course(diagnosis) and not (leads is not None and cause in _SAYS_WHERE):
        tells = next((event for event in roots if event.says == cause), None)
        part = Part.CAUSE if tells is not None and tells_what_broke(tells) else Part.SYMPTOM
        traits.add(Aspect.MEANS, plain(names.out_of(cause)), part)
    first = Part.SYMPTOM if leads is None else Part.SUPPORT
    for event in roots:
        # who ended a job that stood still or was slow is no part of its fault
        leading = event in own or finding is Finding.STOPPED
        _add_trace(traits, event, first if leading else Part.SUPPORT)
    for reason in (diagnosis.nodes[0].reasons if diagnosis.nodes else ())[:MAX_SIGNS]:
        traits.add(Aspect.SIGN, plain(names.out_of(reason)), Part.SUPPORT)
    traits.add(Aspect.STAGE, "" if diagnosis.stage is Stage.UNKNOWN else diagnosis.stage.value, Part.SUPPORT)
    traits.add(Aspect.SCOPE, "" if diagnosis.scope is Scope.UNKNOWN else diagnosis.scope.value, Part.SUPPORT)
    for event in [item for item in diagnosis.events if item.role is Role.PROPAGATED][:MAX_AFTER]:
        traits.add(Aspect.MEANS, plain(event.says), Part.AFTER)
    return tuple(traits.found.values())


def _add_course(traits: _Traits, diagnosis: Diagnosis, finding: Finding) -> None:
    """What became of the process that the others waited for, and what it was doing."""
    course = course_of(diagnosis, finding)
    traits.add(Aspect.COURSE, course or "", Part.SYMPTOM)
    reasons = diagnosis.nodes[0].reasons if diagnosis.nodes else ()
    if course is Course.STUCK:
        traits.add(Aspect.ACTIVITY, activity_of(reasons, diagnosis.stage) or "", Part.SYMPTOM)
    if course is Course.SLOWED:
        traits.add(Aspect.SLOWER, slow_part_of(diagnosis) or "", Part.SYMPTOM)
        traits.add(Aspect.RESOURCE, Resource.NETWORK if over_network(reasons) else "", Part.SUPPORT)


def plain(sentence: str) -> str:
    """A sentence without what it quotes, counts and places: the same for every job."""
    text = _PLACE.sub(lambda place: place[0].rpartition(" ")[0], _QUOTED.sub("", sentence))
    return _SPACES.sub(" ", _NUMBER.sub("#", text)).strip(" .;,")


def _add_trace(traits: _Traits, event: EventEvidence, part: Part) -> None:
    """What a trace means, the words that tell it, and the exception that it is."""
    if kind_of(event) not in GUESSED and event.says not in _NO_CAUSE:
        traits.add(Aspect.MEANS, plain(event.says), part)
        traits.add(Aspect.WORDS, telling_words(event.template), part)
        for name, value in _CODE.findall(event.template)[:1]:
            traits.add(Aspect.CODE, f"{name} {value}".lower(), part)
    traits.add(Aspect.ABOUT, is_about(event), part)
    for name in RAISED.findall(event.template)[:1]:
        traits.add(Aspect.RAISED, name, Part.SUPPORT if name in _PASSED_ON else part)
