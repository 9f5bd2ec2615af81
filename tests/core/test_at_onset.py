"""What began to be said when a job became slow: shown first, though the job went on after it."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Confidence, EventEvidence, Role, Scope
from tests.support.jobs import at, four_nodes

# As drivers/nvme/host/pci.c, drivers/thermal/intel/therm_throt.c and fs/nfs of Linux 6.6 print them
DISK = "kernel: nvme nvme2: I/O 870 (I/O Cmd) QID 2 timeout, aborting"
HOT = "kernel: mce: CPU3: Package temperature is above threshold, cpu clock is throttled (total events = 1317)"
NFS = "kernel: nfs: server nfs-data01 not responding, still trying"
ORDER = "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:03:20 ***"


def slowed(journals: dict[int, list[tuple[float, str]]], own: int | None = 2) -> Job:
    """A job whose steps take 2.6 s in place of 1 s from the 101st on; of one rank, if any, the data takes longer."""
    said: dict[int, list[str]] = {n: [] for n in range(4)}
    clock = 0.0
    for step in range(1, 141):
        clock += 1.0 if step <= 100 else 2.6
        for n in range(4):
            data = 1.7 if step > 100 and n == own else 0.1
            said[n].append(at(clock, f"step {step} loss 2.5 data_time {data:.2f}"))
    kernels = {
        f"node-{n}/kern.log": [
            at(1, "kernel: usb 1-1: new device"),
            *(at(when, text) for when, text in journals.get(n, ())),
        ]
        for n in range(4)
    }
    return four_nodes(said, others=kernels | {"slurm.out": [at(clock + 1, ORDER)]}, status=Status.CANCELLED)


def first(job: Job) -> EventEvidence:
    """The event that is shown first."""
    return diagnose(job, []).events[0]


@pytest.mark.parametrize(("when", "text"), [(130.0, DISK), (100.0, HOT)], ids=["after a time-out", "at once"])
def test_what_the_machine_of_a_suspect_began_to_say_then_is_shown_first(when: float, text: str) -> None:
    """A disk that retries makes the data late; that the job went on after it does not make it harmless."""
    found = diagnose(slowed({2: [(when, text), (when + 30, text)]}), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert (found.events[0].role, found.events[0].nodes, found.events[0].count) == (Role.ROOT, ("node-2",), 2)
    assert found.events[0].lines[0].text.endswith(text)
    assert "Since then node-2 logged" in " ".join(found.why)


def test_what_another_machine_said_long_before_is_not_counted_as_its_own() -> None:
    """A machine that was hot once, before the job was slow, does not excuse the one that is hot since."""
    event = first(slowed({1: [(5.0, HOT)], 2: [(102.0, HOT), (120.0, HOT)]}))

    assert (event.nodes, event.count) == (("node-2",), 2)


def test_what_most_machines_began_to_say_then_is_shown_where_nobody_is_suspected() -> None:
    """The file server is slow for all."""
    found = diagnose(slowed({n: [(115.0 + n, NFS)] for n in range(4)}, own=None), [])

    assert found.scope is not Scope.NODE
    assert (found.events[0].role, len(found.events[0].nodes)) == (Role.ROOT, 4)


def test_a_file_server_that_failed_before_too_is_named_where_all_complain_of_it() -> None:
    """It answers again each time, so that the job goes on; nobody else can tell why it was slow."""
    found = diagnose(slowed({n: [(60.0 + n, NFS), (140.0 + n, NFS)] for n in range(4)}, own=None), [])

    assert found.headline.endswith("; all 4 nodes report that storage failed.")
    assert found.confidence is Confidence.SUPPORTED
    assert found.checks[0].startswith("Look at what all of them name")
    assert found.next is not None
    assert found.next.because == "Storage failed: it fails again until that is put right."
    assert found.events[0].lines[0].text.endswith(NFS)


def test_a_file_server_that_failed_only_long_before_is_not_named() -> None:
    """It was well again when the job became slow."""
    found = diagnose(slowed({n: [(5.0 + n, NFS)] for n in range(4)}, own=None), [])

    assert "storage" not in found.headline


@pytest.mark.parametrize(
    "journals",
    [{2: [(5.0, HOT)]}, {1: [(102.0, HOT)]}, {1: [(102.0, HOT)], 2: [(102.0, HOT)]}],
    ids=["long before", "of a node that is well", "of both"],
)
def test_what_is_said_at_another_time_or_elsewhere_is_not_shown(journals: dict[int, list[tuple[float, str]]]) -> None:
    """Machines complain now and then."""
    assert "cpu clock" not in first(slowed(journals)).lines[0].text
