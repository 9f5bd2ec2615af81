"""The values that a diagnosis is made of. All frozen; a score is in 0..1 and higher means more anomalous."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Role(StrEnum):
    """What an event is to the failure (docs/reference/json.md)."""

    ROOT = "root"  # a direct trace of the fault
    PROPAGATED = "propagated"  # a healthy peer says that somebody died or timed out
    TEARDOWN = "teardown"  # the launcher or the scheduler ends the job
    BENIGN = "benign"  # looks bad, is not


class Scope(StrEnum):
    """What is at fault."""

    NODE = "node"  # a part of the job
    JOB = "job"  # all of it: code, settings, shared storage
    NONE = "none"  # it did not fail, or it was stopped from outside
    UNKNOWN = "unknown"


class Confidence(StrEnum):
    """How far the evidence carries, decided in code."""

    ESTABLISHED = "established"
    SUPPORTED = "supported"
    WEAK = "weak"


class Stage(StrEnum):
    """Phase of a training job (docs/reference/json.md)."""

    INITIALIZATION = "initialization"
    DATA_LOADING = "data loading"
    MODEL_LOADING = "model loading"
    TRAINING = "training"
    EVALUATION = "evaluation"
    CHECKPOINT_SAVING = "checkpoint saving"
    CHECKPOINT_LOADING = "checkpoint loading"
    UNKNOWN = "unknown"


class Action(StrEnum):
    """What to do next; Firstfault advises and does none of it (docs/explain/next-step.md)."""

    EVICT = "evict"  # take the nodes out of the job
    WAIT = "wait"  # go on and watch
    ROLLBACK = "rollback"  # back to code and arguments of the last good attempt
    FIX = "fix"  # change the program, its settings or what it was given
    CHECK = "check"  # run checks on the nodes
    REATTEMPT = "reattempt"  # start again as it is, once
    REPLAY = "replay"  # run it again in groups, to see where it fails
    AGGREGATE = "aggregate"  # collect stacks of all ranks before it is ended
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Cost:
    """What an action costs. node_hours: None where the logs do not tell what it is made of."""

    node_hours: float | None
    sentence: str


@dataclass(frozen=True, slots=True)
class NextStep:
    """One action: why, what it costs, what would change it, and what comes after it if the job fails again.

    nodes: whom it is about; all of them where it is empty. cause, kind: what broke, in short, and what kind of part.
    """

    action: Action
    because: str
    cost: Cost
    unless: str = ""
    then: str = ""
    nodes: tuple[str, ...] = ()
    cause: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A log line and its place; ``line`` counts from 1 at newlines of the unpacked text."""

    file: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """One claim: what it is about, how anomalous (0..1), a sentence that holds the numbers, and the lines."""

    id: str
    score: float
    because: str
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class EventEvidence(Evidence):
    """A failure-indicating event. ``event`` is the template id, ``count`` how often it occurs in the job.

    ranks: which logged it, as far as lines tell. says: what it means, a clause; empty when nobody wrote that down.
    unseen: no successful job logged it; None when there was none to compare with. ordinary: well jobs log it too; what
    numbers tell shows in it, as the time of a slow step.
    """

    event: str = ""
    template: str = ""
    role: Role = Role.BENIGN
    count: int = 0
    nodes: tuple[str, ...] = ()
    stage: Stage = Stage.UNKNOWN
    iterations: tuple[int, ...] = ()
    first_time: int | None = None  # microseconds since the epoch, job clock; None when no clock was readable
    ranks: tuple[int, ...] = ()
    says: str = ""
    unseen: bool | None = None
    ordinary: bool = False

    @property
    def is_trace(self) -> bool:
        """Whether its own words are a direct trace of the fault, by which the fault is known again in another job."""
        return self.role is Role.ROOT and not self.ordinary


