"""A note as it is shown and stored: who arranged it, its sentences with what they stand on, and the model's reading."""

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from bot.chat.model import Usage
from faultlib import pattern

MAX_TEXT = 1_200  # characters; a pattern's cause is shown whole, and the longest of the library has 600
MAX_CITES = 8  # chosen: a sentence that stands on more is about all of them

Text = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=8)]
Category = pattern.Category  # of a note as of a fault pattern


class Sentence(BaseModel):
    """One sentence or a few that belong together, and the ids of the evidence that they stand on."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    text: Text
    cites: Annotated[list[Id], Field(max_length=MAX_CITES)]


class Author(StrEnum):
    """Who chose and ordered the claims of a note; the words are always code's."""

    MODEL = "model"
    REPAIRED = "repaired"  # of notes that versions before 0.2 stored: after a model was told what was refused
    CODE = "code"


class Note(BaseModel):
    """A root-cause note, whose sentences are claims that code made.

    reading: what the model thinks beside that, unchecked; shown only in a block that is marked so, and never archived
    unless an approver takes it over. refused: why parts of an answer were not used; for whoever debugs a model.
    unavailable: why the model gave no answer, if it did not. A note of an older version may hold a model's own words.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    author: Author
    model: str
    headline: Sentence
    cause: Sentence
    happened: tuple[Sentence, ...]
    check_first: tuple[Sentence, ...]
    fix: tuple[Sentence, ...]
    category: Category
    open_questions: tuple[Sentence, ...]
    reading: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    usage: Usage = Usage()
    unavailable: str = ""


TITLES = {"happened": "What happened", "check_first": "Check first", "fix": "Fix", "open_questions": "Open"}
GUESS = "The model's guess, not checked"


def plain(note: Note) -> tuple[str, ...]:
    """The note as lines of plain text: headline, cause, and its lists under their titles; without the reading."""
    lines = [_line(note.headline), f"Cause: {_line(note.cause)}"]
    for field, title in TITLES.items():
        sentences: tuple[Sentence, ...] = getattr(note, field)
        if sentences:
            lines += [f"{title}:", *(f"- {_line(sentence)}" for sentence in sentences)]
    lines.append(f"Category: {note.category}")
    return tuple(lines)


def _line(sentence: Sentence) -> str:
    return f"{sentence.text} [{', '.join(sentence.cites)}]" if sentence.cites else sentence.text
