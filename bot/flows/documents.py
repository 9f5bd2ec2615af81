"""The JSON of a capture's answer, ``firstfault.flows/1``: its fields are the contract (docs/how-to/flows.md).

The same answer gives the same bytes: fields in a fixed order, times in microseconds of a second, ASCII only.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from bot.harmless import storable
from core.flows.answer import Finding, FlowsAnswer, JobAnswer

SCHEMA: Final = "firstfault.flows/1"

Seconds = Annotated[float, PlainSerializer(lambda value: round(value, 6), return_type=float)]
Number = Annotated[float, PlainSerializer(lambda value: round(value, 4), return_type=float)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, serialize_by_alias=True, validate_by_name=True)


class ParallelismDocument(_Part):
    """Sizes of the groups; null when unknown."""

    dp: int | None
    pp: int | None
    tp: int | None


class GroupDocument(_Part):
    """NICs that do something together; of a pipeline the first stage comes first."""

    id: str
    kind: Literal["dp", "pp", "ep", "emb", "tp"]
    nics: tuple[str, ...]


class PairDocument(_Part):
    """Two NICs with a connection of their own, and what for."""

    a: str
    b: str
    kind: Literal["dp", "pp", "ep", "emb", "tp"]


class StepDocument(_Part):
    """A step of training, from the end of the last one's communication to the end of its own; the index is ours."""

    index: int
    start: Seconds
    end: Seconds
    duration: Seconds


class JobDocument(_Part):
    """A training job. ``period`` is its median step in seconds, null when no steps are seen."""

    id: str
    nics: tuple[str, ...]
    servers: tuple[str, ...]
    period: Seconds | None
    parallelism: ParallelismDocument
    groups: tuple[GroupDocument, ...]
    pairs: tuple[PairDocument, ...]
    steps: tuple[StepDocument, ...]


class SubjectDocument(_Part):
    """Who a finding points at; null is not known or not meant."""

    nic: str | None
    server: str | None
    group: str | None
    switch: str | None


class FindingDocument(_Part):
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


class SkippedDocument(_Part):
    """What could not be told, and why."""

    step: str
    reason: str


class RecordsDocument(_Part):
    """What was read: records, those that could not be used, those that came twice, and who exported them."""

    read: int
    left_out: int
    copies: int
    exporters: tuple[str, ...]


class FlowsDocument(_Part):
    """What a capture of network flows tells of the training jobs in it. Times are seconds since 1970."""

    schema_: Literal["firstfault.flows/1"] = Field(SCHEMA, alias="schema")
    span: tuple[Seconds, Seconds]
    jobs: tuple[JobDocument, ...]
    findings: tuple[FindingDocument, ...]
    skipped: tuple[SkippedDocument, ...]
    records: RecordsDocument


def to_document(answer: FlowsAnswer) -> FlowsDocument:
    """The answer as other programs read it."""
    found = [(job.id, finding) for job in answer.jobs for finding in job.findings]
    return FlowsDocument(
        schema_=SCHEMA,
        span=(answer.span[0] / 1e6, answer.span[1] / 1e6),
        jobs=tuple(map(_job, answer.jobs)),
        findings=tuple(_finding(f"F{number}", job, finding) for number, (job, finding) in enumerate(found, start=1)),
        skipped=tuple(SkippedDocument(step=skip.step, reason=storable(skip.reason)) for skip in answer.skipped),
        records=RecordsDocument(
            read=answer.records,
            left_out=answer.left_out,
            copies=answer.copies,
            exporters=tuple(map(storable, answer.exporters)),
        ),
    )


def to_json(document: FlowsDocument) -> str:
    """The document as text that ends with a newline."""
    text = json.dumps(document.model_dump(mode="json"), indent=2, allow_nan=False)
    return text.replace("\x7f", "\\u007f") + "\n"


def schema_text() -> str:
    """The JSON schema of the document, as it stands in docs/ (``pytest --update-golden`` writes it)."""
    schema = FlowsDocument.model_json_schema(mode="serialization")
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2) + "\n"


def _job(job: JobAnswer) -> JobDocument:
    start, end = (job.timeline.start / 1e6).tolist(), (job.timeline.end / 1e6).tolist()
    return JobDocument(
        id=job.id,
        nics=tuple(map(storable, job.nics)),
        servers=tuple(map(storable, job.servers)),
        period=job.timeline.period / 1e6 if end else None,
        parallelism=ParallelismDocument(dp=job.dp, pp=job.pp, tp=job.tp),
        groups=tuple(
            GroupDocument(id=group.id, kind=group.kind, nics=tuple(map(storable, group.nics))) for group in job.groups
        ),
        pairs=tuple(PairDocument(a=storable(a), b=storable(b), kind=kind) for a, b, kind in job.pairs),
        steps=tuple(
            StepDocument(index=index, start=begin, end=over, duration=over - begin)
            for index, (begin, over) in enumerate(zip(start, end, strict=True))
        ),
    )


def _finding(name: str, job: str, finding: Finding) -> FindingDocument:
    who = finding.subject
    return FindingDocument(
        id=name,
        job=job,
        kind=finding.kind,
        subject=SubjectDocument(nic=who.nic, server=who.server, group=who.group, switch=who.switch) if who else None,
        steps=finding.steps,
        start=finding.start / 1e6,
        end=finding.end / 1e6,
        score=finding.score,
        because=storable(finding.because),
        evidence=_evidence(finding.evidence),
    )


def _evidence(evidence: Mapping[str, float | str]) -> dict[str, float | str]:
    return {name: storable(value) if isinstance(value, str) else value for name, value in evidence.items()}