@dataclass(frozen=True, slots=True)
class NodeEvidence(Evidence):
    """A suspect: a node (or a rank, when nodes are unknown) that evidence points to.

    reasons: the sentences of ``because`` one by one, the most telling first.
    """

    node: str = ""
    ranks: tuple[int, ...] = ()
    events: tuple[str, ...] = ()  # ids of events above ("E1")
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IterationEvidence(Evidence):
    """An iteration that evidence points to."""

    iteration: int = 0
    events: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MetricEvidence(Evidence):
    """What a metric beside the logs tells. who: whose it is; since: microseconds of the job's clock, or None.

    times, values, peers: its samples, and the middle of its peers at the same moments where it was compared with any.
    """

    metric: str = ""
    who: str = ""
    since: int | None = None
    times: tuple[int, ...] = ()
    values: tuple[float, ...] = ()
    peers: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A step that could not run, and why; shown to the reader."""

    step: str
    reason: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much was read, and how much was not."""

    files: int = 0
    lines: int = 0
    bytes: int = 0
    ranks: int = 0
    ranks_expected: int | None = None
    ranks_missing: tuple[int, ...] = ()
    nodes: int = 0
    nodes_missing: tuple[str, ...] = ()
    unreadable_files: tuple[str, ...] = ()
    undecodable_lines: int = 0
    broken_lines: int = 0  # of a wrapper (a container's log, JSON, ...) that are not whole, and were read as plain text
    baseline_jobs: int = 0
    baseline_ids: tuple[str, ...] = ()
    dumps: int = 0  # files in dumps/


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers that the logs carry, one value an iteration: time an iteration in ms, loss, grad norm."""

    name: str
    iterations: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """One occurrence of a shown event, for the picture of events over time and nodes."""

    event: str  # "E1"
    node: str
    time: int  # microseconds since the epoch


@dataclass(frozen=True, slots=True)
class NodeBar:
    """One node in the picture of suspects: its score, and the first and last time that it logged."""

    node: str
    score: float
    first: int | None
    last: int | None
    lines: int
    last_iteration: int | None


@dataclass(frozen=True, slots=True)
class ActivityLane:
    """How many lines somebody logged in each of the columns of an activity.

    last: microseconds since the epoch; None for whom no clock was readable. beside: first and last of those whom it
    stands for because it fell silent first, empty where it stands for itself.
    """

    name: str
    counts: tuple[int, ...]
    last: int | None = None
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Activity:
    """Who logged when: lanes of equally long columns from ``first`` to ``last``, microseconds since the epoch.

    lane_of: how many share a lane. every: each such row of the logs was counted.
    """

    first: int
    last: int
    lanes: tuple[ActivityLane, ...]
    lane_of: int = 1
    every: int = 1


@dataclass(frozen=True, slots=True)
class StackBar:
    """A frame of the merged stacks: how deep, from which process on and for how many of them, counted from the left."""

    depth: int
    start: int
    width: int
    frame: str
    who: str


class FirstPlot(StrEnum):
    """What a plot shows at once, where that is what was found."""

    PACE = "pace"  # the steps became slow
    SILENCE = "silence"  # it made no progress any more
    NONE = ""


@dataclass(frozen=True, slots=True)
class Pictures:
    """What the plots of a report show."""

    nodes: tuple[NodeBar, ...] = ()
    marks: tuple[Mark, ...] = ()
    series: tuple[Series, ...] = ()
    activity: Activity | None = None
    stacks: tuple[StackBar, ...] = ()
    first_plot: FirstPlot = FirstPlot.NONE


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Ranked evidence for one job; everything that a reader is shown comes from here."""

    job: str
    method: str
    scope: Scope
    confidence: Confidence
    headline: str
    why: tuple[str, ...] = ()  # sentences behind scope and confidence
    checks: tuple[str, ...] = ()  # what to check first, most telling first
    events: tuple[EventEvidence, ...] = ()
    nodes: tuple[NodeEvidence, ...] = ()
    stage: Stage = Stage.UNKNOWN
    iterations: tuple[IterationEvidence, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    coverage: Coverage = field(default_factory=Coverage)
    pictures: Pictures = field(default_factory=Pictures)
    stacks: tuple[str, ...] = ()  # where the dumped processes stand: a tree, a frame a line, with who is below it
    facts: Mapping[str, str] = field(default_factory=dict)  # model, framework, status, clock zone
    metrics: tuple[MetricEvidence, ...] = ()  # the most telling first
    next: NextStep | None = None  # None where nothing was judged, and of the paper's own method
