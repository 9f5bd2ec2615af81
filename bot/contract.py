"""The JSON of a diagnosis, ``firstfault.diagnosis/1``: what other programs rely on (docs/reference/json.md).

The same diagnosis gives the same bytes: fields in a fixed order, numbers with four digits, ASCII only.
"""

import json
from collections.abc import Sequence

from bot.documents import (
    CostDocument,
    CoverageDocument,
    DiagnosisDocument,
    EventDocument,
    IterationDocument,
    LineDocument,
    MatchDocument,
    MetricDocument,
    NextDocument,
    NodeDocument,
    NoteDocument,
    SentenceDocument,
    SkippedDocument,
)
from bot.harmless import storable
from bot.known import KnownFault
from bot.note.note import Note
from bot.note.sentence import Sentence
from bot.wording import iso
from core.model import Diagnosis, EventEvidence, IterationEvidence, Line, MetricEvidence, NextStep, NodeEvidence

MAX_TEXT = 4_000  # characters of a line; a longer one keeps its head, and the log has the rest


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
        metrics=tuple(_metric(one) for one in diagnosis.metrics),
        next=_next(diagnosis.next) if diagnosis.next else None,
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
            broken_lines=coverage.broken_lines,
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


def _metric(evidence: MetricEvidence) -> MetricDocument:
    return MetricDocument(
        id=evidence.id,
        metric=_text(evidence.metric),
        who=_text(evidence.who),
        score=evidence.score,
        because=_text(evidence.because),
        since=iso(evidence.since),
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
        reading=_texts(note.reading),
        refused=_texts(note.refused),
        unavailable=_text(note.unavailable),
    )


def _next(step: NextStep) -> NextDocument:
    cost = CostDocument(node_hours=step.cost.node_hours, sentence=_text(step.cost.sentence))
    return NextDocument(
        action=step.action,
        because=_text(step.because),
        cost=cost,
        unless=_text(step.unless),
        then=_text(step.then),
        nodes=_texts(step.nodes),
    )


def _sentence(sentence: Sentence) -> SentenceDocument:
    return SentenceDocument(text=_text(sentence.text), cites=tuple(sentence.cites))


def _lines(lines: Sequence[Line]) -> tuple[LineDocument, ...]:
    return tuple(LineDocument(file=_text(line.file), line=line.line, text=_text(line.text)) for line in lines)


def _texts(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(_text(value) for value in values)


def _text(value: str) -> str:
    return storable(value if len(value) <= MAX_TEXT else value[: MAX_TEXT - 1] + "…")
