"""The JSON of a history, ``firstfault.history/1`` (docs/how-to/history.md).

Pydantic reads the fields from the values of the core; where a field has another name or unit there, it says so.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AliasPath, ConfigDict, Field

from bot.report.json_document import Document, Name, Number, made_by
from bot.text.wording import iso
from core.history.accounting import Account
from core.history.history import History

SCHEMA: Final = "firstfault.history/1"


def _by_hours(numbers: Mapping[float, Any]) -> dict[str, Any]:
    return {f"{hours:g}": number for hours, number in numbers.items()}


def _in_seconds(parts: Mapping[str, int]) -> dict[str, float]:
    return {str(part): value / 1000 for part, value in parts.items()}


def _that_cost(parts: Mapping[str, int]) -> dict[str, float]:
    return _in_seconds({part: value for part, value in parts.items() if value})


_OF_MILLISECONDS = made_by(lambda milliseconds: milliseconds / 1000)
Seconds = Annotated[float, _OF_MILLISECONDS]
Parts = Annotated[dict[str, float], made_by(_in_seconds), Field(description="seconds by part")]


class AttemptDocument(Document):
    """An attempt: when, which iterations, what ended it, and where its time went; down is the time after it."""

    name: Name
    start: str | None
    end: str | None
    clock: str = Field(description="where start and end are from")
    first_iteration: int | None
    last_iteration: int | None
    ended: str
    cause: Name
    suspects: tuple[Name, ...]
    spent: Parts


def _attempts(account: Account) -> list[dict[str, Any]]:
    return [
        {
            "name": attempt.name,
            "start": iso(attempt.start * 1000),
            "end": iso(attempt.end * 1000),
            "clock": attempt.clock,
            "first_iteration": int(attempt.numbers[0]) if len(attempt.numbers) else None,
            "last_iteration": int(attempt.numbers[-1]) if len(attempt.numbers) else None,
            "ended": attempt.ended,
            "cause": attempt.cause,
            "suspects": [suspect.node for suspect in attempt.suspects],
            "spent": spent,
        }
        for attempt, spent in zip(account.attempts, account.spent, strict=True)
    ]


class CauseDocument(Document):
    """What ended attempts, and what that cost: recomputed, stalled, down, and the next start."""

    cause: Name = Field(validation_alias="name")
    planned: bool
    attempts: tuple[Name, ...]
    lost: Annotated[dict[str, float], made_by(_that_cost)] = Field(description="seconds by part")
    total: Annotated[Number, _OF_MILLISECONDS]


class MtbfDocument(Document):
    """Hours under way for each unplanned end, with the exact interval of 95 %."""

    failures: int
    under_way_hours: Number = Field(validation_alias="under_way")
    hours: Number | None
    low: Number
    high: Number | None


class RepeaterDocument(Document):
    """A node that is named more often than chance explains."""

    node: Name
    incidents: int
    kinds: dict[str, int]
    chance: Annotated[float, made_by(lambda chance: float(f"{chance:.2e}"))]


class ChangeDocument(Document):
    """What differs between an attempt and the last good one before it."""

    attempt: Name
    good: Name
    changes: tuple[Name, ...] = Field(validation_alias="phrases")
    ended: Name
    new: bool = Field(description="no attempt before it ended so")
    gone: Name = Field(description="what had ended the attempt before, and came back in none since the change")


class SavingDocument(Document):
    """How often to save; a range where failures are few."""

    stops_seconds: Number = Field(validation_alias="saving")
    best_seconds: tuple[Number, Number] = Field(validation_alias="best")
    best_iterations: tuple[int, int] = Field(validation_alias="iterations")
    present_seconds: Number | None = Field(validation_alias="present")
    lost_now: Annotated[Number | None, made_by(lambda lost: lost and lost[0])] = Field(
        validation_alias="lost", description="share of the time, with all restarts, at the present interval"
    )
    lost_at_best: Annotated[Number | None, made_by(lambda lost: lost and lost[1])] = Field(
        validation_alias="lost", description="the same at the best one"
    )


class OwnStandbysDocument(Document):
    """Standbys by the faults that there were, in 99 % of all spans; apart: those that failed together count once."""

    days: Number
    all: int
    apart: int
    batches: int
    largest: int


class WindowsDocument(Document):
    """The share of time that was productive, by windows of so many seconds in the order of their ends."""

    seconds: Annotated[Number, _OF_MILLISECONDS] = Field(validation_alias="length")
    ends: Annotated[tuple[str | None, ...], made_by(lambda ends: tuple(iso(end * 1000) for end in ends.tolist()))]
    ettr: Annotated[tuple[float, ...], made_by(lambda shares: tuple(round(share, 4) for share in shares.tolist()))] = (
        Field(validation_alias="shares")
    )


class HistoryDocument(Document):
    """The history of a run; ``parts`` add up to ``wall``, in seconds with milliseconds."""

    model_config = ConfigDict(title=SCHEMA)

    schema_: Literal["firstfault.history/1"] = Field(default=SCHEMA, alias="schema")
    run: Name = Field(validation_alias="name")
    wall: Seconds = Field(validation_alias=AliasPath("account", "wall"))
    parts: Parts = Field(validation_alias=AliasPath("account", "parts"))
    ettr: Number | None = Field(validation_alias=AliasPath("account", "ettr"), description="productive over wall")
    ettr_by_ranks: Number | None = Field(
        validation_alias=AliasPath("account", "ettr_by_ranks"),
        description="the same in hours of all ranks, where their number changes",
    )
    slow: Seconds = Field(
        validation_alias=AliasPath("account", "slow"),
        description="seconds that kept iterations took beyond the median; they are productive",
    )
    windows: WindowsDocument | None = Field(description="with --window")
    causes: tuple[CauseDocument, ...]
    mtbf: MtbfDocument
    recover_seconds: tuple[Seconds, ...] = Field(validation_alias="recoveries")
    repeaters: tuple[RepeaterDocument, ...]
    back_from_repair: dict[Name, Number] = Field(
        validation_alias="back", description="days since a suspect came back from repair"
    )
    changes: tuple[ChangeDocument, ...]
    saving: SavingDocument | None
    standbys: Annotated[dict[str, tuple[int, int]], made_by(_by_hours)] = Field(
        description="by hours until one is replaced: from, to"
    )
    standbys_own: Annotated[dict[str, OwnStandbysDocument], made_by(_by_hours)] = Field(
        validation_alias="own", description="the same by its own faults, from 60 days on"
    )
    incidents: int = Field(description="of nodes within 28 days")
    told_from: int = Field(description="incidents that a node must have had to be told from chance; 0: none can be")
    attempts: Annotated[tuple[AttemptDocument, ...], made_by(_attempts)] = Field(validation_alias="account")
    problems: tuple[Name, ...]


def to_document(history: History) -> HistoryDocument:
    """The history as other programs read it."""
    return HistoryDocument.model_validate(history)
