"""What a note is made of: a sentence with the ids of the evidence that it stands on, and whose fault it is."""

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

MAX_TEXT = 1_200  # characters; a pattern's cause is shown whole, and the longest of the library has 600
MAX_CITES = 8

Text = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=8)]


class Category(StrEnum):
    """Whose fault it is (L4's taxonomy, table 1)."""

    HARDWARE = "hardware"
    USER = "user"
    FRAMEWORK = "framework"
    PLATFORM = "platform"
    UNKNOWN = "unknown"


class Sentence(BaseModel):
    """One sentence or a few that belong together, and the ids of the evidence that they stand on."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    text: Text
    cites: Annotated[list[Id], Field(max_length=MAX_CITES)]
