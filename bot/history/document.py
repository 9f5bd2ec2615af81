"""The JSON of a history, ``firstfault.history/1`` (docs/how-to/history.md)."""

import json
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from bot.harmless import storable
from bot.wording import iso
from core.history.accounting import Part
from core.history.history import History

SCHEMA: Final = "firstfault.history/1"
Number = Annotated[float, PlainSerializer(lambda value: round(value, 4), return_type=float)]
Parts = Annotated[dict[str, float], Field(description="seconds by part")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, serialize_by_alias=True, validate_by_name=True)


class AttemptDocument(_Part):
    """An attempt: when, which iterations, what ended it, and where its time went; down is the time after it."""

    name: str
    start: str | None
    end: str | None
    clock: str = Field(description="where start and end are from")
    first_iteration: int | None
    last_iteration: int | None
    ended: str
    cause: str
    suspects: tuple[str, ...]
    spent: Parts


class CauseDocument(_Part):
    """What ended attempts, and what that cost: recomputed, stalled, down, and the next start."""

    cause: str
    planned: bool
    attempts: tuple[str, ...]
    lost: Parts
    total: Number


class MtbfDocument(_Part):
    """Hours under way for each unplanned end, with the exact interval of 95 %."""

    failures: int
    under_way_hours: Number
    hours: Number | None
    low: Number
    high: Number | None


class RepeaterDocument(_Part):
    """A node that is named more often than chance explains."""

    node: str
    incidents: int
    kinds: dict[str, int]
    chance: float


class ChangeDocument(_Part):
    """What differs between an attempt and the last good one before it."""

    attempt: str
    good: str
    changes: tuple[str, ...]
    ended: str
    new: bool = Field(description="no attempt before it ended so")


class SavingDocument(_Part):
    """How often to save; a range where failures are few."""

    stops_seconds: Number
    best_seconds: tuple[Number, Number]
    best_iterations: tuple[int, int]
    present_seconds: Number | None


class HistoryDocument(_Part):
    """The history of a run; ``parts`` add up to ``wall``, in seconds with milliseconds."""

    model_config = ConfigDict(title=SCHEMA)

    schema_: Literal["firstfault.history/1"] = Field(default=SCHEMA, alias="schema")
    run: str
    wall: float
    parts: Parts
    ettr: Number | None = Field(description="productive over wall")
    slow: float = Field(description="seconds that kept iterations took beyond the median; they are productive")
    causes: tuple[CauseDocument, ...]
    mtbf: MtbfDocument
    recover_seconds: tuple[float, ...]
    repeaters: tuple[RepeaterDocument, ...]
    back_from_repair: dict[str, Number] = Field(description="days since a suspect came back from repair")
    changes: tuple[ChangeDocument, ...]
    saving: SavingDocument | None
    standbys: dict[str, tuple[int, int]] = Field(description="by hours until one is replaced: from, to")
    attempts: tuple[AttemptDocument, ...]
    problems: tuple[str, ...]


def to_document(told: History) -> HistoryDocument:
    """The history as other programs read it."""
    run, saving = told.account, told.saving
    return HistoryDocument(
        run=storable(told.name),
        wall=run.wall / 1000,
        parts=_parts(run.parts),
        ettr=run.ettr,
        slow=run.slow / 1000,
        causes=tuple(
            CauseDocument(
                cause=storable(one.name),
                planned=one.planned,
                attempts=tuple(map(storable, one.attempts)),
                lost={str(part): value / 1000 for part, value in one.lost.items() if value},
                total=one.total / 1000,
            )
            for one in told.causes
        ),
        mtbf=MtbfDocument(
            failures=told.mtbf.failures,
            under_way_hours=told.mtbf.under_way,
            hours=told.mtbf.hours,
            low=told.mtbf.low,
            high=told.mtbf.high,
        ),
        recover_seconds=tuple(value / 1000 for value in told.recoveries),
        repeaters=tuple(
            RepeaterDocument(
                node=storable(one.node),
                incidents=one.incidents,
                kinds=dict(one.kinds),
                chance=float(f"{one.chance:.2e}"),
            )
            for one in told.repeaters
        ),
        back_from_repair={storable(node): days for node, days in told.back.items()},
        changes=tuple(
            ChangeDocument(
                attempt=storable(one.attempt),
                good=storable(one.good),
                changes=tuple(map(storable, one.phrases)),
                ended=storable(one.ended),
                new=one.new,
            )
            for one in told.changes
        ),
        saving=None
        if saving is None
        else SavingDocument(
            stops_seconds=saving.saving,
            best_seconds=saving.best,
            best_iterations=saving.iterations,
            present_seconds=saving.present,
        ),
        standbys={f"{hours:g}": numbers for hours, numbers in told.standbys.items()},
        attempts=_attempts(told),
        problems=tuple(map(storable, told.problems)),
    )


def to_json(document: HistoryDocument) -> str:
    """ASCII that ends with a newline."""
    return json.dumps(document.model_dump(mode="json"), indent=2, allow_nan=False).replace("\x7f", "\\u007f") + "\n"


def schema_text() -> str:
    """The JSON schema, as it stands in docs/."""
    schema = HistoryDocument.model_json_schema(mode="serialization")
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2) + "\n"


def _attempts(told: History) -> tuple[AttemptDocument, ...]:
    return tuple(
        AttemptDocument(
            name=storable(one.name),
            start=iso(one.start * 1000),
            end=iso(one.end * 1000),
            clock=one.clock,
            first_iteration=int(one.numbers[0]) if len(one.numbers) else None,
            last_iteration=int(one.numbers[-1]) if len(one.numbers) else None,
            ended=one.ended,
            cause=storable(one.cause),
            suspects=tuple(storable(suspect.node) for suspect in one.suspects),
            spent=_parts(spent),
        )
        for one, spent in zip(told.account.attempts, told.account.spent, strict=True)
    )


def _parts(parts: dict[Part, int]) -> dict[str, float]:
    return {str(part): value / 1000 for part, value in parts.items()}
