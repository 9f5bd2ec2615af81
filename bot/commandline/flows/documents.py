"""The JSON of a capture's answer, ``firstfault.flows/1``: its fields are the contract (docs/how-to/flows.md).

The same answer gives the same bytes: fields in a fixed order, times in microseconds of a second, ASCII only.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field, PlainSerializer

from bot.report.json_document import Document, Number
from bot.text.harmless import storable
from core.flows.answer import FlowFinding, FlowsAnswer, JobAnswer, Subject

SCHEMA: Final = "firstfault.flows/1"

Seconds = Annotated[float, PlainSerializer(lambda value: round(value, 6), return_type=float)]


class ParallelismDocument(Document):
    """Sizes of the groups; null when unknown."""

    dp: int | None
    pp: int | None
    tp: int | None


class FlowGroupDocument(Document):
    """NICs that do something together; of a pipeline the first stage comes first."""

    id: str
    kind: Literal["dp", "pp", "ep", "emb", "tp"]
    nics: tuple[str, ...]


class PairDocument(Document):
    """Two NICs with a connection of their own, and what for."""

    a: str
    b: str
    kind: Literal["dp", "pp", "ep", "emb", "tp"]


class StepDocument(Document):
    """A step of training, from the end of the last one's communication to the end of its own; the index is ours."""

    index: int
    start: Seconds
    end: Seconds
    duration: Seconds


class JobDocument(Document):
    """A training job. ``period`` is its median step in seconds, null when no steps are seen."""

    id: str
    nics: tuple[str, ...]
    servers: tuple[str, ...]
    period: Seconds | None
    parallelism: ParallelismDocument
    groups: tuple[FlowGroupDocument, ...]
    pairs: tuple[PairDocument, ...]
    steps: tuple[StepDocument, ...]


class SubjectDocument(Document):
    """Who a finding points at; null is not known or not meant."""

    nic: str | None
    server: str | None
    group: str | None
    switch: str | None


class FindingDocument(Document):
    """Something that was slow, or stopped; ``subject`` is null when nobody stands out."""

    id: str
    job: str
    kind: Literal[
        "slow_step", "pause", "slowdown", "slow_compute", "slow_nic", "slow_group", "slow_switch", "drift", "hang"
    ]
    subject: SubjectDocument | None
    steps: tuple[int, int] = Field(description="index of the first and of the last step")
    start: Seconds
    end: Seconds
    score: Number = Field(description="higher is more anomalous")
    because: str
    evidence: dict[str, Number | str]


class SkippedFlowDocument(Document):
    """What could not be told, and why."""

    step: str
    reason: str


class RecordsDocument(Document):
    """What was read: records, those that could not be used, those that came twice, and who exported them."""

    read: int
    left_out: int
    copies: int
    exporters: tuple[str, ...]


class FlowsDocument(Document):
    """What a capture of network flows tells of the training jobs in it. Times are seconds since 1970."""

    schema_: Literal["firstfault.flows/1"] = Field(SCHEMA, alias="schema")
    span: tuple[Seconds, Seconds]
    jobs: tuple[JobDocument, ...]
    findings: tuple[FindingDocument, ...]
    skipped: tuple[SkippedFlowDocument, ...]
    records: RecordsDocument


def to_document(answer: FlowsAnswer) -> FlowsDocument:
    """The answer as other programs read it."""
    found = [(job.id, finding) for job in answer.jobs for finding in job.findings]
    return FlowsDocument(
        schema_=SCHEMA,
        span=(answer.span[0] / 1e6, answer.span[1] / 1e6),
        jobs=tuple(map(_job, answer.jobs)),
        findings=tuple(_finding(f"F{number}", job, finding) for number, (job, finding) in enumerate(found, start=1)),
        skipped=tuple(SkippedFlowDocument(step=skip.step, reason=storable(skip.reason)) for skip in answer.skipped),
        records=RecordsDocument(
            read=answer.records,
            left_out=answer.left_out,
            copies=answer.copies,
            exporters=tuple(map(storable, answer.exporters)),
        ),
    )


def _job(job: JobAnswer) -> JobDocument:
    start, end = (job.timeline.start / 1e6).tolist(), (job.timeline.end / 1e6).tolist()
    return JobDocument(
        id=job.id,
        nics=tuple(map(storable, job.nics)),
        servers=tuple(map(storable, job.servers)),
        period=job.timeline.period / 1e6 if end else None,
        parallelism=ParallelismDocument(dp=job.dp, pp=job.pp, tp=job.tp),
        groups=tuple(
            FlowGroupDocument(id=group.id, kind=group.kind, nics=tuple(map(storable, group.nics)))
            for group in job.groups
        ),
        pairs=tuple(PairDocument(a=storable(a), b=storable(b), kind=kind) for a, b, kind in job.pairs),
        steps=tuple(
            StepDocument(index=index, start=begin, end=over, duration=over - begin)
            for index, (begin, over) in enumerate(zip(start, end, strict=True))
        ),
    )


def _finding(name: str, job: str, finding: FlowFinding) -> FindingDocument:
    return FindingDocument(
        id=name,
        job=job,
        kind=finding.kind,
        subject=subject_document(finding.subject),
        steps=finding.steps,
        start=finding.start / 1e6,
        end=finding.end / 1e6,
        score=finding.score,
        because=storable(finding.because),
        evidence=_evidence(finding.evidence),
    )


def subject_document(who: Subject | None) -> SubjectDocument | None:
    """Who a finding points at, as other programs read it."""
    return SubjectDocument(nic=who.nic, server=who.server, group=who.group, switch=who.switch) if who else None


def _evidence(evidence: Mapping[str, float | str]) -> dict[str, float | str]:
    return {name: storable(value) if isinstance(value, str) else value for name, value in evidence.items()}
