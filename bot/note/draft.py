"""What a language model is asked for: a flat draft of a note, every sentence with the ids that it stands on."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

MAX_TEXT = 400  # characters of a sentence; the longest claim of the examples has 240
MAX_CITES = 8
MAX_SENTENCES = 6  # of a list: a note is read at 3 a.m.
MAX_ANSWER = 20_000  # characters; the longest draft that the bounds allow has fewer
_MAX_PROBLEMS = 8  # of a broken draft that the model is told

Text = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=8)]


class Category(StrEnum):
    """Whose fault it is (L4's taxonomy, table 1)."""

    HARDWARE = "hardware"
    USER = "user"
    FRAMEWORK = "framework"
    PLATFORM = "platform"
    UNKNOWN = "unknown"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Sentence(_Part):
    """One sentence, and the ids of the evidence that it stands on."""

    text: Text
    cites: Annotated[list[Id], Field(max_length=MAX_CITES)]


Sentences = Annotated[list[Sentence], Field(max_length=MAX_SENTENCES)]


class Draft(_Part):
    """A note as a model drafts it; nothing of it is shown before it is checked."""

    headline: Sentence
    cause: Sentence
    happened: Sentences
    check_first: Sentences
    fix: Sentences
    category: Category
    open_questions: Sentences

    def places(self) -> Iterator[tuple[str, Sentence]]:
        """Every sentence with the field that it stands in, in reading order."""
        yield "headline", self.headline
        yield "cause", self.cause
        for field in ("happened", "check_first", "fix", "open_questions"):
            for sentence in getattr(self, field):
                yield field, sentence


class BrokenDraft(ValueError):
    """The answer is no draft; ``problems`` says why, in words for the model."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def read_draft(text: str) -> Draft:
    """The draft in a model's answer.

    Raises:
        BrokenDraft: it is no JSON object, or not one of this shape.
    """
    if len(text) > MAX_ANSWER:
        raise BrokenDraft((f"The answer has {len(text):,} characters; {MAX_ANSWER:,} are allowed.",))
    try:
        return Draft.model_validate_json(text)
    except ValidationError as trouble:
        raise BrokenDraft(
            tuple(_problem(error["loc"], error["msg"]) for error in trouble.errors()[:_MAX_PROBLEMS])
        ) from trouble


def _problem(place: tuple[int | str, ...], message: str) -> str:
    where = ".".join(map(str, place))[:80]
    return f"{where}: {message}" if where else message
