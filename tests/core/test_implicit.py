"""Who held a job up that raised no error: by durations, stacks that cannot be read, launchers that never report."""

from typing import Any

import numpy as np
import pytest

from core.course.shift import find_shift, find_uneven_shift
from core.diagnose import diagnose
from core.job import Job, Status
from core.judge.phrase import without_head
from core.model import Action, Confidence, Scope
from tests.support.jobs import (
    at,
    four_nodes,
    job,
    lines,
    log_file,
    lost,
    raised,
    signs_of,
    slurm,
    timed_out,
    told_to_end,
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


def test_steps_of_which_every_sixth_waits_are_slower() -> None:
    """Most steps are as fast as ever: neither their median nor any single one tells, but what they come to."""
    values = np.array([0.3] * 54 + [2.6, 0.3, 0.3, 0.3, 0.3, 0.3] * 18)

    found = find_uneven_shift(values)

    assert find_shift(values) is None
    assert found is not None
    assert found[0].place == 54
    assert found[0].after > 2 * found[0].before


@pytest.mark.parametrize(
    "values",
    [
        [0.3, 0.3, 0.3, 0.3, 0.3, 2.6] * 30,
        [0.3] * 100 + [30.0] + [0.3] * 60,
        [0.3] * 150 + [9.0, 0.3, 9.0],
        [2.6, 1.4, 0.9] + [0.3] * 150,
    ],
    ids=["from the beginning", "one long pause", "two at the end", "a warm-up"],
)
def test_uneven_steps_of_a_healthy_job_are_not_slower(values: list[float]) -> None:
    """What is as uneven from the beginning on, and what happens once or twice."""
    assert find_uneven_shift(np.array(values)) is None


def checkpoints(seconds: dict[int, float]) -> Job:
    """Steps of .2 s; every tenth writes a shard on each rank, and all wait for the last of them."""
    said: dict[int, list[str]] = {rank: [] for rank in range(4)}
    clock = 0.0
    for n in range(1, 41):
        clock += 0.2
        said[0].append(at(clock, f"INFO step {n} loss 2.5"))
        if n % 10 == 0:
            for rank in range(4):
                took = seconds.get(rank, 0.1)
                said[rank].append(at(clock + took, f"INFO shard of step {n}: 747 kB in {took:.1f} s"))
            clock += max(seconds.values(), default=0.1)
    return four_nodes(said, status=Status.CANCELLED)


def test_what_takes_one_rank_far_longer_each_time_held_the_job_up() -> None:
    """The steps between are as fast as ever; most of the time went into waiting for node-2."""
    found = diagnose(checkpoints({2: 9.0}), [])

    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["node-2"])
    assert "took rank 2 on node-2 9 s each time, the others 0.1 s: 36 s of" in found.nodes[0].because


@pytest.mark.parametrize("seconds", [{}, {2: 0.3}, {0: 9.0, 1: 9.0, 2: 9.0, 3: 9.0}])
def test_durations_that_differ_little_or_cost_little_name_nobody(seconds: dict[int, float]) -> None:
    """Alike, three times as long, long on all."""
    assert diagnose(checkpoints(seconds), []).nodes == ()


def saves(
    ends: dict[int, int], took: dict[int, float] | None = None, speaks: tuple[int, ...] = (0, 1, 2, 3)
) -> dict[int, list[str]]:
    """Steps of .2 s on all ranks; every tenth saves, which ends on each rank as often as is told, of four times."""
    said: dict[int, list[str]] = {rank: [] for rank in range(4)}
    clock = 0.0
    for n in range(1, 41):
        clock += 0.2
        for rank in range(4):
            said[rank].append(at(clock, f"INFO step {n} loss 2.5"))
        if n % 10 == 0:
            for rank in range(4):
                said[rank].append(at(clock, f"INFO dumping tensors of step {n}"))
                lasts = (took or {}).get(rank, 0.1)
                if n // 10 <= ends.get(rank, 4) and rank in speaks:
                    said[rank].append(at(clock + lasts, f"INFO dumped tensors of step {n}"))
            clock += max((took or {0: 0.1}).values())
    return said


