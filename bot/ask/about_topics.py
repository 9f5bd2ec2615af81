"""Answers about what people ask for by name: an OOM, time-outs. A denial follows a search for all its names."""

import re
from dataclasses import dataclass, replace
from functools import cache

from bot.ask.about_events import behind, piece_lines, said_in_evidence
from bot.ask.about_exits import time_up
from bot.ask.about_fate import machine
from bot.ask.about_lines import find
from bot.ask.about_verdict import is_either
from bot.ask.classify import learnt
from bot.ask.english import NODE, NUMBER
from bot.ask.honest import is_denial
from bot.ask.line_search import LIKELY, LineSearch
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, lower, quoted, raw
from bot.ask.subject import Subject
from bot.ask.told_diagnosis import searched, what_failed
from bot.ask.wanted_value import asks, yes_or_no
from bot.ask.word_lists import stop_words, word_lists
from bot.note.claim_source import clock
from bot.text import wording
from core.answer import job_lookup
from core.answer.search import seek
from core.history.job_attempts import attempts_of
from core.model import EventEvidence, Role, Scope


@dataclass(frozen=True, slots=True)
class Topic:
    """Something that people ask for: how they call it, how lines say it, how an answer names it."""

    asked: re.Pattern[str]
    pattern: re.Pattern[bytes]
    name: str
    special: bool = True  # names one trouble; "error" and "killed" name any

    def in_text(self, text: str) -> bool:
        """Whether a text of the evidence says it."""
        return self.pattern.search(text.encode()) is not None


def presence(subject: Subject, question: Question) -> Lines | None:
    """Whether something is there: in the evidence, else in any line; a denial says what was searched for."""
    topic = topic_of(question)
    if topic is None or topic is topics()["error"]:
        if topic and (question.nodes or question.ranks) and _names_nothing_else(question):
            return _errors(subject, question)  # "did node-04 log any error"
        return _words(subject, question) or (_errors(subject, question) if topic else None)
    if topic is topics()["interrupted"] and (up := time_up(subject)):
        found = _sought(subject, question, topic)
        return [up, what_failed(subject), *quoted(found, 2)]
    return _in_evidence(subject, question, topic) or _in_lines(subject, question, topic)


def _names_nothing_else(question: Question) -> bool:
    """Whether nothing but who is named and "error" says what is asked for: "did node-04 log any errors"."""
    words = set(question.plain.split()) - stop_words() - {NODE, NUMBER}
    return all(topics()["error"].asked.search(word) for word in words)


def _in_evidence(subject: Subject, question: Question, topic: Topic) -> Lines:
    hits = [event for event in subject.diagnosis.events if topic.in_text(text_of(event))]
    mine = [event for event in hits if _concerns(event, question)]
    if mine:
        first = min(mine, key=lambda event: (event.role is not Role.ROOT, event.id))
        inferred = not any(topic.in_text(f"{event.template} {line.text}") for event in mine for line in event.lines)
        says = (
            f"By its meaning yes ({subject.diagnosis.confidence}), no line says it in words"
            if inferred
            else _YES[first.role]
        )
        at = (
            f" It came at {clock(first.first_time)}."
            if first.first_time is not None and question.says("when", "time")
            else ""
        )
        if asks(question, "any_other") and len(first.nodes) == 1 and not inferred:
            says = f"No, only {first.nodes[0]}"
        if inferred and _NO_YES.search(question.plain):
            says = "By its meaning, as no line says it in words"
        yes = "" if _NO_YES.search(question.plain) and not inferred else f"{says}: "
        sentences = [
            cited(f"{yes}{subject.sentence_of(first)}{at}", first.id),
            *behind(subject, first),
            *raw(first.lines, 2),
        ]
        return sentences + [cited(subject.sentence_of(event), event.id) for event in mine if event is not first][:2]
    return []


_NO_YES = re.compile(
    r"\b(?:or|who|which|where|what|how|why)\b|^(?:(?:and|so|since|until|from) )*(?:when|since)\b"
)  # of these questions a yes answers none
_YES = {
    Role.ROOT: "Yes",
    Role.PROPAGATED: "Yes, but as a consequence",
    Role.TEARDOWN: "Yes, while the job was being ended",
    Role.BENIGN: "Yes, and it is harmless",
}


