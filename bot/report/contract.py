"""The JSON of a diagnosis, ``firstfault.diagnosis/1``: what other programs rely on (docs/reference/json.md).

The fields of a document have the names of what they show, so that pydantic reads them from the values of the core, of
the note and of the library; what is not named here (what a call cost, in which other jobs a pattern was seen) changes
from day to day, and an answer does not.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field

from bot.note.note import Author, Note
from bot.report.json_document import Document, Number, Score, Text, made_by
from bot.text.known_fault import KnownFault
from bot.text.wording import iso
from core.model import Action, Confidence, Diagnosis, Role, Scope, Stage

SCHEMA: Final = "firstfault.diagnosis/1"
Time = Annotated[str | None, made_by(iso)]


class LineDocument(Document):
    """A log line; ``file`` is relative to the job folder, ``line`` counts from 1 at newlines of the unpacked text."""

    file: Text
    line: int
    text: Text


class EventDocument(Document):
    """An event that points at the failure; ``event`` is its template id, as in ``firstfault events``."""

    id: str
    event: str
    template: Text
    role: Role
    score: Score
    count: int
    nodes: tuple[Text, ...]
    stage: Stage
    iterations: tuple[int, ...]
    because: Text
    lines: tuple[LineDocument, ...]
    first_time: Time = Field(description="ISO 8601, clock of the job; null when no clock was readable")
    ordinary: bool = Field(description="well jobs print such a line too: a finding by numbers shows in it")


class NodeDocument(Document):
    """A suspect, with the events above that speak against it."""

    id: str
    node: Text
    ranks: tuple[int, ...]
    score: Score
    because: Text
    events: tuple[str, ...]
    lines: tuple[LineDocument, ...]


class IterationDocument(Document):
    """An iteration that differs from the ones before it."""

    id: str
    iteration: int
    score: Score
    because: Text
    events: tuple[str, ...]
    lines: tuple[LineDocument, ...]


class MetricDocument(Document):
    """What a metric beside the logs tells."""

    id: str
    metric: Text
    who: Text = Field(description='node, "rank 3", or job; with the part of a node in brackets')
    score: Score
    because: Text
    since: Time = Field(description="ISO 8601; null where no sample has a time")
    lines: tuple[LineDocument, ...] = Field(description="samples, with the name of their series as text")


class MatchDocument(Document):
    """A fault pattern of the library that fits the job; ``exact``: its cause is in the job, not only symptoms."""

    id: str
    pattern: str
    version: int
    title: Text
    category: str
    subtype: Text
    cause: Text
    fix: Text
    exact: bool
    agrees: bool = Field(description="the diagnosis counts one of its events among those that point at the failure")
    score: Score
    because: Text
    events: tuple[str, ...]
    sources: tuple[Text, ...]
    seed: bool = Field(description="from public facts; nobody of the team has confirmed it")
    confirmed_by: Text
    confirmed_at: str
    confirmation: Text = Field(description="how it was confirmed; empty where nobody said so")


class SentenceDocument(Document):
    """A sentence of a note, with the ids of the evidence that it stands on."""

    text: Text
    cites: tuple[str, ...]


class NoteDocument(Document):
    """The drafted root cause: every sentence but the reading is a claim that code made; nobody has confirmed it."""

    author: Author = Field(description="who chose and ordered the claims: model or code; repaired by older versions")
    model: Text
    headline: SentenceDocument
    cause: SentenceDocument
    happened: tuple[SentenceDocument, ...]
    check_first: tuple[SentenceDocument, ...]
    fix: tuple[SentenceDocument, ...]
    category: str
    open_questions: tuple[SentenceDocument, ...]
    reading: tuple[Text, ...] = Field(
        default=(), description="the model's guess, not checked: at most three sentences that name nothing unknown"
    )
    refused: tuple[Text, ...] = Field(description="why parts of a model's answer are not here, for whoever debugs it")
    unavailable: Text = Field(description="why the model gave no answer, if it gave none")


class CostDocument(Document):
    """What an action costs."""

    node_hours: Number | None = Field(description="null where the logs do not tell what it is made of")
    sentence: Text


class NextDocument(Document):
    """What to do next, by a table (docs/explain/next-step.md); Firstfault does none of it."""

    action: Action
    because: Text
    cost: CostDocument
    unless: Text = Field(description="what would change it; empty where nothing would")
    then: Text = Field(description="what comes after it if the job fails again; empty where nothing does")
    nodes: tuple[Text, ...] = Field(description="whom it is about; empty: all, or nobody")


class SkippedDocument(Document):
    """A step that could not run, and why."""

    step: Text
    reason: Text


class CoverageDocument(Document):
    """How much was read, and how much was not."""

    files: int
    lines: int
    bytes: int
    ranks: int
    baseline_jobs: int
    ranks_expected: int | None
    ranks_missing: tuple[int, ...]
    nodes: int
    nodes_missing: tuple[Text, ...]
    unreadable_files: tuple[Text, ...]
    undecodable_lines: int
    broken_lines: int
    baseline_ids: tuple[Text, ...]
    dumps: int


class DiagnosisDocument(Document):
    """A diagnosis of one job: ``events`` and ``nodes`` most telling first, ``nodes`` empty unless scope is ``node``."""

    model_config = ConfigDict(title=SCHEMA)

    schema_: Literal["firstfault.diagnosis/1"] = Field(default=SCHEMA, alias="schema")
    job: Text
    scope: Scope
    confidence: Confidence
    headline: Text
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
    why: tuple[Text, ...] = Field(description="sentences behind scope and confidence")
    checks: tuple[Text, ...] = Field(description="what to check first, most telling first")
    method: str
    facts: dict[Text, Text] = Field(description="what the manifest and the logs say of the job")


def to_contract(diagnosis: Diagnosis, known: Sequence[KnownFault] = (), note: Note | None = None) -> DiagnosisDocument:
    """The diagnosis as other programs read it, with the known faults beside it and the note."""
    shown = {field.name: getattr(diagnosis, field.name) for field in fields(diagnosis)}
    return DiagnosisDocument.model_validate({**shown, "matches": tuple(known), "note": note})
