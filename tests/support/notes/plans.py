"""Plans of notes as models answer them, for the tests."""

import json
from collections.abc import Sequence

from bot.chat.model import Usage
from bot.note.note import Author, Note
from bot.note.write import write_note
from bot.text.known_fault import KnownFault
from core.model import Diagnosis
from tests.support.scripted_model import ScriptedModel

Step = dict[str, str]


def step(claim: str, join: str = "none", because: str = "none") -> Step:
    """A step of what happened."""
    return {"claim": claim, "join": join, "because": because}


def answer(
    headline: Sequence[str] = (),
    happened: Sequence[Step] = (),
    cause: Sequence[str] = (),
    to_do: Sequence[str] = (),
    reading: Sequence[str] = (),
) -> str:
    """A plan as JSON."""
    fields = {"headline": headline, "happened": happened, "cause": cause, "to_do": to_do, "reading": reading}
    return json.dumps({name: list(value) for name, value in fields.items()})


def noted(diagnosis: Diagnosis, text: str, *known: KnownFault) -> Note:
    """The note that becomes of an answer."""
    return write_note(diagnosis, known, ScriptedModel(text, name="some-model"))


def outside(note: Note) -> Note:
    """The note without its marked block and without what only says that a model was there."""
    return note.model_copy(
        update={"reading": (), "refused": (), "author": Author.CODE, "model": "", "usage": Usage(), "unavailable": ""}
    )
