"""Answers about what something is to the failure: its cause, what follows from it, or noise."""

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bot.ask.about_events import meaning_of, said_in_evidence
from bot.ask.about_nodes import named_units, suspect
from bot.ask.about_topics import presence, topic_of, topics
from bot.ask.line_search import LIKELY, LineSearch
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, joined, lower, quoted, raw
from bot.ask.subject import Subject
from bot.ask.told_diagnosis import what_failed
from bot.ask.wanted_value import asks, asks_if_cause, way_of, yes_or_no
from bot.note.claim_source import clock
from bot.text import wording
from bot.text.wording import SECOND
from core.answer import job_lookup
from core.answer.job_lookup import LookResult
from core.answer.search import rows_of_lines, search, seek
from core.events.template import Template
from core.facts import fact_of
from core.job import Status
from core.live.findings import duration
from core.logs.lines import NO_TIME
from core.model import EventEvidence, Role, Scope

HEALTHY = 5  # iterations after a line that show that training went on: one or two were under way already
_IGNORED = {
    Role.ROOT: "No, do not ignore {id}: it is a direct trace of the fault.",
    Role.PROPAGATED: "{id} is a consequence, not the cause: a healthy peer says that somebody died or timed out.",
    Role.TEARDOWN: "{id} is no cause: the launcher or the scheduler ends the job with it.",
    Role.BENIGN: "Yes, {id} looks bad and is harmless.",
}
_SHOWS = "{id} is an ordinary line, in which the finding shows; what caused it, its words do not tell."
_CAUSE = {
    Role.ROOT: "Yes, {id} is the cause as far as the logs tell: a direct trace of the fault itself.",
    Role.PROPAGATED: "No, {id} is a consequence, no second fault: a healthy peer says that somebody died or timed out.",
    Role.TEARDOWN: "No, {id} comes after the fault: the launcher or the scheduler ends the job with it.",
    Role.BENIGN: "No, {id} looks bad and is harmless.",
}
_CLOCK = re.compile(r"(?<![0-9:])([0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9])?)(?![0-9:])")


def harmless_(subject: Subject, question: Question) -> Lines | None:
    """What evidence, or lines with the words of the question, are to the failure; all evidence where none is meant."""
    events = [one for name in question.ids if isinstance(one := subject.evidence.get(name), EventEvidence)]
    if question.ids and not events:
        return None
    if not events and question.quoted and (quote := search(subject.parsed, question.quoted[:1])).lines:
        return _of_lines(subject, question, quote)
    if not events and (found := said_in_evidence(subject, question)):
        events = [event for event in found if isinstance(event, EventEvidence)][:1]
    if events:
        return [line for event in events[:2] for line in _of_event(subject, question, event)]
    search_ = LineSearch(subject, question, _asking(question, "is_it", "blames", "objects"))
    result = search_.look(LIKELY)
    if not result.lines and search_.best_holds_rarest:  # "a lot of hipBLASLt errors before it, on 8 ranks"
        result = search_.look(search_.best[0].share)
    if result.lines:
        return _of_lines(subject, question, result)
    return None if asks_if_cause(question) else _of_all(subject)


def weighed(subject: Subject, question: Question) -> Lines | None:
    """Whether another cause, or another node, that is proposed is what failed: by its lines, else by what failed.

    None where nothing is proposed.
    """
    if question.ids or not asks(question, "objects"):
        return None
    if _A_SIDE.search(question.asked.plain) and not (question.nodes or question.quoted):
        return None  # "could it be the code" asks whose fault it is, and no line that holds "code" tells
    blamed = {node.node for node in subject.diagnosis.nodes}
    found = LineSearch(subject, question, _asking(question, "objects", "is_it", "blames")).look(LIKELY)
    lines = _of_lines(subject, question, found) if found.lines else []
    named = question.nodes if lines else named_units(subject, question)
    others = [unit for unit in named if unit not in blamed]
    of_nodes = list(suspect(subject, replace(question, nodes=tuple(others), ranks=()))) if others else []
    if of_nodes or lines:
        return [*of_nodes[:1], *lines, *of_nodes[1:2]]
    topic = topic_of(question)
    return presence(subject, question) if topic is not None and topic.special else None


_A_SIDE = re.compile(
    r"\b(?:be|been|it|that|this) (?:the |my |our |a )?(?:code|script|program|software|config|hardware|machines?|network"
    r"|gpus?|cluster|storage|file ?system)\b"
)


