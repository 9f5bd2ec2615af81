"""What is known of a capture: jobs with their groups and steps, what was slow, and what could not be told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.model import Skipped

if TYPE_CHECKING:  # both load polars, which an answer without flows does not need
    from core.flows.jobs import Floats
    from core.flows.timeline import Timeline
    from core.flows.transfers import Transfers


@dataclass(frozen=True)
class Subject:
    """Who a finding points at; what is None is not known or not meant."""

    nic: str | None = None
    server: str | None = None
    group: str | None = None
    switch: str | None = None


@dataclass(frozen=True)
class FlowSeries:
    """The measurements that a finding rests on.

    Attributes:
        things: names of NICs, servers or links between switches.
        values: (steps, things) microseconds a step, NaN where nothing was seen.
        guilty: places in ``things`` of those that the finding points at, the highest first.
    """

    things: tuple[str, ...]
    values: "Floats"
    guilty: tuple[int, ...]


@dataclass(frozen=True)
class FlowFinding:
    """Something that was slow, or stopped.

    Attributes:
        kind: slow_step, pause, slowdown, slow_compute, slow_nic, slow_group, slow_switch, drift or hang.
        subject: None where nobody stands out.
        steps: the first and the last one, by their index; for a hang the last complete step twice.
        start, end: microseconds since 1970.
        score: higher is more anomalous: how many times as long a step was, or seconds of a hang in steps.
        because: one sentence with the numbers.
        evidence: those numbers by name.
        series: what named its subject; None where nobody is named, or by another way than by steps (a hang).
    """

    kind: str
    subject: Subject | None
    steps: tuple[int, int]
    start: int
    end: int
    score: float
    because: str
    evidence: Mapping[str, float | str] = field(default_factory=dict)
    series: FlowSeries | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class NamedGroup:
    """A group of a job, by the addresses of its NICs."""

    id: str
    kind: str
    nics: tuple[str, ...]


@dataclass(frozen=True)
class Lane:
    """What a group sent, or one stage of a pipeline to the next or back.

    Attributes:
        group: the id of a group of the job.
        name: of the lane: the group's id, or the two NICs of a pipeline with an arrow between.
        transfers: rows of start, end (microseconds since 1970), bytes; in time order.
    """

    group: str
    name: str
    transfers: "Transfers"


@dataclass(frozen=True)
class JobAnswer:
    """A job, its groups, its steps and what was slow in it.

    Attributes:
        pairs: two addresses that send to each other, and the kind of group that they do it for.
        dp, pp, tp: sizes, None when unknown.
        lanes: for a drawing of its traffic; empty where none was asked for.
    """

    id: str
    nics: tuple[str, ...]
    servers: tuple[str, ...]
    groups: tuple[NamedGroup, ...]
    pairs: tuple[tuple[str, str, str], ...]
    timeline: "Timeline"
    dp: int | None
    pp: int | None
    tp: int | None
    findings: tuple[FlowFinding, ...] = ()
    lanes: tuple[Lane, ...] = ()


@dataclass(frozen=True)
class FlowsAnswer:
    """All that a capture tells.

    Attributes:
        span: first and last packet, microseconds since 1970.
        records: rows read; of those, ``left_out`` could not be used and ``copies`` came twice.
        exporters: switches that reported.
    """

    span: tuple[int, int]
    records: int
    left_out: int
    copies: int
    exporters: tuple[str, ...]
    jobs: tuple[JobAnswer, ...]
    skipped: tuple[Skipped, ...]
