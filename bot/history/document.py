"""The JSON of a history, ``firstfault.history/1`` (docs/how-to/history.md)."""

from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field

from bot.report.json_document import Document, Number
from bot.text.harmless import storable
from bot.text.wording import iso
from core.history.accounting import TimeUse
from core.history.history import History

SCHEMA: Final = "firstfault.history/1"
Parts = Annotated[dict[str, float], Field(description="seconds by part")]


class AttemptDocument(Document):
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


class CauseDocument(Document):
    """What ended attempts, and what that cost: recomputed, stalled, down, and the next start."""

    cause: str
    planned: bool
    attempts: tuple[str, ...]
    lost: Parts
    total: Number


class MtbfDocument(Document):
    """Hours under way for each unplanned end, with the exact interval of 95 %."""

    failures: int
    under_way_hours: Number
    hours: Number | None
    low: Number
    high: Number | None


class RepeaterDocument(Document):
    """A node that is named more often than chance explains."""

    node: str
    incidents: int
    kinds: dict[str, int]
    chance: float


class ChangeDocument(Document):
    """What differs between an attempt and the last good one before it."""

    attempt: str
    good: str
    changes: tuple[str, ...]
    ended: str
    new: bool = Field(description="no attempt before it ended so")
    gone: str = Field(description="what had ended the attempt before, and came back in none since the change")


class SavingDocument(Document):
    """How often to save; a range where failures are few."""

    stops_seconds: Number
    best_seconds: tuple[Number, Number]
    best_iterations: tuple[int, int]
    present_seconds: Number | None
    lost_now: Number | None = Field(description="share of the time, with all restarts, at the present interval")
    lost_at_best: Number | None = Field(description="the same at the best one")


class OwnStandbysDocument(Document):
    """Standbys by the faults that there were, in 99 % of all spans; apart: those that failed together count once."""

    days: Number
    all: int
    apart: int
    batches: int
    largest: int


class WindowsDocument(Document):
    """The share of time that was productive, by windows of so many seconds in the order of their ends."""

    seconds: Number
    ends: tuple[str | None, ...]
    ettr: tuple[float, ...]


class HistoryDocument(Document):
    """The history of a run; ``parts`` add up to ``wall``, in seconds with milliseconds."""

    model_config = ConfigDict(title=SCHEMA)

    schema_: Literal["firstfault.history/1"] = Field(default=SCHEMA, alias="schema")
    run: str
    wall: float
    parts: Parts
    ettr: Number | None = Field(description="productive over wall")
    ettr_by_ranks: Number | None = Field(description="the same in hours of all ranks, where their number changes")
    slow: float = Field(description="seconds that kept iterations took beyond the median; they are productive")
    windows: WindowsDocument | None = Field(description="with --window")
    causes: tuple[CauseDocument, ...]
    mtbf: MtbfDocument
    recover_seconds: tuple[float, ...]
    repeaters: tuple[RepeaterDocument, ...]
    back_from_repair: dict[str, Number] = Field(description="days since a suspect came back from repair")
    changes: tuple[ChangeDocument, ...]
    saving: SavingDocument | None
    standbys: dict[str, tuple[int, int]] = Field(description="by hours until one is replaced: from, to")
    standbys_own: dict[str, OwnStandbysDocument] = Field(description="the same by its own faults, from 60 days on")
    incidents: int = Field(description="of nodes within 28 days")
    told_from: int = Field(description="incidents that a node must have had to be told from chance; 0: none can be")
    attempts: tuple[AttemptDocument, ...]
    problems: tuple[str, ...]


def to_document(history: History) -> HistoryDocument:
    """The history as other programs read it."""
    run = history.account
    return HistoryDocument(
        run=storable(history.name),
        wall=run.wall / 1000,
        parts=_parts(run.parts),
        ettr=run.ettr,
        ettr_by_ranks=run.ettr_by_ranks,
        slow=run.slow / 1000,
        windows=_windows(history),
        causes=_causes(history),
        mtbf=MtbfDocument(
            failures=history.mtbf.failures,
            under_way_hours=history.mtbf.under_way,
            hours=history.mtbf.hours,
            low=history.mtbf.low,
            high=history.mtbf.high,
        ),
        recover_seconds=tuple(value / 1000 for value in history.recoveries),
        repeaters=_repeaters(history),
        back_from_repair={storable(node): days for node, days in history.back.items()},
        changes=_changes(history),
        saving=_saving(history),
        standbys={f"{hours:g}": numbers for hours, numbers in history.standbys.items()},
        standbys_own=_own_standbys(history),
        incidents=history.incidents,
        told_from=history.told_from,
        attempts=_attempts(history),
        problems=tuple(map(storable, history.problems)),
    )


def _windows(history: History) -> WindowsDocument | None:
    windows = history.windows
    if windows is None:
        return None
    return WindowsDocument(
        seconds=windows.length / 1000,
        ends=tuple(iso(end * 1000) for end in windows.ends.tolist()),
        ettr=tuple(round(share, 4) for share in windows.shares.tolist()),
    )


def _causes(history: History) -> tuple[CauseDocument, ...]:
    return tuple(
        CauseDocument(
            cause=storable(cause.name),
            planned=cause.planned,
            attempts=tuple(map(storable, cause.attempts)),
            lost={str(part): value / 1000 for part, value in cause.lost.items() if value},
            total=cause.total / 1000,
        )
        for cause in history.causes
    )


def _repeaters(history: History) -> tuple[RepeaterDocument, ...]:
    return tuple(
        RepeaterDocument(
            node=storable(repeater.node),
            incidents=repeater.incidents,
            kinds=dict(repeater.kinds),
            chance=float(f"{repeater.chance:.2e}"),
        )
        for repeater in history.repeaters
    )


def _changes(history: History) -> tuple[ChangeDocument, ...]:
    return tuple(
        ChangeDocument(
            attempt=storable(change.attempt),
            good=storable(change.good),
            changes=tuple(map(storable, change.phrases)),
            ended=storable(change.ended),
            new=change.new,
            gone=storable(change.gone),
        )
        for change in history.changes
    )


def _saving(history: History) -> SavingDocument | None:
    saving = history.saving
    if saving is None:
        return None
    return SavingDocument(
        stops_seconds=saving.saving,
        best_seconds=saving.best,
        best_iterations=saving.iterations,
        present_seconds=saving.present,
        lost_now=saving.lost[0] if saving.lost else None,
        lost_at_best=saving.lost[1] if saving.lost else None,
    )


def _own_standbys(history: History) -> dict[str, OwnStandbysDocument]:
    return {
        f"{hours:g}": OwnStandbysDocument(
            days=own.days, all=own.all, apart=own.apart, batches=own.batches, largest=own.largest
        )
        for hours, own in history.own.items()
    }


def _attempts(history: History) -> tuple[AttemptDocument, ...]:
    return tuple(
        AttemptDocument(
            name=storable(attempt.name),
            start=iso(attempt.start * 1000),
            end=iso(attempt.end * 1000),
            clock=attempt.clock,
            first_iteration=int(attempt.numbers[0]) if len(attempt.numbers) else None,
            last_iteration=int(attempt.numbers[-1]) if len(attempt.numbers) else None,
            ended=attempt.ended,
            cause=storable(attempt.cause),
            suspects=tuple(storable(suspect.node) for suspect in attempt.suspects),
            spent=_parts(spent),
        )
        for attempt, spent in zip(history.account.attempts, history.account.spent, strict=True)
    )


def _parts(parts: dict[TimeUse, int]) -> dict[str, float]:
    return {str(part): value / 1000 for part, value in parts.items()}
