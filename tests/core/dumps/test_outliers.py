"""Stacks of all processes: who stands where few do, and nobody when there is no majority."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dumps.outliers import drawn, outliers, places, tree, wait_for_each_other
from core.dumps.stacks import Process, read_text

C10D = "torch/distributed/distributed_c10d.py"
REDUCE = ("all_reduce ({c}:1316)", "train_step (train.py:80)", "main (train.py:9)")
RECEIVE = ("recv ({c}:1002)", "forward_step (train.py:70)", "main (train.py:9)")
LOADER = ("wait (threading.py:306)", "get (queue.py:179)", "next_batch (loader.py:5)", "main (train.py:9)")
COMPUTE = ("matmul (model.py:4)", "train_step (train.py:81)", "main (train.py:9)")


def process(rank: int, *stack: str, name: str = "MainThread", more: str = "", library: str = "") -> Process:
    frames = "".join(f"    {frame.format(c=library + C10D)}\n" for frame in stack)
    (one,) = read_text(
        f'# rank {rank} node n{rank // 4}\nProcess {rank + 1}: python t.py\nThread 1 (idle): "{name}"\n{frames}{more}',
        "d",
    )
    return one


def test_who_is_not_in_communication_while_most_are_stands_out() -> None:
    """Whatever pipeline stage the others wait in: no single place needs a majority."""
    found = outliers([*(process(n, *(REDUCE, RECEIVE)[n % 2]) for n in range(7)), process(7, *LOADER)])

    (one,) = found
    assert one.because == (
        "rank 7 on n1 stands alone in next_batch (loader.py:5); 7 of 8 processes wait for others or for the device "
        "(all_reduce, recv)."
    )
    assert (one.waits, one.text) == (False, "    wait (threading.py:306)")


@pytest.mark.parametrize("count", [2, 3, 8])
def test_when_all_agree_nobody_stands_out(count: int) -> None:
    """All in the same place, wherever that is."""
    assert outliers([process(n, *REDUCE) for n in range(count)]) == ()
    assert outliers([process(n, *LOADER) for n in range(count)]) == ()


def test_without_a_majority_nobody_stands_out() -> None:
    """Half here and half there; and two processes that both work, or both wait."""
    assert outliers([process(n, *(REDUCE if n < 4 else LOADER)) for n in range(8)]) == ()
    assert outliers([process(0, *COMPUTE), process(1, *LOADER)]) == ()
    assert outliers([process(0, *REDUCE), process(1, *RECEIVE)]) == ()


def test_who_waits_in_the_call_of_all_others_was_led_there_by_the_program() -> None:
    """In a ring of one's own: the first process evaluates, and the others train on; who reads is another matter."""
    waits = ("wait (ring.py:203)", "reduce (ring.py:88)")
    train = [process(n, *waits, "step (loop.py:96)", "main (cli.py:88)") for n in range(1, 8)]

    assert outliers([process(0, *waits, "evaluate (eval.py:31)", "main (cli.py:88)"), *train]) == ()
    assert [one.process.rank for one in outliers([process(0, "read (cache.py:7)", "main (cli.py:88)"), *train])] == [0]


def test_of_two_the_one_that_waits_waits_for_the_other() -> None:
    """There is nobody else."""
    (found,) = outliers([process(0, *REDUCE), process(1, *LOADER)])

    assert (found.process.rank, found.waits) == (1, False)


def test_those_in_communication_among_many_that_compute_are_told_to_wait() -> None:
    """They stand apart, but may be victims: the difference is kept."""
    found = outliers([*(process(n, *COMPUTE) for n in range(7)), process(7, *REDUCE)])

    assert [(one.process.rank, one.waits) for one in found] == [(7, True)]


