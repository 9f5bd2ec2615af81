"""Sample lines and file names, and what the parser makes of them. The lines are from examples/, or made up."""

import numpy as np

from bot.wording import iso
from core.job import Manifest
from core.lines import Segment, learn, segments, take_apart
from core.messages import group, plain
from core.origins import Origin, Voice, find_origins
from tests.docs.markdown import code, codes, table

YEAR = 2026
JOB = Manifest("sample", nodes=("node-01", "gpu-a"), node_ranks={"node-01": (2, 3)})
FILES = (
    "logs/controller.log",
    "logs/node-01/noded.log",
    "logs/node-01/torchrun.log",
    "logs/node-01/torchrun/f07_hx9emrcp/attempt_0/1/stderr.log",
    "logs/node-01.log",
    "logs/rank_2.log.gz",
    "logs/gpu-a-5.log",
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
[rank3]: 
During handling of the above exception, another exception occurred:
[rank3]: 
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


def layouts() -> str:
    """Who each file speaks for."""
    origins = find_origins([Voice(file, b"") for file in FILES], JOB)
    rows = ((code(file), it.program.value, *_who(it)) for file, it in zip(FILES, origins, strict=True))
    return table("file", "program", "node", "rank", "local rank", rows=rows)


def prefixes() -> str:
    """Who each prefix speaks for, in a job without job.json."""
    rows = []
    for line in PREFIXES:
        prefix = _read(line).prefix
        (origin,) = find_origins([Voice("logs/all.log", prefix)], Manifest("sample"))
        rows.append((code(line), code(prefix.decode().strip()), *_who(origin)))
    return table("line", "prefix", "node", "rank", "local rank", rows=rows)


def clocks() -> str:
    """What time each line says, in UTC where it names no zone."""
    rows = [(code(line), iso(time) if (time := _read(line).time) >= 0 else None) for line in CLOCKS]
    return table("line", "time", rows=((line, time or "none") for line, time in rows))


def masks() -> str:
    """What tells a line from another once its variables are masked."""
    return table("line", "masked", rows=((code(line), code(_read(line).body.decode())) for line in MASKS))


def bar() -> str:
    """The segments of a progress bar, and where each begins."""
    rows = ((str(offset), code(text.decode())) for offset, text in segments(BAR.encode()))
    return table("offset", "segment", rows=rows)


def blocks() -> str:
    """Blocks of lines, and the message that each becomes."""
    return "\n".join(f"```text\n{block}\n```\n\nbecomes {_messages(block)}.\n" for block in BLOCKS)


def _messages(block: str) -> str:
    parts = [_read(line) for line in block.splitlines()]
    bodies = list(dict.fromkeys(part.body for part in parts))
    prefixes = list(dict.fromkeys(part.prefix for part in parts))
    body = np.array([bodies.index(part.body) for part in parts], np.uint32)
    prefix = np.array([prefixes.index(part.prefix) for part in parts], np.uint32)
    said = group(body, prefix, bodies)
    return codes(plain(said.texts[place]) for place in said.message[said.head].tolist())


def _read(line: str) -> Segment:
    return take_apart(line.encode(), learn("\n".join([line] * 5).encode(), (), YEAR))


def _who(origin: Origin) -> tuple[str, ...]:
    return tuple("-" if it is None else str(it) for it in (origin.node, origin.rank, origin.local_rank))