@pytest.mark.parametrize("status", [Status.RUNNING, Status.UNKNOWN])
def test_a_rank_that_does_not_end_what_the_others_ended_is_named_though_nobody_tells_how_the_job_ended(
    status: Status,
) -> None:
    """In words of no known program; the logs end with the job, so no clock tells for how long it stood still."""
    found = diagnose(four_nodes(saves({2: 3}), status=status), [])

    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["node-2"])
    assert found.confidence is Confidence.WEAK
    assert (
        "said \u201cdumping tensors of step 40\u201d and never came to \u201cdumped tensors of step …\u201d"
        in found.nodes[0].because
    )
    assert "; 3 of 4 ranks did." in found.nodes[0].because


def test_the_only_rank_with_work_of_its_own_is_named_when_all_wait_for_it() -> None:
    """Rank 0 alone tells that the tensors are dumped; the last time it does not, and the job hangs."""
    said = saves({0: 3}, speaks=(0,))
    order = [slurm(60, "error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:01:00 ***")]

    found = diagnose(four_nodes(said, others={"slurm.out": order}, status=Status.CANCELLED), [])

    assert [node.node for node in found.nodes] == ["node-0"]
    assert "all came so far, and only it had something left to do" in found.nodes[0].because


@pytest.mark.parametrize("ends", [{}, {1: 3, 2: 3}, {0: 3, 1: 3, 2: 3, 3: 3}])
def test_work_that_most_left_open_names_nobody(ends: dict[int, int]) -> None:
    """The logs may have been copied in the middle of it."""
    assert diagnose(four_nodes(saves(ends), status=Status.RUNNING), []).nodes == ()


def test_who_takes_far_longer_between_two_messages_held_the_job_up() -> None:
    """No line tells how long it took; the clocks do. The job completed, and lost most of its time."""
    found = diagnose(four_nodes(saves({}, {0: 0.1, 1: 0.1, 2: 9.0, 3: 0.1}), status=Status.COMPLETED), [])

    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["node-2"])
    assert "took rank 2 on node-2 9 s each time, the others 0.1 s: 36 s of" in found.nodes[0].because


def test_the_first_rank_may_do_more_than_the_others_all_along() -> None:
    """It writes for all of them, as in every good job."""
    found = diagnose(four_nodes(saves({}, {0: 9.0, 1: 0.1, 2: 0.1, 3: 0.1}), status=Status.COMPLETED), [])

    assert (found.scope, found.nodes) == (Scope.NONE, ())


def straggler(compute: dict[int, float], wait: dict[int, float]) -> Job:
    """Forty steps of half a second, in which each rank tells how long it worked and how long it waited."""
    said = {
        rank: [
            at(n * 0.5, f"step {n} loss: 2.5 compute_time: {compute.get(rank, 0.1)} sync_time: {wait.get(rank, 0.4)}")
            for n in range(1, 41)
        ]
        for rank in range(4)
    }
    return four_nodes(said, status=Status.RUNNING)


def test_a_rank_for_which_the_others_wait_from_the_first_step_on_is_named() -> None:
    """There is no onset: it works four times as long as the others, and they wait as much longer."""
    found = diagnose(straggler({3: 0.45}, {3: 0.05}), [])

    assert [node.node for node in found.nodes] == ["node-3"]
    assert "its compute_time is 0.45 s, that of the others 0.1 s; they wait for it" in found.nodes[0].because


def test_a_stage_that_computes_more_by_design_is_not() -> None:
    """Nobody waits for it: the others have as long for something else."""
    assert diagnose(straggler({3: 0.45}, {}), []).nodes == ()


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


