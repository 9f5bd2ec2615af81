"""Ranks that Horovod's coordinator misses: one for which all wait, or each other."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Scope
from tests.support.jobs import at, job, lines

# horovod/horovod horovod/common/stall_inspector.cc (0.28), as mpirun --tag-output passes it on
STALLED = (
    "[2026-11-21 04:0{minute}:04.686557: W /tmp/horovod/common/stall_inspector.cc:107] One or more tensors were "
    "submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for "
    "more than 60 seconds. This may indicate that different ranks are trying to submit different tensors or that only "
    "subset of ranks is submitting tensors, which will cause deadlock. "
)
NODES = {f"node-{n}": (2 * n, 2 * n + 1) for n in range(4)}


def stalled(missing: dict[int, str], *, after: bool = False) -> Job:
    """Eight ranks in one file that come no further; reports of the coordinator every minute."""
    said = [f"[1,{rank}]<stdout>:{at(n, f'step {n} loss 2.5')}" for n in range(1, 30) for rank in range(8)]
    for minute in (1, 2, 3):
        said += [f"[1,0]<stderr>:{STALLED.format(minute=minute)}", "[1,0]<stderr>:Missing ranks:"]
        said += [f"[1,0]<stderr>:{rank}: [{tensors}]" for rank, tensors in missing.items()]
    if after:
        said += [f"[1,{rank}]<stdout>:{at(240 + n, f'step {n} loss 2.5')}" for n in range(30, 33) for rank in range(8)]
    files = {"train.out": lines(*said)}
    return job(files, nodes=tuple(NODES), node_ranks=NODES, world_size=8, status=Status.CANCELLED)


def test_the_one_that_the_coordinator_misses_is_the_suspect() -> None:
    """All others have submitted their gradients."""
    found = diagnose(stalled({5: "DistributedAdam_Allreduce/grads_0_0, DistributedAdam_Allreduce/grads_1_0 ..."}), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert found.nodes[0].ranks == (4, 5)
    assert "In the end Horovod waited for rank 5" in found.nodes[0].because


def test_ranks_that_miss_each_other_were_parted_by_their_program() -> None:
    """The odd ones broadcast a learning rate while the even ones average a metric."""
    parted = {rank: "broadcast.lr_0" if rank % 2 == 0 else "metric_average/val_accuracy" for rank in range(8)}
    found = diagnose(stalled(parted), [])

    assert (found.scope, found.nodes) == (Scope.JOB, ())
    assert "ranks 1, 3, 5, 7 in broadcast.lr_0" in " ".join(found.why)


@pytest.mark.parametrize(
    "one", [stalled({5: "grads_0_0"}, after=True), stalled(dict.fromkeys(range(6), "grads_0_0"))], ids=["came", "most"]
)
def test_whoever_came_late_or_was_missed_with_most_is_no_suspect(one: Job) -> None:
    """A report that the job outlived tells of a pause, and one of most ranks of none of them."""
    assert "Horovod misses" not in " ".join(diagnose(one, []).why)