def trouble(subject: Subject, question: Question) -> Lines | None:
    """Whether something that is named did harm, and whether the job ended well; None where neither is asked."""
    if question.ids:
        return None
    open_ = _OPEN.match(question.asked.plain) is not None  # "why did it fail" wants no yes
    ended = asks(question, "finished") and not asks(question, "compares_jobs") and not open_
    well = _ended_well(subject, badly=_ASKS_OF_FAILING.search(question.text) is not None) if ended else ""
    if not well and not (asks(question, "harm") and yes_or_no(question)):
        return None
    meant = _trouble_lines(subject, question)
    lines = _of_lines(subject, question, meant) if meant.lines else []
    if not well:
        return lines or None
    return [cited(well), *(line for line in lines if not line.startswith("What failed"))]


_OPEN = re.compile(r"(?:(?:and|so|but) )?(?:why|how|what|when|where|which|who)\b")


def _ended_well(subject: Subject, *, badly: bool) -> str:
    """Whether the job ended well, as the diagnosis has it, or badly, where that is asked."""
    diagnosis, yes, no = subject.diagnosis, *(("No", "Yes") if badly else ("Yes", "No"))
    status = diagnosis.facts.get("status", "")
    beside = f" Its job.json says {status}." if status else ""
    if diagnosis.scope in (Scope.NODE, Scope.JOB):
        return f"{no}: {lower(diagnosis.headline)}.{beside}"
    if diagnosis.scope is Scope.NONE:
        done = status in ("", Status.COMPLETED)
        return f"{yes if done else 'Not to its end, but nothing broke'}: {lower(diagnosis.headline)}.{beside}"
    return f"The logs do not tell: {lower(diagnosis.headline)}.{beside}"


def _trouble_lines(subject: Subject, question: Question) -> LookResult:
    """The lines of the trouble that a question names, by its quote or its rare words; of who is named if any are."""
    if question.quoted:
        return search(subject.parsed, question.quoted[:1])
    if (found := LineSearch(subject, question, _asking(question, "harm", "finished")).look(LIKELY)).lines:
        return found
    topic = topic_of(question)  # "timeout" where lines say "timed out"
    if topic is None or not topic.special:
        return LookResult("")
    every = (seek(subject.parsed, [topic.pattern], topic.name, node=node) for node in (*question.nodes[:1], None))
    return next((found for found in every if found.lines), LookResult(""))


def _asking(question: Question, *ways: str) -> set[str]:
    """The words of a question by which it asks in some ways."""
    texts = (question.text.casefold(), question.plain)
    found = (match[0] for way in ways for text in texts for match in way_of(way).finditer(text))
    return {word.strip("?!.,") for words in found for word in words.split()}


def has_clock(question: Question) -> bool:
    """Whether a question names a time of day."""
    return _CLOCK.search(question.asked.text) is not None


def _of_event(subject: Subject, question: Question, event: EventEvidence) -> list[str]:
    says = _IGNORED if question.says("ignor", "matter", "harmless", "important", "relevant") else _CAUSE
    lead = subject.leading
    first = (_SHOWS if event.ordinary else says[event.role]).format(id=event.id)
    if says is _CAUSE and event.is_trace and lead is not None and lead is not event:
        first = f"{event.id} belongs to the fault, which {lead.id} tells first: {lower(subject.sentence_of(lead))}."
    sentences = [cited(joined(first, meaning_of(event).strip()), event.id)]
    if not event.is_trace:
        sentences.append(what_failed(subject))
    return [*sentences, cited(subject.sentence_of(event), event.id), *raw(event.lines, 1)]


_ASKS_OF_FAILING = re.compile(
    r"\b(?:issues?|problem\w*|trouble|wrong|fail\w*|crash\w*|die[ds]?|broke\w*|kaputt|gescheitert)\b"
    r"|\u95ee\u9898|\u5f02\u5e38|\u5931\u8d25",
    re.IGNORECASE,
)


