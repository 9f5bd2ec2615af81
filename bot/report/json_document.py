"""How every JSON answer of the program is made: frozen pydantic models whose fields are the contract.

The same values give the same bytes: fields in a fixed order, numbers with a fixed count of digits, ASCII only.
"""

import json
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, ValidationInfo

from bot.text.harmless import storable

MAX_TEXT = 4_000  # characters of a line; a longer one keeps its head, and the log has the rest

Number = Annotated[float, PlainSerializer(lambda value: round(value, 4), return_type=float)]
Score = Annotated[float, Field(ge=0, le=1), PlainSerializer(lambda value: round(value, 4), return_type=float)]


class Document(BaseModel):  # noqa: D101 its docstring would stand in the schema of each document
    model_config = ConfigDict(frozen=True, serialize_by_alias=True, validate_by_name=True, from_attributes=True)


def made_by(make: Callable[[Any], object]) -> BeforeValidator:
    """That a field is made of a value of the core so; of a document that is read again it is what stands there."""

    def read(value: object, info: ValidationInfo) -> object:
        return value if info.mode == "json" else make(value)

    return BeforeValidator(read)


def _storable_head(value: object) -> object:
    """Text that is UTF-8 for sure, cut at MAX_TEXT characters."""
    if not isinstance(value, str):
        return value
    return storable(value if len(value) <= MAX_TEXT else value[: MAX_TEXT - 1] + "…")


Text = Annotated[str, made_by(_storable_head)]
Name = Annotated[str, made_by(storable)]  # the whole of a text that is UTF-8 for sure


def to_json(document: Document) -> str:
    """The document as text that ends with a newline; ASCII, so that no locale and no terminal can change or obey it."""
    text = json.dumps(document.model_dump(mode="json"), indent=2, allow_nan=False)
    return text.replace("\x7f", "\\u007f") + "\n"
