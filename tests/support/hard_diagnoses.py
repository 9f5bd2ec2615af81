"""Diagnoses that are hard to show: everything in them is an attack, or there are 1,024 nodes."""

# ruff: noqa: E501 log lines are as long as they are
import math
from functools import cache

from core.model import (
    Confidence,
    Coverage,
    Diagnosis,
    EventEvidence,
    IterationEvidence,
    Line,
    Mark,
    NodeBar,
    NodeEvidence,
    Pictures,
    Role,
    Scope,
    Series,
    Stage,
)
from tests.support.link_down import at, wobble

HOSTILE_LINE = (
    "\x1b[31m\x1b]0;owned\x07[bold]red[/bold] <script>alert(1)</script> <img src=http://evil.example/x> {{ 7*7 }} "
    "\u202egnp.exe\u202c a\u0300\u0301\u0302\u0303\u0304\u0305 \x00\x08\x9b2J\udcff 日本語ログ "
    + "x" * 100_000
    + " the end"
)


@cache
def hostile() -> Diagnosis:
    """Everything foreign in it is an attack, or as long as no one expects."""
    evil = HOSTILE_LINE
    return Diagnosis(
        job="../[red]job\x1b[2J",
        method="firstfault",
        scope=Scope.NODE,
        confidence=Confidence.WEAK,
        headline=f"Look at {evil[:90]} first",
        why=(evil[:200],),
        checks=(evil[:200],),
        events=(
            EventEvidence(
                "E1",
                1.0,
                evil[:300],
                (Line("logs/\udcff<b>.log", 1, evil),),
                event="0" * 16,
                template=evil,
                role=Role.ROOT,
                count=1,
                nodes=(evil[:120],),
                first_time=at(1),
            ),
        ),
        nodes=(
            NodeEvidence("N1", 1.0, evil[:300], (), node=evil[:120], ranks=tuple(range(0, 4000, 2)), events=("E1",)),
        ),
        coverage=Coverage(1, 1, 100_000, 1, nodes=1, unreadable_files=(evil,), undecodable_lines=1),
        pictures=Pictures(
            (NodeBar(evil[:120], 1.0, at(0), at(2), 1, None), NodeBar("$\\frac{1}{0}$", 0.5, None, None, 0, None)),
            (Mark("E1", evil[:120], at(1)), Mark("E99", "$x^2$", at(1))),
            (Series("$\\badmath{</svg><script>", (1, 2, 3), (1.0, math.nan, 1e300)),),
        ),
        facts={"model": evil[:100], "clock zone": evil[:50]},
    )


@cache
def huge() -> Diagnosis:
    """1,024 nodes: one lost a device, 1,023 waited for it."""
    nodes = tuple(f"gpu-{rack:02d}-{slot:02d}" for rack in range(32) for slot in range(32))
    bad, hour = "gpu-17-09", 3600
    events = (
        EventEvidence(
            "E1",
            0.99,
            "gpu-17-09 logged Xid 79 once; the other 1,023 nodes never did.",
            (
                Line(
                    "logs/gpu-17-09/kern.log.gz",
                    4_412_907,
                    "[Sat Nov 21 20:59:12 2026] NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
                ),
            ),
            event="be2079aa01d4f6c3",
            template="NVRM: Xid (PCI:<HEX>): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
            role=Role.ROOT,
            count=1,
            nodes=(bad,),
            stage=Stage.TRAINING,
            iterations=(48_211,),
            first_time=at(17 * hour),
        ),
        *(
            EventEvidence(
                f"E{n}",
                0.7 - 0.02 * n,
                "Watchdog time-outs of ranks that waited.",
                (
                    Line(
                        f"logs/{nodes[n]}/rank_{8 * n}.log",
                        90_000 + n,
                        f"[rank{8 * n}]:[E1121 21:09:12.{n:06d} ProcessGroupNCCL.cpp:683] [Rank {8 * n}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1204{n}, OpType=ALLREDUCE) ran for 600031 milliseconds before timing out.",
                    ),
                ),
                event=f"{n:016x}",
                template="[Rank <NUM>] Watchdog caught collective operation timeout",
                role=Role.PROPAGATED,
                count=8 * 1023 // n,
                nodes=tuple(node for node in nodes[:: n - 1] if node != bad),
                stage=Stage.TRAINING,
                first_time=at(17 * hour + 600 + n),
            )
            for n in range(2, 14)
        ),
    )
    iterations = tuple(range(1, 48_212))
    return Diagnosis(
        job="llm-405b-0931",
        method="firstfault",
        scope=Scope.NODE,
        confidence=Confidence.ESTABLISHED,
        headline="Look at gpu-17-09 first: a GPU fell off the bus (Xid 79) during training, at iteration 48,211",
        why=("Xid 79 is on one node and comes 600 s before the first time-out.",),
        checks=("gpu-17-09, PCI 0000:4e:00: reset or replace the GPU (nvidia-smi, BMC log).",),
        events=events,
        nodes=(
            NodeEvidence(
                "N1",
                0.99,
                "Xid 79, and its rank 4,429 is 1 collective behind all 8,191 others.",
                (),
                node=bad,
                ranks=tuple(range(4424, 4432)),
                events=("E1",),
            ),
            NodeEvidence(
                "N2",
                0.41,
                "Its log ends 3 s before those of its peers.",
                (),
                node="gpu-17-10",
                ranks=tuple(range(4432, 4440)),
                events=(),
            ),
        ),
        stage=Stage.TRAINING,
        iterations=(IterationEvidence("I1", 0.97, "Last complete iteration.", (), iteration=48_211, events=("E1",)),),
        coverage=Coverage(
            8_192,
            91_000_212,
            14_200_000_000,
            8_184,
            8_192,
            tuple(range(96, 104)),
            1_023,
            ("gpu-00-12",),
            baseline_jobs=2,
            baseline_ids=("llm-405b-0929", "llm-405b-0930"),
        ),
        pictures=Pictures(
            tuple(
                NodeBar(
                    node,
                    0.99 if node == bad else 0.41 if node == "gpu-17-10" else 0.05 + 0.12 * ((i * 37) % 101) / 101,
                    at(i % 9),
                    at(17 * hour + 640 + i % 23),
                    88_000,
                    48_211,
                )
                for i, node in enumerate(nodes)
            ),
            (
                Mark("E1", bad, at(17 * hour)),
                *(Mark("E2", node, at(17 * hour + 602 + i % 31)) for i, node in enumerate(nodes) if node != bad),
            ),
            (
                Series(
                    "time per iteration (ms)",
                    iterations,
                    tuple(wobble(n, 11_200.0, 300.0) + (45_000 if n % 6_000 == 0 else 0) for n in iterations),
                ),
                Series("loss", iterations, tuple(1.9 + 9 * math.exp(-n / 2_500) for n in iterations)),
            ),
        ),
        facts={"model": "llm-405b", "framework": "Megatron-LM core 0.13", "status": "FAILED", "clock zone": "UTC"},
    )
