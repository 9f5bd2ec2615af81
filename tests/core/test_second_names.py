"""Two names of one machine: what it says by the second is said by the node of the job that it is."""

import pytest

from core.diagnose import diagnose
from core.job import Job
from tests.support.jobs import at, job, lines, parse

# kubernetes/kubernetes pkg/scheduler/schedule_one.go (1.29), as kubectl get events prints it
ASSIGNED = "2026-11-21T04:00:00Z   Normal    Scheduled   pod/{pod}   Successfully assigned ml/{pod} to {machine}"
OOM = "kernel: Out of memory: Killed process 31337 (python) total-vm:412345678kB, anon-rss:251234567kB, file-rss:0kB"
MACHINES = {f"trainer-{n}": f"gke-pool-1a-{n}f{n}0" for n in range(4)}
# kubectl get pods -o wide
ROW = "{pod}   1/1   Running   0   71s   10.244.3.{n}   {machine}   <none>   <none>"


def on_machines(*told: str) -> Job:
    """Four pods that stop after the kernel of one machine has killed a process; a file tells where they run."""
    steps = [at(n, f"step {n} loss 2.5") for n in range(1, 30)]
    files = {f"{pod}.log": lines(*steps) for pod in MACHINES}
    files |= {f"dmesg/{machine}.txt": lines(at(1, "kernel: usb 1-1: new device")) for machine in MACHINES.values()}
    files[f"dmesg/{MACHINES['trainer-2']}.txt"] = lines(at(1, "kernel: usb 1-1: new device"), at(30, OOM))
    files["told.txt"] = lines(*told)
    ranks = {pod: (n,) for n, pod in enumerate(MACHINES)}
    return job(files, nodes=tuple(MACHINES), node_ranks=ranks, world_size=4)


def roster() -> str:
    """All pairs in one line, as a launcher of one's own prints them."""
    return "ROSTER {" + ", ".join(f'"{pod}": {{"name": "{machine}"}}' for pod, machine in MACHINES.items()) + "}"


@pytest.mark.parametrize(
    "told",
    [
        [ASSIGNED.format(pod=pod, machine=machine) for pod, machine in MACHINES.items()],
        [ROW.format(pod=pod, machine=machine, n=n) for n, (pod, machine) in enumerate(MACHINES.items())],
        [roster()],
    ],
    ids=["events", "table", "roster"],
)
def test_what_a_machine_says_is_said_by_its_pod(told: list[str]) -> None:
    """The kernel's log is called after the machine, which job.json does not know."""
    found = diagnose(on_machines(*told), [])

    assert [node.node for node in found.nodes] == ["trainer-2"]
    assert found.events[0].nodes == ("trainer-2",)


@pytest.mark.parametrize(
    "pairs",
    [
        dict.fromkeys(MACHINES, MACHINES["trainer-2"]),  # two pods of the job on one machine
        {"trainer-2": MACHINES["trainer-2"]},  # one pair alone may be about two machines
    ],
)
def test_names_that_are_given_to_several_or_once_are_none(pairs: dict[str, str]) -> None:
    """Which of them it is, the lines do not tell."""
    table = parse(on_machines(*(ASSIGNED.format(pod=pod, machine=machine) for pod, machine in pairs.items()))).table
    known = {table.files[file] for file, origin in zip(table.file_of_voice, table.origins, strict=True) if origin.node}

    assert not [name for name in known if "dmesg" in name]


def test_the_first_label_of_a_name_is_the_name() -> None:
    """Folders have whole names, the kernel's own log short ones."""
    files = {}
    for n in range(4):
        files[f"n04{n}.hx/train.log"] = lines(*(at(k, f"step {k} loss 2.5") for k in range(1, 9)))
        kernel = [f"2026-11-21T04:00:0{k}.814357+00:00 n04{n} kernel: usb {k}-1: new device" for k in range(4)]
        files[f"n04{n}.hx/kernel.log"] = lines(*kernel)

    assert parse(job(files)).table.nodes == tuple(f"n04{n}.hx" for n in range(4))