def test_python_versions_lines_and_thread_order_do_not_matter() -> None:
    """The same functions of another installation, at other lines, with other threads before the main one."""
    other = 'Thread 9 (idle): "Thread-1"\n    loop (telemetry.py:5)\n'
    moved = [process(n, *(frame.replace("(", "(/opt/py312/", 1) for frame in COMPUTE)) for n in range(3)]

    moved += [process(n, *COMPUTE, more=other) for n in range(3, 5)]

    assert len(places([process(5, "a (/v1/x/y/a.py:1)"), process(6, "a (/v2/x/y/a.py:2)")])) == 1
    assert [len(place.processes) for place in places(moved)] == [3, 2]


def test_another_thread_may_tell_that_a_process_waits() -> None:
    """A main thread in the engine's backward pass waits when a thread of the engine is in a collective."""
    engine = f'Thread 5 (idle): "pt_autograd_0"\n    all_reduce ({C10D}:1316)\n'

    (place,) = places([process(0, "_engine_run_backward (torch/autograd/graph.py:979)", more=engine)])

    assert (place.waits, place.stack[0].function) == (True, "all_reduce")


def test_launchers_and_workers_are_no_ranks() -> None:
    """The agent of a node and the workers of a data loader stand elsewhere by their nature."""
    agent = process(8, "_invoke_run (torch/distributed/elastic/agent/server/api.py:870)")
    worker = process(9, "_worker_loop (torch/utils/data/_utils/worker.py:275)")

    assert outliers([*(process(n, *REDUCE) for n in range(8)), agent, worker]) == ()


@given(st.lists(st.sampled_from([REDUCE, RECEIVE, LOADER, COMPUTE]), max_size=20), st.randoms(use_true_random=False))
def test_less_than_half_stand_out_in_any_order(stacks: list[tuple[str, ...]], random: Random) -> None:
    """Outliers are a minority, but of two, and the order of the dumps changes nothing."""
    processes = [process(n, *stack) for n, stack in enumerate(stacks)]
    shuffled = random.sample(processes, len(processes))

    found = outliers(processes)

    assert outliers(shuffled) == found
    assert len(found) * 2 < max(1, len(processes)) or (len(found), len(processes)) == (1, 2)


def test_the_tree_folds_ranks_and_shared_ways() -> None:
    """One line a fork, with the ranks that stand below it in ranges."""
    branches = tree([*(process(n, *REDUCE) for n in range(16) if n != 7), process(7, *LOADER)])

    assert list(drawn(branches)) == [
        "main (train.py:9)  [ranks 0-15]",
        "  train_step (train.py:80)  [ranks 0-6, 8-15]",
        f"    all_reduce ({C10D}:1316)  [ranks 0-6, 8-15]",
        "  next_batch (loader.py:5)  [rank 7]",
        "    wait (threading.py:306)  [rank 7]",
    ]


def test_a_thread_that_pins_memory_makes_no_worker_of_a_trainer() -> None:
    """Every process whose loader pins memory has one; a worker is one in its main thread."""
    pins = (
        'Thread 2 (idle): "Thread-4 (_pin_memory_loop)"\n    do_one_step (torch/utils/data/_utils/pin_memory.py:30)\n'
        "    _pin_memory_loop (torch/utils/data/_utils/pin_memory.py:54)\n"
    )
    training = [process(n, *REDUCE, "<module> (train.py:9)", more=pins) for n in range(3)]
    loading = process(3, *LOADER, "<module> (train.py:9)", more=pins)

    (found,) = outliers([*training, loading])

    assert found.process.rank == 3


def test_who_waits_for_its_device_while_the_others_wait_on_the_host_stands_out() -> None:
    """MPI returns when all have come; torch leaves it to the device, and the one in it may be in the same call."""
    on_host, on_device = (
        ("Allreduce (mpi4py/MPI.src/Comm.pyx:883)", "main (sail.py:9)"),
        (
            "synchronize (cupy/cuda/stream.pyx:185)",
            "main (sail.py:9)",
        ),
    )
    sail = [*(process(n, *on_host) for n in range(5)), process(5, *on_device)]
    train = [*(process(n, *REDUCE) for n in range(5)), process(5, *on_device)]

    assert [outlier.process.rank for outlier in outliers(sail)] == [5]
    assert outliers(train) == ()
    assert not wait_for_each_other(sail)