def asked_trouble(subject: Subject, question: Question) -> Lines | None:
    """Whether a trouble that is asked for by name is there, in this run or at another time; None where none is."""
    topic = topic_of(question.asked)  # "there is a time-out on a1, did it hurt?" asks not whether there is one
    if topic is None or not topic.special or not yes_or_no(question) or not _HAS.match(question.asked.plain):
        return None
    if asks(question, "other_time"):
        only = f"These logs are of this run alone and tell of no other time ({searched(subject)} were searched)."
        return [cited(only), *(_in_evidence(subject, replace(question, plain="what"), topic) or [])]
    known = any(topic.in_text(text_of(event)) for event in subject.diagnosis.events)
    side = _WHOSE.match(question.asked.plain) is not None  # "is it the network" asks whose fault it is
    if known or side or _ADVISES.search(question.plain) or is_either(question):
        return None
    told = list(_in_lines(subject, question, topic))
    suspects = {node.node for node in subject.diagnosis.nodes}
    about = [node for node in question.nodes if node in suspects] if is_denial(told[0]) else []
    return [*told, *(cited(machine(subject, node)) for node in about[:1] if machine(subject, node))]


_HAS = re.compile(r"^(?:(?:and|so|but|or|ok|then) )*(?:did|has|have|had|was|were|is|are|does|do|any)\b")
_WHOSE = re.compile(r"(?:(?:and|so|but|then) )*(?:is|was) (?:it|this|that) (?:the|my|our|a)\b")
_ADVISES = re.compile(r"\b(?:safe|should|can we|can i|need|worth|to|or)\b(?! (?:what|not|something)\b)")


def count(subject: Subject, question: Question) -> Lines | None:
    """How often: of a piece of evidence, of what a topic or the words of the question name."""
    events = [one for name in question.ids if isinstance(one := subject.evidence.get(name), EventEvidence)]
    if events:
        sentences = [
            cited(f"{event.id} was logged {wording.times(event.count)}: {subject.sentence_of(event)}", event.id)
            for event in events
        ]
        return [*sentences, *raw(events[0].lines, 2)]
    if question.says("attempt", "restart"):
        attempts = attempts_of(subject.parsed, subject.diagnosis)
        if len(attempts) > 1:
            ended = "; ".join(f"{attempt.name}: {attempt.cause or attempt.ended}" for attempt in attempts[:6])
            return [cited(f"The logs hold {len(attempts):,} attempts. {ended}.")]
        if question.says("attempt"):
            return [cited("The logs are read as one attempt: nothing that I know to look for tells of a second start.")]
    topic = topic_of(question)
    if topic is topics()["error"]:
        return _errors(subject, question)
    general = topic is not None and not (topic.special and _sought(subject, question, topic).lines)
    if topic is None or general:  # "HB ... missing=3" are the missed heartbeats, which no line calls so
        return _counted(subject, question) if general else _words(subject, question)
    found = _sought(subject, question, topic)
    sentences = [cited(text) for text in (found.says if found.lines else _denied(subject, question, topic),)]
    every = (event for event in subject.diagnosis.events if not event.ordinary)  # whose sentence tells no more
    hits = [event for event in every if topic.in_text(text_of(event))]
    sentences = [cited(f"{event.id}: {subject.sentence_of(event)}", event.id) for event in hits[:2]] + sentences
    return [*sentences, *quoted(found, 2)]


def _counted(subject: Subject, question: Question) -> Lines:
    """How often the kind of message that holds most of a question was logged; empty where none holds enough of it."""
    best, table = LineSearch(subject, question).best[:1], subject.parsed.table
    if not best or best[0].share < LIKELY:
        return []
    event = int(table.event[best[0].row])
    rows = table.rows_of([event])[event]
    return [
        cited(f"{wording.times(len(rows)).capitalize()}, {job_lookup.span(table, rows)}: lines of the kind that fits."),
        *quoted(job_lookup.found_rows(subject.parsed, "", rows.tolist()[:1]), 1),
    ]


def topic_of(question: Question) -> Topic | None:
    """The most special topic that a question names; "error" is the last."""
    plain = f"{question.plain}\n{learnt().mend(question.plain)}"
    asked = next((topic for topic in topics().values() if topic.asked.search(plain)), None)
    by_name = (topic for topic in topics().values() if topic.special and topic.in_text(question.text))
    return next(by_name, asked) if asked is None or not asked.special else asked


