"""Jobs of which no line says what is wrong: who was slow, by steps, durations and waits."""

from typing import Any

import numpy as np
import pytest

from core.course.level_shift import LONG_RATIO, find_shift, find_uneven_shift
from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Scope
from tests.support.jobs import (
    at,
    four_nodes,
    job,
    lines,
    saves,
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
    assert "took rank 2 on node-2 9.0 s each time, the others 0.10 s: 36 s of" in found.nodes[0].because


@pytest.mark.parametrize("seconds", [{}, {2: 0.3}, {0: 9.0, 1: 9.0, 2: 9.0, 3: 9.0}])
def test_durations_that_differ_little_or_cost_little_name_nobody(seconds: dict[int, float]) -> None:
    """Alike, three times as long, long on all."""
    assert diagnose(checkpoints(seconds), []).nodes == ()


def test_who_takes_far_longer_between_two_messages_held_the_job_up() -> None:
    """No line tells how long it took; the clocks do. The job completed, and lost most of its time."""
    found = diagnose(four_nodes(saves({}, {0: 0.1, 1: 0.1, 2: 9.0, 3: 0.1}), status=Status.COMPLETED), [])

    assert (found.scope, [node.node for node in found.nodes]) == (Scope.NODE, ["node-2"])
    assert "took rank 2 on node-2 9.0 s each time, the others 0.10 s: 36 s of" in found.nodes[0].because


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


def test_a_leader_tells_that_all_are_slow() -> None:
    """In one line a round, without a clock."""

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

    all_of_them = diagnose(rounds({0, 1, 2, 3}), [])

    assert (all_of_them.scope is Scope.NODE, all_of_them.nodes) == (False, ())
    assert "slow from iteration 26 on" in all_of_them.headline
    assert diagnose(rounds(set()), []).scope is Scope.NONE


def test_stalls_that_good_jobs_never_had_are_a_slowdown() -> None:
    """Every fifth step waits; that a good job had one such pause, when it saved, says nothing of all others."""

    def paced(stall: float, **known: Any) -> Job:
        clocks = np.cumsum([stall if n > 20 and n % 5 == 0 else 0.4 for n in range(60)]).tolist()
        return four_nodes({}, usual=[at(clock, f"step {n} loss: 2.5") for n, clock in enumerate(clocks)], **known)

    good = paced(0.5, status=Status.COMPLETED, job_id="good")

    assert "slow" in diagnose(paced(2.5, status=Status.CANCELLED), [good]).headline
    assert "slow" not in diagnose(paced(0.6, status=Status.CANCELLED), [good]).headline


@pytest.mark.parametrize(
    ("noise", "before", "is_slow"),
    [(0.01, 20, True), (0.08, 20, False), (0.01, 5, False)],
    ids=["clear", "noisy", "too few"],
)
def test_a_quarter_longer_counts_where_levels_are_clear(noise: float, before: int, is_slow: bool) -> None:
    """Nearly all values keep to their side, and there are enough of them."""
    wave = np.array([1.0, -0.6, 0.3, -1.0, 0.7])
    values = np.concatenate([np.full(before, 3.1), np.full(20, 4.0)])
    values *= 1 + noise * np.resize(wave, len(values))

    assert (find_shift(values, long=LONG_RATIO) is not None) is is_slow


def test_blocks_of_slow_steps_that_are_over_are_no_slowness() -> None:
    """A shard that was slow to read, and the job went on at its pace."""
    slow = np.concatenate([np.full(48, 0.5), np.tile([0.5, 1.9, 0.5, 3.1], 6)])

    assert find_uneven_shift(slow) is not None
    assert find_uneven_shift(np.concatenate([slow, np.full(12, 0.5)])) is None
