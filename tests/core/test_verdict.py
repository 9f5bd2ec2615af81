"""The verdict: scope, confidence and headline, decided in code; nobody is accused without a reason."""

from typing import Any

import pytest

from core.answer.findings import MAX_SUSPECTS
from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Confidence, Diagnosis, Role, Scope, Stage
from tests.support.jobs import (
    at,
    example,
    exited,
    four_nodes,
    good_jobs,
    job,
    lines,
    lost,
    raised,
    slurm,
    steps,
    timed_out,
    told_to_end,
)

DISK = raised("OSError: [Errno 5] Input/output error")
CONTROLLER = {"slurmctld.log": [slurm(13, "error: Nodes node-2 not responding, setting DOWN")]}


def verdict(one: Job, *baseline: Job) -> Diagnosis:
    return diagnose(one, list(baseline))


@pytest.mark.parametrize(
    ("one", "scope", "confidence"),
    [
        (four_nodes({1: DISK}, usual=steps(9)), Scope.NODE, Confidence.SUPPORTED),
        (four_nodes({1: DISK} | {n: lost(1) for n in (0, 2, 3)}, usual=steps(9)), Scope.NODE, Confidence.ESTABLISHED),
        (four_nodes({n: lost(2) for n in (0, 1, 3)}, usual=steps(9)), Scope.NODE, Confidence.ESTABLISHED),
        (four_nodes({1: raised("ValueError: boom")}, usual=steps(9)), Scope.NODE, Confidence.SUPPORTED),
        (four_nodes(dict.fromkeys(range(4), DISK), usual=steps(9)), Scope.JOB, Confidence.ESTABLISHED),
        (four_nodes(dict.fromkeys(range(4), raised("ValueError: boom"))), Scope.JOB, Confidence.SUPPORTED),
        (four_nodes({}, usual=steps(9), others=CONTROLLER), Scope.NODE, Confidence.SUPPORTED),
        (four_nodes({0: lost(1), 1: lost(0)}, usual=steps(9)), Scope.UNKNOWN, Confidence.WEAK),
        (four_nodes({}, usual=steps(9)), Scope.JOB, Confidence.WEAK),
        (four_nodes({}, usual=["hello"]), Scope.JOB, Confidence.WEAK),
    ],
    ids=[
        "direct alone",
        "direct, and its peers lost it",
        "silent, and its peers lost it",
        "unknown error",
        "known everywhere",
        "unknown everywhere",
        "named",
        "cycle",
        "mute",
        "no end",
    ],
)
def test_scope_and_confidence_follow_the_evidence(one: Job, scope: Scope, confidence: Confidence) -> None:
    """Two independent kinds of evidence establish, one alone supports, anything less is weak."""
    found = verdict(one)

    assert (found.scope, found.confidence) == (scope, confidence)


def test_a_job_that_completed_did_not_fail() -> None:
    """Whatever its logs hold, once all planned iterations are complete: nothing is accused, shown or advised."""
    found = verdict(four_nodes({1: DISK, 2: timed_out()}, usual=steps(9, total=9), status=Status.COMPLETED))

    assert (found.scope, found.confidence) == (Scope.NONE, Confidence.SUPPORTED)
    assert (found.events, found.nodes, found.iterations, found.checks) == ((), (), (), ())


def test_a_crash_in_the_log_is_believed_against_a_status_that_says_completed() -> None:
    """job.json is written by a script, the traceback by the program that died in the middle of its iterations."""
    loud = {1: DISK} | {n: lost(1) for n in (0, 2, 3)}
    found = verdict(four_nodes(loud, usual=steps(9, total=100), status=Status.COMPLETED))

    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["node-1"])
    assert found.confidence is Confidence.SUPPORTED  # both are true at once of no job: one of them is mistaken


def test_what_the_program_of_one_node_raised_is_not_established_to_be_the_node() -> None:
    """It broke there first, as its own words and its peers tell; its data may be to blame as well as its machine."""
    peers = {n: lost(1) for n in (0, 2, 3)}
    program = verdict(four_nodes({1: raised("ValueError: boom")} | peers, usual=steps(9)))
    machine = verdict(four_nodes({1: DISK} | peers, usual=steps(9)))

    assert [node.node for node in program.nodes] == [node.node for node in machine.nodes] == ["node-1"]
    assert (program.confidence, machine.confidence) == (Confidence.SUPPORTED, Confidence.ESTABLISHED)


