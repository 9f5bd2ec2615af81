"""From a drafted note to the form that a person edits, and from what was approved to a fault pattern."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.note.note import Note
from bot.note.sentence import Sentence
from bot.outgoing.clean import cleaned
from bot.slack.archive_form import Form, first_form
from bot.text.known_fault import KnownFault
from bot.text.wording import sentence as as_sentence
from core.model import Diagnosis, Role
from faultlib.draft import pattern_of, slug
from faultlib.pattern import Category, Pattern

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
    return Form(
        title=str(fields["title"]),
        category=Category(fields["category"]),
        cause=str(fields["cause"]),
        fix=str(fields["fix"]),
        confirmation=str(fields["confirmation"]),
        events=tuple(map(str, fields["events"])),
    )


def pattern_from(form: Form, diagnosis: Diagnosis) -> Pattern:
    """The pattern of what was approved; its signature holds the events that were chosen. No secret goes into it."""
    clean = cleaned(diagnosis)
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
