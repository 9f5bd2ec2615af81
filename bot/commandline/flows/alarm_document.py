"""An alarm of ``firstfault flows --follow`` as JSON, an object a line: ``firstfault.flow-alarm/1``."""

from typing import Final, Literal

from pydantic import Field

from bot.commandline.flows.documents import Seconds, SubjectDocument, subject_document
from bot.report.json_document import Document, Number
from bot.text.harmless import storable
from core.flows.alarms import Alarm

SCHEMA: Final = "firstfault.flow-alarm/1"


class AlarmDocument(Document):
    """That something is slow or stopped, or that it is over. Times are seconds since 1970, by the records."""

    schema_: Literal["firstfault.flow-alarm/1"] = Field(SCHEMA, alias="schema")
    state: Literal["raised", "over"]
    at: Seconds
    since: Seconds
    nics: tuple[str, ...] = Field(description="of the job")
    servers: tuple[str, ...]
    kind: str
    subject: SubjectDocument | None
    score: Number
    because: str


def to_document(alarm: Alarm) -> AlarmDocument:
    """The alarm as other programs read it."""
    return AlarmDocument(
        schema_=SCHEMA,
        state=alarm.state.value,
        at=alarm.at / 1e6,
        since=alarm.since / 1e6,
        nics=tuple(map(storable, alarm.job.nics)),
        servers=tuple(map(storable, alarm.job.servers)),
        kind=alarm.finding.kind,
        subject=subject_document(alarm.finding.subject),
        score=alarm.finding.score,
        because=storable(alarm.finding.because),
    )
