"""Who is where, and who fell silent, by the structure of logs: labels, places in a mesh, files of processes."""

import pytest

from core.diagnose import diagnose
from core.dumps.outliers import training
from core.dumps.stacks import Frame, Process, Thread
from core.job import Job, Manifest, Status
from core.model import Role
from tests.support.jobs import at, four_nodes, job, judged, lines, parse, raised, signs_of, slurm, steps, suspected
from tests.support.wrapped_logs import unwrapped, wrapped


def test_a_list_of_devices_is_no_speech() -> None:
    """``cuda:0`` at the end of each line says nothing: it is told."""
    rows = [f"({node},0,{card})  osl-gpu-{node}  cuda:{card}" for node in range(4) for card in range(2)]
    content = lines("# mesh (dp,pp,tp) -> machine / device", *rows).encode()

    assert unwrapped(content) == content


def test_the_cards_of_gpustat_are_no_ranks() -> None:
    """Whose cards they are stands above them."""
    rows = [f"[{card}] NVIDIA A100-SXM4-40GB | 50'C, 100 % | 38211 / 40960 MB" for card in range(4)]
    content = lines(*(text for node in range(4) for text in (f"gpu-{node}  Sat Nov  7 16:31:11 2026", *rows))).encode()

    assert unwrapped(content) == content


def test_logs_of_one_machine_tell_its_processes_by_their_place() -> None:
    """Four in a file, of which one takes twice as long; the first one prints its loss too."""
    files: dict[str, str | bytes] = {}
    for node in range(4):
        said = []
        for step in range(1, 41):
            for place in range(2):
                took = 2000 + step % 7 if (node, place) == (2, 1) and step > 20 else 1000 + step % 7
                loss = f'"loss": {5 / step:.3f}, ' if (node, place) == (0, 0) else ""
                said.append(
                    f'{{"ts": {1795233600 + 2 * step}, "at": [{node}, {place}, 0], "step": {step}, {loss}'
                    f'"ms": {{"math": {took}, "sync": {3000 - took}}}}}'
                )
        files[f"gpu-{node}.jsonl"] = lines(*said)
    logs = tuple(wrapped(f"logs/{name}", str(text).encode()) for name, text in files.items())
    nodes = tuple(f"gpu-{node}" for node in range(4))
    one = Job(Manifest("j1", status=Status.CANCELLED, nodes=nodes, world_size=8), logs)

    assert suspected(one) == ["gpu-2"]


def test_numbered_files_in_folders_of_machines_are_processes() -> None:
    """``0.err`` and ``1.err`` of each pod: whose two ended a step before all others."""
    files: dict[str, str | bytes] = {}
    for node in range(4):
        last = 39 if node == 2 else 40
        for place in range(2):
            said = [at(float(n), f"iteration {n}/100 | loss 2.5") for n in range(1, last + 1)]
            files[f"pod-{node}/{place}.err"] = lines(*said)
    one = job(files, nodes=tuple(f"pod-{node}" for node in range(4)), world_size=8, end="2026-11-21T04:30:00Z")
    table = parse(one).with_numbered_nodes().table

    assert len(table.ranks) == 8
    assert table.ranks_are_nodes
    assert (table.speaker, table.speakers) == ("process", "processes")
    assert {table.origins[voice].node for voice in range(8) if table.origins[voice].rank in (4, 5)} == {"pod-2"}


@pytest.mark.parametrize("name", ["vision5.lab", "h1.local", "a.internal"])
def test_names_that_end_as_domains_do_are_whole(name: str) -> None:
    """A file that is called after a machine has no ending then."""
    files: dict[str, str | bytes] = {name: lines(*steps(9)), "zz9.lab": lines(*steps(9))}

    assert name in parse(job(files, nodes=(name, "zz9.lab"))).table.nodes


def test_who_says_nothing_after_its_error_did_not_survive_it() -> None:
    """The others of the same file went on for long."""
    error = "node-3: bash: line 1: /opt/conda/bin/python: No such file or directory"
    said = [f"node-{n % 3}: starting worker, attempt {n}" for n in range(400)]
    late = "node-0: torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. 3/4 joined."
    one = job(
        {"job.log": lines(*(f"node-{n}: hello {n}" for n in range(4)), error, *said, late)},
        nodes=tuple(f"node-{n}" for n in range(4)),
    )

    assert [item.role for item in judged(one) if "No such file" in item.text] == [Role.ROOT]


