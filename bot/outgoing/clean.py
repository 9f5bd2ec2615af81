"""What may leave the process: no secret of a log stands in it, and no text that no file can hold."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from bot.outgoing.redact import Redactor
from bot.text.harmless import storable
from core.logs.context import Excerpt, Place
from core.model import Diagnosis, EventEvidence, Evidence, Line, NodeEvidence

E = TypeVar("E", bound=Evidence)


def cleaned(diagnosis: Diagnosis) -> Diagnosis:
    """The diagnosis without secrets; the same secret has the same placeholder everywhere in it."""
    redactor = Redactor()

    def clean(text: str) -> str:
        return redactor.redact(storable(text))

    def lines(found: tuple[Line, ...]) -> tuple[Line, ...]:
        return tuple(replace(line, text=clean(line.text)) for line in found)

    def each(evidence: tuple[E, ...]) -> tuple[E, ...]:
        return tuple(
            replace(evidence_item, because=clean(evidence_item.because), lines=lines(evidence_item.lines))
            for evidence_item in evidence
        )

    def event(event: EventEvidence) -> EventEvidence:
        return replace(event, template=clean(event.template))

    def suspect(node: NodeEvidence) -> NodeEvidence:
        return replace(node, reasons=tuple(map(clean, node.reasons)))

    return replace(
        diagnosis,
        headline=clean(diagnosis.headline),
        why=tuple(map(clean, diagnosis.why)),
        checks=tuple(map(clean, diagnosis.checks)),
        events=tuple(map(event, each(diagnosis.events))),
        nodes=tuple(map(suspect, each(diagnosis.nodes))),
        iterations=each(diagnosis.iterations),
        metrics=each(diagnosis.metrics),
        stacks=tuple(map(clean, diagnosis.stacks)),
        skipped=tuple(replace(skip, reason=clean(skip.reason)) for skip in diagnosis.skipped),
        next=replace(diagnosis.next, because=clean(diagnosis.next.because)) if diagnosis.next else None,
        facts={name: clean(value) for name, value in diagnosis.facts.items()},
    )


def cleaned_excerpts(excerpts: Mapping[Place, Excerpt]) -> dict[Place, Excerpt]:
    """Raw lines without secrets."""
    redactor = Redactor()
    return {
        place: replace(excerpt, lines=tuple(replace(line, text=redactor.redact(line.text)) for line in excerpt.lines))
        for place, excerpt in excerpts.items()
    }
