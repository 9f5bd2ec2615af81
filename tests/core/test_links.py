"""Links and servers that a machine lost, in a job whose iterations tell no clock."""

import pytest

from core.job import Job
from tests.support.jobs import at, job, lines, suspected

# The last words of torchrun's agents (torch/distributed/elastic/multiprocessing/api.py, 2.6)
FAILED = (
    "E1121 04:20:02.000000 20 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -6) "
    "local_rank: 0 (pid: 41) of binary: python"
)
SERVER = "nfs: server home-1"
LUSTRE = "Lustre: scratch-OST0007-osc-ffff9d614b8462a3: Connection"
TARGET = "scratch-OST0007 (at 10.60.1.14@o2ib)"


def clockless(kernel: list[str]) -> Job:
    """A job of four nodes that trained 60 iterations, and the kernel's log of the second node."""
    steps = [f"step {n} loss 2.5" for n in range(1, 61)]
    files = {f"node-{n}/rank_{n}.log": lines(*steps, FAILED) for n in range(4)}
    quiet = [at(30 * n, "kernel: perf: interrupt took too long (2512 > 2500)") for n in range(4)]
    files |= {
        f"node-{n}/kern.log": lines(*quiet, *(kernel if n == 1 else ()), at(1210, "kernel: end")) for n in range(4)
    }
    ranks = {f"node-{n}": (n,) for n in range(4)}
    return job(files, nodes=tuple(ranks), node_ranks=ranks)


@pytest.mark.parametrize(
    ("lost", "back"),
    [
        ("kernel: mlx5_core 0000:01:00.0 ib0: Link down", "kernel: mlx5_core 0000:01:00.0 ib0: Link up"),
        (f"kernel: {SERVER} not responding, still trying", f"kernel: {SERVER} OK"),
        (
            f"kernel: {LUSTRE} to {TARGET} was lost; in progress operations using this service will wait for recovery",
            f"kernel: {LUSTRE} restored to {TARGET}",
        ),
    ],
    ids=["a link", "a file server", "a storage target"],
)
def test_what_never_came_back_was_not_survived(lost: str, back: str) -> None:
    """Twenty minutes lie between the loss and the end; how far the job was then no iteration tells."""
    assert suspected(clockless([at(120, lost)])) == ["node-1"]
    assert suspected(clockless([at(120, lost), at(125, back)])) == []
