"""A diagnosis of a job whose network link went down, in lines of real programs, and what the other diagnoses share."""

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
FACTS = {
    "model": "gpt-tiny-0.26M",
    "framework": "tinymegatron 0.9.2 (Megatron-style, torch DDP)",
    "status": "FAILED",
    "clock zone": "UTC",
}
COVERAGE = Coverage(
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


def wobble(number: int, middle: float, spread: float) -> float:
    """A deterministic value near the middle."""
    return middle + spread * math.sin(number * 12.9898) * math.cos(number * 78.233)


def node_fault() -> Diagnosis:
    """The link of node-01 went down for good at iteration 60; the peers timed out 25 s later."""
    monitor = "logs/node-01/ip-monitor.log"  # of ip -ts monitor link
    down = "3: eth0: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 1500 qdisc mq state DOWN group default qlen 1000"
    agent = "12793 torch/distributed/elastic/rendezvous/dynamic_rendezvous.py:1346] The node 'node-01_12793_0' has failed to "
    agent += "send a keep-alive heartbeat to the rendezvous 'f07' due to an error of type RendezvousConnectionError."
    recv = "RuntimeError: [/__w/pytorch/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] "
    recv += "Timed out waiting 25000ms for recv operation to complete"
    events = (
        EventEvidence(
            "E1",
            0.97,
            "node-01 logged that its link eth0 is down, once; the other 3 nodes and 3 successful jobs never did.",
            (Line(monitor, 7, f"[2026-11-21T03:59:44.976000] {down}"),),
            event="9b1f60c2a4d87e35",
            template="[<TS>] <NUM>: eth<NUM>: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu <NUM> qdisc mq state DOWN group default qlen <NUM>",
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
                Line("logs/node-01/torchrun.log", line, f"W1121 03:59:{47.738 + 4.509 * n:06.3f}000 {agent}")
                for n, line in enumerate((8, 9, 10))
            ),
            event="41c08de77d3ab512",
            template="W<TS> <NUM> torch/distributed/elastic/rendezvous/dynamic_rendezvous.py:<NUM>] The node 'node-<ID>' has failed to send a keep-alive heartbeat to the rendezvous 'f<NUM>' due to an error of type RendezvousConnectionError.",
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
                    "logs/slurmctld.log",
                    13,
                    "[2026-11-21T03:59:52.672] error: Nodes node-01 not responding, setting DOWN",
                ),
                Line("logs/slurmctld.log", 12, "[2026-11-21T03:59:52.672] Killing JobId=4711 on failed node node-01"),
            ),
            event="c7720e1d9f4456ab",
            template="[<TS>] error: Nodes node-<NUM> not responding, setting DOWN",
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
            tuple(wobble(n, 232.0, 18.0) + (110.0 if n == 1 else 0.0) for n in iterations),
        ),
        Series("loss", iterations, tuple(2.9 + 2.7 * math.exp(-n / 26) for n in iterations)),
        Series("grad norm", iterations, tuple(wobble(n, 1.9 + 1.7 * math.exp(-n / 8), 0.06) for n in iterations)),
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
            "Two sources agree: the node itself (E1, E2) and the controller (E3).",
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
                "33 lines of 2 kinds that no other node has; its agent talked on for 108 s after the others had ended.",
                (Line(monitor, 7, f"[2026-11-21T03:59:44.976000] {down}"),),
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
        coverage=COVERAGE,
        pictures=Pictures(bars, marks, series),
        facts=FACTS,
    )