def test_a_launcher_names_whom_it_reached_before_what_is_said_of_it() -> None:
    """pdsh puts the name of the machine before the words of ssh."""
    said = [f"node-{n % 4}: iteration {n // 4 + 1}/100 | loss 2.5" for n in range(80)]
    lost = "node-2: Timeout, server node-2 not responding."
    one = job({"nohup.out": lines(*said, lost)}, nodes=tuple(f"node-{n}" for n in range(4)))

    assert ("node-2", "named") in [(sign.node, sign.channel) for sign in signs_of(one)]


def test_labels_of_rays_driver_name_no_peer() -> None:
    """The address before each line is that of the machine that says it."""
    said = []
    for node in range(4):
        label = f"(RayTrainWorker pid={100 + node}, ip=10.0.0.{node}) "
        said += [f"{label}step {n} loss 2.5" for n in range(1, 20)]
    for node in range(4):
        label = f"(RayTrainWorker pid={100 + node}, ip=10.0.0.{node}) "
        said += [label + text for text in raised("ValueError: Expected input batch_size (32) to match target (31).")]
    one = job(
        {"driver.log": lines(*said)},
        nodes=tuple(f"node-{n}" for n in range(4)),
        node_addresses={f"node-{n}": (f"10.0.0.{n}",) for n in range(4)},
    )

    assert [item.role for item in judged(one) if "batch_size" in item.text] == [Role.ROOT]


def test_whose_own_watchdog_stood_still_is_told() -> None:
    """All others only time out; nobody times out where the launcher ends them first."""
    stuck = (
        "[rank2]:[E1121 04:10:00.728530710 ProcessGroupNCCL.cpp:1746] [PG ID 0 PG GUID 0(default_pg) Rank 2] "
        "ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued "
        "collectives."
    )
    few, all_of_them = four_nodes({2: [stuck]}, usual=steps(9)), four_nodes({}, usual=[*steps(9), stuck])

    assert suspected(few) == ["node-2"]
    assert "lock" in diagnose(few, []).headline
    assert suspected(all_of_them) == []


def test_no_order_to_stop_breaks_a_machine() -> None:
    """A kernel that counts from its start, on one node, before a time limit."""
    kernel = ["[1823465.000000] watchdog: BUG: soft lockup - CPU#45 stuck for 22s! [python:70759]"]
    limit = "slurmstepd: error: *** STEP 5020.0 ON node-0 CANCELLED AT 2026-11-21T05:10:12 DUE TO TIME LIMIT ***"
    one = four_nodes({}, usual=steps(30), others={"node-2/console.log": kernel, "job.err": [limit]})

    assert suspected(one) == ["node-2"]


def test_a_stop_without_a_clock_came_after_what_has_one() -> None:
    """``kubectl get events`` tells how long ago."""
    blocked = slurm(100, "kernel: INFO: task pt_data_worker:731682 blocked for more than 120 seconds.")
    ended = "2m          Warning   DeadlineExceeded   pytorchjob/ft   Job was active longer than specified deadline"
    one = four_nodes({1: [blocked]}, usual=steps(30), others={"events.txt": [ended]}, end="2026-11-21T04:50:00Z")

    assert suspected(one) == ["node-1"]


def test_a_node_that_never_came_is_told_where_all_others_waited_to_meet() -> None:
    """Nobody knows its ranks."""
    waited = raised(
        "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients joined."
    )
    files: dict[str, str | bytes] = {
        f"node-{n}.log": lines(*(f"[rank{n}]: {text}" for text in ["starting", *waited])) for n in range(3)
    }
    one = job(files, nodes=tuple(f"node-{n}" for n in range(4)), world_size=4)

    assert suspected(one) == ["node-3"]


def test_the_main_thread_of_py_spy_is_told_by_its_name() -> None:
    """Its stack may begin with another function than that of a module."""
    main = Thread("MainThread", (Frame("all_reduce", "torch/distributed/distributed_c10d.py", 2501),))
    pins = Thread("Thread-1", (Frame("_pin_memory_loop", "torch/utils/data/_utils/pin_memory.py", 59),))
    process = Process("dumps/rank_0.txt", rank=0, threads=(main, pins))

    assert training([process]) == (process,)
