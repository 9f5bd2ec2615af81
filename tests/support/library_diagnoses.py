"""Diagnoses for tests of drafts and recall: one fault, as two clusters with other names tell it."""

from collections.abc import Sequence

from core.model import (
    Confidence,
    Coverage,
    Diagnosis,
    EventEvidence,
    Line,
    NodeBar,
    NodeEvidence,
    Pictures,
    Role,
    Scope,
    Stage,
)


def event(
    name: str, template: str, because: str, *, role: Role = Role.ROOT, nodes: Sequence[str] = (), line: str = ""
) -> EventEvidence:
    return EventEvidence(
        id=name,
        score=0.9,
        because=because,
        lines=(Line("logs/a.log", 7, line),) if line else (),
        event=f"{name.lower()}-template",
        template=template,
        role=role,
        count=1,
        nodes=tuple(nodes),
    )


def diagnosis(
    *events: EventEvidence,
    job: str = "j-4711",
    headline: str = "Nothing conclusive.",
    suspects: Sequence[tuple[str, str]] = (),
    names: Sequence[str] = (),
    scope: Scope = Scope.NODE,
    stage: Stage = Stage.TRAINING,
    framework: str = "",
    checks: Sequence[str] = (),
) -> Diagnosis:
    """suspects: node and because. names: all nodes of the job."""
    return Diagnosis(
        job=job,
        method="firstfault",
        scope=scope,
        confidence=Confidence.ESTABLISHED,
        headline=headline,
        checks=tuple(checks),
        events=events,
        nodes=tuple(NodeEvidence(f"N{n}", 0.9, said, node=node) for n, (node, said) in enumerate(suspects, start=1)),
        stage=stage,
        coverage=Coverage(nodes=len(names)),
        pictures=Pictures(nodes=tuple(NodeBar(name, 0.1, None, None, 9, None) for name in names)),
        facts={"framework": framework} if framework else {},
    )


def link_down(job: str = "j-4711", names: Sequence[str] = ("node-01", "node-02", "node-03")) -> Diagnosis:
    """The link of the first node went down; the others waited for it."""
    bad, *others = names
    said = (
        f"{bad} logged “{bad} systemd-networkd[127]: eth0: Lost carrier”; the other 2 nodes never did. Rank 3 on {bad}"
        f" never complained; 2 of 3 ranks did. It was last heard at 10.77.0.4:7070 by job {job}."
    )
    return diagnosis(
        event(
            "E1",
            f"<TS> {mask_digits(bad)} systemd-networkd[<NUM>]: eth<NUM>: Lost carrier",
            f"{bad} logged this once, after iteration 60; never in 4 successful jobs. A network link went down.",
            nodes=[bad],
            line=f"2026-11-21T03:59:44+0000 {bad} systemd-networkd[127]: eth0: Lost carrier",
        ),
        event(
            "E2",
            "RuntimeError: [unbound_buffer.cc:<NUM>] Timed out waiting <NUM>ms for <*> operation to complete",
            f"{', '.join(others)} logged this 4 times; never in 4 successful jobs. Waited for a peer in vain.",
            role=Role.PROPAGATED,
            nodes=others,
        ),
        job=job,
        headline=f"Look at {bad}: a network link went down during training, after iteration 60.",
        suspects=[(bad, said)],
        names=names,
        checks=[f"Look at the NIC of {bad} (ibstat)."],
    )


def time_limit() -> Diagnosis:
    """The scheduler stopped a healthy job."""
    return diagnosis(
        event(
            "E1",
            "slurmstepd: error: *** JOB <NUM> ON <ID> CANCELLED AT <TS> DUE TO TIME LIMIT ***",
            "train.log logged this once. The scheduler stopped the job at its time limit.",
            line="slurmstepd: error: *** JOB 881 ON r6i4n5 CANCELLED AT 2021-05-27T21:52:36 DUE TO TIME LIMIT ***",
        ),
        headline="Not a fault: the scheduler stopped the job at its time limit during training, after iteration 4.",
        scope=Scope.NONE,
    )


def mask_digits(name: str) -> str:
    """A node's name as masks leave it."""
    stem, _, digits = name.rpartition("-")
    return f"{stem}-<NUM>" if digits.isdigit() else name
