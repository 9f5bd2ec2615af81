"""Whom they all waited for, when every rank gave up: the one that stood elsewhere."""

from core.diagnose import diagnose
from core.job import Job
from core.model import Scope
from tests.support.jobs import at, job, lines

TIMED_OUT = "RuntimeError: [/gloo/unbound_buffer.cc:81] Timed out waiting 12000ms for recv operation to complete"


def gave_up(collective: str, line: int) -> list[str]:
    """The traceback of a rank that called a collective in this line of the program, in vain."""
    return [
        "Traceback (most recent call last):",
        f'  File "/job/train.py", line {line}, in train_step',
        f"    dist.{collective}(x)",
        f'  File "/opt/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 7, in {collective}',
        "    work.wait()",
        TIMED_OUT,
    ]


def hang(stood: dict[int, tuple[str, int]], *, usual: tuple[str, int] = ("all_reduce", 69), ranks: int = 8) -> Job:
    """A job of two ranks a node in which each rank gives up in its place."""
    nodes = {f"node-{n}": (2 * n, 2 * n + 1) for n in range(ranks // 2)}
    files = {
        f"node-{rank // 2}/rank_{rank}.log": lines(
            at(1, "iteration 7/ 90 | lm loss: 3.5 |"), *gave_up(*stood.get(rank, usual))
        )
        for rank in range(ranks)
    }
    return job(files, nodes=tuple(nodes), node_ranks=nodes, world_size=ranks)


def test_who_waited_in_another_collective_kept_the_others_waiting() -> None:
    """A barrier that nobody else joins: all time out, and one traceback differs."""
    found = diagnose(hang({3: ("barrier", 66)}), [])

    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["node-1"])
    assert found.nodes[0].because.startswith("Rank 3 on node-1 gave up in barrier; 7 of 8 ranks did in all_reduce.")


def test_who_called_the_same_elsewhere_in_the_program_is_told_by_the_line() -> None:
    """All call all_reduce, one of them in its evaluation."""
    found = diagnose(hang({5: ("all_reduce", 120)}), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "gave up in train.py:120" in found.nodes[0].because


def test_groups_that_wait_for_each_other_are_nobody() -> None:
    """Half of the ranks in their tensor group, half in their data group: where many stand, nobody is special."""
    half = dict.fromkeys((0, 2, 4, 6), ("all_gather", 40))

    assert diagnose(hang(half), []).scope is Scope.UNKNOWN
    assert diagnose(hang({}), []).scope is Scope.UNKNOWN


def test_of_a_few_ranks_one_is_not_few() -> None:
    """Of two ranks that stand apart either may be right."""
    assert diagnose(hang({1: ("barrier", 66)}, ranks=2), []).scope is Scope.UNKNOWN


def test_gradients_are_exchanged_in_backward() -> None:
    """No frame of a collective stands in the traceback of who waits there (PyTorch 2.13, DistributedDataParallel)."""
    backward = [
        "Traceback (most recent call last):",
        '  File "/job/train.py", line 63, in <module>',
        "    loss.backward()",
        '  File "/opt/lib/python3.11/site-packages/torch/_tensor.py", line 623, in backward',
        "    torch.autograd.backward(",
        '  File "/opt/lib/python3.11/site-packages/torch/autograd/graph.py", line 979, in _engine_run_backward',
        "    return Variable._execution_engine.run_backward(  # Calls into the C++ engine to run the backward pass",
        TIMED_OUT,
    ]
    nodes = {f"node-{n}": (n,) for n in range(4)}
    step = at(1, "iteration 7/ 90 | lm loss: 3.5 |")
    files = {f"node-{n}/rank_{n}.log": lines(step, *(gave_up("barrier", 59) if n == 2 else backward)) for n in range(4)}
    found = diagnose(job(files, nodes=tuple(nodes), node_ranks=nodes, world_size=4), [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "gave up in barrier; 3 of 4 ranks did in backward" in found.nodes[0].because
