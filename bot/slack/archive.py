"""From what a person has approved to a pattern of the fault library, and back."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Protocol

from bot.harmless import storable
from bot.note.redact import Redactor
from bot.slack.forms import Form
from bot.state.runs import Run
from core.model import Diagnosis, EventEvidence, Line, NodeEvidence, Role
from faultlib.draft import pattern_of, slug
from faultlib.library import Library
from faultlib.pattern import Category, Entry, Pattern, Status


class OpenLibrary(Protocol):
    """Opens the fault library for one deed, in the thread that does it."""

    def __call__(self) -> AbstractContextManager[Library]:
        """The library, or ``LibraryUnavailable``."""


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
    clean = _cleaned(diagnosis)
    chosen = tuple(replace(event, role=Role.ROOT) for event in clean.events if event.id in form.events)
    fix = form.fix or "Not known yet."
    signed = pattern_of(replace(clean, events=chosen), category=form.category, cause=form.cause, fix=fix)
    words = {"evidence": pattern_of(clean).evidence, "title": form.title, "confirmation": form.confirmation}
    return Pattern.model_validate({**dict(signed), **words, "id": slug(form.title)})


def archive(open_library: OpenLibrary, run: Run, pattern: Pattern, *, who: str, why: str) -> Entry:
    """Put the pattern into the library as confirmed by this person; done twice it is there once."""
    with open_library() as library:
        draft = library.draft(pattern, who=who, why=f"drafted from {run.job}", job=run.job)
        entry, _ = library.approve(draft.id, who=who, why=why, revision=draft.revision)
    return entry


def withdraw(open_library: OpenLibrary, pattern: str, *, who: str, why: str) -> None:
    """Take an approved pattern out of use again."""
    with open_library() as library:
        entry = library.entry(pattern)
        if entry.status is Status.APPROVED:
            library.retire(pattern, who=who, why=why, revision=entry.revision)


def _cleaned(diagnosis: Diagnosis) -> Diagnosis:
    """The diagnosis without secrets, and without text that no file can hold."""
    redactor = Redactor()

    def clean(text: str) -> str:
        return redactor.redact(storable(text))

    def lines(one: EventEvidence | NodeEvidence) -> tuple[Line, ...]:
        return tuple(replace(line, text=clean(line.text)) for line in one.lines)

    return replace(
        diagnosis,
        headline=clean(diagnosis.headline),
        events=tuple(
            replace(event, because=clean(event.because), template=clean(event.template), lines=lines(event))
            for event in diagnosis.events
        ),
        nodes=tuple(replace(node, because=clean(node.because), lines=lines(node)) for node in diagnosis.nodes),
    )
