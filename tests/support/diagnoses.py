"""Diagnoses as the core could make them: one of every kind of answer."""

# ruff: noqa: E501 log lines are as long as they are
import math
from collections.abc import Callable

from core.model import (
    Confidence,
    Coverage,
    Diagnosis,
    EventEvidence,
    IterationEvidence,
    Line,
    Mark,
    NodeBar,
    Pictures,
    Role,
    Scope,
    Series,
    Skipped,
    Stage,
)
from tests.support.hard_diagnoses import hostile, huge
from tests.support.link_down import COVERAGE, FACTS, at, node_fault

__all__ = ["ALL", "hostile", "huge", "inconclusive", "job_wide", "no_logs", "node_fault", "running", "succeeded"]


def job_wide() -> Diagnosis:
    """A learning rate of 2e4 made every rank see NaN in iteration 2."""
    where = ("node-00", "node-01", "node-02", "node-03")
    events = (
        EventEvidence(
            "E1",
            0.95,
            "All 8 ranks found NaN in their gradients in the same iteration; 3 successful jobs never did.",
            tuple(
                Line(
                    f"logs/node-0{rank // 2}/torchrun/f15_iax5s_qw/attempt_0/{rank % 2}/stderr.log",
                    25 - rank % 2,
                    f"[rank{rank}]: AssertionError: Rank {rank}: found NaN in local grad norm in backward pass before data-parallel communication collective. "
                    f"Device: cpu, node: node-0{rank // 2}, iteration: 2",
                )
                for rank in range(8)
            ),
            event="d81e2c7f60b9a345",
            template="AssertionError: Rank <NUM>: found NaN in local grad norm in backward pass before data-parallel communication collective. Device: cpu, node: node-<NUM>, iteration: <NUM>",
            role=Role.ROOT,
            count=8,
            nodes=where,
            stage=Stage.TRAINING,
            iterations=(2,),
            first_time=at(1154.9),
        ),
        EventEvidence(
            "E2",
            0.28,
            "torchrun ended the workers of all 4 nodes.",
            (
                Line(
                    "logs/node-00/torchrun.log",
                    26,
                    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
                ),
            ),
            event="6631d0ab95ce7f20",
            template="torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
            role=Role.TEARDOWN,
            count=4,
            nodes=where,
            stage=Stage.TRAINING,
            first_time=at(1155.2),
        ),
    )
    return Diagnosis(
        job="f15",
        method="firstfault",
        scope=Scope.JOB,
        confidence=Confidence.SUPPORTED,
        headline="Look at the job's own settings and code: NaN in the gradients of all 8 ranks at iteration 2",
        why=(
            "All 4 nodes log the same root event (E1) within 0.3 s.",
            "No node differs from the others; the largest score of a node is 0.08.",
        ),
        checks=(
            "What changed in the launch command since the last success: --lr 2e4, --clip-grad 1e9.",
            "The data of iteration 2.",
        ),
        events=events,
        stage=Stage.TRAINING,
        iterations=(
            IterationEvidence("I1", 0.9, "The gradient norm went from 3.6 to NaN.", (), iteration=2, events=("E1",)),
        ),
        skipped=(Skipped("iteration comparison", "2 iterations, 10 are needed"),),
        coverage=COVERAGE,
        pictures=Pictures(
            tuple(NodeBar(node, 0.08 - 0.01 * n, at(1140 + n), at(1157 + n), 61, 2) for n, node in enumerate(where)),
            tuple(Mark(event, node, at(1154.9 + 0.3 * n)) for n, event in enumerate(("E1", "E2")) for node in where),
            (Series("loss", (1, 2), (5.607, math.nan)), Series("grad norm", (1, 2), (3.597, math.inf))),
        ),
        facts=FACTS,
    )


def inconclusive() -> Diagnosis:
    """The log ends in the middle of training; nobody says why."""
    return Diagnosis(
        job="1437825",
        method="firstfault",
        scope=Scope.UNKNOWN,
        confidence=Confidence.WEAK,
        headline="Nothing conclusive: the logs end during training, after iteration 1,230, without any error",
        why=("All 16 ranks end at the same iteration.", "No line is new against 2 successful jobs."),
        checks=(
            "The scheduler's record of this job: time limit, pre-emption, a person.",
            "Kernel and power logs of the node.",
        ),
        stage=Stage.TRAINING,
        iterations=(IterationEvidence("I1", 0.2, "1230 is the last complete iteration.", (), iteration=1230),),
        skipped=(Skipped("comparison of nodes", "one node: there is no peer to compare with"),),
        coverage=Coverage(1, 1_634, 412_388, 16, 16, (), 1, baseline_jobs=2, baseline_ids=("1437001", "1437640")),
        facts={"status": "FAILED"},
    )


def succeeded() -> Diagnosis:
    """The job completed; what looks bad in its logs is benign."""
    return Diagnosis(
        job="s01",
        method="firstfault",
        scope=Scope.NONE,
        confidence=Confidence.ESTABLISHED,
        headline="No failure: the job completed all 120 iterations",
        why=("The scheduler says COMPLETED, and every rank wrote its last checkpoint.",),
        events=(
            EventEvidence(
                "E1",
                0.06,
                "The metrics pusher is refused every 7 s on every rank.",
                (
                    Line(
                        "logs/node-00/torchrun/s01_x/attempt_0/0/stderr.log",
                        1,
                        "telemetry: push to pushgateway http://10.77.0.1:9091 failed",
                    ),
                ),
                event="f0f2a7c4be118d09",
                template="telemetry: push to pushgateway http://<IP> failed",
                role=Role.BENIGN,
                count=88,
                nodes=("node-00", "node-01", "node-02", "node-03"),
            ),
        ),
        coverage=COVERAGE,
        facts=FACTS | {"status": "COMPLETED"},
    )


def running() -> Diagnosis:
    """The job has not ended, and nothing looks wrong so far."""
    return Diagnosis(
        job="1437900",
        method="firstfault",
        scope=Scope.NONE,
        confidence=Confidence.WEAK,
        headline="Still running: nothing points to a fault so far, last iteration 8,410",
        why=("The scheduler says RUNNING; logs were read as far as they go.",),
        coverage=Coverage(64, 2_081_553, 311_000_000, 64, 64, (), 8),
        skipped=(Skipped("comparison with successful jobs", "no successful job has these settings"),),
        facts={"status": "RUNNING"},
    )


def no_logs() -> Diagnosis:
    """The manifest says FAILED and there is no line to read."""
    return Diagnosis(
        job="1437999",
        method="firstfault",
        scope=Scope.UNKNOWN,
        confidence=Confidence.WEAK,
        headline="Nothing conclusive: not one log line of this job could be read",
        checks=("Whether the job ever started (scheduler), and where it wrote its logs.",),
        coverage=Coverage(
            nodes_missing=("node-00", "node-01"),
            ranks_expected=16,
            ranks_missing=tuple(range(16)),
            unreadable_files=("logs/all.log.gz",),
        ),
        facts={"status": "FAILED"},
    )


ALL: dict[str, Callable[[], Diagnosis]] = {
    "node_fault": node_fault,
    "job_wide": job_wide,
    "inconclusive": inconclusive,
    "succeeded": succeeded,
    "running": running,
    "no_logs": no_logs,
    "hostile": hostile,
    "huge": huge,
}
