"""Whether the confidence that the code decides is earned: how often each degree is right, and who is wronged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.quality.findings import Finding
from core.model import Confidence, Scope


@dataclass(frozen=True, slots=True)
class Degree:
    """Failed jobs that were answered with one confidence; wrong: job id and what is wrong with the answer."""

    confidence: Confidence
    jobs: int
    wrong: Mapping[str, str]

    @property
    def right(self) -> float | None:
        """Share of right answers."""
        return 1 - len(self.wrong) / self.jobs if self.jobs else None


def degrees(findings: Sequence[Finding]) -> list[Degree]:
    """Each confidence over the failed jobs of a set."""
    return [_degree(confidence, findings) for confidence in Confidence]


def accused_wrongly(findings: Sequence[Finding]) -> dict[str, str]:
    """Jobs in which nodes are accused although none is to blame, successful ones too, and whom."""
    return {
        finding.truth.job_id: ", ".join(node.node for node in finding.diagnosis.nodes)
        for finding in findings
        if finding.diagnosis is not None and finding.ours.accuses_wrongly
    }


def what_is_wrong(finding: Finding) -> str:
    """Why an answer counts as wrong, in words; empty when it is right.

    Right: scope; of a node's fault the first suspect; the first event where a direct trace was labelled.
    """
    truth, diagnosis, score = finding.truth, finding.diagnosis, finding.ours
    if diagnosis is None:
        return "no answer"
    found = []
    if not score.scope:
        found.append(f"scope {diagnosis.scope}, not {' or '.join(sorted(truth.scopes))}")
    if diagnosis.scope is Scope.NODE and score.scope and score.top1 is False:
        found.append(
            f"accuses {diagnosis.nodes[0].node if diagnosis.nodes else 'nobody'}, not {min(truth.faulty_nodes)}"
        )
    if score.first is False:
        found.append(f"first event is {'no direct trace' if diagnosis.events else 'missing'}")
    return "; ".join(found)


def _degree(confidence: Confidence, findings: Sequence[Finding]) -> Degree:
    shown = [
        finding
        for finding in findings
        if finding.truth.failed and finding.diagnosis is not None and finding.diagnosis.confidence is confidence
    ]
    return Degree(
        confidence, len(shown), {finding.truth.job_id: wrong for finding in shown if (wrong := what_is_wrong(finding))}
    )
