"""What the decision about the next step knows: a diagnosis in short, and what earlier attempts came to."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from core.failure_kinds import Kind
from core.model import Confidence, Scope


class FaultClass(StrEnum):
    """What broke, as far as it decides who has to do something."""

    MACHINE = "machine"  # a device or a host that reports its own fault, or is gone
    LINK = "link"
    CODE = "code"
    MEANS = "means"  # what the job was given: storage, permission, memory, settings, files
    PROCESS = "process"  # a crash that hardware and code cause alike
    NUMBERS = "numbers"  # NaN, infinity
    UNKNOWN = "unknown"


_KINDS = {
    FaultClass.MACHINE: (Kind.ACCELERATOR, Kind.MACHINE, Kind.NODE_LOST, Kind.NODE_RESTARTED),
    FaultClass.LINK: (Kind.NETWORK_LINK, Kind.RDMA_TRANSPORT),
    FaultClass.CODE: (
        *(Kind.EXCEPTION, Kind.SOFTWARE, Kind.MODEL_MISMATCH, Kind.COLLECTIVE_MISMATCH, Kind.DATA),
        *(Kind.DEVICE_MEMORY, Kind.NO_CONVERGENCE, Kind.DEADLOCK),
    ),
    FaultClass.MEANS: (
        *(Kind.DISK_FULL, Kind.STORAGE, Kind.PERMISSION, Kind.SETTINGS, Kind.MISSING_FILE, Kind.CORRUPT_FILE),
        *(Kind.ADDRESS, Kind.PORT_IN_USE, Kind.LICENSE, Kind.SYSTEM_LIMIT, Kind.MEMORY_LIMIT, Kind.HOST_MEMORY),
        *(Kind.EVICTED, Kind.REMOTE_SERVICE, Kind.NOT_SCHEDULED),
    ),
    # Of 62 illegal memory accesses 41 were user code in one study: a crash accuses nobody (ByteRobust, table 2).
    FaultClass.PROCESS: (Kind.CRASH, Kind.ABORTED, Kind.DATA_LOADER, Kind.DEVICE_BUSY),
    FaultClass.NUMBERS: (Kind.NUMERICS,),
}
OF_KIND = {kind: broken for broken, kinds in _KINDS.items() for kind in kinds}


@dataclass(frozen=True, slots=True)
class Past:
    """What earlier attempts of the same run came to; None and 0 where nobody knows.

    again: whether it failed in the same way as the attempt before it. barren: failed attempts in a row, with this one,
    that completed no new checkpoint. gained: iterations that are new since the failure before. checked: whether checks
    of the nodes passed. reattempts: how often it was started again as it was since then. rolled_back: whether the last
    good code and arguments are in use again. good: what the last good attempt is called. changes: what differs from it.
    """

    again: bool | None = None
    barren: int = 0
    gained: int | None = None
    checked: bool | None = None
    reattempts: int = 0
    rolled_back: bool = False
    good: str | None = None
    changes: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Situation:
    """A failed or stuck job when somebody has to decide.

    says: what broke, in words. accused: nodes, or ranks, that the diagnosis names. unit: what these are. total: how
    many there are in all; None where unknown. running: whether the job still runs. completed: whether it did what it
    should, in spite of what broke. stuck: whether it hangs or is slow; slower: whether metrics
    alone tell that its pace fell for good. stop: what ended it from outside, in words.
    rivals: who is nearly as suspicious as the accused.
    flapped: whether a link of the accused went down and the job goes on without any other fault. flaps: how often a
    link went down within five minutes. frame: where code failed. spares: nodes ready to take over. alone: whether all
    nodes are one data parallel part, so that none can be done without. startup, redo: seconds from start to the first
    iteration, and that a restart must compute again.
    """

    scope: Scope
    confidence: Confidence
    broken: FaultClass
    says: str = ""
    accused: tuple[str, ...] = ()
    unit: str = "node"
    total: int | None = None
    running: bool = False
    completed: bool = False
    stuck: bool = False
    slower: bool = False
    stop: str = ""
    flapped: bool = False
    flaps: int = 1
    rivals: tuple[str, ...] = ()
    frame: str = ""
    spares: int | None = None
    alone: bool = False
    startup: float | None = None
    redo: float | None = None
    past: Past = field(default_factory=Past)

    @property
    def named(self) -> bool:
        """Whether the diagnosis names somebody whom it is worth to act on."""
        return self.scope is Scope.NODE and bool(self.accused) and self.confidence is not Confidence.WEAK
