"""The JSON of a capture's answer, ``firstfault.flows/1``, and of an alarm of ``--follow``: fields are the contract.

docs/how-to/flows.md has them. The same answer gives the same bytes: fields in a fixed order, times in microseconds of a
second, ASCII only.
"""

from dataclasses import fields
from typing import Annotated, Final, Literal

from pydantic import AliasPath, Field, PlainSerializer

from bot.report.json_document import Document, Name, Number, made_by
from core.flows.answer import FlowFinding, FlowsAnswer, JobAnswer

SCHEMA: Final = "firstfault.flows/1"
ALARM_SCHEMA: Final = "firstfault.flow-alarm/1"

Seconds = Annotated[
    float,
    made_by(lambda microseconds: microseconds / 1e6),
    PlainSerializer(lambda value: round(value, 6), return_type=float),
]


class ParallelismDocument(Document):
    """Sizes of the groups; null when unknown."""

    dp: int | None
    pp: int | None
    tp: int | None


class FlowGroupDocument(Document):
    """NICs that do something together; of a pipeline the first stage comes first."""

    id: str
    kind: Literal["dp", "pp", "ep", "emb", "tp"]
    nics: tuple[Name, ...]


class PairDocument(Document):
    """Two NICs with a connection of their own, and what for."""

    a: Name
    b: Name
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
    nics: tuple[Name, ...]
    servers: tuple[Name, ...]
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
    because: Name
    evidence: dict[str, Number | Name]


class SkippedFlowDocument(Document):
    """What could not be told, and why."""

    step: str
    reason: Name


class RecordsDocument(Document):
    """What was read: records, those that could not be used, those that came twice, and who exported them."""

    read: int = Field(validation_alias="records")
    left_out: int
    copies: int
    exporters: tuple[Name, ...]


class FlowsDocument(Document):
    """What a capture of network flows tells of the training jobs in it. Times are seconds since 1970."""

    schema_: Literal["firstfault.flows/1"] = Field(SCHEMA, alias="schema")
    span: tuple[Seconds, Seconds]
    jobs: tuple[JobDocument, ...]
    findings: tuple[FindingDocument, ...]
    skipped: tuple[SkippedFlowDocument, ...]
    records: RecordsDocument


class AlarmDocument(Document):
    """That something is slow or stopped, or that it is over. Times are seconds since 1970, by the records."""

    schema_: Literal["firstfault.flow-alarm/1"] = Field(ALARM_SCHEMA, alias="schema")
    state: Literal["raised", "over"]
    at: Seconds
    since: Seconds
    nics: tuple[Name, ...] = Field(validation_alias=AliasPath("job", "nics"), description="of the job")
    servers: tuple[Name, ...] = Field(validation_alias=AliasPath("job", "servers"))
    kind: str = Field(validation_alias=AliasPath("finding", "kind"))
    subject: SubjectDocument | None = Field(validation_alias=AliasPath("finding", "subject"))
    score: Number = Field(validation_alias=AliasPath("finding", "score"))
    because: Name = Field(validation_alias=AliasPath("finding", "because"))


def to_document(answer: FlowsAnswer) -> FlowsDocument:
    """The answer as other programs read it."""
    found = [(job.id, finding) for job in answer.jobs for finding in job.findings]
    return FlowsDocument.model_validate(
        {
            "span": answer.span,
            "jobs": [_job(job) for job in answer.jobs],
            "findings": [_finding(f"F{number}", job, finding) for number, (job, finding) in enumerate(found, start=1)],
            "skipped": answer.skipped,
            "records": answer,
        }
    )


def _job(job: JobAnswer) -> dict[str, object]:
    spans = zip(job.timeline.start.tolist(), job.timeline.end.tolist(), strict=True)
    return {
        "id": job.id,
        "nics": job.nics,
        "servers": job.servers,
        "period": job.timeline.period if len(job.timeline) else None,
        "parallelism": job,
        "groups": job.groups,
        "pairs": [{"a": a, "b": b, "kind": kind} for a, b, kind in job.pairs],
        "steps": [
            {"index": index, "start": start, "end": end, "duration": end - start}
            for index, (start, end) in enumerate(spans)
        ],
    }


def _finding(name: str, job: str, finding: FlowFinding) -> dict[str, object]:
    of_finding = {field.name: getattr(finding, field.name) for field in fields(finding)}
    return {**of_finding, "id": name, "job": job}
