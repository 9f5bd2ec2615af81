"""From a drafted note to the form that a person edits, to the draft under review, to the archived fault pattern."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter

from bot.note.note import Note, Sentence
from bot.outgoing.clean import cleaned
from bot.slack.blocks import MAX_BOXES
from bot.state.runs import Run
from bot.state.state import State
from bot.text.harmless import harmless, storable
from bot.text.known_fault import KnownFault
from bot.text.wording import sentence as as_sentence
from core.model import Diagnosis, EventEvidence, Role
from faultlib.draft import MAX_TITLE, UNKNOWN, pattern_of, signature_events, slug
from faultlib.names import Names
from faultlib.pattern import Category, Pattern

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
    category = note.category if note and note.category is not Category.UNKNOWN else None
    pattern = pattern_of(_storable(diagnosis), category=category, cause=text, fix=fix)
    return Form(
        title=" ".join(harmless(pattern.title, MAX_TITLE).split()),
        category=pattern.category,
        cause=harmless(pattern.cause).strip(),
        fix="" if pattern.fix == UNKNOWN else harmless(pattern.fix).strip(),
        events=tuple(event.id for event in signature_events(diagnosis)),
    )


def choosable(diagnosis: Diagnosis) -> tuple[EventEvidence, ...]:
    """Events that may be part of a signature, the direct traces first; a form has room for ten."""
    events = [event for event in diagnosis.events if event.role is not Role.BENIGN and not event.ordinary]
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


DRAFTED_BY = "firstfault"  # of a draft that nobody has edited
_PATTERN_ID = re.compile(r"\bP[1-9][0-9]{0,3}\b")


def drafted_form(diagnosis: Diagnosis, note: Note | None, known: Sequence[KnownFault]) -> Form:
    """What stands in the form first: the note, as far as it is true beyond this answer.

    P1 is another pattern in the next answer, and who confirmed it vouches for that pattern alone. So a sentence that
    stands on a pattern that matched gives way to the words of the pattern, and one that names any other goes; of a
    cause that quotes this job's log what it means is left.
    """
    if note is None:
        return first_form(diagnosis, None)
    matched = {fault.id: fault for fault in known if fault.exact}
    patterns = {name: fault.cause for name, fault in matched.items()}
    events = {event.id: f"{as_sentence(event.says)}." for event in diagnosis.events if event.says}
    cause = _lasting([note.cause], {**events, **patterns})
    fix = _lasting(note.fix, {name: fault.fix for name, fault in matched.items()})
    empty = note.cause.model_copy(update={"text": ""})
    return first_form(diagnosis, note.model_copy(update={"cause": next(iter(cause), empty), "fix": fix}))


def form_of(fields: Mapping[str, Any]) -> Form:
    """A form as the state keeps it."""
    return TypeAdapter(Form).validate_python(fields)


def pattern_from(form: Form, diagnosis: Diagnosis) -> Pattern:
    """The pattern of what was approved; its signature holds the events that were chosen. No secret goes into it."""
    clean = cleaned(diagnosis)  # again, for a pattern is kept for good and does not pass the door
    chosen = tuple(replace(event, role=Role.ROOT) for event in clean.events if event.id in form.events)
    fix = form.fix or "Not known yet."
    signed = pattern_of(replace(clean, events=chosen), category=form.category, cause=form.cause, fix=fix)
    words = {"evidence": pattern_of(clean).evidence, "title": form.title, "confirmation": form.confirmation}
    return Pattern.model_validate({**dict(signed), **words, "id": slug(form.title)})


def _lasting(sentences: Iterable[Sentence], words: Mapping[str, str]) -> tuple[Sentence, ...]:
    """Each once; ``words``: what a pattern says itself, by its id."""
    kept: dict[str, Sentence] = {}
    for sentence in sentences:
        own = next((words[name] for name in sentence.cites if name in words), "")
        if own or not _PATTERN_ID.search(sentence.text):
            text = own or sentence.text
            kept[text] = sentence.model_copy(update={"text": text})
    return tuple(kept.values())


@dataclass(frozen=True, slots=True)
class ReviewedDraft:
    """A run, its diagnosis, and a draft of its note with its revision.

    edited: a person wrote it. matched: ids of the team's patterns whose whole signature is in the job. guesses: what a
    model thinks, unchecked, which nobody archives unless an approver takes it over.
    """

    run: Run
    diagnosis: Diagnosis
    form: Form
    revision: int
    edited: bool = False
    matched: frozenset[str] = frozenset()
    guesses: tuple[str, ...] = ()

    def pattern(self) -> Pattern:
        """The fault pattern that the draft would be."""
        return pattern_from(self.form, self.diagnosis)


def load_draft(state: State, run_id: str, revision: int | None = None) -> ReviewedDraft | None:
    """The run with this draft, else with the newest; None when the state does not hold it any more.

    Reading a diagnosis takes the longest of a decision, so whoever has a draft hands it on.
    """
    run, answer = state.runs.get(run_id), state.runs.answer(run_id)
    if revision is None:
        draft = state.drafts.current(run_id)
    else:
        draft = next((draft for draft in state.drafts.revisions(run_id) if draft.revision == revision), None)
    if run is None or answer is None or answer.diagnosis is None or draft is None:
        return None
    matched = frozenset(fault.pattern for fault in answer.known if fault.known and fault.agrees and not fault.seed)
    guesses = answer.note.reading if answer.note else ()
    return ReviewedDraft(
        run, answer.diagnosis, form_of(draft.note), draft.revision, draft.by != DRAFTED_BY, matched, guesses
    )