@pytest.mark.parametrize(("writer", "confidence"), [(0, Confidence.SUPPORTED), (1, Confidence.ESTABLISHED)])
def test_what_the_first_rank_alone_writes_is_not_established_to_be_its_disk(
    writer: int, confidence: Confidence
) -> None:
    """It writes for all ranks, and where to all machines may share; another one writes for itself."""
    full = raised("OSError: [Errno 28] No space left on device: '/mnt/ckpt/step-9.tmp'")
    peers = {n: lost(writer) for n in range(4) if n != writer}

    assert verdict(four_nodes({writer: full} | peers, usual=steps(9))).confidence is confidence


def test_a_service_that_only_the_driver_asks_is_no_fault_of_its_machine() -> None:
    """The program that none of the ranks is talks to it for all of them."""
    refused = "aiohttp.client_exceptions.ClientConnectorError: Cannot connect to host verify:9200 ssl:default"
    driver = {"node-0/controller.log": [at(20 + n, f"WARNING verify: {refused}") for n in range(3)]}

    assert verdict(four_nodes({}, usual=steps(9), others=driver)).nodes == ()


@pytest.mark.parametrize(("quiet", "scope"), [({0}, Scope.NODE), ({0, 4}, Scope.UNKNOWN)])
def test_who_alone_did_not_give_up_is_who_the_others_waited_for(quiet: set[int], scope: Scope) -> None:
    """In whatever words they did; of two that say nothing nobody knows who was ended first."""
    given_up = [*timed_out(), *raised("RuntimeError: exchange of step 10 did not return in 600 s")]
    files: dict[str, str | bytes] = {
        f"node-{rank // 2}/rank_{rank}.log": lines(*steps(9), *([] if rank in quiet else given_up)) for rank in range(8)
    }
    found = verdict(job(files))

    assert found.scope is scope
    assert [node.node for node in found.nodes] == ["node-0"] * (scope is Scope.NODE)


def test_a_stop_is_less_sure_beside_what_makes_one_machine_slow() -> None:
    """Whoever cancelled the job may have done it for that."""
    cancelled = slurm(13, "error: *** JOB 7 ON node-0 CANCELLED AT 2026-11-21T04:00:13 ***")
    corrected = "kernel: pcieport 0000:00:01.0: AER: Corrected error received: 0000:01:00.0"
    files = {"slurm-7.out": [cancelled]}
    well = verdict(four_nodes({}, usual=steps(9), others=files))
    troubled = verdict(four_nodes({1: [at(3, corrected)]}, usual=steps(9), others=files))

    assert well.scope is troubled.scope is Scope.NONE
    assert not any("alone logged" in reason for reason in well.why)
    assert any("node-1 alone logged" in reason for reason in troubled.why)


def test_the_only_node_that_left_a_log_is_not_told_from_the_others() -> None:
    """Three machines, and the log of one: that the others never said what it did is not known."""
    files = {"trainer-0.log": lines(*steps(9), *raised("RuntimeError: the solver gave up"))}

    assert verdict(job(files, nodes=("trainer-0", "trainer-1", "trainer-2"))).nodes == ()


MEMORY = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB "
    "of which 1.25 GiB is free. {}Including non-PyTorch memory, this process has 16.50 GiB memory in use."
)


@pytest.mark.parametrize(
    ("holder", "scope"), [("Process 41712 has 61.40 GiB memory in use. ", Scope.NODE), ("", Scope.JOB)]
)
def test_memory_of_an_accelerator_is_the_jobs_own_unless_another_process_holds_it(holder: str, scope: Scope) -> None:
    """The longest batch of a step meets one rank alone; a left-over process is one of that machine."""
    peers = {n: lost(1) for n in (0, 2, 3)}

    found = verdict(four_nodes({1: raised(MEMORY.format(holder))} | peers, usual=steps(9)))

    assert found.scope is scope
    assert "memory" in found.headline
    assert "node-1" in found.headline


def unmarked(last: int, said: dict[int, list[str]], **manifest: Any) -> Job:
    """A job whose job.json tells no status; it planned ten iterations, and says this after the last one."""
    return four_nodes(said, usual=steps(last, total=10), status=Status.UNKNOWN, **manifest)


