"""Made-up flow records of training jobs, of any layout and size, with faults whose place is known.

``python -m benchmarks.flow_sets`` measures time and memory of ``firstfault flows`` on 10 million records.

A job is simulated step by step as 1F1B pipelines and rings: who waits for whom comes out of the order of the work, and
nothing in it is fitted to a capture. All columns of a pipeline and all steps are one array each.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ACK = 66  # bytes of a bare acknowledgement
MTU = 4_096
STORAGE = "10.255.0.1"


@dataclass(frozen=True)
class Fault:
    """What is wrong with one NIC (stage, replica; all its rails for compute) or leaf from step ``first`` to ``last``.

    kind: "compute" (its work takes ``factor`` times as long), "nic" (what is sent to it queues ``factor`` seconds),
    "leaf" (what leaves or enters leaf ``replica`` queues ``factor`` seconds).
    """

    kind: str
    first: int
    last: int
    factor: float
    stage: int = 0
    replica: int = 0


@dataclass(frozen=True)
class Layout:
    """A job: sizes, seconds of work a micro-batch and stage, bytes of an activation and of a stage's gradients."""

    dp: int = 4
    pp: int = 2
    tp: int = 1
    micro: int = 4
    steps: int = 40
    work: float = 0.02
    activation: int = 400_000
    gradients: int = 8_000_000
    jitter: float = 0.02
    seed: int = 0
    start: float = 1.8e9
    first_server: int = 0
    faults: tuple[Fault, ...] = field(default=())


