"""The JSON of a diagnosis, ``firstfault.diagnosis/1``: what other programs rely on (docs/contract.md).

The same diagnosis gives the same bytes: fields in a fixed order, numbers with four digits, ASCII only.
"""

import json
from collections.abc import Sequence
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from bot.harmless import storable
from bot.known import KnownFault
from bot.note.draft import Sentence
from bot.note.note import Author, Note
from bot.wording import iso
from core.model import Confidence, Diagnosis, EventEvidence, IterationEvidence, Line, NodeEvidence, Role, Scope, Stage

SCHEMA: Final = "firstfault.diagnosis/1"
MAX_TEXT = 4_000  # characters of a line; a longer one keeps its head, and the log has the rest

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


class MatchDocument(_Part):
    """A fault pattern of the library that fits the job; ``exact``: its whole signature is in the job."""

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
    """The drafted root cause: code has held every sentence to the evidence that it cites; nobody has confirmed it."""

    author: Author = Field(description="model, repaired (after it was told what was refused), or code")
    model: str
    headline: SentenceDocument
    cause: SentenceDocument
    happened: tuple[SentenceDocument, ...]
    check_first: tuple[SentenceDocument, ...]
    fix: tuple[SentenceDocument, ...]
    category: str
    open_questions: tuple[SentenceDocument, ...]
    refused: tuple[str, ...] = Field(description="why sentences of the model are not here")
    unavailable: str = Field(description="why the model gave no answer, if it gave none")


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
    skipped: tuple[SkippedDocument, ...]
    coverage: CoverageDocument
    why: tuple[str, ...] = Field(description="sentences behind scope and confidence")
    checks: tuple[str, ...] = Field(description="what to check first, most telling first")
    method: str
    facts: dict[str, str] = Field(description="what the manifest and the logs say of the job")


def to_contract(diagnosis: Diagnosis, known: Sequence[KnownFault] = (), note: Note | None = None) -> DiagnosisDocument:
    """The diagnosis as other programs read it, with the known faults beside it and the note."""
    coverage = diagnosis.coverage
    return DiagnosisDocument(
        job=_text(diagnosis.job),
        scope=diagnosis.scope,
        confidence=diagnosis.confidence,
        headline=_text(diagnosis.headline),
        events=tuple(_event(event) for event in diagnosis.events),
        nodes=tuple(_node(node) for node in diagnosis.nodes),
        stage=diagnosis.stage,
        iterations=tuple(_iteration(iteration) for iteration in diagnosis.iterations),
        matches=tuple(_match(fault) for fault in known),
        note=_note(note) if note else None,
        skipped=tuple(SkippedDocument(step=_text(skip.step), reason=_text(skip.reason)) for skip in diagnosis.skipped),
        coverage=CoverageDocument(
            files=coverage.files,
            lines=coverage.lines,
            bytes=coverage.bytes,
            ranks=coverage.ranks,
            baseline_jobs=coverage.baseline_jobs,
            ranks_expected=coverage.ranks_expected,
            ranks_missing=coverage.ranks_missing,
            nodes=coverage.nodes,
            nodes_missing=_texts(coverage.nodes_missing),
            unreadable_files=_texts(coverage.unreadable_files),
            undecodable_lines=coverage.undecodable_lines,
            baseline_ids=_texts(coverage.baseline_ids),
            dumps=coverage.dumps,
        ),
        why=_texts(diagnosis.why),
        checks=_texts(diagnosis.checks),
        method=diagnosis.method,
        facts={_text(name): _text(value) for name, value in diagnosis.facts.items()},
    )


def to_json(document: DiagnosisDocument) -> str:
    """The document as text that ends with a newline; ASCII, so that no locale and no terminal can change or obey it."""
    text = json.dumps(document.model_dump(mode="json"), indent=2, allow_nan=False)
    return text.replace("\x7f", "\\u007f") + "\n"


def schema_text() -> str:
    """The JSON schema of the document, as it stands in docs/ (``pytest --update-golden`` writes it)."""
    schema = DiagnosisDocument.model_json_schema(mode="serialization")
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2) + "\n"


def _event(event: EventEvidence) -> EventDocument:
    return EventDocument(
        id=event.id,
        event=event.event,
        template=_text(event.template),
        role=event.role,
        score=event.score,
        count=event.count,
        nodes=_texts(event.nodes),
        stage=event.stage,
        iterations=event.iterations,
        because=_text(event.because),
        lines=_lines(event.lines),
        first_time=iso(event.first_time),
    )


def _node(node: NodeEvidence) -> NodeDocument:
    return NodeDocument(
        id=node.id,
        node=_text(node.node),
        ranks=node.ranks,
        score=node.score,
        because=_text(node.because),
        events=node.events,
        lines=_lines(node.lines),
    )


def _iteration(evidence: IterationEvidence) -> IterationDocument:
    return IterationDocument(
        id=evidence.id,
        iteration=evidence.iteration,
        score=evidence.score,
        because=_text(evidence.because),
        events=evidence.events,
        lines=_lines(evidence.lines),
    )


def _match(fault: KnownFault) -> MatchDocument:
    """Without the other jobs that it was seen in: those change from day to day, and an answer does not."""
    return MatchDocument(
        id=fault.id,
        pattern=fault.pattern,
        version=fault.version,
        title=_text(fault.title),
        category=fault.category,
        subtype=_text(fault.subtype),
        cause=_text(fault.cause),
        fix=_text(fault.fix),
        exact=fault.exact,
        agrees=fault.agrees,
        score=fault.score,
        because=_text(fault.because),
        events=fault.events,
        sources=_texts(fault.sources),
        seed=fault.seed,
        confirmed_by=_text(fault.confirmed_by),
        confirmed_at=fault.confirmed_at,
    )


def _note(note: Note) -> NoteDocument:
    """Without what it cost: tokens differ from call to call, and an answer does not."""
    return NoteDocument(
        author=note.author,
        model=_text(note.model),
        headline=_sentence(note.headline),
        cause=_sentence(note.cause),
        happened=tuple(map(_sentence, note.happened)),
        check_first=tuple(map(_sentence, note.check_first)),
        fix=tuple(map(_sentence, note.fix)),
        category=note.category,
        open_questions=tuple(map(_sentence, note.open_questions)),
        refused=_texts(note.refused),
        unavailable=_text(note.unavailable),
    )


def _sentence(sentence: Sentence) -> SentenceDocument:
    return SentenceDocument(text=_text(sentence.text), cites=tuple(sentence.cites))


def _lines(lines: Sequence[Line]) -> tuple[LineDocument, ...]:
    return tuple(LineDocument(file=_text(line.file), line=line.line, text=_text(line.text)) for line in lines)


def _texts(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(_text(value) for value in values)


def _text(value: str) -> str:
    return storable(value if len(value) <= MAX_TEXT else value[: MAX_TEXT - 1] + "…")
