"""Diagnoses as the core could make them; the first two follow real jobs: a link that went down, a rate of 2e4."""

# ruff: noqa: E501 log lines are as long as they are
import math

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
    Skipped,
    Stage,
)

SECOND = 1_000_000
START = 1_795_233_552 * SECOND  # 2026-11-21T03:59:12Z
_FACTS = {
    "model": "gpt-tiny-0.26M",
    "framework": "tinymegatron 0.9.2 (Megatron-style, torch DDP)",
    "status": "FAILED",
    "clock zone": "UTC",
}
_COVERAGE = Coverage(
    files=25,
    lines=1_166,
    bytes=208_412,
    ranks=8,
    ranks_expected=8,
    nodes=4,
    baseline_jobs=3,
    baseline_ids=("s01", "s03", "s04"),
)


def at(seconds: float) -> int:
    """Microseconds of a moment of the job, in seconds after its start."""
    return START + round(seconds * SECOND)


def node_fault() -> Diagnosis:
    """The link of node-01 went down for good at iteration 60; the peers timed out 25 s later."""
    daemon, heartbeat = "logs/node-01/noded.log", "node-01 noded[12793]: WARNING heartbeat seq="
    recv = "RuntimeError: [/__w/pytorch/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] "
    recv += "Timed out waiting 25000ms for recv operation to complete"
    events = (
        EventEvidence(
            "E1",
            0.97,
            "node-01 logged that its link eth0 is down, once; the other 3 nodes and 3 successful jobs never did.",
            (
                Line(
                    daemon,
                    7,
                    "2026-11-21T03:59:44.976Z node-01 noded[12793]: ERROR netlink: eth0 <NO-CARRIER,BROADCAST,MULTICAST,UP> state DOWN",
                ),
            ),
            event="9b1f60c2a4d87e35",
            template="<TS> node-<NUM> noded[<NUM>]: ERROR netlink: eth<NUM> <NO-CARRIER,BROADCAST,MULTICAST,UP> state DOWN",
            role=Role.ROOT,
            count=1,
            nodes=("node-01",),
            stage=Stage.TRAINING,
            iterations=(60,),
            first_time=at(32.976),
        ),
        EventEvidence(
            "E2",
            0.91,
            "32 heartbeats of node-01 failed in a row; the other 3 nodes lost none before the job ended.",
            tuple(
                Line(
                    daemon,
                    line,
                    f"2026-11-21T03:59:{47.738 + 4.509 * n:06.3f}Z {heartbeat}{14 + n} to controller 10.77.0.1:7070 failed ({n + 1} in a row): timed out",
                )
                for n, line in enumerate((8, 9, 10))
            ),
            event="41c08de77d3ab512",
            template="<TS> node-<NUM> noded[<NUM>]: WARNING heartbeat seq=<NUM> to controller <IP> failed (<NUM> in a row): timed out",
            role=Role.ROOT,
            count=32,
            nodes=("node-01",),
            stage=Stage.TRAINING,
            first_time=at(35.738),
        ),
        EventEvidence(
            "E3",
            0.88,
            "The controller lost node-01 and no other node.",
            (
                Line(
                    "logs/controller.log",
                    13,
                    "2026-11-21T03:59:52.672Z jobctl: ERROR node node-01 not responding: no heartbeat for 9 s, marking it DOWN*",
                ),
                Line(
                    "logs/controller.log",
                    12,
                    "2026-11-21T03:59:45.140Z jobctl: INFO switch kernel: labbr0: port 2(swp1) entered disabled state",
                ),
            ),
            event="c7720e1d9f4456ab",
            template="<TS> jobctl: ERROR node node-<NUM> not responding: no heartbeat for <NUM> s, marking it DOWN*",
            role=Role.ROOT,
            count=1,
            stage=Stage.TRAINING,
            first_time=at(40.672),
        ),
        EventEvidence(
            "E4",
            0.62,
            "7 of 8 ranks waited 25 s for a peer, all within 0.4 s of each other: victims, not the cause.",
            (
                Line("logs/node-00/torchrun/f07_m9yol039/attempt_0/0/stderr.log", 97, f"[rank0]: {recv}"),
                Line("logs/node-00/torchrun/f07_m9yol039/attempt_0/1/stderr.log", 91, f"[rank1]: {recv}"),
                Line("logs/node-02/torchrun/f07_qsaf4bd7/attempt_0/0/stderr.log", 97, f"[rank4]: {recv}"),
            ),
            event="0a5d3b9926efc1d8",
            template="RuntimeError: [<*>/gloo/transport/tcp/unbound_buffer.cc:<NUM>] Timed out waiting <NUM>ms for recv operation to complete",
            role=Role.PROPAGATED,
            count=7,
            nodes=("node-00", "node-01", "node-02", "node-03"),
            stage=Stage.TRAINING,
            iterations=(61,),
            first_time=at(58.1),
        ),
        EventEvidence(
            "E5",
            0.31,
            "torchrun ended the workers of 3 nodes after the time-out.",
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
            count=3,
            nodes=("node-00", "node-02", "node-03"),
            stage=Stage.TRAINING,
            first_time=at(60.25),
        ),
        EventEvidence(
            "E6",
            0.05,
            "The metrics pusher is refused every 7 s on every rank, in successful jobs too.",
            (
                Line(
                    "logs/node-00/torchrun/f07_m9yol039/attempt_0/0/stderr.log",
                    1,
                    "2026-11-21 03:59:29,961 [ERROR] [rank0] telemetry: push to pushgateway http://10.77.0.1:9091 failed (1 so far): [Errno 111] Connection refused",
                ),
            ),
            event="f0f2a7c4be118d09",
            template="<TS> [ERROR] [rank<NUM>] telemetry: push to pushgateway http://<IP> failed (<NUM> so far): [Errno 111] Connection refused",
            role=Role.BENIGN,
            count=43,
            nodes=("node-00", "node-01", "node-02", "node-03"),
            stage=Stage.INITIALIZATION,
            first_time=at(17.961),
        ),
    )
    bars = (
        NodeBar("node-00", 0.12, at(0.975), at(65.06), 329, 60),
        NodeBar("node-01", 0.93, at(1.014), at(175.5), 242, 60),
        NodeBar("node-02", 0.09, at(1.1), at(64.9), 272, 60),
        NodeBar("node-03", 0.14, at(1.07), at(67.7), 327, 60),
    )
    marks = (
        *(Mark("E1", "node-01", at(32.976)) for _ in range(1)),
        *(Mark("E2", "node-01", at(35.738 + 4.509 * n)) for n in range(32)),
        Mark("E3", "", at(40.672)),
        *(Mark("E4", f"node-0{n}", at(58.1 + 0.1 * n)) for n in (0, 0, 1, 1, 2, 2, 3)),
        *(Mark("E5", f"node-0{n}", at(60.25 + n)) for n in (0, 2, 3)),
        *(Mark("E6", f"node-0{n}", at(17.961 + 7 * k)) for n in range(4) for k in range(6)),
    )
    iterations = tuple(range(1, 61))
    series = (
        Series(
            "time per iteration (ms)",
            iterations,
            tuple(_wobble(n, 232.0, 18.0) + (110.0 if n == 1 else 0.0) for n in iterations),
        ),
        Series("loss", iterations, tuple(2.9 + 2.7 * math.exp(-n / 26) for n in iterations)),
        Series("grad norm", iterations, tuple(_wobble(n, 1.9 + 1.7 * math.exp(-n / 8), 0.06) for n in iterations)),
    )
    return Diagnosis(
        job="f07",
        method="firstfault",
        scope=Scope.NODE,
        confidence=Confidence.ESTABLISHED,
        headline="Look at node-01 first: its network link went down during training, at iteration 60",
        why=(
            "A direct trace of the fault (E1) is on node-01 and nowhere else.",
            "The trace comes 25 s before the first time-out of a peer (E4).",
            "Two sources agree: the node's own daemon (E1, E2) and the controller (E3).",
        ),
        checks=(
            "The link of node-01: cable, transceiver and switch port swp1 (ip -s link show eth0; ethtool eth0).",
            "Whether other jobs lost node-01 around 03:59 (scheduler log).",
            "Restart from the checkpoint of iteration 50 without node-01.",
        ),
        events=events,
        nodes=(
            NodeEvidence(
                "N1",
                0.93,
                "33 lines of 2 kinds that no other node has; its daemon talked on for 108 s after the others had ended.",
                (
                    Line(
                        daemon,
                        7,
                        "2026-11-21T03:59:44.976Z node-01 noded[12793]: ERROR netlink: eth0 <NO-CARRIER,BROADCAST,MULTICAST,UP> state DOWN",
                    ),
                ),
                node="node-01",
                ranks=(2, 3),
                events=("E1", "E2", "E3"),
            ),
        ),
        stage=Stage.TRAINING,
        iterations=(
            IterationEvidence(
                "I1",
                0.8,
                "Iteration 60 is the last complete one on all 8 ranks; 61 never ended.",
                (),
                iteration=60,
                events=("E1", "E4"),
            ),
        ),
        skipped=(Skipped("stack dumps", "the job folder has no dumps/"),),
        coverage=_COVERAGE,
        pictures=Pictures(bars, marks, series),
        facts=_FACTS,
    )


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
        coverage=_COVERAGE,
        pictures=Pictures(
            tuple(NodeBar(node, 0.08 - 0.01 * n, at(1140 + n), at(1157 + n), 61, 2) for n, node in enumerate(where)),
            tuple(Mark(event, node, at(1154.9 + 0.3 * n)) for n, event in enumerate(("E1", "E2")) for node in where),
            (Series("loss", (1, 2), (5.607, math.nan)), Series("grad norm", (1, 2), (3.597, math.inf))),
        ),
        facts=_FACTS,
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
        coverage=_COVERAGE,
        facts=_FACTS | {"status": "COMPLETED"},
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


