"""What the JSON of a diagnosis is made of, as pydantic models: their fields are the contract (json.md)."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from bot.note.note import Author
from core.model import Action, Confidence, Role, Scope, Stage

SCHEMA: Final = "firstfault.diagnosis/1"

Score = Annotated[float, Field(ge=0, le=1), PlainSerializer(lambda value: round(value, 4), return_type=float)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, serialize_by_alias=True, validate_by_name=True)


class LineDocument(_Part):
    """A log line; ``file`` is relative to the job folder, ``line`` counts from 1 at newlines of the unpacked text."""

    file: str
    line: int
    text: str


class EventDocument(_Part):
    """An event that points at the failure; ``event`` is its template id, as in ``firstfault events``."""

    id: str
    event: str
    template: str
    role: Role
    score: Score
    count: int
    nodes: tuple[str, ...]
    stage: Stage
    iterations: tuple[int, ...]
    because: str
    lines: tuple[LineDocument, ...]
    first_time: str | None = Field(description="ISO 8601, clock of the job; null when no clock was readable")


class NodeDocument(_Part):
    """A suspect, with the events above that speak against it."""

    id: str
    node: str
    ranks: tuple[int, ...]
    score: Score
    because: str
    events: tuple[str, ...]
    lines: tuple[LineDocument, ...]


class IterationDocument(_Part):
    """An iteration that differs from the ones before it."""

    id: str
    iteration: int
    score: Score
    because: str
    events: tuple[str, ...]
    lines: tuple[LineDocument, ...]


class MetricDocument(_Part):
    """What a metric beside the logs tells."""

    id: str
    metric: str
    who: str = Field(description='node, "rank 3", or job; with the part of a node in brackets')
    score: Score
    because: str
    since: str | None = Field(description="ISO 8601; null where no sample has a time")
    lines: tuple[LineDocument, ...] = Field(description="samples, with the name of their series as text")


class MatchDocument(_Part):
    """A fault pattern of the library that fits the job; ``exact``: its cause is in the job, not only symptoms."""

    id: str
    pattern: str
    version: int
    title: str
    category: str
    subtype: str
    cause: str
    fix: str
    exact: bool
    agrees: bool = Field(description="the diagnosis counts one of its events among those that point at the failure")
    score: Score
    because: str
    events: tuple[str, ...]
    sources: tuple[str, ...]
    seed: bool = Field(description="from public facts; nobody of the team has confirmed it")
    confirmed_by: str
    confirmed_at: str


class SentenceDocument(_Part):
    """A sentence of a note, with the ids of the evidence that it stands on."""

    text: str
    cites: tuple[str, ...]


class NoteDocument(_Part):
    """The drafted root cause: every sentence but the reading is a claim that code made; nobody has confirmed it."""

    author: Author = Field(description="who chose and ordered the claims: model or code; repaired by older versions")
    model: str
    headline: SentenceDocument
    cause: SentenceDocument
    happened: tuple[SentenceDocument, ...]
    check_first: tuple[SentenceDocument, ...]
    fix: tuple[SentenceDocument, ...]
    category: str
    open_questions: tuple[SentenceDocument, ...]
    reading: tuple[str, ...] = Field(
        default=(), description="the model's guess, not checked: at most three sentences that name nothing unknown"
    )
    refused: tuple[str, ...] = Field(description="why parts of a model's answer are not here, for whoever debugs it")
    unavailable: str = Field(description="why the model gave no answer, if it gave none")


class CostDocument(_Part):
    """What an action costs."""

    node_hours: Annotated[float, PlainSerializer(lambda value: round(value, 4), return_type=float)] | None = Field(
        description="null where the logs do not tell what it is made of"
    )
    sentence: str


class NextDocument(_Part):
    """What to do next, by a table (docs/explain/next-step.md); Firstfault does none of it."""

    action: Action
    because: str
    cost: CostDocument
    unless: str = Field(description="what would change it; empty where nothing would")
    then: str = Field(description="what comes after it if the job fails again; empty where nothing does")
    nodes: tuple[str, ...] = Field(description="whom it is about; empty: all, or nobody")


class SkippedDocument(_Part):
    """A step that could not run, and why."""

    step: str
    reason: str


class CoverageDocument(_Part):
    """How much was read, and how much was not."""

    files: int
    lines: int
    bytes: int
    ranks: int
    baseline_jobs: int
    ranks_expected: int | None
    ranks_missing: tuple[int, ...]
    nodes: int
    nodes_missing: tuple[str, ...]
    unreadable_files: tuple[str, ...]
    undecodable_lines: int
    broken_lines: int
    baseline_ids: tuple[str, ...]
    dumps: int


class DiagnosisDocument(_Part):
    """A diagnosis of one job: ``events`` and ``nodes`` most telling first, ``nodes`` empty unless scope is ``node``."""

    model_config = ConfigDict(title=SCHEMA)

    schema_: Literal["firstfault.diagnosis/1"] = Field(default=SCHEMA, alias="schema")
    job: str
    scope: Scope
    confidence: Confidence
    headline: str
    events: tuple[EventDocument, ...]
    nodes: tuple[NodeDocument, ...]
    stage: Stage
    iterations: tuple[IterationDocument, ...]
    matches: tuple[MatchDocument, ...] = Field(description="known faults that fit or look like this")
    note: NoteDocument | None = Field(description="the drafted root cause")
    metrics: tuple[MetricDocument, ...] = Field(
        default=(), exclude_if=lambda found: not found, description="of jobs with metrics/ that tell something"
    )
    next: NextDocument | None = Field(
        default=None, description="what to do next; null of the paper's own method, and where nothing was judged"
    )
    skipped: tuple[SkippedDocument, ...]
    coverage: CoverageDocument
    why: tuple[str, ...] = Field(description="sentences behind scope and confidence")
    checks: tuple[str, ...] = Field(description="what to check first, most telling first")
    method: str
    facts: dict[str, str] = Field(description="what the manifest and the logs say of the job")