def test_a_launcher_that_never_reports_hangs() -> None:
    """All ranks time out alike; the launchers of three nodes report it, the fourth is cut off."""
    report = "E1121 api.py:869] failed (exitcode: 1) local_rank: 0 (pid: 77) of binary: python"
    files: dict[str, str | bytes] = {}
    for n in range(4):
        told = timed_out()
        files[f"node-{n}/rank_{n}.log"] = lines(*(at(k, f"step {k} loss 2.5") for k in range(1, 6)), *told)
        files[f"node-{n}/torchrun.log"] = lines(*([at(30, report)] if n != 2 else [at(0, "W1121 run.py:857] started")]))
    nodes = {f"node-{n}": (n,) for n in range(4)}

    found = diagnose(job(files, nodes=tuple(nodes), node_ranks=nodes, world_size=4), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "The launcher of node-2 never reported" in found.nodes[0].because


def test_who_lost_its_connection_while_the_others_timed_out_was_not_silent() -> None:
    """One of those that gave up closed it."""
    clocks = [at(n, f"step {n} loss 2.5") for n in range(1, 6)]
    said = {n: [*clocks, *(at(30, line) for line in (lost(3) if n == 1 else timed_out()))] for n in range(4)}

    assert diagnose(four_nodes(said), []).nodes == ()


def test_a_node_whose_rank_nobody_knows_may_be_the_silent_one() -> None:
    """It said hello and nothing else; only the others' tracebacks tell their ranks."""
    said = {n: [f"[rank{n}]: {line}" for line in raised(timed_out()[-1])] for n in (0, 1, 3)}
    files = {f"node-{n}/train.log": lines(at(1, "hello"), *said.get(n, [])) for n in range(4)}

    found = diagnose(job(files, nodes=tuple(f"node-{n}" for n in range(4))), [])

    assert [node.node for node in found.nodes] == ["node-2"]


def test_a_task_that_srun_reports_as_killed_is_named_by_it() -> None:
    """The only line about it; the others lost their connection by that."""
    said = [f"{n}: {line}" for n in (0, 2, 3) for line in lost(1)]
    steps = [f"{n}: iter {k}: loss 6.2{k}, time 269.43ms" for k in range(1, 6) for n in range(4)]
    ends = [f"srun: error: node-{n}: task {n}: Exited with exit code 1" for n in (0, 2, 3)]
    text = lines(*steps, "srun: error: node-1: task 1: Killed", *said, *ends, "srun: Force Terminated StepId=77.0")
    nodes = {f"node-{n}": (n,) for n in range(4)}

    found = diagnose(job({"slurm-77.out": text}, nodes=tuple(nodes), node_ranks=nodes, world_size=4), [])

    assert [node.node for node in found.nodes] == ["node-1"]


def test_tasks_that_stand_below_a_message_are_named_by_it() -> None:
    """The coordination service of JAX names the silent task on a line of its own."""
    head = (
        "E1121 04:00:39.395895 14303 coordination_service.cc:1549] Use error polling to propagate the following error"
        " to all tasks: UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):"
    )
    files = {
        f"worker_{n}.log": lines(*(at(k * 0.2, f"step {k} loss 2.5") for k in range(1, 40)), *([head, "2"] * (n != 2)))
        for n in range(4)
    }
    nodes = {f"node-{n}": (n,) for n in range(4)}

    found = diagnose(job(files, nodes=tuple(nodes), node_ranks=nodes, world_size=4), [])

    assert [node.node for node in found.nodes] == ["node-2"]


def reading(status: Status) -> Job:
    """A loader that takes most of each step on one rank, and nothing on the others; nobody prints who waits."""
    said = {
        rank: [
            at(n * 0.9, f"step: {n}, loss: 2.5, input: {0.7 if rank == 2 else 0.0}s, step_time: 0.9s")
            for n in range(1, 31)
        ]
        for rank in range(4)
    }
    return four_nodes(said, status=status)


@pytest.mark.parametrize("status", [Status.UNKNOWN, Status.COMPLETED])
def test_a_loader_that_takes_most_of_each_step_holds_the_others_up(status: Status) -> None:
    """Reading is no work of one rank's own: all have their share; and a job that completed was slow all the same."""
    found = diagnose(reading(status), [])

    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["node-2"])


def test_few_complaints_before_a_stop_leave_the_job_hanging() -> None:
    """The node that is cut off loses its store; the others wait on until somebody cancels the job."""
    said = {n: [at(k * 0.2, f"step {k} loss 2.5") for k in range(1, 34)] for n in range(4)}
    poll = "[c10d] waitForInput: poll for socket SocketImpl(fd=3) returned 0, likely a timeout"
    store = f"[W1121 04:00:12.101 socket.cpp:469] {poll}"
    said[3] += [at(12, store)]
    order = [at(40, "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:00:40 ***")]
    codes = {"node-0": 1, "node-1": 1, "node-2": 1, "node-3": -9}

    found = diagnose(four_nodes(said, others={"slurm.out": order}, status=Status.CANCELLED, exit_codes=codes), [])

    assert [node.node for node in found.nodes] == ["node-3"]
    assert "the job hung" in found.headline