@pytest.mark.parametrize(
    "said",
    [
        {},
        {1: [at(11, "WARNING the cache is cold")]},
        {1: [at(11, "ERROR push to the gateway failed")]},
        {n: [told_to_end(11)] for n in range(4)},
    ],
    ids=["nothing", "a warning", "a guess", "clearing up"],
)
def test_a_run_that_reached_its_end_is_no_failure(said: dict[int, list[str]]) -> None:
    """Without a status the planned iterations tell that it ended well."""
    found = verdict(unmarked(10, said))

    assert (found.scope, found.confidence, found.nodes) == (Scope.NONE, Confidence.SUPPORTED, ())
    assert found.headline == "The run reached its end, iteration 10 of 10; there is nothing to diagnose."


def test_more_iterations_than_were_planned_are_the_end_too() -> None:
    """job.json may plan fewer than the program made."""
    assert verdict(unmarked(10, {}, total_iterations=9)).scope is Scope.NONE


@pytest.mark.parametrize(
    ("last", "said", "status"),
    [
        (9, {}, Status.UNKNOWN),
        (10, {1: [at(11, "x"), *DISK]}, Status.UNKNOWN),
        (10, {1: [at(11, "x"), *raised("ValueError: boom")]}, Status.UNKNOWN),
        (10, {n: [at(11, "x"), *timed_out()] for n in (0, 1, 3)}, Status.UNKNOWN),
        (10, {}, Status.FAILED),
        (10, {}, Status.RUNNING),
    ],
    ids=["an iteration is missing", "a known fault", "an exception", "peers", "it failed", "it runs"],
)
def test_a_run_that_did_not_end_well_is_diagnosed(last: int, said: dict[int, list[str]], status: Status) -> None:
    """A missing iteration, a fault in its logs or a status that says otherwise: the end of the count proves nothing."""
    found = verdict(four_nodes(said, usual=steps(last, total=10), status=status))

    assert found.scope is not Scope.NONE or found.headline.startswith("Probably not a fault: all 4 ranks ended at once")
    assert "nothing to diagnose" not in found.headline


def test_without_a_plan_no_iteration_is_the_last() -> None:
    """Nobody knows where the end was."""
    said = [f"iteration {n} | lm loss: 5.0E+00 | elapsed time per iteration (ms): 200.0 |" for n in range(1, 11)]

    assert verdict(job({"train.log": lines(*said)}, status=Status.UNKNOWN)).scope is Scope.UNKNOWN


def test_ranks_that_all_end_at_one_moment_were_stopped() -> None:
    """Nobody says by whom; a rank that ended before the others is another story."""
    together = verdict(four_nodes({}, usual=steps(40), status=Status.UNKNOWN))
    apart = verdict(four_nodes({n: steps(45, first=41) for n in (0, 2, 3)}, usual=steps(40), status=Status.UNKNOWN))

    assert (together.scope, together.confidence) == (Scope.NONE, Confidence.WEAK)
    assert together.headline == "Probably not a fault: all 4 ranks ended at once during training, after iteration 40."
    assert apart.scope is not Scope.NONE


def test_a_running_job_without_a_fault_is_said_to_run() -> None:
    """Nothing is conclusive yet, and the reader is told when to come back."""
    found = verdict(four_nodes({}, usual=steps(9), status=Status.RUNNING))

    assert found.scope is Scope.UNKNOWN
    assert found.headline.startswith("The job is still running during training, after iteration 9")
    assert found.checks


def test_a_running_job_with_a_fault_is_diagnosed() -> None:
    """A job that hangs after a disk failed is still RUNNING for its scheduler."""
    found = verdict(four_nodes({1: DISK}, usual=steps(9), status=Status.RUNNING))

    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["node-1"])


@pytest.mark.parametrize(
    ("one", "headline"),
    [
        (four_nodes({1: DISK}, usual=steps(9)), "Look at node-1: storage failed during training, after iteration 9."),
        (
            four_nodes({n: timed_out() for n in (0, 1, 3)}, usual=steps(9)),
            "Look at node-2: it went silent while the others waited for it during training, after iteration 9.",
        ),
        (
            four_nodes(dict.fromkeys(range(4), raised("KeyError: 'lr'")), usual=["building GPT model ..."]),
            "The program raised “KeyError: 'lr'” during training; no node stands out.",
        ),
        (four_nodes({}, usual=["hello"]), "The job ended without a word of why; no node stands out."),
    ],
)
def test_the_headline_says_where_to_look(one: Job, headline: str) -> None:
    """Who, what, in which stage, after which iteration: as far as it is known."""
    assert verdict(one).headline == headline


