"""What is said of a job that runs: findings, and how it stands."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from core.model import Line

MINUTES_ALONE = 600  # seconds from which on nobody asks for the seconds beside the minutes
TEN, TENTH = 9.95, 0.0995  # seconds that are not yet written as 10 s, as 0.10 s: two digits tell enough
JOB = "job"  # subject of what is true of all of it


class LiveKind(StrEnum):
    """What a finding says."""

    SILENT = "silent"  # a rank or node says nothing more, and its peers go on
    HUNG = "hung"  # the whole job makes no progress
    STANDS = "stands"  # nobody took back that it is silent or hangs
    RESUMED = "resumed"  # what was silent or hung goes on
    NUMBERS = "numbers"  # a loss that is none any more, a level that at least doubled
    FAILED = "failed"
    STOPPED = "stopped"  # ended from outside: cancelled, time limit, preemption
    COMPLETED = "completed"

    @property
    def final(self) -> bool:
        """Whether the job is over."""
        return self in (LiveKind.FAILED, LiveKind.STOPPED, LiveKind.COMPLETED)


@dataclass(frozen=True, slots=True)
class LiveFinding:
    """One claim about a running job, with the sentence that holds its numbers.

    at: when it was found, in the caller's seconds. quiet, usual: seconds of silence, and of the longest pause that was
    usual before; None where no silence is meant. line: what says so.
    """

    kind: LiveKind
    at: float
    subject: str
    says: str
    quiet: float | None = None
    usual: float | None = None
    line: Line | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """How a job stands: for one quiet line of status.

    quiet: seconds since its last line, None before the first. last: what that was.
    """

    iteration: int | None = None
    total: int | None = None
    seconds_per_iteration: float | None = None
    ranks: int = 0
    ranks_expected: int | None = None
    lines: int = 0
    quiet: float | None = None
    last: Line | None = None


def duration(seconds: float) -> str:
    """Seconds for a sentence: "9.1 ms", "17 ms", "0.25 s", "14 s", "3 min 20 s", "2 h 05 min"."""
    if seconds < TEN:
        return _below_ten(seconds)
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < MINUTES_ALONE:
        return f"{whole // 60} min {whole % 60:02} s"
    if whole < 7200:
        return f"{round(seconds / 60)} min"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def _below_ten(seconds: float) -> str:
    if 0 < seconds < TENTH:
        return f"{seconds * 1000:.{1 if seconds < TENTH / 10 else 0}f} ms"
    return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s"


# Of 131 recorded jobs no alarm was ever taken back (benchmarks/watching.py), and the lab's jobs time out within half a
# minute; collectives of PyTorch do after ten. A person who was called looks after some minutes: then it stands there.
STANDS_SECONDS = 120.0


class Alarms:
    """The alarms of one job that stand; ``look`` says once that they do, until all is well again."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        self._told = False

    def hear(self, findings: Iterable[LiveFinding]) -> None:
        """Take note of alarms, and of those that are taken back."""
        for finding in findings:
            if finding.kind in (LiveKind.SILENT, LiveKind.HUNG):
                self._since.setdefault(finding.subject, finding.at)
            elif finding.kind is LiveKind.RESUMED:
                self._since.pop(finding.subject, None)
        self._told = self._told and bool(self._since)

    def look(self, now: float) -> list[LiveFinding]:
        """That the oldest of them stands; its subject is that of the alarm."""
        subject, since = min(self._since.items(), key=lambda item: item[1], default=("", now))
        if self._told or now - since < STANDS_SECONDS:
            return []
        self._told = True
        says = f"the alarm has stood for {duration(now - since)}; what follows is a diagnosis of the job as it stands"
        return [LiveFinding(LiveKind.STANDS, now, subject, says, now - since)]
