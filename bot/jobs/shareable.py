"""What people in a chat may read of an answer: no path, address or host of the server, but log lines as they are."""

from dataclasses import replace

from bot.note.note import Note
from bot.outgoing.errors import without_places
from core.model import Diagnosis


def shareable_diagnosis(diagnosis: Diagnosis) -> Diagnosis:
    """The same, but for places in what says why a step was skipped."""
    skipped = tuple(replace(skip, reason=without_places(skip.reason)) for skip in diagnosis.skipped)
    return replace(diagnosis, skipped=skipped)


def shareable_note(note: Note) -> Note:
    """The same, but for the address of a model that gave no answer."""
    return note.model_copy(update={"unavailable": without_places(note.unavailable)})
