"""Lines and file names that docs/reference/logs.md shows; from examples/, or made up in their manner."""

from core.job import Manifest

YEAR = 2026
JOB = Manifest("sample", nodes=("node-01", "gpu-a"), node_ranks={"node-01": (2, 3)})
FILES = (
    "logs/slurmctld.log",
    "logs/node-01/slurmd.log",
    "logs/node-01/torchrun.log",
    "logs/node-01/torchrun/f01_0du3fnqd/attempt_0/1/stderr.log",
    "logs/node-01.log",
    "logs/rank_2.log.gz",
    "logs/gpu-a-5.log",
)
FILES_ALONE = (
    "logs/slurm-4711.out",
    "logs/node-02/train.log",
    "logs/bert-worker-3.log",
    "logs/rank_17.log.zst",
    "logs/gpu-a1-0.log",
    "logs/gpu-a2-1.log",
)
PREFIXES = (
    "[rank3]: RuntimeError: peer is gone",
    " 7: RuntimeError: peer is gone",
    " 1: [default0]:RuntimeError: peer is gone",
    "[default1]:[rank3]: RuntimeError: peer is gone",
    "[1,3]<stderr>: RuntimeError: peer is gone",
    "node-01: [rank3]: RuntimeError: peer is gone",
    "(Worker pid=812, ip=10.77.0.11) RuntimeError: peer is gone",
    "node-01:8841:8902 [1] NCCL WARN peer is gone",
)
CLOCKS = (
    "2026-11-21 03:55:34,384 saved",
    "[2026-11-21 03:55:36.735790] saved",
    "2026-11-21T03:55:44.356Z saved",
    "2026-11-21T04:55:44+01:00 saved",
    "11/21/2026 03:47:22 saved",
    "11-21 03:47:22 saved",
    "[W1121 03:54:48.334874352 store.cpp:12] saved",
    "W1121 03:55:42.708000 7519 torch/agent.py:9] saved",
    "Nov 21 03:55:44 node-01 kernel: saved",
    "[Sat Nov 21 03:55:44 2026] saved",
    "HCCL(812,python3):2026-11-21-03:55:44.212.164 saved",
    '{"time_ms": 1795233344356, "key": "saved"}',
    "[12345.678901] saved",
    "03:55:44 saved",
)
MASKS = (
    "connect to 10.77.0.1:7070 failed: [Errno 113] No route to host",
    "failed (exitcode: -9) local_rank: 0 (pid: 12207)",
    "NVRM: Xid (PCI:0000:1a:00): 79, pid=8841, GPU has fallen off the bus",
    "iteration 60 took 231.4 ms, buffer at 0x7f721f35eb8d",
)
BAR = "step:  50%|#     | 1/2 [00:01<00:01]\rstep: 100%|######| 2/2 [00:02<00:00]\rRuntimeError: peer is gone"

BLOCKS = (
    """\
Traceback (most recent call last):
  File "data.py", line 41, in read
OSError: [Errno 5] Input/output error: 'shard-0007.bin'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "train.py", line 12, in <module>
RuntimeError: cannot read batch 118""",
    """\
Traceback (most recent call last):
  File "run.py", line 9, in main
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  rank      : 6 (local_rank: 0)
  exitcode  : -15 (pid: 8697)  (SIGTERM)
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  rank      : 7 (local_rank: 1)
  exitcode  : -9 (pid: 8698)  (SIGKILL)
============================================================""",
    """\
usage: train.py [-h] [--seq-length N] [--train-iters N]
                [--save DIR]
train.py: error: unrecognized arguments: --sequence-length 4096""",
)
