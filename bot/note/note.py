"""A note as it is shown and stored: who wrote it, its sentences with what they stand on, and what was refused."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from bot.chat.model import Usage
from bot.note.draft import Category, Draft, Sentence


class Author(StrEnum):
    """Who wrote the sentences of a note."""

    MODEL = "model"  # all of it, at once
    REPAIRED = "repaired"  # after it was told what was refused, or without what was refused
    CODE = "code"


class Note(BaseModel):
    """A checked root-cause note.

    refused: one reason a refused sentence or broken answer. unavailable: why the model gave no answer, if it did not.
    Whoever wrote it, the category is derived from the evidence, and so are headline and cause of a job whose scope is
    unknown or none; where no check of a model held, those of the diagnosis stand.
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
    refused: tuple[str, ...] = ()
    usage: Usage = Usage()
    unavailable: str = ""

    def draft(self) -> Draft:
        """Its sentences as a draft, which the check takes."""
        return Draft(
            headline=self.headline,
            cause=self.cause,
            happened=list(self.happened),
            check_first=list(self.check_first),
            fix=list(self.fix),
            category=self.category,
            open_questions=list(self.open_questions),
        )


TITLES = {"happened": "What happened", "check_first": "Check first", "fix": "Fix", "open_questions": "Open"}


def plain(note: Note) -> tuple[str, ...]:
    """The note as lines of plain text: headline, cause, and its lists under their titles."""
    lines = [_line(note.headline), f"Cause: {_line(note.cause)}"]
    for field, title in TITLES.items():
        sentences: tuple[Sentence, ...] = getattr(note, field)
        if sentences:
            lines += [f"{title}:", *(f"- {_line(sentence)}" for sentence in sentences)]
    lines.append(f"Category: {note.category}")
    return tuple(lines)


def _line(sentence: Sentence) -> str:
    return f"{sentence.text} [{', '.join(sentence.cites)}]" if sentence.cites else sentence.text
