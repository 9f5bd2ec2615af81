"""Who spoke, by what stands before a line: the labels of launchers, collectors and loggers."""

from tests.support.origins import TWO_NODES, Layout

# Its name, what job.json says, and for each file and prefix who speaks there.
LAYOUTS: list[Layout] = [
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
    ("torchrun's [defaultN] of an unknown node", {}, [("agent.log", b"[default1]:", (None, None, 1, 0))]),
]
