"""What a fault is beyond its words: what its traces mean, who stood apart and how, where and when.

A trait is said of any job in the same words, whatever its program, nodes and paths are called: of a killed process
"a process was killed (SIGKILL)" stays, of a missing file the exception's class. So a hang has traits too.
"""

import re

from core.facts import fact_of
from core.failure_kinds import Kind
from core.model import Diagnosis, EventEvidence, Role, Scope, Stage
from faultlib.names import Names
from faultlib.pattern import Aspect, Part, Trait

MAX_SIGNS, MAX_AFTER = 6, 4  # of one fault: more are told of no labelled job's first suspect
# What many causes look like: who only shows these is not told "this is it".
SYMPTOMS = frozenset({
    *(Kind.KILLED, Kind.TERMINATED, Kind.SILENT_EXIT, Kind.ABORTED, Kind.STOOD_APART, Kind.INTERRUPTED),
    *(Kind.PEER_LOST, Kind.PEER_SILENT, Kind.STORE_LOST, Kind.RENDEZVOUS, Kind.UNREACHABLE, Kind.END_OF_JOB),
    *(Kind.EXCEPTION, Kind.ERROR, Kind.WARNING, Kind.CANCELLED, Kind.TIME_LIMIT, Kind.SYSTEM_LIMIT),
})  # fmt: skip
_GUESSED = frozenset({Kind.EXCEPTION, Kind.ERROR, Kind.WARNING})  # judged by form alone: what it says means nothing
_NO_CAUSE = frozenset({"the program raised an exception", "a program logged an error", "a program logged a warning"})
_RAISED = re.compile(r"\b([A-Z]\w{0,60}(?:Error|Exception|Interrupt|Exit))\b")
# Exceptions in which one process tells of another, and those of any fault.
_MESSENGERS = frozenset({
    *("ChildFailedError", "SignalException", "KeyboardInterrupt", "SystemExit"),
    *("ProcessRaisedException", "ProcessExitedException", "RayTaskError", "ActorDiedError", "WorkerGroupError"),
})  # fmt: skip
_PASSED_ON = _MESSENGERS | {"Exception", "RuntimeError"}
_QUOTED = re.compile(r"“[^”]{0,400}”|\((?![A-Z]{3,10}\))[^()]{0,200}\)")
_PLACE = re.compile(r"\b(?:stands?(?: alone)? in|never came to|left with) \S+")
_NUMBER = re.compile(r"\b\d[\d.,-]*(?: ?(?:s|ms|min|h))?\b")
_SPACES = re.compile(r"\s+")


def traits_of(diagnosis: Diagnosis) -> tuple[Trait, ...]:
    """All traits of a diagnosis, those of the cause first; each once."""
    names = Names.of(diagnosis)
    roots = [event for event in diagnosis.events if event.role is Role.ROOT]
    found: dict[tuple[Aspect, str], Trait] = {}

    def add(aspect: Aspect, text: str, part: Part) -> None:
        if text:
            found.setdefault((aspect, text), Trait(aspect=aspect, text=text, part=part))

    causes = [event for event in roots if not is_symptom(event)]
    cause = diagnosis.next.cause if diagnosis.next else ""
    leads = next((event for event in roots if event.says == cause), None)
    if cause not in _NO_CAUSE:
        add(Aspect.MEANS, plain(names.out_of(cause)), Part.CAUSE if leads in causes else Part.SYMPTOM)
    known = bool(found)
    for number, event in enumerate(roots):
        if kind_of(event) not in _GUESSED:
            first = Part.CAUSE if event in causes else Part.SYMPTOM
            add(Aspect.MEANS, plain(event.says), Part.SUPPORT if number or known else first)
        for name in _RAISED.findall(event.template)[:1]:
            add(Aspect.RAISED, name, Part.SUPPORT if number or name in _PASSED_ON else Part.CAUSE)
    add(Aspect.ENDING, _ending(diagnosis.headline), Part.SUPPORT)
    for reason in (diagnosis.nodes[0].reasons if diagnosis.nodes else ())[:MAX_SIGNS]:
        add(Aspect.SIGN, plain(names.out_of(reason)), Part.SUPPORT)
    add(Aspect.STAGE, "" if diagnosis.stage is Stage.UNKNOWN else diagnosis.stage.value, Part.SUPPORT)
    add(Aspect.SCOPE, "" if diagnosis.scope is Scope.UNKNOWN else diagnosis.scope.value, Part.SUPPORT)
    for event in [item for item in diagnosis.events if item.role is Role.PROPAGATED][:MAX_AFTER]:
        add(Aspect.MEANS, plain(event.says), Part.AFTER)
    return tuple(found.values())


def kind_of(event: EventEvidence) -> Kind:
    """What a direct trace is about."""
    fact = fact_of(event.template, block="\n" in event.template)
    return Kind(fact.kind) if fact is not None else Kind.NONE


def is_symptom(event: EventEvidence) -> bool:
    """Whether many causes leave this trace: a killed process, a lost peer, an exception that tells of another one's."""
    return is_symptom_text(event.template)


def is_symptom_text(template: str) -> bool:
    """The same of a template, or of an event of a signature. An error that is known by its level alone is one."""
    fact = fact_of(template, block="\n" in template)
    if fact is None or Kind(fact.kind) not in _GUESSED:
        return fact is not None and Kind(fact.kind) in SYMPTOMS
    raised = _RAISED.search(template)
    return raised is None or raised[1] in _MESSENGERS


def plain(sentence: str) -> str:
    """A sentence without what it quotes, counts and places: the same for every job."""
    text = _PLACE.sub(lambda place: place[0].rpartition(" ")[0], _QUOTED.sub("", sentence))
    return _SPACES.sub(" ", _NUMBER.sub("#", text)).strip(" .;,")


def _ending(headline: str) -> str:
    return next((word for word in ("hung", "slow") if re.search(rf"\b{word}\b", headline)), "")