def test_the_only_one_that_was_killed_is_told_from_those_that_failed_or_were_ended() -> None:
    """Two lost it and failed, one was told to end; neither silence nor an order tells the two that are left apart."""
    said = {n: [at(k, f"step {k} loss 2.5") for k in range(1, 20)] for n in range(4)}
    said |= {n: [*said[n], *lost(2)] for n in (0, 1)}
    codes = {"node-0": 1, "node-1": 1, "node-2": 137, "node-3": 143}

    found = diagnose(four_nodes(said, exit_codes=codes), [])

    assert [node.node for node in found.nodes] == ["node-2"]


def test_those_who_say_last_that_they_wait_tell_the_end() -> None:
    """No job.json tells one: from the last progress to the last word is how long they waited."""
    said = {n: [at(k * 0.8, f"tick {4 * k}/? energy 0.5") for k in range(1, 12)] for n in range(4)}
    for n in (0, 1, 3):
        said[n] += [at(8.8 + wait, f"still waiting for a neighbour, {wait} s") for wait in (3, 6, 12)]
    files = {f"r-{name}.log": lines(*said[n]) for n, name in enumerate(("ams", "fra", "lon", "mad"))}

    found = diagnose(job(files, status=Status.UNKNOWN), [])

    assert [node.node for node in found.nodes] == ["r-lon"]
    assert "the job hung" in found.headline


def test_a_leader_tells_the_times_of_all() -> None:
    """In one line a round, without a clock: by the names of their machines."""

    def rounds(slow: set[int]) -> Job:
        said = [
            f"Round {k} is over; epochs took "
            + ", ".join(
                f"{0.9 if n in slow and k > 25 else 0.3 + (k + n) % 5 / 100:.2f} s on farm-{n}" for n in range(4)
            )
            for k in range(1, 56)
        ]
        nodes = tuple(f"farm-{n}" for n in range(4))
        ranks = {node: (n,) for n, node in enumerate(nodes)}
        return job({"run.txt": lines(*said)}, status=Status.COMPLETED, nodes=nodes, node_ranks=ranks, world_size=4)

    one, all_of_them = diagnose(rounds({2}), []), diagnose(rounds({0, 1, 2, 3}), [])

    assert [node.node for node in one.nodes] == ["farm-2"]
    assert (all_of_them.scope is Scope.NODE, all_of_them.nodes) == (False, ())
    assert "slow from iteration 26 on" in all_of_them.headline
    assert diagnose(rounds(set()), []).scope is Scope.NONE


def memory(leaks: set[int], grows: float = 8.0, *, until: int = 60) -> Job:
    """Ranks that print their memory, and whose job is cancelled at steady pace."""
    said = {
        rank: [
            at(
                n,
                f"it {n} loss 2.5 rss_mb {400 + (grows * (min(n, until) - 20) if rank in leaks and n > 20 else 0):.0f}",
            )
            for n in range(1, 61)
        ]
        for rank in range(4)
    }
    return four_nodes(said, status=Status.CANCELLED, start="2026-11-21T04:00:00Z", end="2026-11-21T04:01:01Z")


def test_memory_that_never_comes_back_is_told() -> None:
    """Of one rank, of all; of none where it comes to rest: that is a cache."""
    one, everybody = diagnose(memory({2}), []), diagnose(memory({0, 1, 2, 3}), [])

    assert [node.node for node in one.nodes] == ["node-2"]
    assert "rss_mb grew" in one.headline
    assert (everybody.scope, everybody.confidence) == (Scope.JOB, Confidence.SUPPORTED)
    assert "rss_mb grew from 408 to 720 since iteration 21" in everybody.headline
    assert (one.next and one.next.action, everybody.next and everybody.next.action) == (Action.CHECK, Action.FIX)
    assert diagnose(memory({0, 1, 2, 3}, until=35), []).scope is Scope.NONE
    assert diagnose(memory(set()), []).scope is Scope.NONE


