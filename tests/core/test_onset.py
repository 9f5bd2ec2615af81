"""Who alone began to complain when a job became slow."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from tests.support.jobs import at, four_nodes, job, lines

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


@pytest.mark.parametrize(("hot", "named"), [((1, 4), ["node-1", "node-4"]), ((0, 1, 4), [])], ids=["few", "half"])
def test_few_that_became_slow_then_are_the_suspects(hot: tuple[int, ...], named: list[str]) -> None:
    """Two of six in one rack are too hot: what makes a machine slow needs no rank that breaks."""
    throttled = "kernel: mce: CPU52: Package temperature above threshold, cpu clock throttled (total events = 7)"
    said = [at(n if n <= 40 else 40 + 2.6 * (n - 40), f"step {n} loss 2.5") for n in range(1, 81)]
    files = {f"node-{n}/rank_{n}.log": lines(*said) for n in range(6)}
    files |= {f"node-{n}/kern.log": lines(at(1, "kernel: up"), *[at(42, throttled)] * (n in hot)) for n in range(6)}
    ranks = {f"node-{n}": (n,) for n in range(6)}

    found = diagnose(job(files, nodes=tuple(ranks), node_ranks=ranks, status=Status.CANCELLED), [])

    assert [node.node for node in found.nodes] == named


def without_a_clock(complains: tuple[int, ...]) -> Job:
    """The same of kernels that count from their start alone."""
    said = [at(n if n <= 40 else 40 + 2.6 * (n - 40), f"step {n} loss 2.5") for n in range(1, 81)]
    others = {
        f"dmesg/node-{n}.log": [
            f"[900306.81984{n}] usb 1-1: new device",
            *([f"[900438.358350] {BUS_ERROR.removeprefix('kernel: ')}"] if n in complains else []),
        ]
        for n in range(4)
    }
    return four_nodes({}, usual=said, others=others, status=Status.CANCELLED)


@pytest.mark.parametrize(("complains", "suspects"), [((2,), ["node-2"]), ((1, 2), []), ((), [])])
def test_a_kernel_without_a_clock_tells_by_being_the_only_one(complains: tuple[int, ...], suspects: list[str]) -> None:
    """Its seconds since it started are no time of day."""
    assert [node.node for node in diagnose(without_a_clock(complains), []).nodes] == suspects


@pytest.mark.parametrize(("text", "suspects"), [(BUS_ERROR, ["gpu-2"]), ("app: WARNING cache is cold", [])])
def test_of_two_machines_only_what_makes_machines_slow_tells(text: str, suspects: list[str]) -> None:
    """Of two each says what the other does not."""
    said = [at(n if n <= 40 else 40 + 2.6 * (n - 40), f"step {n} loss 2.5") for n in range(1, 81)]
    files = {"gpu-1/train.log": lines(*said), "gpu-2/kern.log": lines(at(1, "kernel: usb 1-1: new"), at(41, text))}

    found = diagnose(job(files, nodes=("gpu-1", "gpu-2"), status=Status.CANCELLED), [])

    assert [node.node for node in found.nodes] == suspects
