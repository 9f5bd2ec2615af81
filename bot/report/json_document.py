"""How every JSON answer of the program is made: frozen pydantic models whose fields are the contract.

The same values give the same bytes: fields in a fixed order, numbers with a fixed count of digits, ASCII only.
"""

import json
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, ValidationInfo

from bot.text.harmless import storable

MAX_TEXT = 4_000  # characters of a line; a longer one keeps its head, and the log has the rest

Number = Annotated[float, PlainSerializer(lambda value: round(value, 4), return_type=float)]
Score = Annotated[float, Field(ge=0, le=1), PlainSerializer(lambda value: round(value, 4), return_type=float)]


class Document(BaseModel):  # noqa: D101 its docstring would stand in the schema of each document
    model_config = ConfigDict(frozen=True, serialize_by_alias=True, validate_by_name=True, from_attributes=True)


def _storable_head(value: object, info: ValidationInfo) -> object:
    """Text that is UTF-8 for sure, cut at MAX_TEXT characters; a document that is read again has that behind it."""
    if not isinstance(value, str) or info.mode == "json":
        return value
    return storable(value if len(value) <= MAX_TEXT else value[: MAX_TEXT - 1] + "…")


Text = Annotated[str, BeforeValidator(_storable_head)]


def to_json(document: Document) -> str:
    """The document as text that ends with a newline; ASCII, so that no locale and no terminal can change or obey it."""
    text = json.dumps(document.model_dump(mode="json"), indent=2, allow_nan=False)
    return text.replace("\x7f", "\\u007f") + "\n"