def test_a_stop_that_arrives_at_one_rank_accuses_nobody() -> None:
    """srun's words stand in the first task's file; who was told first is not at fault."""
    text = [f"[{k}] loss 2.5" for k in range(1, 30)]
    stop = "slurmstepd: error: *** JOB 440192 ON node-0 CANCELLED AT 2026-11-21T04:00:34 DUE TO PREEMPTION ***"
    files = {f"77_{n}_log.err": lines(*text, *([stop] if n == 0 else [])) for n in range(3)}

    found = diagnose(job(files, status=Status.CANCELLED), [])

    assert (found.scope, found.nodes) == (Scope.NONE, ())


def test_a_node_that_spoke_without_a_label_is_not_missing() -> None:
    """The first rank prints no label; it said as much as the others."""
    said = {0: "loss 2.5", 1: "[rank1] loss 2.5", 2: "[rank2] loss 2.5", 3: "[rank3] loss 2.5"}
    files = {f"node-{n}.log": lines(*(at(k, f"INFO {text}") for k in range(20))) for n, text in said.items()}
    nodes = {f"node-{n}": (n,) for n in range(4)}

    found = diagnose(job(files, nodes=tuple(nodes), node_ranks=nodes, world_size=4), [])

    assert not any("left any log" in node.because for node in found.nodes)


def test_expired_credentials_concern_all() -> None:
    """Whoever uploads first is told."""
    expired = raised(
        "botocore.exceptions.ClientError: An error occurred (ExpiredToken) when calling the PutObject operation: "
        "The provided token has expired."
    )

    assert diagnose(four_nodes({1: expired}), []).scope is Scope.JOB


@pytest.mark.parametrize(
    ("named", "accused"),
    [("3", ["node-3"]), ("2, 3", []), ("0, 1, 2, 3", [])],
    ids=["one", "of two nodes", "all"],
)
def test_an_exception_that_all_relay_is_of_the_ranks_that_it_names(named: str, accused: list[str]) -> None:
    """torch.distributed.checkpoint raises on every rank what failed on some; those of several nodes are the job's."""
    relayed = [
        "Traceback (most recent call last):",
        '  File "/opt/torch/distributed/checkpoint/utils.py", line 250, in all_gather',
        "    raise CheckpointException(step, node_failures)",
        f"torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([{named}])",
        "Traceback (most recent call last): (RANK 3)",
        '  File "/opt/torch/distributed/checkpoint/filesystem.py", line 400, in _write_item',
        "    stream.write(data)",
        "OSError: [Errno 28] No space left on device",
    ]

    found = diagnose(four_nodes(dict.fromkeys(range(4), relayed)), [])

    assert [node.node for node in found.nodes] == accused


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


def test_who_comes_late_to_the_last_iteration_stood_still() -> None:
    """A frozen process goes on when it is ended, and tells of the step that it was in; the others had waited for it."""
    files = {}
    for rank in range(4):
        said = [at(n, f"step {n} loss 0.5") for n in range(1, 12)]
        said.append(at(33 if rank == 2 else 12, "step 12 loss 0.5"))
        files[f"n{rank}/rank_{rank}.log"] = lines(*said, at(34, "leaving now"))
    nodes = tuple(f"n{rank}" for rank in range(4))
    found = diagnose(job(files, nodes=nodes, node_ranks={node: (n,) for n, node in enumerate(nodes)}), [])

    assert [one.node for one in found.nodes] == ["n2"]
    assert "completed iteration 12 21 s after the others." in found.nodes[0].because


def test_a_machine_whose_name_ends_like_that_of_a_daemon_trains() -> None:
    """flow-a to flow-d, a file each: the last one is no daemon, and the one that stands still is another."""
    said = saves({1: 3})
    files = {f"flow-{'abcd'[rank]}.err": lines(*texts) for rank, texts in said.items()}

    for known in ({"nodes": ("flow-a", "flow-b", "flow-c", "flow-d")}, {}):
        found = diagnose(job(files, status=Status.UNKNOWN, **known), [])
        assert [node.node for node in found.nodes] == ["flow-b"]