HOSTILE_LINE = (
    "\x1b[31m\x1b]0;owned\x07[bold]red[/bold] <script>alert(1)</script> <img src=http://evil.example/x> {{ 7*7 }} "
    "\u202egnp.exe\u202c a\u0300\u0301\u0302\u0303\u0304\u0305 \x00\x08\x9b2J\udcff 日本語ログ "
    + "x" * 100_000
    + " the end"
)


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
                    tuple(_wobble(n, 11_200.0, 300.0) + (45_000 if n % 6_000 == 0 else 0) for n in iterations),
                ),
                Series("loss", iterations, tuple(1.9 + 9 * math.exp(-n / 2_500) for n in iterations)),
            ),
        ),
        facts={"model": "llm-405b", "framework": "Megatron-LM core 0.13", "status": "FAILED", "clock zone": "UTC"},
    )


def _wobble(number: int, middle: float, spread: float) -> float:
    """A deterministic value near the middle."""
    return middle + spread * math.sin(number * 12.9898) * math.cos(number * 78.233)


ALL = {
    "node_fault": node_fault,
    "job_wide": job_wide,
    "inconclusive": inconclusive,
    "succeeded": succeeded,
    "running": running,
    "no_logs": no_logs,
    "hostile": hostile,
    "huge": huge,
}