def _of_lines(subject: Subject, question: Question, result: LookResult) -> list[str]:
    """By role, by successful jobs, by what came after: why lines that are no evidence are, or are not, the cause."""
    parsed, table = subject.parsed, subject.parsed.table
    first = result.lines[0]
    places = rows_of_lines(table, table.files.index(first.file), [first.line])
    if not places:
        return [cited(result.says), *quoted(result, 3)]
    template = table.templates[int(table.event[places[0]])]
    event = next((item for item in subject.diagnosis.events if item.event == template.id), None)
    if event is not None:
        return _of_event(subject, question, event)
    rows = table.rows_of([int(table.event[places[0]])]).get(int(table.event[places[0]]), np.array(places))
    nodes = sorted({node for row in rows.tolist() if (node := subject.origin(row).node)})
    every = wording.counted(len(parsed.nodes), "node")
    who = f"by {len(nodes)} of {every}" if len(nodes) > 1 else f"by {nodes[0]}" if nodes else f"in {first.file}"
    stands = f"“{wording.without_clock(first.text.strip())[:90]}” was logged {who}, {wording.times(len(rows))}"
    against, near = _grounds(subject, template, rows)
    if subject.diagnosis.scope is Scope.NONE:
        against.insert(0, lower(subject.diagnosis.headline))
    none = "That is not among the evidence, though nothing rules out that it has to do with it"
    no = "No" if subject.diagnosis.scope is Scope.NONE else "No, by what the logs tell that is not what failed"
    says = no if against else none
    why = "; ".join((*against, *near))
    return [
        cited(f"{says}: {why}." if why else f"{says}."),
        cited(f"{stands}, {job_lookup.span(table, rows)}."),
        *([what_failed(subject)] if subject.diagnosis.scope is not Scope.NONE else []),
        *quoted(result, 2),
    ]


def _grounds(subject: Subject, template: Template, rows: NDArray[np.intp]) -> tuple[list[str], list[str]]:
    """Why lines cannot be what failed, and how they lie to the first sign, a clause each."""
    parsed, usual = subject.parsed, subject.parsed.usual
    fact = fact_of(template.sample, block=template.block)
    against: list[str] = []
    near: list[str] = []
    if fact is not None and fact.role is Role.BENIGN:
        why = f" ({lower(fact.says)})" if fact.says else ""
        against.append(f"it is known to be harmless{why}")
    if fact is not None and fact.role in (Role.PROPAGATED, Role.TEARDOWN):
        against.append(f"it follows from another end ({lower(fact.says)})")
    if subject.diagnosis.scope is not Scope.NONE and topics()["sigterm"].in_text(template.sample):
        against.append("SIGTERM (signal 15) tells a process to stop, mostly because another one had failed")
    if usual is not None and usual.anywhere.get(template.id, 0):
        against.append("successful jobs log it too")
    nodes = {parsed.table.origins[voice].node for voice in np.unique(parsed.table.voice[rows]).tolist()} - {None}
    if subject.diagnosis.scope is Scope.NODE and len(nodes) == len(parsed.nodes) > 1:
        against.append(f"all {len(nodes):,} nodes log it, and what failed is one of them")
    times = parsed.table.time[rows]
    known = times[times != NO_TIME]
    if not len(known):
        return against, near
    begin, sign, course = int(known.min()), wording.first_sign(subject.diagnosis), parsed.iterations.course
    after = int((course.times > begin).sum()) if len(course) else 0
    if after >= HEALTHY:
        against.append(f"{wording.counted(after, 'iteration')} were completed after it first came")
    if sign is not None and begin < sign - SECOND:
        near.append(f"it was there {duration((sign - begin) / SECOND)} before the first sign at {clock(sign)}")
    elif sign is not None and begin > sign:
        near.append(f"it came {duration((begin - sign) / SECOND)} after the first sign at {clock(sign)}")
    return against, near


def _of_all(subject: Subject) -> list[str]:
    """Which pieces of evidence may be ignored."""
    benign = [event.id for event in subject.diagnosis.events if event.role is Role.BENIGN]
    follow = [event.id for event in subject.diagnosis.events if event.role in (Role.PROPAGATED, Role.TEARDOWN)]
    lead = subject.leading
    sentences = [f"{', '.join(benign)} can be ignored." if benign else "No shown event is called harmless."]
    if follow:
        sentences.append(f"{', '.join(follow)} only follow from the fault.")
    if lead and lead.is_trace:
        sentences.append(f"Do not ignore {lead.id}: {lower(lead.says or lead.because)}.")
    return [cited(joined(*sentences)), what_failed(subject)]