@pytest.mark.parametrize(("status", "headline"), [(Status.CANCELLED, "stopped from outside"), (Status.FAILED, "")])
def test_a_job_that_was_cancelled_without_a_clock_was_stopped_whoever_did_it(status: Status, headline: str) -> None:
    """Nobody knows whether it still made progress, and no line tells of a fault."""
    said = {n: [f"step {step} loss 2.{step}" for step in range(9)] for n in range(4)}
    found = diagnose(four_nodes(said, status=status), [])

    assert headline in found.headline
    assert (found.scope is Scope.JOB) == (status is Status.CANCELLED)
    assert found.confidence is Confidence.WEAK


def test_who_had_to_be_killed_while_all_others_stopped_when_told_to_stood_still() -> None:
    """Also where that one does other work: a server ends on SIGTERM like everybody else."""
    said = {n: [f"sweep {step} local 0.1s" for step in range(9)] for n in (1, 2, 3)}
    said[0] = [f"{kind} {step}" for step in range(9) for kind in ("hub waits", "hub sums", "hub sends")]
    codes = {"node-0": 137, "node-1": 143, "node-2": 143, "node-3": 143}
    found = diagnose(four_nodes(said, exit_codes=codes, status=Status.CANCELLED), [])

    assert [one.node for one in found.nodes] == ["node-0"]
    assert "node-0 was killed (SIGKILL); 3 others stopped when told to (SIGTERM)." in found.why


@pytest.mark.parametrize(("odd", "channels"), [([], ["no answer"]), (raised("ImportError: no numba"), [])])
def test_who_had_ended_before_the_order_is_not_asked_for_an_answer(odd: list[str], channels: list[str]) -> None:
    """It says nothing more because it is gone: no second ground beside what it had said."""
    said = {n: [*(at(step, f"step {step} loss 2.{step}") for step in range(9)), told_to_end(40)] for n in (0, 1, 3)}
    said[2] = [*(at(step, f"step {step} loss 2.{step}") for step in range(9)), *(at(9, line) for line in odd)]
    signs = signs_of(four_nodes(said, status=Status.CANCELLED))

    assert [sign.channel for sign in signs if sign.node == "node-2" and sign.channel == "no answer"] == channels


@pytest.mark.parametrize(("code", "accused"), [(139, ["node-3"]), (134, []), (1, [])])
def test_the_only_process_that_crashed_is_at_fault(code: int, accused: list[str]) -> None:
    """By an exit code alone: nobody sends SIGSEGV; by SIGABRT ends also who waited in vain."""
    says = {n: [at(k, f"pass {k} ok (123 ms)") for k in range(1, 20)] for n in range(4)}
    codes = {"node-0": 3, "node-1": 0, "node-2": 0, "node-3": code}
    found = diagnose(four_nodes(says, exit_codes=codes), [])

    assert [one.node for one in found.nodes] == accused


def test_an_order_without_a_time_clears_no_job() -> None:
    """It may have come hours after the line above it; with the end in job.json it is known."""
    says = {
        n: [*(at(k, f"step {k}/900 loss 2.5") for k in range(1, 40)), *raised("KeyboardInterrupt")] for n in range(4)
    }
    unknown = diagnose(four_nodes(says, status=Status.CANCELLED), [])
    known = diagnose(
        four_nodes(says, status=Status.CANCELLED, start="2026-11-21T04:00:00Z", end="2026-11-21T04:00:40Z"), []
    )

    assert (unknown.scope, unknown.confidence) == (Scope.JOB, Confidence.WEAK)
    assert "no clock tells whether it still made progress" in unknown.headline
    assert known.scope is Scope.NONE


@pytest.mark.parametrize(("code", "accused"), [(0, ["node-2"]), (137, [])])
def test_who_had_left_without_an_error_is_waited_for(code: int, accused: list[str]) -> None:
    """The job stood still until all others were killed."""
    says = {n: [at(k, f"step {k} loss 2.{k}") for k in range(30)] for n in range(4)}
    codes = {f"node-{n}": code if n == 2 else 137 for n in range(4)}
    began, ended = "2026-11-21T04:00:00Z", "2026-11-21T04:05:00Z"
    found = diagnose(four_nodes(says, exit_codes=codes, start=began, end=ended, status=Status.CANCELLED), [])

    assert [one.node for one in found.nodes] == accused


