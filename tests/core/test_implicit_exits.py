"""Jobs of which no line says what is wrong: how each process ended, and who was told to."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Confidence, Scope
from tests.support.jobs import at, four_nodes, job, lines, lost, raised, signs_of, suspected, timed_out, told_to_end


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


def test_a_task_that_srun_reports_as_killed_is_named_by_it() -> None:
    """The only line about it; the others lost their connection by that."""
    said = [f"{n}: {line}" for n in (0, 2, 3) for line in lost(1)]
    steps = [f"{n}: iter {k}: loss 6.2{k}, time 269.43ms" for k in range(1, 6) for n in range(4)]
    ends = [f"srun: error: node-{n}: task {n}: Exited with exit code 1" for n in (0, 2, 3)]
    text = lines(*steps, "srun: error: node-1: task 1: Killed", *said, *ends, "srun: Force Terminated StepId=77.0")
    nodes = {f"node-{n}": (n,) for n in range(4)}

    assert suspected(job({"slurm-77.out": text}, nodes=tuple(nodes), node_ranks=nodes, world_size=4)) == ["node-1"]


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

    assert suspected(job(files, nodes=tuple(nodes), node_ranks=nodes, world_size=4)) == ["node-2"]


@pytest.mark.parametrize("barrier", ["[Init]Wait_for_all_tasks_to_register::0", "orbax_checkpoint:save_finalize"])
def test_processes_of_jax_that_did_not_come_to_a_barrier_are_named_line_by_line(barrier: str) -> None:
    """Pods with a clock before each line: the list is no part of the exception. A process has two ranks of job.json."""
    raised = (
        f"jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: {barrier}. This usually"
        " happens because a task triggered the barrier too early or too slowly. Please look at the task logs (both"
        " timed out and first task) to debug further."
    )
    told = (
        raised,
        "# of tasks that reached the barrier: 3/4.",
        "The first task at the barrier: /job:jax_worker/replica:0/task:3. Some timed out task names:",
        "/job:jax_worker/replica:0/task:2",
    )
    files = {
        f"node-{n}.log": lines(at(0, f"begins as process {n} of 4"), *(at(600, text) for text in told if n != 2))
        for n in range(4)
    }
    nodes = {f"node-{n}": (2 * n, 2 * n + 1) for n in range(4)}

    found = diagnose(job(files, nodes=tuple(nodes), node_ranks=nodes, world_size=8), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "node-2" in found.headline


def test_the_only_one_that_was_killed_is_told_from_those_that_failed_or_were_ended() -> None:
    """Two lost it and failed, one was told to end; neither silence nor an order tells the two that are left apart."""
    said = {n: [at(k, f"step {k} loss 2.5") for k in range(1, 20)] for n in range(4)}
    said |= {n: [*said[n], *lost(2)] for n in (0, 1)}
    codes = {"node-0": 1, "node-1": 1, "node-2": 137, "node-3": 143}

    assert suspected(four_nodes(said, exit_codes=codes)) == ["node-2"]


def test_a_stop_that_arrives_at_one_rank_accuses_nobody() -> None:
    """srun's words stand in the first task's file; who was told first is not at fault."""
    text = [f"[{k}] loss 2.5" for k in range(1, 30)]
    stop = "slurmstepd: error: *** JOB 440192 ON node-0 CANCELLED AT 2026-11-21T04:00:34 DUE TO PREEMPTION ***"
    files = {f"77_{n}_log.err": lines(*text, *([stop] if n == 0 else [])) for n in range(3)}

    found = diagnose(job(files, status=Status.CANCELLED), [])

    assert (found.scope, found.nodes) == (Scope.NONE, ())


@pytest.mark.parametrize(
    ("status", "headline"), [(Status.CANCELLED, "stopped from outside"), (Status.FAILED, "without a word of why")]
)
def test_a_job_that_was_cancelled_without_a_clock_was_stopped_whoever_did_it(status: Status, headline: str) -> None:
    """Nobody knows whether it still made progress, and no line tells of a fault."""
    said = {n: [f"step {step} loss 2.{step}" for step in range(9)] for n in range(4)}
    found = diagnose(four_nodes(said, status=status), [])

    assert headline in found.headline
    assert (found.scope, found.confidence, found.nodes) == (Scope.JOB, Confidence.WEAK, ())


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
    assert suspected(four_nodes(says, exit_codes=codes)) == accused


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
    assert suspected(four_nodes(says, exit_codes=codes, start=began, end=ended, status=Status.CANCELLED)) == accused


def test_only_the_exit_codes_tell() -> None:
    """All logs stop alike, without a clock; one process was killed, the others were told to stop."""
    says = {n: [f"[{k}]\tvalid_0's binary_logloss: 0.{k}" for k in range(10, 70, 5)] for n in range(4)}
    codes = {f"node-{n}": 137 if n == 3 else 143 for n in range(4)}
    found = diagnose(four_nodes(says, exit_codes=codes), [])

    assert [one.node for one in found.nodes] == ["node-3"]
    assert found.confidence is Confidence.WEAK


def test_what_ended_one_node_was_not_survived_because_another_one_works_on() -> None:
    """Each does work of its own; the job failed, and nothing else tells why."""
    says = {n: [at(k, f"step {k} loss 2.{k}") for k in range(6 if n == 1 else 30)] for n in range(4)}
    says[1] += [at(6, line) for line in raised("zipfile.BadZipFile: File is not a zip file")]
    says[1] += [at(7, f"cleaning up part {k} of what was left") for k in range(3)]
    found = diagnose(four_nodes(says), [])

    assert [one.node for one in found.nodes] == ["node-1"]
    assert "BadZipFile" in found.headline


def tasks_of_submitit(last: str, missing: int, *errors: str) -> Job:
    """A file of each task, as submitit names them; srun writes what it reports into that of the first."""
    nodes = {f"dgx{n:03d}": (2 * n, 2 * n + 1) for n in range(4)}
    files: dict[str, str | bytes] = {}
    for rank in range(8):
        said = [at(n, f"step {n} loss 2.5") for n in range(1, 6)]
        files[f"77_{rank}_log.out"] = lines(*said, *(timed_out() if rank != missing else []))
    files["77_0_log.err"] = lines(*errors, at(2000, last))
    return job(files, nodes=tuple(nodes), node_ranks=nodes, world_size=8)


def test_what_srun_reports_in_the_log_of_another_task_is_of_the_node_that_it_names() -> None:
    """``Killed`` stands in the log of task 0, and is of task 5."""
    found = tasks_of_submitit("srun: error: dgx002: task 5: Killed", 5)

    assert suspected(found)[:1] == ["dgx002"]


def test_an_abort_that_mpirun_reports_without_a_clock_is_of_who_had_waited() -> None:
    """Fifteen ranks end by SIGABRT; mpirun tells of the first that it saw, and the silent one is at fault."""
    nodes = {f"kaede{n:02d}": tuple(range(4 * n, 4 * n + 4)) for n in range(4)}
    files: dict[str, str | bytes] = {
        f"rank_{rank:02d}.log": lines(
            *(at(n, f"step {n} loss 2.5") for n in range(1, 6)), *(timed_out() if rank != 6 else [])
        )
        for rank in range(16)
    }
    files["mpirun.log"] = lines(
        "mpirun noticed that process rank 12 with PID 592056 on node kaede03 exited on signal 6 (Aborted)."
    )

    assert suspected(job(files, nodes=tuple(nodes), node_ranks=nodes, world_size=16)) == ["kaede01"]


def test_who_ended_by_itself_failed_before_the_others_were_ended() -> None:
    """srun ends the step because of tasks 6 and 7, of whose error no clock tells, and reports them below that."""
    nodes = {f"jwb{n}": (2 * n, 2 * n + 1) for n in range(4)}
    error = "FileNotFoundError: [Errno 2] No such file or directory: '/local/scratch/mean_std.nc'"
    files: dict[str, str | bytes] = {
        f"jwb{rank // 2}.{rank}.err": lines(
            f"Initializing distributed: GLOBAL_RANK: {rank}, MEMBER: {rank + 1}/8",
            *(f"[rank{rank}]: {line}" for line in raised(error) if rank > 5),
        )
        for rank in range(8)
    }
    files["batch.err"] = lines(
        "srun: Terminating StepId=77.0",
        "slurmstepd: error: *** STEP 77.0 ON jwb0 CANCELLED AT 2026-11-21T04:12:39 ***",
        "srun: error: jwb3: tasks 6-7: Exited with exit code 1",
        *(f"srun: error: jwb{n}: tasks {2 * n}-{2 * n + 1}: Terminated" for n in range(3)),
    )

    assert suspected(job(files, nodes=tuple(nodes), node_ranks=nodes, world_size=8)) == ["jwb3"]


@pytest.mark.parametrize(("reported", "suspects"), [(("gpu23",), ["gpu23"]), (("gpu23", "gpu05"), [])])
def test_errors_in_a_file_of_all_are_on_the_node_whose_processes_are_reported_first(
    reported: tuple[str, ...], suspects: list[str]
) -> None:
    """No label tells whose import failed; srun tells of one node before it ends the others."""
    nodes = {name: (4 * n, 4 * n + 1, 4 * n + 2, 4 * n + 3) for n, name in enumerate(("gpu05", "gpu10", "gpu23"))}
    text = lines(
        *(raised("ImportError: libcupti.so.12: cannot open shared object file: No such file or directory") * 4),
        *(f"srun: error: {name}: task {tuple(nodes).index(name)}: Exited with exit code 1" for name in reported),
        "srun: Terminating StepId=77.0",
        "slurmstepd: error: *** STEP 77.0 ON gpu05 CANCELLED AT 2026-11-21T04:00:42 ***",
    )

    assert suspected(job({"slurm-77.out": text}, nodes=tuple(nodes), node_ranks=nodes, world_size=12)) == suspects


def test_all_that_give_up_together_after_standing_still_broke_nothing() -> None:
    """Each has its own watchdog, and clocks differ: who is a second ahead of the others is not at fault."""
    files: dict[str, str | bytes] = {
        f"host-{rank}/train.log": lines(
            *(at(n, f"step {n} loss 2.5") for n in range(1, 41)),
            at(640 + 0.4 * rank, "ERROR progress monitor: giving up after 600 s, aborting process"),
        )
        for rank in range(6)
    }

    assert suspected(job(files)) == []


def test_ranks_that_all_end_in_one_voice_left_not_without_a_word() -> None:
    """srun reports the exit of the first node only; all ranks had said why."""
    stop = "guard: rmse above 50 for 3 evaluations, stop"
    steps = [f"iter {k}: loss 6.2{k}" for k in range(1, 9)]
    files = {f"node-{n}/rank_{n}.log": lines(*steps, stop) for n in range(4)}
    good = {f"node-{n}/rank_{n}.log": lines(*steps, "iter 9: loss 6.1", "done") for n in range(4)}
    nodes = {f"node-{n}": (n,) for n in range(4)}
    about = {"nodes": tuple(nodes), "node_ranks": nodes, "world_size": 4, "settings_id": "a"}
    report = {"slurm-77.out": lines("srun: error: node-0: task 0: Exited with exit code 9")}
    found = diagnose(
        job({**files, **report}, status=Status.FAILED, **about),
        [job(good, job_id="good", status=Status.COMPLETED, **about)],
    )

    assert (found.scope, found.nodes) == (Scope.JOB, ())
