"""What was set out to be reached, beside what is; and the jobs that miss it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.quality.calibration import accused_wrongly, degrees
from benchmarks.quality.findings import Finding
from benchmarks.quality.intervals import Interval, intervals
from benchmarks.quality.measures import f1_of
from benchmarks.quality.score import Verdict
from core.model import Confidence

AT_LEAST, AT_MOST = "≥", "≤"
PUBLIC = "public"


@dataclass(frozen=True, slots=True)
class Target:
    """A measure and the bound that it shall keep."""

    measure: str
    sign: str
    bound: float

    def met_by(self, value: float) -> bool:
        """Whether a value keeps the bound."""
        return value >= self.bound if self.sign == AT_LEAST else value <= self.bound


# of jobs whose faults were injected: all is labelled, and history is there
INJECTED = (
    Target("verdict", AT_LEAST, 0.95),
    Target("macro_f1", AT_LEAST, 0.93),
    Target("recall", AT_LEAST, 0.97),
    Target("useful", AT_LEAST, 0.60),
    Target("shown", AT_MOST, 8),
    Target("first", AT_LEAST, 0.95),
    Target("root3", AT_LEAST, 1.0),
    Target("top1", AT_LEAST, 0.97),
    Target("accused", AT_MOST, 1.3),
    Target("quiet", AT_LEAST, 1.0),
    Target("scope", AT_LEAST, 0.98),
    Target("role", AT_LEAST, 0.95),
    Target("stage", AT_LEAST, 0.95),
    Target("iteration", AT_LEAST, 0.90),
    Target("accused wrongly", AT_MOST, 0),
    Target("established right", AT_LEAST, 0.98),
    Target("supported right", AT_LEAST, 0.85),
)
# of jobs of others: most have one log and no history
FOUND = (
    Target("verdict", AT_LEAST, 0.95),
    Target("macro_f1", AT_LEAST, 0.75),
    Target("first", AT_LEAST, 0.80),
    Target("quiet", AT_LEAST, 1.0),
    Target("accused wrongly", AT_MOST, 0),
    Target("flight recorders exact", AT_LEAST, 1.0),
    Target("established right", AT_LEAST, 0.98),
    Target("supported right", AT_LEAST, 0.85),
)


@dataclass(frozen=True, slots=True)
class Reached:
    """A target and what is reached; misses: ids of the jobs that keep it from being all that it can be."""

    target: Target
    reached: Interval
    misses: tuple[str, ...]

    @property
    def met(self) -> bool:
        """Whether it is enough."""
        return self.target.met_by(self.reached.value)


def reached(set_name: str, findings: Sequence[Finding]) -> list[Reached]:
    """Every target of a set for which there are jobs."""
    measured = {**intervals([finding.ours for finding in findings]), **_further(findings)}
    targets = FOUND if set_name == PUBLIC else INJECTED
    return [
        Reached(target, measured[target.measure], misses(target.measure, findings))
        for target in targets
        if target.measure in measured
    ]


def misses(measure: str, findings: Sequence[Finding]) -> tuple[str, ...]:
    """Ids of the jobs that are not all that they could be."""
    if measure == "accused wrongly":
        return tuple(accused_wrongly(findings))
    by_confidence = {f"{degree.confidence} right": degree for degree in degrees(findings)}
    if measure in by_confidence:
        return tuple(by_confidence[measure].wrong)
    missed = _MISSES.get(measure)
    return tuple(
        finding.truth.job_id
        for finding in findings
        if (missed(finding) if missed else getattr(finding.ours, measure) is False)
    )


_MISSES: Mapping[str, Callable[[Finding], bool]] = {
    "macro_f1": lambda finding: finding.ours.failed and finding.ours.groups > 0 and f1_of(finding.ours) < 1,
    "recall": lambda finding: finding.ours.failed and finding.ours.found < finding.ours.groups,
    "useful": lambda finding: finding.ours.failed and finding.ours.count(Verdict.RIGHT) < len(finding.ours.verdicts),
    "shown": lambda finding: finding.ours.failed and len(finding.ours.verdicts) > 8,
    "role": lambda finding: not all(finding.ours.roles),
    "accused": lambda finding: finding.ours.faulty and finding.ours.accused > 1,
    "flight recorders exact": lambda finding: _only_dumps(finding) and not _exact(finding),
}


def _further(findings: Sequence[Finding]) -> dict[str, Interval]:
    """Measures over something else than all jobs; without bounds."""
    found = {"accused wrongly": _plain(len(accused_wrongly(findings)), len(findings))}
    if recorded := [_exact(finding) for finding in findings if _only_dumps(finding)]:
        found["flight recorders exact"] = _plain(sum(recorded) / len(recorded), len(recorded))
    for degree in degrees(findings):
        if degree.right is not None and degree.confidence is not Confidence.WEAK:
            found[f"{degree.confidence} right"] = _plain(degree.right, degree.jobs)
    return found


def _plain(value: float, jobs: int) -> Interval:
    return Interval(value, value, value, jobs)


def _only_dumps(finding: Finding) -> bool:
    """Whether a job has flight recorder dumps and no log at all."""
    diagnosis = finding.diagnosis
    return finding.truth.failed and diagnosis is not None and diagnosis.coverage.files == 0


def _exact(finding: Finding) -> bool:
    """Whether just the faulty ranks are named."""
    diagnosis = finding.diagnosis
    named = {rank for node in diagnosis.nodes for rank in node.ranks} if diagnosis else set()
    return finding.ours.scope and named == finding.truth.faulty_ranks