def test_only_the_exit_codes_tell() -> None:
    """All logs stop alike, without a clock; one process was killed, the others were told to stop."""
    says = {n: [f"[{k}]\tvalid_0's binary_logloss: 0.{k}" for k in range(10, 70, 5)] for n in range(4)}
    codes = {f"node-{n}": 137 if n == 3 else 143 for n in range(4)}
    found = diagnose(four_nodes(says, exit_codes=codes), [])

    assert [one.node for one in found.nodes] == ["node-3"]
    assert found.confidence is Confidence.WEAK


def test_a_server_that_says_what_it_waits_for_is_not_stuck() -> None:
    """It does other work than all others; of a worker that alone repeats something it would be the fault."""
    waits = [at(40 + 5 * k, f"replay queued=2 version=137 want=3 after {5 * k}s") for k in range(9)]
    workers = {n: [at(k, f"rollout {k} done") for k in range(30)] for n in (1, 2, 3)}
    server = {0: [*(at(k, f"update step {k} loss 2.{k}") for k in range(30)), *waits]}
    busy = {
        n: [*(at(k, f"update step {k} loss 2.{k}") for k in range(30)), *(waits if n == 0 else ())] for n in range(4)
    }

    assert not [
        one for one in signs_of(four_nodes(workers | server, status=Status.CANCELLED)) if one.channel == "direct"
    ]
    assert [one.node for one in diagnose(four_nodes(busy, status=Status.CANCELLED), []).nodes] == ["node-0"]


def test_what_ended_one_node_was_not_survived_because_another_one_works_on() -> None:
    """Each does work of its own; the job failed, and nothing else tells why."""
    says = {n: [at(k, f"step {k} loss 2.{k}") for k in range(6 if n == 1 else 30)] for n in range(4)}
    says[1] += [at(6, line) for line in raised("zipfile.BadZipFile: File is not a zip file")]
    says[1] += [at(7, f"cleaning up part {k} of what was left") for k in range(3)]
    found = diagnose(four_nodes(says), [])

    assert [one.node for one in found.nodes] == ["node-1"]
    assert "BadZipFile" in found.headline


def test_of_two_nodes_the_one_that_did_not_end_what_the_other_ended_holds_it_up() -> None:
    """Half of all ranks; the others ended it, every one."""
    read = [line for n in range(8) for line in (at(n, f"open shard {n}"), at(n + 0.1, f"read shard {n}, 2000 bytes"))]
    steps = [at(n + 0.5, f"step {n} loss 2.5") for n in range(8)]
    own = sorted((*read, *steps))
    files = {
        f"{host}/rank_{rank}.log": lines(
            *own, at(8, "open shard 8"), *([at(8.1, "read shard 8, 2000 bytes")] if host == "a" else [])
        )
        for rank, host in enumerate(("a", "a", "b", "b"))
    }
    files["slurm.out"] = (
        at(60, "slurmstepd: error: *** STEP 7.0 ON a CANCELLED AT 2026-11-21T04:01:00 DUE TO TIME LIMIT ***") + "\n"
    )
    one = job(dict(files), nodes=("a", "b"), node_ranks={"a": (0, 1), "b": (2, 3)}, world_size=4)

    assert [node.node for node in diagnose(one, []).nodes] == ["b"]


def test_stalls_that_good_jobs_never_had_are_a_slowdown() -> None:
    """Every fifth step waits; that a good job had one such pause, when it saved, says nothing of all others."""

    def paced(stall: float, **known: Any) -> Job:
        clocks = np.cumsum([stall if n > 20 and n % 5 == 0 else 0.4 for n in range(60)]).tolist()
        return four_nodes({}, usual=[at(clock, f"step {n} loss: 2.5") for n, clock in enumerate(clocks)], **known)

    good = paced(0.5, status=Status.COMPLETED, job_id="good")

    assert "slow" in diagnose(paced(2.5, status=Status.CANCELLED), [good]).headline
    assert "slow" not in diagnose(paced(0.6, status=Status.CANCELLED), [good]).headline