def quantity(subject: Subject, question: Question) -> tuple[Lines, bool] | None:
    """The lines that may tell a quantity which jobs seldom log, or its refusal; None where none of these is asked for.

    With whether it is told.
    """
    text = f"{question.text.casefold()}\n{question.plain}"
    asked = next((topic for topic in topics("quantities").values() if topic.asked.search(text)), None)
    if asked is None:
        return None
    node = question.nodes[0] if question.nodes else None
    found = seek(subject.parsed, [asked.pattern], asked.name, node=node, latest=asks(question, "final"))
    if found.lines:
        first = f"{wording.counted(found.total, 'line')} may tell of {asked.name}:"
        return [cited(first), *quoted(found, 3, asked.pattern)], True
    where = f" of {node}" if node else ""
    says = f"I cannot tell: I looked for {asked.name} and found no line{where} about it"
    return [cited(f"{says} ({searched(subject)} were searched).")], False


@cache
def topics(kind: str = "topics") -> dict[str, Topic]:
    """All topics by name, the special ones before the general ones; of kind "quantities" what may be refused."""
    words = word_lists("words")[kind]
    return {
        name: Topic(
            re.compile(entry["asked"]),
            re.compile(entry["said"].encode(), re.IGNORECASE),
            entry["name"],
            entry.get("special", True),
        )
        for name, entry in words.items()
    }


def _in_lines(subject: Subject, question: Question, topic: Topic) -> Lines:
    found = _sought(subject, question, topic)
    elsewhere = seek(subject.parsed, [topic.pattern], topic.name) if question.nodes or question.ranks else found
    if not found.lines and elsewhere.lines:  # what a node did is often told by others
        return [cited(f"{found.says.rstrip('.')}; of others {lower(elsewhere.says)}."), *quoted(elsewhere, 3)]
    if not found.lines:
        known = subject.diagnosis.scope in (Scope.NODE, Scope.JOB)
        says = f"What the diagnosis says: {wording.sentence(subject.diagnosis.headline)}"
        return [_denied(subject, question, topic), *([cited(says)] if known else [])]
    return [cited(f"Lines speak of it that are not among the evidence: {found.says}"), *quoted(found, 3)]


def _sought(subject: Subject, question: Question, topic: Topic) -> job_lookup.LookResult:
    node = question.nodes[0] if question.nodes else None
    rank = question.ranks[0] if question.ranks else None
    return seek(subject.parsed, [topic.pattern], topic.name, node=node, rank=rank)


def _denied(subject: Subject, question: Question, topic: Topic) -> str:
    coverage = subject.diagnosis.coverage
    where = f" of {question.nodes[0]}" if question.nodes else f" of rank {question.ranks[0]}" if question.ranks else ""
    gaps = "; ".join(wording.missing(coverage))
    says = f"I looked for {topic.name} in every line{where}, {searched(subject)}, and found none."
    return cited(says + (f" Missing: {gaps}." if gaps else ""))


def _words(subject: Subject, question: Question) -> Lines | None:
    """By the question's own telling words: evidence first, then lines."""
    found = said_in_evidence(subject, question)
    return piece_lines(subject, found[0]) if found else find(subject, question)


def _errors(subject: Subject, question: Question) -> Lines:
    """Complaints in general: what a node or rank complained of, or all events of the evidence."""
    parsed = subject.parsed
    if question.nodes or question.ranks:
        found = (
            job_lookup.of_node(parsed, question.nodes[0])
            if question.nodes
            else job_lookup.of_rank(parsed, question.ranks[0])
        )
        return [cited(found.says), *quoted(found, 4)]
    events = [event for event in subject.diagnosis.events if event.role is not Role.BENIGN]
    if not events:
        return _in_lines(subject, question, topics()["error"])
    listed = [cited(subject.sentence_of(event), event.id) for event in events[:4]]
    return [
        cited(f"{wording.counted(len(events), 'kind')} of error messages point to the failure or follow from it."),
        *listed,
    ]


def _concerns(event: EventEvidence, question: Question) -> bool:
    if question.nodes and event.nodes:
        return bool(set(question.nodes) & set(event.nodes))
    return not (question.ranks and event.ranks) or bool(set(question.ranks) & set(event.ranks))


def text_of(event: EventEvidence) -> str:
    """All words of a piece of evidence, by which a topic is known in it."""
    return " ".join((event.template, event.says, *(line.text for line in event.lines)))
