"""What a person reads and writes about a fault before it is archived: the fields of the edit form, as a value."""

from dataclasses import dataclass, replace

from bot.note.note import Note
from bot.note.sentence import Category as NoteCategory
from bot.slack.blocks import MAX_BOXES
from bot.text.harmless import harmless, storable
from core.model import Diagnosis, EventEvidence, Role
from faultlib.draft import MAX_CLAUSES, MAX_TITLE, UNKNOWN, pattern_of, roots_of
from faultlib.names import Names
from faultlib.pattern import Category

SYMPTOMS_ONLY = (
    "Symptoms only",
    "Many causes leave what these logs show: the next such job is told “seen with”, not “is this”.",
    "Archive it",
    "Not yet",
)  # title, text and answers of what an approver is asked; the form shows the text


@dataclass(frozen=True, slots=True)
class Form:
    """The fields; events: ids (E1) of what makes the signature, none for a fault that is only found by its looks."""

    title: str
    category: Category
    cause: str
    fix: str
    confirmation: str = ""
    events: tuple[str, ...] = ()


def first_form(diagnosis: Diagnosis, note: Note | None) -> Form:
    """What stands in the form before anybody has edited it: the note, without the names of this job."""
    names = Names.of(diagnosis)
    text = names.out_of(note.cause.text) if note else ""
    fix = " ".join(names.out_of(sentence.text) for sentence in note.fix) if note else ""
    category = Category(note.category.value) if note and note.category is not NoteCategory.UNKNOWN else None
    pattern = pattern_of(_storable(diagnosis), category=category, cause=text, fix=fix)
    return Form(
        title=" ".join(harmless(pattern.title, MAX_TITLE).split()),
        category=pattern.category,
        cause=harmless(pattern.cause).strip(),
        fix="" if pattern.fix == UNKNOWN else harmless(pattern.fix).strip(),
        events=tuple(event.id for event in roots_of(diagnosis)[:MAX_CLAUSES]),
    )


def choosable(diagnosis: Diagnosis) -> tuple[EventEvidence, ...]:
    """Events that may be part of a signature, the direct traces first; a form has room for ten."""
    events = [event for event in diagnosis.events if event.role is not Role.BENIGN]
    return tuple(sorted(events, key=lambda event: event.role is not Role.ROOT)[:MAX_BOXES])


def _storable(diagnosis: Diagnosis) -> Diagnosis:
    """The diagnosis in UTF-8, as a pattern wants it, and without the lines, which a form does not need."""
    events = (
        replace(event, lines=(), because=storable(event.because), template=storable(event.template))
        for event in diagnosis.events
    )
    return replace(
        diagnosis,
        headline=storable(diagnosis.headline),
        checks=tuple(map(storable, diagnosis.checks)),
        events=tuple(events),
        nodes=tuple(replace(suspect, because=storable(suspect.because)) for suspect in diagnosis.nodes),
    )
