"""What a language model is asked for: an order of claims by id with joins, and at most three sentences of its own.

The schema names every id that may stand in a field, so that an endpoint which knows schemas cannot answer with others.
What is read is read field by field: one that is broken costs itself and not the others.
"""

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model

from bot.note.claim import Claims, ClaimUse
from bot.note.joins import Join

# Chosen: what a note on a phone has room for; they bound the schema, and so the tokens (write.py).
MAX_HEADLINE, MAX_STEPS, MAX_CAUSE, MAX_TODO, MAX_READING = 2, 5, 2, 4, 3
MAX_READ = 20_000  # characters of an answer
MAX_SENTENCE = 300  # characters of a sentence of the model's own
T = TypeVar("T")


class Step(BaseModel):
    """A claim of what happened, how it is joined to the one before, and the id of a mechanism or ``none``."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    claim: str
    join: Join = Join.NONE
    because: str = "none"


class Plan(BaseModel):
    """A note as a model plans it; an empty field is written by code."""

    model_config = ConfigDict(frozen=True)

    headline: tuple[str, ...] = ()
    happened: tuple[Step, ...] = ()
    cause: tuple[str, ...] = ()
    to_do: tuple[str, ...] = ()
    reading: tuple[str, ...] = ()


def asked_for(claims: Claims) -> type[BaseModel]:
    """The shape of the answer, with the ids of these claims."""
    step = create_model(
        "Step",
        claim=(_one_of(claim.id for claim in claims.of(ClaimUse.HAPPENED)), ...),
        join=(_one_of(Join), ...),
        because=(_one_of(("none", *(reason.id for reason in claims.reasons))), ...),
    )
    actions = (*claims.of(ClaimUse.CHECK), *claims.of(ClaimUse.FIX))
    return create_model(
        "Plan",
        headline=(_some(_one_of(claim.id for claim in claims.of(ClaimUse.HEADLINE)), MAX_HEADLINE), ...),
        happened=(_some(step, MAX_STEPS), ...),
        cause=(_some(_one_of(claim.id for claim in claims.of(ClaimUse.CAUSE)), MAX_CAUSE), ...),
        to_do=(_some(_one_of(action.id for action in actions), MAX_TODO), ...),
        reading=(_some(str, MAX_READING), ...),
    )


def read_plan(text: str) -> Plan:
    """What of an answer can be read; an empty plan when nothing can."""
    if len(text) > MAX_READ:
        return Plan()
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        return Plan()
    if not isinstance(raw, dict):
        return Plan()
    return Plan(
        headline=tuple(_each(raw.get("headline"), str))[:MAX_HEADLINE],
        happened=tuple(_each(raw.get("happened"), Step))[:MAX_STEPS],
        cause=tuple(_each(raw.get("cause"), str))[:MAX_CAUSE],
        to_do=tuple(_each(raw.get("to_do"), str))[:MAX_TODO],
        reading=tuple(_each(raw.get("reading"), str))[:MAX_READING],
    )


def _each(value: object, kind: type[T]) -> Iterator[T]:
    """The readable ones of a list, or of a value that should have been one."""
    adapter = TypeAdapter(kind)
    for entry in value if isinstance(value, list) else [value]:
        try:
            yield adapter.validate_python(entry)
        except ValidationError:
            continue


def _one_of(values: Iterator[str] | tuple[str, ...] | type[Join]) -> Any:
    """A type that takes these values alone."""
    names = tuple(dict.fromkeys(str(value) for value in values))
    return Literal[names] if names else Literal["none"]


def _some(kind: Any, most: int) -> Any:
    return Annotated[list[kind], Field(max_length=most)]
