"""Files of machines whose pods job.json names."""

from core.diagnose import diagnose
from core.job import Job
from tests.support.jobs import at, job, lines, parse

# kubernetes/kubernetes pkg/scheduler/schedule_one.go (1.29), as kubectl get events prints it
ASSIGNED = "2026-11-21T04:00:00Z   Normal    Scheduled   pod/{pod}   Successfully assigned ml/{pod} to {machine}"
OOM = "kernel: Out of memory: Killed process 31337 (python) total-vm:412345678kB, anon-rss:251234567kB, file-rss:0kB"
MACHINES = {f"trainer-{n}": f"gke-pool-1a-{n}f{n}0" for n in range(4)}


def on_machines(assigned: dict[str, str]) -> Job:
    """Four pods that stop after the kernel of one machine has killed a process."""
    steps = [at(n, f"step {n} loss 2.5") for n in range(1, 30)]
    files = {f"{pod}.log": lines(*steps) for pod in MACHINES}
    files |= {f"dmesg/{machine}.txt": lines(at(1, "kernel: usb 1-1: new device")) for machine in MACHINES.values()}
    files[f"dmesg/{MACHINES['trainer-2']}.txt"] = lines(at(1, "kernel: usb 1-1: new device"), at(30, OOM))
    files["events.txt"] = lines(*(ASSIGNED.format(pod=pod, machine=machine) for pod, machine in assigned.items()))
    ranks = {pod: (n,) for n, pod in enumerate(MACHINES)}
    return job(files, nodes=tuple(MACHINES), node_ranks=ranks, world_size=4)


def test_what_a_machine_says_is_said_by_its_pod() -> None:
    """The kernel's log is called after the machine, which job.json does not know."""
    found = diagnose(on_machines(MACHINES), [])

    assert [node.node for node in found.nodes] == ["trainer-2"]
    assert found.events[0].nodes == ("trainer-2",)


def test_a_machine_with_two_pods_of_the_job_is_neither() -> None:
    """Which of them it killed a process of, its name does not tell."""
    both = dict.fromkeys(MACHINES, MACHINES["trainer-2"])
    table = parse(on_machines(both)).table
    kernels = {
        table.files[file] for file, origin in zip(table.file_of_voice, table.origins, strict=True) if origin.node
    }

    assert not [name for name in kernels if "dmesg" in name]
