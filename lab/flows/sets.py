"""Labelled sets: jobs on the fabric, faults at their steps, flows.parquet, topology.json and truth.json.

``python -m lab.flows.sets PLAN.json OUT --torch PYTHON``: a plan is a list of sets as in ``Plan``. Needs root, and a
Python with torch. The trainers' own clocks are the truth.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import polars as pl

from lab.flows.capture import COLUMNS, SILENCE_US
from lab.flows.effects import split
from lab.flows.fabric import STORAGE, Fabric

PROGRAMS = Path(__file__).parents[1] / "programs"
STORAGE_PORT = "7000"  # of train_on_wire.py
DEFAULTS: dict[str, Any] = {
    "tp": 1, "pp": 1, "dp": 4, "mode": "ddp", "micro": 4, "overlap": False, "buckets": 2, "steps": 60, "work": 0.02,
    "jitter": 0.03, "gradients": 6_000_000, "activation": 300_000, "checkpoint_every": 0,
    "checkpoint_bytes": 20_000_000, "chunks": 1, "experts": False, "embedding": False, "realtime": False,
    "batch": 0, "batch_anew": False, "uneven": 0.0, "seed": 0, "faults": [],
}  # fmt: skip
HUNG_S = 12.0  # of silence, after which a job that hangs is ended


class FabricJob:
    """A job as it runs: its place on the fabric and its ranks' files."""

    def __init__(self, plan: dict[str, Any], folder: Path, number: int) -> None:
        self.plan = DEFAULTS | plan
        self.folder = folder / self.plan["name"]
        self.folder.mkdir(parents=True)
        self.ranks = self.plan["tp"] * self.plan["pp"] * self.plan["dp"]
        tp = self.plan["tp"]
        rail0 = self.plan.get("rail", 0)
        self.places = [(self.plan["first_server"] + rank // tp, rail0 + rank % tp) for rank in range(self.ranks)]
        self.nics = [f"10.88.{rail}.{10 + server}" for server, rail in self.places]
        self.number = number
        self.process: subprocess.Popen[bytes] | None = None
        self.switched: set[int] = set()

    def start(self, fabric: Fabric, python: str) -> None:
        """Begin all ranks, each in its server's namespace."""
        places = [(fabric.server(server), f"eth{rail}") for server, rail in self.places]
        document = self.plan | {
            "master": self.nics[0], "port": 6_000 + self.number, "storage": STORAGE, "places": places,
            "seed": self.plan["seed"] + self.number,
        }  # fmt: skip
        path = self.folder / "job.json"
        path.write_text(json.dumps(document))
        command = ["env", "OMP_NUM_THREADS=1", python, str(PROGRAMS / "train_on_wire.py"), str(path)]
        with (self.folder / "ranks.log").open("wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)  # noqa: S603

    def end(self) -> None:
        """End all ranks that still run."""
        if self.process is not None and self.running():
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def lines(self, rank: int) -> list[dict[str, Any]]:
        """Steps that a rank has told of; a line that it is at is none yet."""
        path = self.folder / f"rank-{rank}.jsonl"
        whole = path.read_text().rpartition("\n")[0] if path.exists() else ""
        return [json.loads(line) for line in whole.splitlines()]

    def running(self) -> bool:
        """Whether any rank still runs."""
        return self.process is not None and self.process.poll() is None

    def apply(self, fabric: Fabric) -> None:
        """Begin and end the faults of the network when rank 0 reaches their steps."""
        done = len(self.lines(0))
        for place, fault in enumerate(self.plan["faults"]):
            if fault["kind"] not in ("slow_nic", "slow_switch"):
                continue
            ports = fault["ports"]
            if done >= fault["first_step"] and place not in self.switched:
                self.switched.add(place)
                fault["start"] = time.time()
                fabric.limit(ports, fault["rate"])
            elif done > fault["last_step"] and "end" not in fault:
                fault["end"] = time.time()
                fabric.limit(ports, "")


def make(plan: dict[str, Any], out: Path, python: str) -> None:
    """One set."""
    folder = out / plan["id"]
    folder.mkdir(parents=True)
    fabric = Fabric(plan["id"], plan["servers"], plan.get("rails", 1), plan["leaves"], plan.get("pods", 0))
    jobs = [FabricJob(job, folder / "runs", number) for number, job in enumerate(plan["jobs"])]
    try:
        fabric.up()
        storage = _storage(fabric)
        inside = ["ip", "netns", "exec", fabric.switch, sys.executable, "-m", "lab.flows.capture"]
        if any(job.plan["realtime"] for job in jobs):
            inside = ["chrt", "-r", "2", *inside]
        sniffer = subprocess.Popen([*inside, str(folder / "records.npz"), str(plan["seconds"]), *_grain(plan)])  # noqa: S603
        try:
            time.sleep(1.0)
            for job in jobs:
                job.start(fabric, python)
            _watch(fabric, jobs, plan["seconds"])
        finally:
            for job in jobs:
                job.end()
            (folder / "STOP").touch()
            sniffer.wait(60)
            storage.kill()
    finally:
        fabric.down()
    with np.load(folder / "records.npz") as records:
        truth = _truth(plan, jobs) | {"lost": int(records["lost"])}
    (folder / "topology.json").write_text(json.dumps(fabric.topology()))
    (folder / "truth.json").write_text(json.dumps(truth))
    _frame(folder / "records.npz", fabric).write_parquet(folder / "flows.parquet")
    (folder / "records.npz").unlink()


def _grain(plan: dict[str, Any]) -> list[str]:
    """How the capture cuts records: the silence that ends one, and the slots of time that none goes beyond."""
    return [str(plan.get("silence_us", SILENCE_US)), str(plan.get("slot_us", 0))]


def _storage(fabric: Fabric) -> subprocess.Popen[bytes]:
    server = [sys.executable, str(PROGRAMS / "serve_storage.py"), STORAGE_PORT]
    return subprocess.Popen(["ip", "netns", "exec", f"{fabric.name}st", *server])  # noqa: S603, S607


def _watch(fabric: Fabric, jobs: list[FabricJob], seconds: float) -> None:
    """Until all jobs are over, hang, or the time is up."""
    until = time.monotonic() + seconds
    last_steps: dict[int, tuple[int, float]] = {}
    while any(job.running() for job in jobs) and time.monotonic() < until:
        time.sleep(0.05)
        for job in jobs:
            job.apply(fabric)
            done = len(job.lines(0))
            if last_steps.get(job.number, (0, 0.0))[0] != done:
                last_steps[job.number] = done, time.monotonic()
        hang = [job for job in jobs if any(fault["kind"] == "hang" for fault in job.plan["faults"])]
        others = [job for job in jobs if job not in hang]
        if hang and not any(job.running() for job in others):
            last = max(last_steps.get(job.number, (0, until))[1] for job in hang)
            if time.monotonic() - last > HUNG_S:
                break


def _truth(plan: dict[str, Any], jobs: list[FabricJob]) -> dict[str, Any]:
    """The trainers' own clocks."""
    known_steps = []
    faults: list[dict[str, Any]] = []
    unfelt: list[dict[str, Any]] = []
    for job in jobs:
        ranks = [job.lines(rank) for rank in range(job.ranks)]
        count = min(map(len, ranks))
        steps = [
            {
                "step": step, "start": min(rank[step]["start"] for rank in ranks),
                "sync": max(rank[step]["sync"] for rank in ranks), "end": max(rank[step]["end"] for rank in ranks),
            }
            for step in range(count)
        ]  # fmt: skip
        base = median(step["end"] - step["start"] for step in steps)
        hung = any(fault["kind"] == "hang" for fault in job.plan["faults"])
        status = "hung" if hung else "finished" if count == job.plan["steps"] else "cut"
        known_steps.append(
            {
                "name": job.plan["name"], "nics": job.nics, "groups": _groups(job), "status": status,
                "base_step": base, "steps": steps,
                **{key: job.plan[key] for key in ("tp", "pp", "dp", "mode", "micro", "overlap")},
            }
        )  # fmt: skip
        every = job.plan["checkpoint_every"]
        # written behind a step, so the next one is the longer one by the network's clock
        written = [step + 1 for step in range(every, count - 1, every)] if every else []
        for fault in job.plan["faults"]:
            for part, told in zip(split(fault, steps, written), (faults, unfelt), strict=True):
                told.extend([_fault(job, part, steps)] if part else [])
        if every:
            faults.append({"kind": "checkpoint", "job": job.plan["name"], "steps": written, "benign": True})
    return {
        "schema": "firstfault.flowtruth/1",
        "id": plan["id"],
        "what": plan["what"],
        "jobs": known_steps,
        "faults": faults,
        "unfelt": unfelt,
    }


def _fault(job: FabricJob, fault: dict[str, Any], steps: list[dict[str, Any]]) -> dict[str, Any]:
    first = min(fault["first_step"], len(steps) - 1)
    last = min(fault["last_step"], len(steps) - 1)
    subject: dict[str, Any] = {"nic": None}
    ranks = fault.get("ranks", [])
    if len(ranks) == 1:
        subject = {"nic": job.nics[ranks[0]], "server": f"server-{job.places[ranks[0]][0]:02}"}
    elif ranks and len({job.places[rank][0] for rank in ranks}) == 1:
        subject = {"nic": None, "server": f"server-{job.places[ranks[0]][0]:02}"}
    times = {"start": steps[first]["start"], "end": steps[last]["end"]}
    if fault["kind"] == "hang":
        times = {"start": steps[-1]["end"], "end": steps[-1]["end"] + HUNG_S}
    kept = {key: value for key, value in fault.items() if key not in ("ranks", "ports")}
    return {"job": job.plan["name"], **times, **subject, **kept, "end": kept.get("end", times["end"])}


def _groups(job: FabricJob) -> dict[str, list[list[str]]]:
    tp, dp = job.plan["tp"], job.plan["dp"]
    found: dict[str, dict[tuple[int, int], list[str]]] = defaultdict(lambda: defaultdict(list))
    for rank, nic in enumerate(job.nics):
        rail, replica, stage = rank % tp, rank // tp % dp, rank // tp // dp
        for kind, key in (("dp", (rail, stage)), ("pp", (rail, replica)), ("tp", (replica, stage))):
            if job.plan[kind] > 1:
                found[kind][key].append(nic)
    return {kind: list(groups.values()) for kind, groups in found.items()}


def _frame(path: Path, fabric: Fabric) -> pl.DataFrame:
    """The records in the contract."""
    with np.load(path) as arrays:
        records, ports = arrays["records"], {int(number): str(name) for number, name in arrays["ports"]}
    switch = {number: fabric.exporter(name) for number, name in ports.items() if number in set(records[:, -1].tolist())}
    names = {code: ".".join(map(str, int(code).to_bytes(4))) for code in np.unique(records[:, 2:4]).tolist()}
    frame = pl.DataFrame(dict(zip(COLUMNS, records.T, strict=True)))
    return frame.with_columns(
        pl.col("src", "dst").replace_strict(names, return_dtype=pl.String),
        pl.col("port").replace_strict(switch, return_dtype=pl.String).alias("switch"),
        pl.col("port").replace_strict(ports, return_dtype=pl.String),
        pl.lit(6, pl.UInt8).alias("proto"),
        pl.col("sport", "dport").cast(pl.UInt16),
        pl.col("tcp_flags").cast(pl.UInt8),
    ).sort("start_us", "end_us", "src", "dst", "switch")


def main() -> None:
    """Make the sets of a plan, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--torch", default=sys.executable, help="a Python with torch")
    options = parser.parse_args()
    for plan in json.loads(options.plan.read_text()):
        make(plan, options.out, options.torch)


if __name__ == "__main__":
    main()
