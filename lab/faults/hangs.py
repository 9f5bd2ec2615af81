"""Plain hangs: nobody times out, nothing is written, and the job is ended from outside.

Who hangs can be told by what somebody else writes at the end (a task that does not die, stacks) or by what the rank
alone no longer says; where neither is, the truth names no node.
"""

from lab.faults.storage import pipe_in_place, stalled_shard, writes_files
from lab.model import CANCELLED, Fault, Outside, Site, Trace
from lab.settings import TELLS_SAVES, Settings

HANGS_S = 25.0  # without a new iteration, until somebody ends the job
OUTSIDE = Outside(HANGS_S)
STACK = Trace("the stack of the rank that hangs", r"^Current thread 0x")
FILTER = """shortest = 40
while rank == RANK and iteration == ITERATION and len("the loss") < shortest:
    time.sleep(0.2)"""
RING = """from torch import distributed as ring
if iteration == ITERATION:
    token = torch.zeros(1)
    ring.recv(token, (rank - 1) % ring.get_world_size())
    ring.send(token, (rank + 1) % ring.get_world_size())"""


def _stacks(settings: Settings) -> bool:
    return settings.stacks


def _tells_saves(settings: Settings) -> bool:
    return TELLS_SAVES in settings.program.has


def _freeze(site: Site) -> None:
    site.freeze()


HANGS = (
    Fault(
        "rank_sigstop_hang", "rank {rank} on {node} froze; the others waited for it until the job was ended",
        "hardware", "accelerator hang", "node", "training",
        ends=CANCELLED, outside=OUTSIDE, strike=_freeze, guilty_rank=True,
    ),
    Fault(
        "dataloader_hang", "a shard of {node} never opened; rank {rank} waited for its data until the job was ended",
        "hardware", "storage fault", "node", "training",
        (STACK,), shows=_stacks, placed=_stacks,
        ends=CANCELLED, outside=OUTSIDE, prepare=stalled_shard, guilty_rank=True,
    ),
    Fault(
        "checkpoint_stuck", "rank {rank} never finished writing its checkpoint; the job was ended",
        "hardware", "storage fault", "node", "checkpoint saving",
        (STACK,), shows=_stacks, placed=lambda settings: settings.stacks or _tells_saves(settings),
        ends=CANCELLED, outside=OUTSIDE, prepare=pipe_in_place, guilty_rank=True, suits=writes_files,
    ),
    Fault(
        "data_dependent_hang", "rank {rank} looked for ever for a text that its filter lets pass; the job was ended",
        "user", "program bug", "node", "training",
        (STACK,), shows=_stacks, placed=_stacks,
        ends=CANCELLED, outside=OUTSIDE, code=(("step", FILTER),), guilty_rank=True,
    ),
    Fault(
        "code_deadlock", "every rank waited for its left neighbour at iteration {iteration}; the job was ended",
        "user", "program bug", "job", "training",
        ends=CANCELLED, outside=OUTSIDE, code=(("step", RING),), everywhere=True,
    ),
)  # fmt: skip