def test_what_a_launcher_says_of_most_nodes_marks_none() -> None:
    """pdsh reports the same exit code of each."""
    says = [f"pdsh@login1: node-{n}: train exited with exit code 134" for n in range(4)]
    found = diagnose(four_nodes({}, usual=[at(1, "start")], others={"pdsh.out": says}), [])

    assert found.nodes == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<TS> [gcn02:2] vit_ft: open shard train-0063.tar", "vit_ft: open shard train-0063.tar"),
        ("| INFO     | __main__:<module>:53 - writing snapshot", "writing snapshot"),
        ("INFO: open part <NUM>", "open part \u2026"),
        ("[3/8] CXX main.o", "CXX main.o"),
    ],
)
def test_a_quote_begins_with_what_was_said(text: str, shown: str) -> None:
    """Its clock, its level, its speaker and the place in the code tell nothing of the work."""
    assert without_head(text) == shown


def test_memory_that_grew_leads_before_the_order_that_ended_the_job() -> None:
    """Lightning says in each rank that it was told to stop; what grew is why somebody told it."""

    def steps(rank: int) -> list[str]:
        grown = [354 + (9 * max(0, n - 30) if rank == 1 else 0) for n in range(90)]
        return [at(n, f"global_step={n} loss=2.5 rss={mb}MB") for n, mb in enumerate(grown)]

    says = {rank: [*steps(rank), *(["[rank: 1] Received SIGTERM: 15"] if rank == 1 else [])] for rank in range(4)}
    order = {"slurm.out": [at(91, "slurmstepd: error: *** STEP 7.0 ON node-1 CANCELLED AT 2026-11-21T04:01:31 ***")]}
    found = diagnose(four_nodes(says, others=order, status=Status.CANCELLED), [])

    assert found.headline.startswith("Look at node-1: its rss grew without end")
    assert found.next is not None
    assert (found.next.action, found.next.because[:7]) == (Action.CHECK, "Its rss")


def test_the_only_one_that_never_came_to_what_all_others_did_once_holds_them_up() -> None:
    """Before any iteration: each opens its part of the corpus, and node-2 never tells how much it read."""
    says = {
        n: [at(n, f"worker {n}/4 opens /corpus/part.{n}"), *([] if n == 2 else [at(n + 0.5, "read 262144 tokens")])]
        for n in range(4)
    }
    found = diagnose(four_nodes(says, status=Status.UNKNOWN), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "never came to \u201cread \u2026 tokens\u201d; 3 of 4 ranks did." in found.nodes[0].because


def test_a_node_that_never_spoke_is_why_the_others_never_began() -> None:
    """Nothing else tells why: the job was cancelled while they connected; after it had trained nobody is missing."""

    def job_of(*says: str) -> Job:
        files = {
            f"rank_{n}.log": lines(*(at(k, text) for k, text in enumerate(says))) if n != 1 else "" for n in range(4)
        }
        ranks = {f"node-{n}": (n,) for n in range(4)}
        return job(dict(files), nodes=tuple(ranks), node_ranks=ranks, world_size=4, status=Status.CANCELLED)

    assert [node.node for node in diagnose(job_of("connecting", "still connecting"), []).nodes] == ["node-1"]
    assert diagnose(job_of(*(f"step {n} loss 2.5" for n in range(1, 30))), []).nodes == ()


def test_what_each_rank_measured_is_no_vote() -> None:
    """Watchdogs fire after 16.4 s and 16.5 s; what they say that each was doing is one."""
    says = {
        rank: [
            *(at(n, f"step {n} loss 2.5") for n in range(1, 9)),
            at(
                30,
                f"ERROR no progress phase={'data' if rank == 1 else 'allreduce'} stuck_s={16.4 if rank == 0 else 16.5}",
            ),
        ]
        for rank in range(4)
    }

    assert [node.node for node in diagnose(four_nodes(says, status=Status.FAILED), []).nodes] == ["node-1"]
