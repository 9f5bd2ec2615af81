"""Who alone began to complain when a job became slow."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from tests.support.jobs import at, four_nodes

# As drivers/pci/pcie/aer.c of Linux 6.6 prints it
BUS_ERROR = "kernel: mlx5_core 0000:b1:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)"


def becomes_slow(complains: dict[int, float], last: float = 2.6) -> Job:
    """A job whose steps take longer from the 41st on; nodes complain at a second of it."""
    clock, said = 0.0, []
    for n in range(1, 81):
        clock += 1.0 if n <= 40 else last
        said.append(at(clock, f"step {n} loss 2.5"))
    order = at(clock + 1, "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:01:40 ***")
    journals = {
        f"node-{n}/kern.log": [at(1, "kernel: usb 1-1: new device"), *([at(second, BUS_ERROR)] if second else [])]
        for n in range(4)
        for second in (complains.get(n, 0.0),)
    }
    return four_nodes({}, usual=said, others=journals | {"slurm.out": [order]}, status=Status.CANCELLED)


def test_who_alone_began_to_complain_at_the_onset_is_the_suspect() -> None:
    """Its card lost lanes; all ranks wait for it alike, and nothing failed."""
    found = diagnose(becomes_slow({2: 41.0}), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "when the job became slow" in found.headline


@pytest.mark.parametrize(
    ("complains", "last"),
    [({2: 135.0}, 2.6), ({1: 41.0, 2: 42.0}, 2.6), ({2: 41.0}, 1.0)],
    ids=["long after", "two of them", "of a job that is not slow"],
)
def test_complaints_at_another_time_accuse_nobody(complains: dict[int, float], last: float) -> None:
    """Cards complain now and then; only the moment tells."""
    assert diagnose(becomes_slow(complains, last), []).nodes == ()