class Simulation:
    """The records of one job, in columns, and the end of each step."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._random = np.random.default_rng(layout.seed)
        self._columns: list[dict[str, Any]] = []
        self.ends = self._run()

    def address(self, stage: int, replica: int, rail: int) -> str:
        """The NIC of a stage's replica on a rail."""
        server = self.layout.first_server + stage * self.layout.dp + replica
        return f"10.{server // 250}.{server % 250}.{10 + rail}"

    def leaf(self, replica: int) -> str:
        """Replicas are spread over leaves."""
        return f"leaf-{replica % 4}"

    def frame(self) -> pl.DataFrame:
        """All records in the contract."""
        parts = [pl.DataFrame(columns) for columns in self._columns]
        return pl.concat(parts).with_columns(pl.col("src", "dst", "switch").cast(pl.Categorical))

    def servers(self) -> list[dict[str, Any]]:
        """For the topology."""
        layout = self.layout
        return [
            {
                "name": f"server-{layout.first_server + stage * layout.dp + replica}",
                "nics": [self.address(stage, replica, rail) for rail in range(layout.tp)],
                "leaf": self.leaf(replica),
            }
            for stage in range(layout.pp)
            for replica in range(layout.dp)
        ]

    def _run(self) -> Floats:
        layout = self.layout
        shape = (layout.steps, layout.dp)
        sends, finish = self._pipelines(shape)
        ring = layout.gradients / 1e9 + self._late(layout.steps)
        done = np.stack([finish[stage].max(axis=1) + ring for stage in range(layout.pp)])
        length = done.max(axis=0) + 0.1 * layout.work
        start = layout.start + np.append(0, np.cumsum(length)[:-1])
        for stage, to, moments in sends:
            for replica in range(layout.dp):
                for rail in range(layout.tp):
                    begin = (start[:, None] + moments[:, replica]).ravel()
                    self._lane((stage, replica, rail), (to, replica, rail), begin, layout.activation)
        for stage in range(layout.pp):
            self._ring(stage, start, finish[stage], ring)
        ends: Floats = start + done.max(axis=0)
        return ends

    def _late(self, steps: int) -> Floats:
        """What a slow link or leaf adds to each burst."""
        late = np.zeros(steps)
        for fault in self.layout.faults:
            if fault.kind in ("nic", "leaf"):
                late[fault.first : fault.last + 1] += fault.factor * self.layout.dp
        return late

    def _pipelines(self, shape: tuple[int, int]) -> tuple[list[tuple[int, int, Floats]], list[Floats]]:
        """1F1B: what each stage sends when (steps, replicas, micro-batches), and when it is done."""
        layout = self.layout
        pp, micro = layout.pp, layout.micro
        work = layout.work * (1 + layout.jitter * self._random.random((pp, 2 * micro, *shape)))
        for fault in layout.faults:
            if fault.kind == "compute":
                work[fault.stage, :, fault.first : fault.last + 1, fault.replica] *= fault.factor
        wire = layout.activation / 1e9
        forward: dict[tuple[int, int], Floats] = {}
        backward: dict[tuple[int, int], Floats] = {}
        free = [np.zeros(shape) for _ in range(pp)]
        order = [_one_forward_one_backward(stage, pp, micro) for stage in range(pp)]
        at = [0] * pp
        while any(at[stage] < len(order[stage]) for stage in range(pp)):
            for stage in range(pp):
                if at[stage] == len(order[stage]):
                    continue
                ahead, batch = order[stage][at[stage]]
                needs = forward.get((stage - 1, batch)) if ahead else backward.get((stage + 1, batch))
                edge = stage == 0 if ahead else stage == pp - 1
                if needs is None and not edge:
                    continue
                ready = free[stage] if edge else np.maximum(free[stage], needs + wire)  # type: ignore[operator]
                length = work[stage, batch if ahead else micro + batch] * (1 if ahead else 2)
                free[stage] = ready + length
                (forward if ahead else backward)[stage, batch] = free[stage]
                at[stage] += 1
        sends = []
        for stage in range(pp - 1):
            sends.append((stage, stage + 1, np.stack([forward[stage, batch] for batch in range(micro)], 2)))
            sends.append((stage + 1, stage, np.stack([backward[stage + 1, batch] for batch in range(micro)], 2)))
        return sends, free

    def _ring(self, stage: int, start: Floats, finish: Floats, ring: Floats) -> None:
        """Each begins with its own part when it is done; the rest waits for the last one."""
        layout = self.layout
        if layout.dp < 2:
            return
        part = layout.gradients // (2 * layout.dp)
        last = finish.max(axis=1)
        for replica in range(layout.dp):
            to = (replica + 1) % layout.dp
            for rail in range(layout.tp):
                one, other = (stage, replica, rail), (stage, to, rail)
                self._lane(one, other, start + finish[:, replica], part, ring_port=20_000)
                rest = (layout.gradients - part) // layout.dp
                for turn in range(layout.dp):
                    begin = start + last + 0.005 + turn * (ring - 0.006) / layout.dp
                    self._lane(one, other, begin, rest, ring_port=20_000)

    def _lane(
        self, one: tuple[int, int, int], other: tuple[int, int, int], begin: Floats, size: int,
        *, ring_port: int = 0,
    ) -> None:  # fmt: skip
        """Transfers and their acknowledgements, as every switch on the path sees them."""
        layout = self.layout
        per_step = len(begin) // layout.steps
        length = np.full(len(begin), size / 1e9)
        src, dst = self.address(*one), self.address(*other)
        ports = (ring_port + one[1], ring_port + other[1]) if ring_port else (30_000 + min(one[0], other[0]),) * 2
        late, held = np.zeros(len(begin)), np.zeros(len(begin))
        for fault in layout.faults:
            when = slice(fault.first * per_step, (fault.last + 1) * per_step)
            if fault.kind == "nic" and (fault.stage, fault.replica) == other[:2]:
                late[when] += fault.factor
            if fault.kind == "leaf" and self.leaf(fault.replica) in {self.leaf(one[1]), self.leaf(other[1])}:
                held[when] += fault.factor
        leaves = (self.leaf(one[1]), self.leaf(other[1]))
        path = (leaves[0],) if leaves[0] == leaves[1] else (leaves[0], "spine", leaves[1])
        queue = np.zeros(len(begin))
        for hop, switch in enumerate(path):
            if hop:
                near, far = path[hop - 1], switch
                slow = any(fault.kind == "leaf" and self.leaf(fault.replica) in (near, far) for fault in layout.faults)
                queue = queue + (held if slow else 0)
            self._records(src, dst, ports, begin + queue, length, size, switch)
        answered = begin + queue + 1e-4  # the first of it arrives at once, the last when the queue is empty
        self._records(dst, src, ports[::-1], answered, length + late, 0, leaves[1], packets=max(1, size // MTU // 2))

    def _records(
        self, src: str, dst: str, ports: tuple[int, ...], begin: Floats, length: Floats, size: int, switch: str,
        *, packets: int = 0,
    ) -> None:  # fmt: skip
        count = len(begin)
        packets = packets or max(2, size // MTU)
        first = (begin * 1e6).astype(np.int64)
        flags = np.full(count, 24 if size else 16, np.uint8)
        flags[-1] |= 1  # FIN: the job ends
        self._columns.append(
            {
                "start_us": first, "end_us": first + (length * 1e6).astype(np.int64),
                "src": [src] * count, "dst": [dst] * count,
                "sport": np.full(count, ports[0], np.uint16), "dport": np.full(count, ports[1], np.uint16),
                "proto": np.full(count, 6, np.uint8),
                "bytes": np.full(count, size or ACK * packets, np.int64), "packets": np.full(count, packets, np.int64),
                "tcp_flags": flags, "switch": [switch] * count,
            }
        )  # fmt: skip


def _one_forward_one_backward(stage: int, pp: int, micro: int) -> list[tuple[bool, int]]:
    """The order of work of a stage: forward (True) and backward of each micro-batch."""
    warm = min(pp - stage - 1, micro)
    order = [(True, batch) for batch in range(warm)]
    for batch in range(micro - warm):
        order += [(True, warm + batch), (False, batch)]
    return order + [(False, batch) for batch in range(micro - warm, micro)]


def topology(jobs: list[Simulation]) -> dict[str, Any]:
    """The topology of some jobs."""
    servers = [server for job in jobs for server in job.servers()]
    leaves = sorted({server["leaf"] for server in servers})
    links = [{"a": nic, "b": server["leaf"]} for server in servers for nic in server["nics"]]
    links += [{"a": leaf, "b": "spine"} for leaf in leaves]
    return {
        "schema": "firstfault.topology/1",
        "servers": [{"name": server["name"], "nics": server["nics"]} for server in servers],
        "switches": [{"name": name, "role": name[:5]} for name in [*leaves, "spine"]],
        "links": links,
        "infrastructure": [{"name": "storage", "addresses": [STORAGE], "role": "storage"}],
    }


def simulate(*layouts: Layout) -> tuple[pl.DataFrame, dict[str, Any], list[Simulation]]:
    """The records of some jobs together, their topology, and the jobs."""
    jobs = [Simulation(layout) for layout in layouts]
    return pl.concat([job.frame() for job in jobs]), topology(jobs), jobs


def large(steps: int) -> Iterator[Layout]:
    """4,096 NICs: eight jobs of TP8, PP4, DP16."""
    for number in range(8):
        yield Layout(dp=16, pp=4, tp=8, micro=8, steps=steps, first_server=64 * number, seed=number)


def main() -> None:
    """Time and memory of the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=26, help="of each job; 26 make about 10 million records")
    steps = parser.parse_args().steps
    with TemporaryDirectory() as folder:
        path, attached = Path(folder) / "flows.parquet", Path(folder) / "topology.json"
        records = _write(path, attached, steps)
        answer = Path(folder) / "answer.json"
        command = [sys.executable, "-m", "bot", "flows", str(path), "--topology", str(attached), "--json"]
        began = time.monotonic()
        with answer.open("wb") as out, subprocess.Popen(command, stdout=out) as run:
            waited = _waited(run.pid)
            _, status, used = os.wait4(run.pid, 0)  # of this child alone
            run.returncode = os.waitstatus_to_exitcode(status)
        took = time.monotonic() - began
        jobs = json.loads(answer.read_text())["jobs"]
    seen = sorted({(len(job["nics"]), len(job["steps"])) for job in jobs})
    print(f"{records:,} records, {len(jobs)} jobs; NICs and steps of a job: {seen}")
    print(f"{took:.1f} s, CPU {used.ru_utime + used.ru_stime:.1f} s, peak memory {used.ru_maxrss / 1e6:.2f} GB")
    print(f"its main thread waited {waited:.1f} s for a processor; {used.ru_majflt} page faults waited for the disk")


def _waited(process: int) -> float:
    """Seconds that the main thread of a child has waited for a processor until it ended (Linux)."""
    os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)  # its numbers stay until it is waited for
    return int(Path("/proc", str(process), "schedstat").read_text().split()[1]) / 1e9


def _write(path: Path, attached: Path, steps: int) -> int:
    """Write the large set in a process of its own, so that its memory is not counted."""
    script = (
        "import json, sys; from pathlib import Path; from benchmarks.flow_sets import large, simulate\n"
        "frame, topology, _ = simulate(*large(int(sys.argv[3])))\n"
        "frame.sort('start_us').write_parquet(sys.argv[1]); Path(sys.argv[2]).write_text(json.dumps(topology))\n"
        "print(len(frame))"
    )
    run = subprocess.run([sys.executable, "-c", script, path, attached, str(steps)], check=True, capture_output=True)
    return int(run.stdout)


if __name__ == "__main__":
    main()
