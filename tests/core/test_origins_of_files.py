"""Who spoke, by where a log lies and how it is called: every layout of files of real jobs."""

from typing import Any

from tests.core.test_origins_of_labels import LAYOUTS as OF_LABELS
from tests.support.origins import NAMES_ONLY, TWO_NODES, Layout, Who, by_name, origins, who

# Its name, what job.json says, and for each file and prefix who speaks there.
LAYOUTS: list[Layout] = [
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
        "srun's files of all tasks, --output=%j_%t.err",
        TWO_NODES,
        [(f"20331_{n}.err", b"", (f"node-0{n // 2}", n, None, 0)) for n in range(4)],
    ),
    (
        "files of glog",
        {},
        [
            (f"trainer.rec-wk-0{n}.ads.log.INFO.20261112-113002.{7 * n}", b"", (f"rec-wk-0{n}", None, None, 0))
            for n in range(3)
        ],
    ),
    (
        "files called after addresses, beside those of another program",
        {},
        [
            entry
            for n in (7, 15)
            for entry in (
                (f"train-10.8.4.{n}.log", b"", (f"10.8.4.{n}", None, None, 0)),
                (f"smi-10.8.4.{n}.csv", b"", (f"10.8.4.{n}", None, None, 0)),
            )
        ],
    ),
    (
        "folders of machines whose names are not alike, in one for all of them",
        {},
        [
            ("nodes/inst-vrt4b-mosaic/rank3.stderr.txt", b"", ("inst-vrt4b-mosaic", 3, None, 0)),
            ("nodes/inst-nd7qp-mosaic/rank0.stderr.txt", b"", ("inst-nd7qp-mosaic", 0, None, 0)),
        ],
    ),
    (
        "files called after a rank at its host",
        {},
        [(f"p{n}@oak{n // 2}", b"", (f"oak{n // 2}", n, None, 0)) for n in range(4)],
    ),
    (
        "folders called after a number and a host",
        {},
        [(f"logs/node{n}_mosaic-w{n}/dmesg.txt", b"", (f"mosaic-w{n}", None, None, 0)) for n in range(3)],
    ),
    (
        "pods of a job of several nodes, whose names end with numbers",
        {"extra": {"num_nodes": 3}},
        [(f"mt-slice-0-{n}.log", b"", (None, None, None, 0)) for n in range(3)],
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
        "files called after the hosts that their lines begin with, and one of whose lines none does",
        {},
        [
            ("hgx-041.log", b"\x1enode=hgx-041\x1e", ("hgx-041", None, None, 0)),
            ("hgx-041.log", b"\x1erank=3\x1e", ("hgx-041", 3, None, 0)),
            ("hgx-042.log", b"\x1erank=4\x1e", ("hgx-042", 4, None, 0)),
        ],
    ),
    (
        "pods that job.json does not know, by the ranks that their other lines tell",
        TWO_NODES,
        [
            ("k.log", b"\x1enode=worker-1\x1frank=2\x1e", ("node-01", 2, None, 0)),
            ("k.log", b"\x1enode=worker-1\x1frank=3\x1e", ("node-01", 3, None, 0)),
            ("k.log", b"\x1enode=worker-1\x1e", ("node-01", None, None, 0)),
            ("k.log", b"\x1enode=worker-2\x1e", ("worker-2", None, None, 0)),
        ],
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
        "<host>_r<rank>.log, whatever the hosts are called",
        {},
        [
            ("ws-faro_r2.log", b"", ("ws-faro", 2, None, 0)),
            ("ws-lisbon_r0.log", b"", ("ws-lisbon", 0, None, 0)),
            ("ws-porto_r1.log", b"", ("ws-porto", 1, None, 0)),
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
        "submitit: a file a task",
        TWO_NODES,
        [("48606_3_log.err", b"", ("node-01", 3, None, 0)), ("48606_7_0_log.out", b"", ("node-00", 0, None, 0))],
    ),
    (
        "submitit: a task a node",
        TWO_NODES,
        [("48606_0_log.err", b"", ("node-00", None, None, 0)), ("48606_1_log.out", b"", ("node-01", None, None, 0))],
    ),
    ("one node in job.json", {"nodes": ("a1",)}, [("train.log", b"", ("a1", None, None, 0))]),
    ("nothing is known", {}, [("train.log", b"", (None, None, None, 0)), ("x/y.log", b"", (None, None, None, 0))]),
]


@by_name([*LAYOUTS, *OF_LABELS])
def test_a_layout_tells_who_spoke(manifest: dict[str, Any], voices: list[tuple[str, bytes, Who]]) -> None:
    """Node, rank, local rank and attempt as the layout tells them; what it does not tell is None."""
    found = origins([(file, prefix) for file, prefix, _ in voices], manifest)

    assert [who(origin) for origin in found] == [expected for _, _, expected in voices]


@by_name([*LAYOUTS, *OF_LABELS])
def test_the_order_of_files_changes_nobodys_origin(
    manifest: dict[str, Any], voices: list[tuple[str, bytes, Who]]
) -> None:
    """What one file tells of another does not depend on which was read first."""
    said = [(file, prefix) for file, prefix, _ in voices]

    assert origins(said[::-1], manifest)[::-1] == origins(said, manifest)
