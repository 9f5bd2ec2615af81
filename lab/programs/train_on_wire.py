# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""One rank of a training job whose traffic is real and whose work is waiting.

DDP, ZeRO-1, FSDP, pipelines (1F1B, or several chunks of layers a stage), experts, tied embeddings, rails.

``train_on_wire.py JOB.json`` runs all ranks, each in the network namespace of its server; each writes one JSON line a
step with its own clock to ``rank-RANK.jsonl`` beside JOB.json.
"""

import ctypes
import json
import os
import random
import socket
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

STORAGE_PORT = 7_000  # chosen: any that nothing else of the lab has
NETWORK = 0x40000000  # CLONE_NEWNET of sched.h


class Rank:
    """A rank: its place, its groups and its clock."""

    def __init__(self, job: dict[str, Any], rank: int) -> None:
        self.job, self.rank = job, rank
        self.tp, self.dp, self.pp = job["tp"], job["dp"], job["pp"]
        self.rail, self.replica, self.stage = rank % self.tp, rank // self.tp % self.dp, rank // self.tp // self.dp
        self.faults = [fault for fault in job["faults"] if rank in fault["ranks"]]
        self.random = random.Random(job["seed"] * 1000 + rank)  # noqa: S311 no secret
        self.group_dp = self._group("dp", lambda other: (other[0], other[2]))
        self.group_scatter = self._group("dp", lambda other: (other[0], other[2])) if job["mode"] == "fsdp" else None
        self.group_pp = self._group("pp", lambda other: (other[0], other[1]))
        self.group_tp = self._group("tp", lambda other: (other[1], other[2]))
        self.group_experts = self._group("dp", lambda other: (other[0], other[2])) if job["experts"] else None
        ends = self.stage in (0, self.pp - 1)
        embedding = self._group("pp", lambda other: (other[0], other[1], other[2] in (0, self.pp - 1)))
        self.group_embedding = embedding if job["embedding"] and ends else None
        first, last = self.pp > 1 and not self.stage, self.pp > 1 and self.stage == self.pp - 1
        self.share = 1 + job["uneven"] * last  # of the head; the embedding has more gradients
        self.gradients = torch.ones(int(job["gradients"] * (1 + job["uneven"] * first)) // 4 // self.dp * self.dp)
        self.activation = torch.ones(job["activation"] // 4)
        self.norm = torch.ones(1)
        self.loader = None

    def _group(self, kind: str, key: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Any:
        if getattr(self, kind) < 2:
            return None
        places = {
            other: (other % self.tp, other // self.tp % self.dp, other // self.tp // self.dp)
            for other in range(self.tp * self.dp * self.pp)
        }
        sets = {}
        for other, place in places.items():
            sets.setdefault(key(place), []).append(other)
        mine = None
        for members in sets.values():
            group = dist.new_group(members)
            if self.rank in members:
                mine = group
        return mine

    def work(self, step: int, share: float = 1.0) -> None:
        """Wait as long as the work takes; a tenth of it is real work of the processor."""
        seconds = self.job["work"] * share * self.share * (1 + self.job["jitter"] * self.random.gauss(0, 1))
        for fault in self.faults:
            if fault["kind"] == "slow_compute" and fault["first_step"] <= step <= fault["last_step"]:
                seconds *= fault["factor"]
            if fault["kind"] == "drift" and step >= fault["first_step"]:
                seconds *= 1 + fault["per_step"] * (step - fault["first_step"])
        until = time.monotonic() + seconds * 0.1
        while time.monotonic() < until:
            self.activation[:4096].sin_()
        time.sleep(max(0.0, seconds * 0.9))
        if self.group_tp is not None:
            dist.all_reduce(self.activation[:2048], group=self.group_tp)
        if self.group_experts is not None:
            tokens = self.activation[: len(self.activation) // self.dp * self.dp]
            dist.all_to_all_single(torch.empty_like(tokens), tokens, group=self.group_experts)

    def load(self) -> None:
        """Read the next batch from storage: on one connection, or on a new one each time."""
        size = self.job["batch"]
        if not size:
            return
        if self.loader is None:
            self.loader = socket.create_connection((self.job["storage"], STORAGE_PORT))
        self.loader.sendall(b"GET %d\n" % size)
        while size:
            size -= len(self.loader.recv(min(size, 1 << 16)))
        if self.job["batch_anew"]:
            self.loader.close()
            self.loader = None

    def update(self) -> None:
        """The gradients' norm over all ranks, then the optimizer."""
        dist.all_reduce(self.norm)
        time.sleep(self.job["work"] * 0.1)

    def stop(self, step: int) -> None:
        """Stall or hang, where a fault says so."""
        for fault in self.faults:
            if fault["kind"] == "stall" and step in fault["steps"]:
                time.sleep(fault["seconds"])
            if fault["kind"] == "hang" and fault["first_step"] <= step <= fault["last_step"]:
                time.sleep(3600)

    def step(self, step: int) -> tuple[float, float]:
        """One step; returns when it entered and left its data-parallel communication."""
        self.load()
        self.stop(step)
        if self.job["mode"] in ("fsdp", "fsdp2"):
            return self.fsdp(step)
        if self.group_pp is not None and self.job["chunks"] > 1:
            self.chunks(step)
        elif self.group_pp is not None:
            self.pipeline(step)
        else:
            for _ in range(self.job["micro"]):
                self.work(step)
                self.work(step, 2 - self.job["overlap"])
        if not self.job["overlap"]:
            entered = time.time()
            self.reduce()
            left = time.time()
            if self.group_embedding is not None:
                dist.all_reduce(self.activation, group=self.group_embedding)
            return entered, left
        pending = []
        for bucket in self.gradients.chunk(self.job["buckets"]):
            self.work(step, 1 / self.job["buckets"])
            pending.append(dist.all_reduce(bucket, group=self.group_dp, async_op=True))
        entered = time.time()
        for handle in pending:
            handle.wait()
        return entered, time.time()

    def reduce(self) -> None:
        """All-reduce of all gradients; ZeRO-1 scatters, updates its part and gathers."""
        if self.job["mode"] != "zero1":
            for bucket in self.gradients.chunk(self.job["buckets"]):
                dist.all_reduce(bucket, group=self.group_dp)
            return
        part = self.gradients[: len(self.gradients) // self.dp]
        dist.reduce_scatter_tensor(part, self.gradients, group=self.group_dp)
        self.update()
        dist.all_gather_into_tensor(self.gradients, part.clone(), group=self.group_dp)

    def fsdp(self, step: int) -> tuple[float, float]:
        """Gather, forward, gather, backward, scatter."""
        part = self.gradients[: len(self.gradients) // self.dp]
        entered = time.time()
        for share in (1, 2):
            dist.all_gather_into_tensor(self.gradients, part.clone(), group=self.group_dp)
            self.work(step, share)
        dist.reduce_scatter_tensor(part, self.gradients, group=self.group_scatter or self.group_dp)
        return entered, time.time()

    def pipeline(self, step: int) -> None:
        """1F1B."""
        stride, micro = self.tp * self.dp, self.job["micro"]
        warm = min(self.pp - self.stage - 1, micro)
        handles = []
        for ahead in _order(warm, micro):
            near = self.rank - stride if ahead else self.rank + stride
            far = self.rank + stride if ahead else self.rank - stride
            if self.stage != (0 if ahead else self.pp - 1):
                dist.recv(self.activation.clone(), near, group=self.group_pp)
            self.work(step, 1 if ahead else 2)
            if self.stage != (self.pp - 1 if ahead else 0):
                handles.append(dist.isend(self.activation, far, group=self.group_pp))
        for handle in handles:
            handle.wait()

    def chunks(self, step: int) -> None:
        """Several chunks of layers a stage, breadth first: all micro-batches of a chunk before the next one.

        Stage s holds layers s, s + pp, ...; the last stage sends to the first (``ScheduleLoopedBFS`` of torch).
        """
        stride, last = self.tp * self.dp, self.pp * self.job["chunks"] - 1
        before = self.rank - stride if self.stage else self.rank + (self.pp - 1) * stride
        after = self.rank + stride if self.stage < self.pp - 1 else self.rank - (self.pp - 1) * stride
        handles = []
        for ahead in (True, False):
            for chunk in range(self.job["chunks"])[:: 1 if ahead else -1]:
                layers = chunk * self.pp + self.stage
                for _ in range(self.job["micro"]):
                    if layers != (0 if ahead else last):
                        dist.recv(self.activation.clone(), before if ahead else after, group=self.group_pp)
                    self.work(step, (1 if ahead else 2) / self.job["chunks"])
                    if layers != (last if ahead else 0):
                        handles.append(dist.isend(self.activation, after if ahead else before, group=self.group_pp))
        for handle in handles:
            handle.wait()

    def checkpoint(self) -> None:
        """Write to storage over the network."""
        with socket.create_connection((self.job["storage"], STORAGE_PORT)) as line:
            line.sendall(bytes(self.job["checkpoint_bytes"]))
            line.shutdown(socket.SHUT_WR)
            line.recv(1)


def _order(warm: int, micro: int) -> list[bool]:
    order = [True] * warm
    for _ in range(micro - warm):
        order += [True, False]
    return order + [False] * warm


def main() -> None:
    """Load torch once and fork a rank into each place; ends when all have ended."""
    job = json.loads(Path(sys.argv[1]).read_text())
    torch.set_num_threads(1)
    ranks = []
    for number, (space, device) in enumerate(job["places"]):
        child = os.fork()
        if not child:
            os._exit(begin(job, number, space, device))
        ranks.append(child)
    for child in ranks:
        os.waitpid(child, 0)


def begin(job: dict[str, Any], number: int, space: str, device: str) -> int:
    """A rank in the network namespace of its server; returns its exit code."""
    try:
        with Path("/var/run/netns", space).open() as namespace:
            if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), NETWORK):
                raise OSError(ctypes.get_errno(), f"no way into {space}")
        os.environ["GLOO_SOCKET_IFNAME"] = device
        if job["realtime"]:  # before all else on the machine, which is then as quiet as its ranks leave it
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        train(job, number)
    except Exception:  # noqa: BLE001 the end of a process
        traceback.print_exc()
        return 1
    return 0


def train(job: dict[str, Any], number: int) -> None:
    """All steps of a rank."""
    store = dist.TCPStore(job["master"], job["port"], is_master=number == 0, wait_for_workers=False)
    dist.init_process_group("gloo", store=store, rank=number, world_size=len(job["places"]))
    rank = Rank(job, number)
    dist.barrier()
    with Path(sys.argv[1]).with_name(f"rank-{number}.jsonl").open("w", buffering=1) as out:
        for step in range(job["steps"]):
            start = time.time()
            entered, sync = rank.step(step)
            if job["mode"] != "zero1":
                rank.update()
            if job["checkpoint_every"] and rank.replica == 0 and step % job["checkpoint_every"] == 0 and step:
                rank.checkpoint()
            line = {"step": step, "start": start, "entered": entered, "sync": sync, "end": time.time()}
            out.write(json.dumps(line) + "\n")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
