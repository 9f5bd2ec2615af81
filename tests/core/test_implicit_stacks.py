"""Jobs of which no line says what is wrong: where their processes stand, by stack dumps."""

from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Scope
from tests.support.jobs import (
    at,
    four_nodes,
    log_file,
    slurm,
)

PYSPY = "Process {pid}: python train.py\nPython v3.11.7 (/usr/bin/python3.11)\n\n"


STACK = (
    'Thread {pid} (idle): "MainThread"\n    _engine_run_backward (torch/autograd/graph.py:979)\n'
    "    backward (torch/autograd/__init__.py:395)\n    <module> (train.py:20)\n"
)


# py-spy 0.4 of a process in state T
REFUSED = (
    "Error: Failed to get stack traces\n\nCaused by:\n    0: Failed to suspend process\n"
    "    1: unexpected waitpid result PtraceEvent(Pid(7), SIGSTOP, 128) to 7\n"
)


def test_a_process_whose_stacks_cannot_be_read_is_stopped() -> None:
    """py-spy reads all others, and cannot suspend this one."""
    said = {0: [at(n * 0.2, f"step {n} loss 2.5") for n in range(1, 40)]}
    order = [slurm(60, "error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:01:00 ***")]
    hung = four_nodes(said, others={"slurm.out": order}, status=Status.CANCELLED)
    dumps = tuple(
        log_file(
            f"dumps/node-{n}.rank{n}.txt", PYSPY.format(pid=n + 7) + (REFUSED if n == 1 else STACK.format(pid=n + 7))
        )
        for n in range(4)
    )

    found = diagnose(Job(hung.manifest, hung.logs, dumps), [])

    assert [node.node for node in found.nodes] == ["node-1"]
    assert "The stacks of rank 1 could not be read" in found.nodes[0].because


def dumped(inner: dict[int, str], usual: str = "_engine_run_backward (torch/autograd/graph.py:979)") -> Job:
    """A job that stood still after a few steps, with the stacks of its four processes."""
    steps = [at(n * 0.2, f"step {n} loss 2.5") for n in range(1, 40)]
    said = {n: [*steps, *([at(8, "epoch 2 begins")] if n else [])] for n in range(4)}
    order = [slurm(60, "error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:01:00 ***")]
    hung = four_nodes(said, others={"slurm.out": order}, status=Status.CANCELLED)
    text = 'Thread {pid} (idle): "MainThread"\n    {inner}\n    <module> (train.py:20)\n'
    dumps = tuple(
        log_file(
            f"dumps/node-{n}.rank{n}.txt",
            PYSPY.format(pid=n + 7) + text.format(pid=n + 7, inner=inner.get(n, usual)),
        )
        for n in range(4)
    )
    return Job(hung.manifest, hung.logs, dumps)


def test_processes_that_wait_in_different_calls_were_parted_by_the_program() -> None:
    """A barrier under ``if rank == 0``: nobody is stuck, each waits for what the others are not going to do."""
    parted = diagnose(dumped({0: "barrier (torch/distributed/distributed_c10d.py:4811)"}), [])
    together = diagnose(dumped({}), [])

    assert (parted.scope, parted.nodes) == (Scope.JOB, ())
    assert [node.node for node in together.nodes] == ["node-0"]


def test_the_main_thread_tells_where_a_process_stands() -> None:
    """faulthandler begins with the thread that asked for the dump: a watchdog, on every rank."""
    watchdog = [
        "Current thread 0x00007fb8932b5b80 (most recent call first):",
        '  File "/srv/app/train.py", line 11 in watchdog',
        '  File "/usr/lib/python3.11/threading.py", line 982 in run',
        "",
        "Thread 0x00007fb8932b5b81 (most recent call first):",
    ]
    waits = [
        '  File "/opt/torch/distributed/distributed_c10d.py", line 3252 in all_reduce',
        '  File "/srv/app/train.py", line 34 in <module>',
    ]
    locked = ['  File "/srv/app/train.py", line 15 in refresh_cache', '  File "/srv/app/train.py", line 34 in <module>']
    steps = [*(at(k * 0.2, f"step {k} loss 2.5") for k in range(1, 40)), at(30, "ERROR no progress, dumping stacks")]
    said = {n: [*steps, *watchdog, *(locked if n == 1 else waits)] for n in range(4)}

    found = diagnose(four_nodes(said), [])

    assert [node.node for node in found.nodes] == ["node-1"]
    assert "refresh_cache" in found.headline


WAITS = (
    "    all_reduce (torch/distributed/distributed_c10d.py:2806)\n    sync (train.py:41)\n"
    "    step (train.py:30)\n    main (train.py:20)\n"
)
READS = "    read (os.py:12)\n    load (data.py:55)\n    step (train.py:27)\n    main (train.py:20)\n"


def test_stacks_of_whole_files_among_the_logs_are_read_as_dumps() -> None:
    """Two processes a node, and no name of a rank in them: the one that does not wait names its node."""
    said = {n: [at(k * 0.2, f"step {k} loss 2.5") for k in range(1, 40)] for n in range(4)}
    stacks = {
        f"node-{n}/stacks-g{g}.txt": (
            PYSPY.format(pid=10 * n + g).rstrip(),
            "",
            f'Thread {10 * n + g} (active): "MainThread"',
            *(READS if (n, g) == (2, 0) else WAITS).rstrip("\n").split("\n"),
        )
        for n in range(4)
        for g in range(2)
    }

    found = diagnose(four_nodes(said, others=stacks, status=Status.RUNNING), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "read (os.py:12)" in found.headline
