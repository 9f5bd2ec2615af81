"""Answers about the program's own source: the file, line and function in which the error came."""

from bot.ask.about_nodes import named_units
from bot.ask.facts_errors import place_of
from bot.ask.question import Question
from bot.ask.reply_lines import Lines, cited, raw
from bot.ask.subject import Subject
from bot.ask.told_diagnosis import what_failed
from core.model import EventEvidence, Role


def own_code(subject: Subject, question: Question) -> Lines:
    """The innermost line of the program's own code in the tracebacks of the fault, or of who is named."""
    shown: list[str] = []
    for event in _events(subject, question):
        place = place_of(subject, event)
        if place is None:
            continue
        who = subject.about.capital(subject.about.who(event))
        whose = "" if place.own else "; no frame is of your own code, this is the innermost one of a library"
        shown += [
            cited(f"{place.file}, line {place.number}, in {place.function}: {who} at {event.id}{whose}.", event.id)
        ]
        shown += [*raw([place.line]), cited(subject.sentence_of(event), event.id)]
        if place.own:
            return shown
    if shown:
        return shown
    lead = subject.leading
    none = "The logs do not tell a line of code: no traceback of what failed stands in them."
    return [
        cited(none),
        *([what_failed(subject)] if lead else []),
    ]


def _events(subject: Subject, question: Question) -> list[EventEvidence]:
    """The events whose tracebacks count, the direct traces first; of who is named where anybody is."""
    units = named_units(subject, question)
    events = [event for event in subject.diagnosis.events if event.role is not Role.BENIGN]
    mine = [event for event in events if not units or set(units) & set(event.nodes)]
    return sorted(mine or events, key=lambda event: event.role is not Role.ROOT)
