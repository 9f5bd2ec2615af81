"""Who spoke: every layout and prefix of real jobs gives node, rank, local rank and attempt; unknown stays unknown."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.diagnose import diagnose
from core.job import Manifest
from core.logs.origins import Origin, Program, Voice, find_origins
from tests.support.jobs import at, job, lines, parse, raised

TWO_NODES: dict[str, Any] = {
    "nodes": ("node-00", "node-01"),
    "node_ranks": {"node-00": (0, 1), "node-01": (2, 3)},
    "world_size": 4,
}
NAMES_ONLY: dict[str, Any] = {"nodes": ("node-00", "node-01")}

Who = tuple[str | None, int | None, int | None, int]  # node, rank, local rank, attempt


def origins(voices: list[tuple[str, bytes]], manifest: dict[str, Any]) -> list[Origin]:
    return list(find_origins([Voice(f"logs/{file}", prefix) for file, prefix in voices], Manifest("j1", **manifest)))


def who(origin: Origin) -> Who:
    return origin.node, origin.rank, origin.local_rank, origin.attempt


# A layout: its name, what job.json says, and for each file and prefix who speaks there.
LAYOUTS: list[tuple[str, dict[str, Any], list[tuple[str, bytes, Who]]]] = [
    (
        "a folder a node",
        {},
        [
            ("node-00/slurmd.log", b"", ("node-00", None, None, 0)),
            ("node-01/deep/down/kern.log.gz", b"", ("node-01", None, None, 0)),
            ("slurmctld.log", b"", (None, None, None, 0)),
        ],
    ),
    (
        "a folder a node, names from job.json",
        {"nodes": ("alpha", "beta")},
        [("alpha/x.log", b"", ("alpha", None, None, 0)), ("worker-1/x.log", b"", (None, None, None, 0))],
    ),
    (
        "files with the numbers of all ranks",
        TWO_NODES,
        [(f"worker_{n}.log", b"", (f"node-0{n // 2}", n, None, 0)) for n in range(4)],
    ),
    (
        "files with other numbers",
        TWO_NODES,
        [(f"worker_{n}.log", b"", (None, None, None, 0)) for n in range(3)],
    ),
    (
        "folders that are alike",
        {},
        [
            ("pc-11/server.out", b"", ("pc-11", None, None, 0)),
            ("pc-12/worker0.err", b"", ("pc-12", None, None, 0)),
            ("stage-1/x.log", b"", (None, None, None, 0)),
            ("stage-2/x.log", b"", (None, None, None, 0)),
        ],
    ),
    (
        "folders that differ in a letter",
        {},
        [(f"edge-{one}/7f-json.log", b"", (f"edge-{one}", None, None, 0)) for one in "abc"],
    ),
    (
        "files of processes, each on a machine of its own",
        {},
        [(f"worker-{n}.ip-10-0-0-{n + 7}.err", b"", (f"ip-10-0-0-{n + 7}", None, None, 0)) for n in range(2)],
    ),
    (
        "what its wrapper says nothing of, in a file of one rank",
        {},
        [
            ("a/x.log", b"\x1enode=gpu-1\x1frank=0\x1e", ("gpu-1", 0, None, 0)),
            ("a/x.log", b"\x1erank=0\x1e", ("gpu-1", 0, None, 0)),
            ("a/x.log", b"\x1e\x1e", ("gpu-1", 0, None, 0)),
            ("b/x.log", b"\x1enode=gpu-2\x1frank=1\x1e", ("gpu-2", 1, None, 0)),
        ],
    ),
    (
        "torchrun's tree in a folder a node: job.json has the ranks",
        TWO_NODES,
        [
            ("node-00/run_a1/attempt_0/0/stderr.log", b"", ("node-00", 0, 0, 0)),
            ("node-01/run_b2/attempt_0/1/stdout.log", b"", ("node-01", 3, 1, 0)),
            ("node-01/run_b2/attempt_2/0/stdout.log.zst", b"", ("node-01", 2, 0, 2)),
        ],
    ),
    (
        "torchrun's tree in a folder a node, nothing else known",
        {},
        [
            ("node-00/run_a1/attempt_0/1/stderr.log", b"", ("node-00", None, 1, 0)),
            ("node-01/run_b2/attempt_1/0/stderr.log", b"", ("node-01", None, 0, 1)),
        ],
    ),
    (
        "torchrun's tree without folders of nodes: a label tells the rank, the ranks of a run are in a row",
        {},
        [
            ("run_a1/attempt_0/1/stderr.log", b"[rank5]: ", (None, 5, 1, 0)),
            ("run_a1/attempt_0/1/stdout.log", b"", (None, 5, 1, 0)),
            ("run_a1/attempt_0/0/stderr.log", b"", (None, 4, 0, 0)),
            ("run_a1/attempt_1/0/stderr.log", b"", (None, None, 0, 1)),
            ("run_b2/attempt_0/0/stderr.log", b"", (None, None, 0, 0)),
        ],
    ),
    (
        "torchrun's tree without folders of nodes: with job.json one label names the node of the run",
        TWO_NODES,
        [
            ("run_a1/attempt_0/0/stderr.log", b"[rank2]: ", ("node-01", 2, 0, 0)),
            ("run_a1/attempt_0/1/stderr.log", b"", ("node-01", 3, 1, 0)),
            ("run_a1/attempt_1/0/stderr.log", b"", ("node-01", 2, 0, 1)),
            ("run_b2/attempt_0/0/stderr.log", b"", (None, None, 0, 0)),
        ],
    ),
    (
        "a rank's label in one folder says nothing of a rank that was not heard",
        {},
        [
            ("node-00/run_a1/attempt_0/1/stderr.log", b"[rank1]: ", ("node-00", 1, 1, 0)),
            ("node-00/run_a1/attempt_0/0/stderr.log", b"", ("node-00", 0, 0, 0)),
        ],
    ),
    (
        "folders of nodes that letters tell apart",
        {},
        [
            ("node-a/dmesg.log", b"", ("node-a", None, None, 0)),
            ("worker_b/train.log", b"[rank3]: ", ("worker_b", 3, None, 0)),
            ("node-local/train.log", b"", (None, None, None, 0)),
        ],
    ),
    (
        "one file a rank",
        {},
        [
            ("rank_17.log", b"", (None, 17, None, 0)),
            ("rank-3.log.gz", b"", (None, 3, None, 0)),
            ("job-proc-rank-6-device-2.txt", b"", (None, 6, None, 0)),
            ("train.rank4.err", b"", (None, 4, None, 0)),
            ("frankly_5.log", b"", (None, None, None, 0)),
        ],
    ),
    (
        "a folder a rank",
        {},
        [
            ("process_log/rank_77/debug/plog/plog-12339_20230704214646088.log", b"", (None, 77, None, 0)),
            ("process_log/rank_76/debug/plog/plog-12337_20230704214646084.log", b"", (None, 76, None, 0)),
        ],
    ),
    (
        "<host>_rank<N>.log with the names of job.json",
        NAMES_ONLY,
        [("node-01_rank3.log", b"", ("node-01", 3, None, 0)), ("other_rank1.log", b"", (None, 1, None, 0))],
    ),
    (
        "train-<host>.log of machines that are alike",
        {},
        [
            ("train-lambda-a.log", b"", ("lambda-a", None, None, 0)),
            ("train-lambda-b.log", b"", ("lambda-b", None, None, 0)),
        ],
    ),
    (
        "train-<number>.log names no machine",
        {},
        [("train-run1.log", b"", (None, None, None, 0)), ("train-run2.log", b"", (None, None, None, 0))],
    ),
    (
        "a pod and its host are one machine",
        {},
        [
            (
                "host-a1/var/log/pods/ns_fsdp-0_f2920f5c3bff69e0e287bcbdf7809429/main/0.log",
                b"\x1enode=gke-4f2a\x1frank=0\x1e",
                ("fsdp-0", 0, None, 0),
            ),
            (
                "host-b2/var/log/pods/ns_fsdp-1_ccbb855d41bef9b1fbc45992b1ec9f32/main/0.log",
                b"\x1enode=gke-77bc\x1frank=1\x1e",
                ("fsdp-1", 1, None, 0),
            ),
        ],
    ),
    (
        "one file a rank: job.json has the node",
        TWO_NODES,
        [("rank_1.log", b"", ("node-00", 1, None, 0)), ("rank_3.log", b"", ("node-01", 3, None, 0))],
    ),
    (
        "<host>-<rank>.log with the names of job.json",
        NAMES_ONLY,
        [
            ("node-00-0.log", b"", ("node-00", 0, None, 0)),
            ("node-01-3.log", b"", ("node-01", 3, None, 0)),
            ("node-01.log", b"", ("node-01", None, None, 0)),
        ],
    ),
    (
        "<host>-<rank>.log: numbers that are 0, 1, ... once each are ranks",
        {},
        [
            ("gpu-07-0.log", b"", ("gpu-07", 0, None, 0)),
            ("gpu-07-1.log", b"", ("gpu-07", 1, None, 0)),
            ("gpu-12-2.log", b"", ("gpu-12", 2, None, 0)),
        ],
    ),
    (
        "<rack>-<slot>.log: numbers that come again are names",
        {},
        [
            ("gpu-07-0.log", b"", ("gpu-07-0", None, None, 0)),
            ("gpu-07-1.log", b"", ("gpu-07-1", None, None, 0)),
            ("gpu-12-0.log", b"", ("gpu-12-0", None, None, 0)),
        ],
    ),
    (
        "srun --label: as many tasks as ranks",
        TWO_NODES,
        [
            ("slurm.out", b"0: ", ("node-00", 0, None, 0)),
            ("slurm.out", b" 1: ", ("node-00", 1, None, 0)),
            ("slurm.out", b"2: ", ("node-01", 2, None, 0)),
            ("slurm.out", b"3: ", ("node-01", 3, None, 0)),
            ("slurm.out", b"", (None, None, None, 0)),
        ],
    ),
    (
        "srun --label without job.json: tasks are ranks",
        {},
        [("slurm.out", b"  0: ", (None, 0, None, 0)), ("slurm.out", b"511: ", (None, 511, None, 0))],
    ),
    (
        "srun --label: as many tasks as nodes",
        TWO_NODES,
        [("slurm.out", b"0: ", ("node-00", None, None, 0)), ("slurm.out", b"1: ", ("node-01", None, None, 0))],
    ),
    (
        "srun --label over torchrun --tee: the task is the agent of a node",
        TWO_NODES,
        [
            ("slurm.out", b"0: [default1]:", ("node-00", 1, 1, 0)),
            ("slurm.out", b"1: [default0]:", ("node-01", 2, 0, 0)),
            ("slurm.out", b"1: ", ("node-01", None, None, 0)),
            ("slurm.out", b"", (None, None, None, 0)),
        ],
    ),
    (
        "srun --label over torchrun --tee without job.json: the task is no rank, and stands for its node",
        {},
        [
            ("slurm.out", b"0: [default1]:", ("task 0", None, 1, 0)),
            ("slurm.out", b"1: [default0]:", ("task 1", None, 0, 0)),
        ],
    ),
    (
        "srun --label over ranks that say another number: the task is not the rank",
        TWO_NODES,
        [
            ("slurm.out", b"1: [rank2]: ", ("node-01", 2, None, 0)),
            ("slurm.out", b"0: [rank1]: ", ("node-00", 1, None, 0)),
        ],
    ),
    (
        "torch's [rankN]",
        TWO_NODES,
        [("all.log", b"[rank3]:", ("node-01", 3, None, 0)), ("all.log", b"", (None, None, None, 0))],
    ),
    (
        "torchrun's [defaultN] in the log of a node's agent",
        TWO_NODES,
        [
            ("node-01/agent.log", b"[default1]:", ("node-01", 3, 1, 0)),
            ("node-01/agent.log", b"", ("node-01", None, None, 0)),
        ],
    ),
    ("torchrun's [defaultN] of an unknown node", {}, [("agent.log", b"[default1]:", (None, None, 1, 0))]),
    (
        "pdsh puts hosts before lines",
        {},
        [
            ("all.log", b"worker-1: ", ("worker-1", None, None, 0)),
            ("all.log", b"worker-1: [rank1]:", ("worker-1", 1, None, 0)),
            ("all.log", b"worker-0: ", ("worker-0", None, None, 0)),
            ("all.log", b"[rank1]:", ("worker-1", 1, None, 0)),
            ("all.log", b"", (None, None, None, 0)),
        ],
    ),
    (
        "pdsh with addresses",
        {},
        [("all.log", b"192.168.205.202: ", ("192.168.205.202", None, None, 0))],
    ),
    (
        "pdsh on one host: everything happened there",
        {},
        [
            ("all.log", b"localhost: [rank0]:", ("localhost", 0, None, 0)),
            ("all.log", b"", ("localhost", None, None, 0)),
        ],
    ),
    (
        "Ray",
        {},
        [
            ("all.log", b"(Worker pid=7, ip=10.0.3.7) ", ("10.0.3.7", None, None, 0)),
            ("all.log", b"(Worker pid=9, ip=10.0.3.8) ", ("10.0.3.8", None, None, 0)),
            ("all.log", b"(Worker pid=8) ", (None, None, None, 0)),
        ],
    ),
    (
        "Ray: who has no address is beside the driver, not on the only host that is named",
        {},
        [
            ("all.log", b"(Worker pid=7, ip=10.0.3.7) ", ("10.0.3.7", None, None, 0)),
            ("all.log", b"(Worker pid=8) ", (None, None, None, 0)),
        ],
    ),
    (
        "Ray: the one node of the job that no actor of that class is on is the driver's",
        {
            "nodes": ("gpu14", "gpu15", "gpu16"),
            "node_ranks": {"gpu14": (0,), "gpu15": (1,), "gpu16": (2,)},
            "node_addresses": {"gpu14": ("10.0.3.6",), "gpu15": ("10.0.3.7",), "gpu16": ("10.0.3.8",)},
        },
        [
            ("all.log", b"(Worker pid=7, ip=10.0.3.7) ", ("gpu15", 1, None, 0)),
            ("all.log", b"(Worker pid=9, ip=10.0.3.8) ", ("gpu16", 2, None, 0)),
            ("all.log", b"(Worker pid=8) ", ("gpu14", 0, None, 0)),
            ("all.log", b"(Controller pid=8) ", (None, None, None, 0)),
        ],
    ),
    (
        "Ray: where two nodes said nothing, either may be the driver's",
        {"nodes": ("gpu14", "gpu15", "gpu16"), "node_addresses": {"gpu15": ("10.0.3.7",)}},
        [
            ("all.log", b"(Worker pid=7, ip=10.0.3.7) ", ("gpu15", None, None, 0)),
            ("all.log", b"(Worker pid=8) ", (None, None, None, 0)),
        ],
    ),
    (
        "pdsh: the only rank of a host speaks there",
        {"nodes": ("gpu14", "gpu15"), "node_ranks": {"gpu14": (0,), "gpu15": (1,)}, "world_size": 2},
        [
            ("all.log", b"gpu15: ", ("gpu15", 1, None, 0)),
            ("gpu14/kernel.log", b"gpu14: ", ("gpu14", None, None, 0)),
        ],
    ),
    (
        "a collector that is no node of the job hides no task of srun",
        TWO_NODES,
        [
            ("all.log", b"\x1enode=login1\x1funit=slurm\x1e0: [rank0]:", ("node-00", 0, 0, 0)),
            ("all.log", b"\x1enode=login1\x1funit=slurm\x1e1: [rank0]:", ("node-01", 2, 0, 0)),
            ("all.log", b"\x1enode=login1\x1funit=slurm\x1e1: ", ("node-01", None, None, 0)),
            ("all.log", b"\x1enode=login1\x1funit=slurm\x1e", ("login1", None, None, 0)),
        ],
    ),
    (
        "a collector that is no node of the job hides no rank",
        TWO_NODES,
        [
            ("rank_3.log", b"\x1enode=login1\x1e", ("node-01", 3, None, 0)),
            ("all.log", b"\x1enode=login1\x1frank=2\x1e", ("node-01", 2, None, 0)),
        ],
    ),
    (
        "NCCL's host:pid:tid [device]",
        {},
        [
            ("all.log", b"GPU-719:3198547:3203306 [6] ", ("GPU-719", None, None, 0)),
            ("all.log", b"GPU-720:31:32 [0] ", ("GPU-720", None, None, 0)),
        ],
    ),
    (
        "mpirun --tag-output",
        TWO_NODES,
        [
            ("all.log", b"[1,3]<stdout>: ", ("node-01", 3, None, 0)),
            ("all.log", b"[1,0]<stderr>:", ("node-00", 0, None, 0)),
        ],
    ),
    (
        "a file a pod",
        {},
        [
            ("llama-master-0.log", b"", ("llama-master-0", None, None, 0)),
            ("llama-worker-1.log", b"", ("llama-worker-1", None, None, 0)),
            ("llama-worker-1.log", b"[rank2]: ", ("llama-worker-1", 2, None, 0)),
            ("data-loader-worker-1.log", b"", (None, None, None, 0)),
        ],
    ),
    (
        "a folder a pod",
        {},
        [
            ("worker-0/stdout.log", b"", ("worker-0", None, None, 0)),
            ("worker-1/stdout.log", b"", ("worker-1", None, None, 0)),
        ],
    ),
    (
        "Ascend plog: a file a process, the number is no rank",
        {},
        [
            ("worker-9/process_log/debug/plog/plog-11472_20250619092939806.log", b"", ("worker-9", None, None, 0)),
            ("worker-8/process_log/run/device-0/device-11_20250619.log", b"", ("worker-8", None, None, 0)),
        ],
    ),
    (
        "a file a pod, called after the job and the node: job.json has the names",
        {"nodes": ("master-0", "worker-1", "worker-2"), "node_ranks": {"worker-1": (1,), "worker-2": (2,)}},
        [
            ("job-77-worker-2.log", b"", ("worker-2", None, None, 0)),
            ("job-77-worker-1.log.gz", b"[rank1]: ", ("worker-1", 1, None, 0)),
            ("job-77-master-0_previous.log", b"", ("master-0", None, None, 0)),
            ("job-77-worker-3.log", b"", (None, None, None, 0)),
        ],
    ),
    (
        "a file a pod: no name is found inside a longer one",
        {"nodes": ("worker-2", "worker-21", "n1")},
        [
            ("job-77-worker-21.log", b"", ("worker-21", None, None, 0)),
            ("job-77-worker-2.log", b"", ("worker-2", None, None, 0)),
            ("job-77-worker-22.log", b"", (None, None, None, 0)),
            ("job-77-coworker-2.log", b"", (None, None, None, 0)),
            ("run1.log", b"", (None, None, None, 0)),
        ],
    ),
    (
        "a file a pod: of names that are parts of others the longest counts",
        {"nodes": ("worker", "gpu-worker", "gpu-worker-2")},
        [
            ("job-77-gpu-worker-2.log", b"", ("gpu-worker-2", None, None, 0)),
            ("job-77-gpu-worker-3.log", b"", ("gpu-worker", None, None, 0)),
            ("job-77-worker.log", b"", ("worker", None, None, 0)),
        ],
    ),
    (
        "a file that is called as a node is that node's, though another name stands in it",
        {"nodes": ("a", "a-bigger-name", "bigger-name")},
        [("a.log", b"", ("a", None, None, 0)), ("bigger-name.log", b"", ("bigger-name", None, None, 0))],
    ),
    (
        "a file in the folder of a node, called after another: the folder counts",
        {"nodes": ("worker-1", "worker-2")},
        [("worker-1/to-worker-2.log", b"", ("worker-1", None, None, 0))],
    ),
    ("one node in job.json", {"nodes": ("a1",)}, [("train.log", b"", ("a1", None, None, 0))]),
    ("nothing is known", {}, [("train.log", b"", (None, None, None, 0)), ("x/y.log", b"", (None, None, None, 0))]),
    (
        "a wrapper's label: who spoke, as job.json spells it",
        TWO_NODES | {"node_addresses": {"node-01": ("10.0.3.8",)}},
        [
            ("all.log", b"\x1enode=NODE-00.cluster.local\x1frank=1\x1e", ("node-00", 1, None, 0)),
            ("all.log", b"\x1enode=10.0.3.8\x1flocal=1\x1e", ("node-01", 3, 1, 0)),
            ("all.log", b"\x1enode=f00dcafe\x1fnode=node-01\x1frank=2\x1e[rank2]: ", ("node-01", 2, None, 0)),
            ("all.log", b"\x1enode=login-7\x1e", ("login-7", None, None, 0)),
            ("all.log", b"\x1e\x1e[default0]:", (None, None, 0, 0)),
        ],
    ),
    (
        "a logger that names its rank: what the interpreter prints beside it is of that rank",
        TWO_NODES,
        [
            ("a.log", b"\x1enode=node-01\x1frank=3\x1e", ("node-01", 3, None, 0)),
            ("a.log", b"\x1e\x1e", ("node-01", 3, None, 0)),
            ("a.log", b"\x1ebroken=1\x1e", ("node-01", 3, None, 0)),
            ("all.log", b"\x1enode=node-01\x1frank=3\x1e", ("node-01", 3, None, 0)),
            ("all.log", b"\x1enode=node-01\x1frank=2\x1e", ("node-01", 2, None, 0)),
            ("all.log", b"\x1e\x1e", (None, None, None, 0)),
        ],
    ),
    (
        "a unit of the journal on a node of one rank is that rank; daemons are nobody's rank",
        {"nodes": ("gpu14", "gpu15"), "node_ranks": {"gpu14": (0,), "gpu15": (1,)}, "world_size": 2},
        [
            ("gpu15.journal.log", b"\x1enode=gpu15\x1funit=torchrun[66]\x1e", ("gpu15", 1, None, 0)),
            ("gpu15.journal.log", b"\x1enode=gpu15\x1funit=kernel\x1e", ("gpu15", None, None, 0)),
            ("gpu15.journal.log", b"\x1enode=gpu15\x1funit=slurmd\x1e", ("gpu15", None, None, 0)),
        ],
    ),
    (
        "the kubelet's folders of pods",
        {"nodes": ("llama-0", "llama-1"), "node_ranks": {"llama-0": (0,), "llama-1": (1,)}},
        [
            ("ml_llama-1_63f83919-b49e-3842-0b7f-c65a3c038af8/pytorch/0.log", b"\x1e\x1e", ("llama-1", 1, None, 0)),
            ("ml_llama-1_63f83919-b49e-3842-0b7f-c65a3c038af8/pytorch/1.log", b"\x1e\x1e", ("llama-1", 1, None, 1)),
            ("ml_other-7_63f83919-b49e-3842-0b7f-c65a3c038af8/pytorch/0.log.gz", b"", ("other-7", None, None, 0)),
            (f"llama-0_ml_pytorch-{'a' * 64}.log", b"", ("llama-0", 0, None, 0)),
        ],
    ),
    (
        "torchrun's --role rank: the numbers are local ranks, torch's own behind them are not",
        TWO_NODES,
        [
            ("slurm-7.out", b"0: [rank0]:", ("node-00", 0, 0, 0)),
            ("slurm-7.out", b"1: [rank0]:", ("node-01", 2, 0, 0)),
            ("slurm-7.out", b"1: [rank0]:[rank2]: ", ("node-01", 2, 0, 0)),
        ],
    ),
    (
        "torchrun's --role rank, a folder a node: the same numbers on every node, and more ranks than numbers",
        TWO_NODES,
        [
            ("node-00/torchrun.log", b"[rank0]:", ("node-00", 0, 0, 0)),
            ("node-00/torchrun.log", b"[rank1]:", ("node-00", 1, 1, 0)),
            ("node-01/torchrun.log", b"[rank0]:", ("node-01", 2, 0, 0)),
            ("node-01/torchrun.log", b"[rank1]:", ("node-01", 3, 1, 0)),
        ],
    ),
    (
        "a rank that another node took over is no local one",
        TWO_NODES,
        [
            ("node-00/torchrun.log", b"[rank0]:", ("node-00", 0, None, 0)),
            ("node-00/torchrun.log", b"[rank1]:", ("node-00", 1, None, 0)),
            ("node-01/torchrun.log", b"[rank2]:", ("node-01", 2, None, 0)),
            ("node-01/torchrun.log", b"[rank3]:", ("node-01", 3, None, 0)),
            ("node-00/torchrun.log", b"[rank3]: ", ("node-00", 3, None, 0)),
        ],
    ),
    (
        "submitit: a file a task",
        TWO_NODES,
        [("48606_3_log.err", b"", ("node-01", 3, None, 0)), ("48606_7_0_log.out", b"", ("node-00", 0, None, 0))],
    ),
    (
        "submitit: a task a node",
        TWO_NODES,
        [("48606_0_log.err", b"", ("node-00", None, None, 0)), ("48606_1_log.out", b"", ("node-01", None, None, 0))],
    ),
]


@pytest.mark.parametrize(("manifest", "voices"), [row[1:] for row in LAYOUTS], ids=[row[0] for row in LAYOUTS])
def test_a_layout_tells_who_spoke(manifest: dict[str, Any], voices: list[tuple[str, bytes, Who]]) -> None:
    """Node, rank, local rank and attempt as the layout tells them; what it does not tell is None."""
    found = origins([(file, prefix) for file, prefix, _ in voices], manifest)

    assert [who(origin) for origin in found] == [expected for _, _, expected in voices]


@pytest.mark.parametrize(("manifest", "voices"), [row[1:] for row in LAYOUTS], ids=[row[0] for row in LAYOUTS])
def test_the_order_of_files_changes_nobodys_origin(
    manifest: dict[str, Any], voices: list[tuple[str, bytes, Who]]
) -> None:
    """What one file tells of another does not depend on which was read first."""
    said = [(file, prefix) for file, prefix, _ in voices]

    assert origins(said[::-1], manifest)[::-1] == origins(said, manifest)


@pytest.mark.parametrize(
    ("file", "prefix", "program"),
    [
        ("node-00/run/attempt_0/0/stderr.log", b"", Program.RANK),
        ("node-00/torchrun.log", b"", Program.LAUNCHER),
        ("node-00/torchrun.log", b"[default0]:", Program.RANK),
        ("node-00/slurmd.log", b"", Program.DAEMON),
        ("slurmctld.log", b"", Program.SCHEDULER),
        ("job-77-node-01.log", b"", Program.DAEMON),
        ("job-77-node-01.log", b"[rank3]: ", Program.RANK),
        ("job-77-node-01-torchrun.log", b"", Program.LAUNCHER),
        ("rank_3.log", b"", Program.RANK),
    ],
)
def test_programs_are_told_apart(file: str, prefix: bytes, program: Program) -> None:
    """Training processes, a node's launcher, its daemons and the job's scheduler are weighed differently."""
    (origin,) = origins([(file, prefix)], TWO_NODES)

    assert origin.program is program


def test_voices_in_the_same_place_share_a_cohort() -> None:
    """The same program of two nodes should say the same; ranks 0 and last of a job never do, nor do two streams."""
    voices = [(f"{node}/run_{node}/attempt_0/{n}/stderr.log", b"") for node in ("node-00", "node-01") for n in (0, 1)]
    daemons = [("node-00/slurmd.log", b""), ("node-01/slurmd.log", b"")]

    first, lead_peer, lead, last, one, other = (o.cohort for o in origins([*voices, *daemons], TWO_NODES))

    assert len({first, lead_peer, lead, last}) == 4
    assert one == other
    assert one != first


def test_cohorts_know_no_names() -> None:
    """The same place in another job, on other machines and with other run folders, is the same cohort."""
    one = origins([("node-00/run_a1/attempt_0/1/stderr.log", b"")], TWO_NODES)
    other_nodes = {"nodes": ("gpu-17", "gpu-18"), "node_ranks": {"gpu-17": (0, 1), "gpu-18": (2, 3)}, "world_size": 4}
    other = origins([("gpu-17/run_z9/attempt_1/1/stderr.log", b"")], other_nodes)

    assert one[0].cohort == other[0].cohort


@pytest.mark.parametrize(
    "lies",
    [
        {"nodes": ("a", "b"), "node_ranks": {"a": (0, 1, 2), "b": (1, 2, 3)}, "world_size": 2},
        {"nodes": ("a", "b"), "node_ranks": {"a": (900_000,), "b": ()}, "world_size": 1},
        {"nodes": ("a",), "node_ranks": {"ghost": (0, 1)}, "world_size": 8},
        {"nodes": ("a", "b", "c"), "node_addresses": {"ghost": ("10.0.0.1",), "a": ()}},
        {"nodes": ("logs", "a.log", ""), "node_ranks": {"": (0,)}, "world_size": 1},
        {"world_size": 1, "total_iterations": 0},
    ],
)
def test_a_lying_manifest_crashes_nothing(lies: dict[str, Any]) -> None:
    """Claims that contradict the logs or each other are survived, by the whole method."""
    files = {
        "a/rank_0.log": lines(
            at(1, "iteration 1/ 9 | x"), *raised("RuntimeError: Connection closed by peer [10.0.0.1]:3")
        ),
        "b/run_x/attempt_3/7/stderr.log": lines("[rank3]: ValueError: boom", "7: [default9]: x"),
        "a.log": lines("5: hello", "6: hello"),
    }

    diagnosis = diagnose(job(files, **lies), [])

    assert diagnosis.coverage.files == 3


def test_a_real_job_is_read_from_its_lines() -> None:
    """Labels are learned from a file's lines, and what follows a label is not the speaker's name."""
    labelled = [f"{task}: {at(n, f'step {n}')}" for n in range(20) for task in range(4)]
    table = parse(job({"slurm.out": lines(*labelled, "srun: error: node-00: task 0: Killed")}, **TWO_NODES)).table

    assert {(origin.node, origin.rank) for origin in table.origins} == {
        ("node-00", 0),
        ("node-00", 1),
        ("node-01", 2),
        ("node-01", 3),
        (None, None),
    }


PARTS = st.sampled_from(
    ["node-00", "node-01", "run_x", "attempt_0", "attempt_1", "0", "1", "rank_3", "logs", "..", "a"]
)
FILES = st.lists(PARTS, min_size=1, max_size=5).map("/".join)
PREFIXES = st.sampled_from(
    [b"", b"0: ", b"3: [default1]:", b"[rank2]: ", b"h1: ", b"(W pid=1) ", b"h:1:2 [0] ", b"[1,9]<stderr>:"]
)
MANIFESTS = st.sampled_from([{}, TWO_NODES, NAMES_ONLY, {"world_size": 1}, {"nodes": ("a",)}])


@given(st.lists(st.tuples(FILES, PREFIXES), max_size=8, unique=True), MANIFESTS)
def test_any_tree_has_origins(voices: list[tuple[str, bytes]], manifest: dict[str, Any]) -> None:
    """No path and no label is too odd; each voice gets one origin, and who has a rank is a training process."""
    found = origins(voices, manifest)

    assert len(found) == len(voices)
    for origin in found:
        assert origin.rank is None or origin.program is Program.RANK


@pytest.mark.parametrize("digits", [12, 5000])
@pytest.mark.parametrize(
    "form", ["[rank%s]: it failed", "[1,%s]<stderr>: it failed", "[default%s]:it failed", "%s: it failed"]
)
def test_a_number_that_no_rank_has_names_nobody(digits: int, form: str) -> None:
    """A program may write any number where launchers write a rank: it is text, and no table breaks on it."""
    said = [at(0, "it works"), form % ("9" * digits), *raised("RuntimeError: it failed")]
    files = {f"rank_{number}.log": lines(*said) for number in range(2)}

    found = parse(job(files))

    assert {origin.rank for origin in found.table.origins} == {0, 1}
