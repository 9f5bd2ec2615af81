"""In which way a fault shows: what leads a diagnosis, be it a trace that says what broke or only how the job went.

Where no trace says what broke, how the job ended is all that there is: many causes end it so.
"""

import re
from collections.abc import Sequence
from enum import StrEnum

from core.facts import Fact, fact_of
from core.failure_kinds import Kind
from core.model import Diagnosis, EventEvidence, Role, Scope
from faultlib.meanings import by_course, by_words


class Finding(StrEnum):
    """What leads a diagnosis."""

    SAID = "a trace says what broke"
    RAISED = "an error whose words nobody wrote down"
    MEASURED = "the numbers or the ranks of the job tell what broke"
    DIED = "a process ended and does not say why"
    HUNG = "it stood still"
    SLOW = "it was slow"
    STOPPED = "it was stopped from outside"
    UNCLEAR = "nothing conclusive"


# What many causes look like: who only shows these is not told "this is it".
SYMPTOMS = frozenset({
    *(Kind.KILLED, Kind.TERMINATED, Kind.SILENT_EXIT, Kind.ABORTED, Kind.STOOD_APART, Kind.INTERRUPTED),
    *(Kind.PEER_LOST, Kind.PEER_SILENT, Kind.STORE_LOST, Kind.RENDEZVOUS, Kind.UNREACHABLE, Kind.END_OF_JOB),
    *(Kind.EXCEPTION, Kind.ERROR, Kind.WARNING, Kind.CANCELLED, Kind.TIME_LIMIT, Kind.SYSTEM_LIMIT),
})  # fmt: skip
GUESSED = frozenset({Kind.EXCEPTION, Kind.ERROR, Kind.WARNING})  # judged by form alone: what it says means nothing
DEATHS = frozenset({Kind.KILLED, Kind.TERMINATED, Kind.SILENT_EXIT, Kind.ABORTED, Kind.STOOD_APART, Kind.END_OF_JOB})
_CUT_OFF = frozenset({Kind.PEER_LOST, Kind.STORE_LOST})  # said at once by who was connected to a process that died
RAISED = re.compile(r"\b([A-Z]\w{0,60}(?:Error|Exception|Interrupt|Exit))\b")
# Exceptions in which one process tells of another
MESSENGERS = frozenset({
    *("ChildFailedError", "SignalException", "KeyboardInterrupt", "SystemExit"),
    *("ProcessRaisedException", "ProcessExitedException", "RayTaskError", "ActorDiedError", "WorkerGroupError"),
})  # fmt: skip


def finding_of(diagnosis: Diagnosis) -> Finding:
    """What leads a diagnosis: what a trace says comes before how the job went, and that before who ended it."""
    own = own_traces(diagnosis)
    if causes := [event for event in own if tells_what_broke(event)]:
        return Finding.SAID if any(kind_of(event) not in GUESSED for event in causes) else Finding.RAISED
    if by_course(diagnosis):
        return Finding.MEASURED
    if course := headline_course(diagnosis):
        return course
    after = {kind_of(event) for event in diagnosis.events if event.role is Role.PROPAGATED}
    if any(kind_of(event) in DEATHS for event in own) or (diagnosis.nodes and after & _CUT_OFF):
        return Finding.DIED
    if diagnosis.nodes:
        return Finding.HUNG  # the others waited for a node, which went silent
    stopped = diagnosis.scope is Scope.NONE or any(event.is_trace for event in diagnosis.events)
    return Finding.STOPPED if stopped else Finding.UNCLEAR


def headline_course(diagnosis: Diagnosis) -> Finding | None:
    """Whether it hung or was slow, by the headline."""
    if re.search(r"\bhung\b", diagnosis.headline):
        return Finding.HUNG
    return Finding.SLOW if re.search(r"\bslow(?:ed|er|est)?\b", diagnosis.headline) else None


def own_traces(diagnosis: Diagnosis) -> Sequence[EventEvidence]:
    """The direct traces that are no stop from outside and nothing that such a stop makes processes say."""
    roots = [event for event in diagnosis.events if event.is_trace]
    return [event for event in roots if not _is_stop(_fact(event), event.says)]


def kind_of(event: EventEvidence) -> Kind:
    """What an event is about."""
    fact = _fact(event)
    return Kind(fact.kind) if fact is not None else Kind.NONE


def tells_what_broke(event: EventEvidence) -> bool:
    """Whether it is more than a symptom, and more than the mark of what nobody says, such as a dumped stack."""
    return kind_of(event) is not Kind.NONE and not is_symptom_text(event.template)


def gives_away(event: EventEvidence) -> bool:
    """Whether another job with this trace may have the same fault: many causes leave the others, whatever broke.

    An error of a team's own program that is known by its level alone is one of the first; a warning is not, for a
    program warns of what it waits for and of who told it to end. That a process was killed is kept: it is told as a
    symptom, and only where the very same lines stand in a job.
    """
    kind = kind_of(event)
    own_error = kind is Kind.ERROR and RAISED.search(event.template) is None
    return own_error or kind is Kind.KILLED or not is_symptom_text(event.template)


def is_about(event: EventEvidence) -> str:
    """What an error that nobody wrote down is about, by its words; empty for any other."""
    return by_words(event.template) if kind_of(event) in GUESSED else ""


def is_symptom_text(template: str) -> bool:
    """Whether many causes leave this trace: a killed process, a lost peer, an exception that tells of another one's.

    An error that is known by its level alone is one.
    """
    fact = fact_of(template, block="\n" in template)
    if fact is None or Kind(fact.kind) not in GUESSED:
        return fact is not None and Kind(fact.kind) in SYMPTOMS
    raised = RAISED.search(template)
    return (raised is None or raised[1] in MESSENGERS) and not by_words(template)


def _is_stop(fact: Fact | None, says: str) -> bool:
    if fact is None:
        return False
    return fact.stop or fact.told_to_stop or fact.asks_to_stop or (fact.kind == Kind.END_OF_JOB and not says)


def _fact(event: EventEvidence) -> Fact | None:
    return fact_of(event.template, block="\n" in event.template)
