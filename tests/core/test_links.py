"""Links and servers that a machine lost, in a job whose iterations tell no clock."""

from dataclasses import replace

import pytest

from core.job import Job
from tests.support.jobs import at, job, lines, log_file, suspected

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
        (
            "kernel: cxi_core 0000:c3:00.0: cxi3[hsn3] CXI_EVENT_LINK_DOWN",
            "kernel: cxi_core 0000:c3:00.0: cxi3[hsn3] CXI_EVENT_LINK_UP",
        ),
        (f"kernel: {SERVER} not responding, still trying", f"kernel: {SERVER} OK"),
        (
            f"kernel: {LUSTRE} to {TARGET} was lost; in progress operations using this service will wait for recovery",
            f"kernel: {LUSTRE} restored to {TARGET}",
        ),
    ],
    ids=["a link", "a link of Slingshot", "a file server", "a storage target"],
)
def test_what_never_came_back_was_not_survived(lost: str, back: str) -> None:
    """Twenty minutes lie between the loss and the end; how far the job was then no iteration tells."""
    assert suspected(clockless([at(120, lost)])) == ["node-1"]
    assert suspected(clockless([at(120, lost), at(125, back)])) == []


def test_a_link_that_came_back_is_none_beside_one_that_did_not() -> None:
    """One machine's link flapped long before; another one's went down and stayed so."""
    link = "kernel: mlx5_core 0000:01:00.0 ib0: Link"
    whole = clockless([at(1190, f"{link} down")])
    flap = log_file("logs/node-3/kern.log", lines(at(100, f"{link} down"), at(104, f"{link} up"), at(1210, "end")))

    logs = tuple(flap if log.name == "logs/node-3/kern.log" else log for log in whole.logs)

    assert suspected(replace(whole, logs=logs)) == ["node-1"]
