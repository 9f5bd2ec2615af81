"""What the watchdogs of NCCL say on every rank of a job that hung, and what nevertheless tells who is waited for."""

import pytest

from core.diagnose import diagnose
from core.job import Job
from core.model import Scope
from tests.support.jobs import at, exited, four_nodes, job, lines, raised, steps, suspected

NO_TRACE = (
    "Stack trace of the failed collective not found, potentially because FlightRecorder is disabled. "
    "You can enable it by setting TORCH_NCCL_TRACE_BUFFER_SIZE to a non-zero value."
)


def watchdog(rank: int, *, enqueued: int, completed: int, operation: str = "ALLREDUCE", size: int = 4096) -> list[str]:
    """The lines of ProcessGroupNCCL.cpp (torch 2.6) for a collective that never ended."""
    prefix = f"[rank{rank}]:[E1121 04:10:00.728530710 ProcessGroupNCCL.cpp:632]"
    group = f"[PG ID 0 PG GUID 0(default_pg) Rank {rank}]"
    work = f"WorkNCCL(SeqNum={completed + 1}, OpType={operation}, NumelIn={size}, NumelOut={size}, Timeout(ms)=600000)"
    timeout = f"Watchdog caught collective operation timeout: {work} ran for 600089 milliseconds before timing out."
    counts = f"last enqueued work: {enqueued}, last completed work: {completed}"
    return [
        f"{prefix} [Rank {rank}] {timeout}",
        f"{prefix} {group}  failure detected by watchdog at work sequence id: {completed + 1} PG status: {counts}",
        f"{prefix} {NO_TRACE}",
        f"{prefix} {group} First PG on this rank to signal dumping.",
        f"{prefix} {group} ProcessGroupNCCL preparing to dump debug info. Include stack trace: 1",
        f"{prefix} {group} Process group watchdog thread terminated with exception: [Rank {rank}] {timeout}",
    ]


def hung(of_rank: dict[int, list[str]], *alike: str) -> Job:
    """A job that stopped after nine steps; ten minutes later its watchdogs speak."""
    return four_nodes({rank: [*said, *alike] for rank, said in of_rank.items()}, usual=steps(9))


def test_what_every_watchdog_says_excuses_nobody() -> None:
    """A rank that began no further collective is named, whatever else all ranks print at the level of an error."""
    said = {rank: watchdog(rank, enqueued=48 if rank == 2 else 50, completed=48) for rank in range(4)}

    found = diagnose(hung(said), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "never came to the collective" in found.headline.lower()


def test_words_that_nobody_knows_excuse_nobody() -> None:
    """An error that a later version may print on all ranks."""
    said = {rank: watchdog(rank, enqueued=48 if rank == 2 else 50, completed=48) for rank in range(4)}
    unknown = "[E1121 04:10:01.000000000 Frobnicator.cpp:12] the frobnicator wrote its report"

    assert suspected(hung(said, unknown)) == ["node-2"]


def test_two_halves_in_different_collectives_name_nobody() -> None:
    """A branch that depends on the data: no node took it alone."""
    operations = ["_ALLGATHER_BASE", "_REDUCE_SCATTER_BASE"]
    said = {rank: watchdog(rank, enqueued=50, completed=48, operation=operations[rank % 2]) for rank in range(4)}

    found = diagnose(hung(said), [])

    assert (found.scope, found.nodes) == (Scope.JOB, ())
    assert "ranks wait in different collectives" in found.headline.lower()
    assert "ranks 0, 2 in _ALLGATHER_BASE of 4096, ranks 1, 3 in _REDUCE_SCATTER_BASE of 4096" in " ".join(found.why)


def test_of_two_stages_one_sends_and_the_other_receives() -> None:
    """Operations between two differ from stage to stage, and accuse nobody."""
    said = {rank: watchdog(rank, enqueued=50, completed=48, operation="RECV") for rank in range(1, 4)}
    said[0] = watchdog(0, enqueued=50, completed=48, operation="SEND")

    assert "OpType" not in " ".join(node.because for node in diagnose(hung(said), []).nodes)


@pytest.mark.parametrize(("operation", "size"), [("ALLREDUCE", 1), ("BROADCAST", 4096)], ids=["a barrier", "another"])
def test_the_first_rank_alone_took_a_branch_of_the_program(operation: str, size: int) -> None:
    """``if rank == 0: dist.barrier()``: the others are in the next gradient."""
    said = {rank: watchdog(rank, enqueued=50, completed=48) for rank in range(1, 4)}
    said[0] = watchdog(0, enqueued=50, completed=48, operation=operation, size=size)

    found = diagnose(hung(said), [])

    assert (found.scope, found.nodes) == (Scope.JOB, ())
    assert "ranks wait in different collectives" in found.headline.lower()


def in_pairs(odd: set[int]) -> Job:
    """Four nodes of two ranks each; the odd ones wait in a barrier, the others in the gradients."""
    files = {
        f"node-{rank // 2}/rank_{rank}.log": lines(
            *steps(9),
            *watchdog(rank, enqueued=50, completed=48, size=1 if rank in odd else 4096),
        )
        for rank in range(8)
    }
    return job(files, node_ranks={f"node-{node}": (2 * node, 2 * node + 1) for node in range(4)})


def test_few_ranks_of_several_nodes_went_where_their_data_led_them() -> None:
    """Two shards are shorter by a batch; beside each of their ranks another one goes on as the rest does."""
    found = diagnose(in_pairs({3, 6}), [])

    assert (found.scope, found.nodes) == (Scope.JOB, ())
    assert "ranks wait in different collectives" in found.headline.lower()


def test_all_ranks_of_one_node_in_another_collective_mark_it() -> None:
    """What only one node does is of that node: other code, other settings."""
    assert suspected(in_pairs({4, 5})) == ["node-2"]


def test_who_aborts_because_its_watchdog_lost_a_peer_is_no_fault() -> None:
    """Three processes end by SIGABRT for the one that raised an exception that nobody knows."""
    lost = (
        "[rank{0}]:[E1121 04:00:10.500000000 ProcessGroupNCCL.cpp:1595] [PG ID 0 PG GUID 0(default_pg) Rank {0}] "
        "Process group watchdog thread terminated with exception: NCCL error: remote process exited or there was a "
        "network error"
    )
    says = {rank: [lost.format(rank)] for rank in (0, 1, 3)} | {2: raised("frobnicate.BadShard: shard 7 is empty")}
    launchers = {f"node-{rank}/torchrun.log": [exited(12, 1 if rank == 2 else -6)] for rank in range(4)}

    found = diagnose(four_nodes(says, usual=steps(9), others=launchers), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "BadShard" in found.headline


def test_the_same_collective_everywhere_is_no_mismatch() -> None:
    """All wait in one and the same, for nobody that is known."""
    said = {rank: watchdog(rank, enqueued=50, completed=48) for rank in range(4)}

    assert "different collectives" not in diagnose(hung(said), []).headline


def test_who_lacks_what_all_said_is_who_the_others_waited_for_to_begin() -> None:
    """The store of the job gives up: three of four came, and the fourth never ended its set-up."""
    others = [at(n, text) for n, text in enumerate(["environment is ready", "loaded module cuda", "starting agent"])]
    store = "torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. 3/4 clients joined."
    says = {0: [*others, *["Traceback (most recent call last):", '  File "run.py", line 3, in <module>', store]]}
    says |= dict.fromkeys((1, 3), others)

    assert suspected(four_nodes(says, usual=[at(0, "preparing the environment")])) == ["node-2"]