def test_every_verdict_tells_its_reasons_and_what_to_check() -> None:
    """No answer without a because."""
    for one in (
        four_nodes({1: DISK}, usual=steps(9)),
        four_nodes({n: timed_out() for n in (0, 1, 3)}, usual=steps(9)),
        four_nodes(dict.fromkeys(range(4), DISK)),
        four_nodes({}, usual=["hello"]),
    ):
        found = verdict(one)
        assert found.why
        assert all(found.why)
        assert found.checks
        assert all(found.checks)


def test_nodes_are_named_only_for_a_fault_of_a_node() -> None:
    """Of a job-wide, unknown or outside end the list is empty."""
    for one in (four_nodes(dict.fromkeys(range(4), DISK)), four_nodes({0: lost(1), 1: lost(0)}), four_nodes({})):
        if verdict(one).scope is not Scope.NODE:
            assert verdict(one).nodes == ()


def test_two_nodes_are_accused_together_only_for_the_same_evidence() -> None:
    """Two disks failed at once: both; a disk and a silence: the disk."""
    both = four_nodes({1: DISK, 2: DISK}, usual=steps(9))
    disk_and_silence = four_nodes({1: DISK, **{n: lost(2) for n in (0, 3)}}, usual=steps(9))

    assert [node.node for node in verdict(both).nodes] == ["node-1", "node-2"]
    assert [node.node for node in verdict(disk_and_silence).nodes] == ["node-1"]


def test_never_more_suspects_than_a_reader_can_follow() -> None:
    """Eight of twenty nodes with the same fault are not eight suspects."""
    files = {f"node-{n:02d}/rank_{n}.log": lines(*steps(3), *(DISK if n < 8 else [])) for n in range(20)}
    ranks = {f"node-{n:02d}": (n,) for n in range(20)}

    found = verdict(job(files, nodes=tuple(ranks), node_ranks=ranks, world_size=20))

    assert 0 < len(found.nodes) <= MAX_SUSPECTS


def test_what_is_shown_is_short_and_ranked() -> None:
    """Roots before what peers say, by score; teardown and benign lines never."""
    said = {n: [*lost(2), "srun: error: node-2: task 3: Exited with exit code 1"] for n in (0, 1, 3)}
    said[2] = [at(3, "WARNING the cache is cold"), *DISK]

    found = verdict(four_nodes(said, usual=steps(9), others={"node-2/torchrun.log": [exited(20, 1)]})).events

    assert [event.role for event in found] == sorted(
        (event.role for event in found), key=[Role.ROOT, Role.PROPAGATED].index
    )
    assert [event.id for event in found] == [f"E{n}" for n in range(1, len(found) + 1)]
    assert found[0].template == "OSError: [Errno 5] Input/output error"


def test_a_guess_is_not_shown_beside_a_known_fault() -> None:
    """Unknown errors explain nothing that a known fault does not."""
    found = verdict(four_nodes({1: ["ERROR something odd", *DISK]}, usual=steps(9))).events

    assert [event.template for event in found] == ["OSError: [Errno 5] Input/output error"]


@pytest.mark.parametrize(
    ("job_id", "scope", "nodes", "stage"),
    [
        ("f01", Scope.NODE, ["tr-03"], Stage.TRAINING),
        ("f02", Scope.NODE, ["tr-02"], Stage.TRAINING),
        ("f03", Scope.NODE, ["gpu018"], Stage.TRAINING),
        ("f05", Scope.NODE, ["gpu019"], Stage.TRAINING),
        ("f07", Scope.NODE, ["gpu018"], Stage.TRAINING),
        ("f15", Scope.JOB, [], Stage.TRAINING),
        ("f22", Scope.NODE, ["bert-worker-2"], Stage.TRAINING),
        ("f42", Scope.NODE, ["dgx-a03"], Stage.TRAINING),
        ("s01", Scope.NONE, [], None),
        ("s15", Scope.NONE, [], None),
    ],
)
def test_real_jobs(job_id: str, scope: Scope, nodes: list[str], stage: Stage | None) -> None:
    """The lab broke these on purpose: two ranks, power, a link, the learning rate, a shard, and a rank again."""
    found = verdict(example(job_id), *(example(name) for name in good_jobs(job_id)))

    assert (found.scope, [node.node for node in found.nodes]) == (scope, nodes)
    assert stage is None or found.stage is stage
