"""Who made a job slow: by the seconds behind its messages, and by parts of a step that add up."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from core.course.level_shift import find_shift
from core.diagnose import diagnose
from core.job import Job, Status
from core.model import Diagnosis, Scope
from tests.support.jobs import at, four_nodes, job, lines, suspected

STOP = {"slurm.out": [at(120, "slurmstepd: error: *** JOB 77 ON node-0 CANCELLED AT 2026-11-21T04:02:00 ***")]}
USUAL, LATER = 40, 20  # steps before and after the onset


def told(say: Callable[[int, float, int], Sequence[str]], seconds: Callable[[bool], float]) -> Diagnosis:
    """A job of four ranks that was stopped; say: what a rank prints in a step, by rank, clock and number."""
    clocks = np.cumsum([seconds(n > USUAL) for n in range(1, USUAL + LATER + 1)]).tolist()
    said = {
        rank: [line for n, clock in enumerate(clocks, 1) for line in say(rank, clock - seconds(n > USUAL), n)]
        for rank in range(4)
    }
    order = [at(clocks[-1] + 0.5, STOP["slurm.out"][0].split(" ", 2)[2])]
    return diagnose(four_nodes(said, others={"slurm.out": order}), [])


def test_the_time_behind_a_message_tells_who_was_slow() -> None:
    """No rank prints how long anything took: node-1 alone loses its time between opening a part and having it."""

    def say(rank: int, clock: float, n: int) -> list[str]:
        read = 1.8 if rank == 1 and n > USUAL else 0.05
        opened, had = at(clock, f"DEBUG reader: open part {n}"), at(clock + read, f"DEBUG 192 KiB are there, {n} left")
        return [*([at(clock, f"step {n} loss: 2.5")] if rank == 0 else []), opened, had]

    found = told(say, lambda slow: 2.0 if slow else 0.3)

    assert [node.node for node in found.nodes] == ["node-1"]
    assert "time after \u201creader: open part <NUM>\u201d rose" in found.nodes[0].because


def test_time_that_passes_behind_a_message_everywhere_is_nobodys() -> None:
    """Shared storage is slow for all: each loses it in the same place."""

    def say(rank: int, clock: float, n: int) -> list[str]:
        read = 1.5 + 0.1 * rank if n > USUAL else 0.05
        opened, had = at(clock, f"DEBUG reader: open part {n}"), at(clock + read, f"DEBUG 192 KiB are there, {n} left")
        return [opened, had, at(clock + read + 0.01, f"step {n} loss: 2.5")]

    found = told(say, lambda slow: 2.0 if slow else 0.3)

    assert (found.scope, found.nodes) == (Scope.JOB, ())
    assert "slow from iteration 41 on" in found.headline


def test_six_marks_are_enough_when_the_last_ones_are_far_longer() -> None:
    """A job that prints each fifth step, and is stopped soon after it became slow."""
    shift = find_shift(np.array([0.34, 0.33, 0.33, 0.32, 1.15, 2.73]))

    assert shift is not None
    assert shift.place == 4
    assert find_shift(np.array([0.34, 0.33, 0.33, 0.32, 0.33, 2.73])) is None


def test_a_part_that_was_told_as_0_may_rise() -> None:
    """What is shorter than the clock shows is told as 0 ms; no step is told by a clock here."""

    def says(rank: int, n: int) -> str:
        take, gather = (500 + n % 3, 3) if rank == 2 else (0, 510)
        return f"round {n} err 0.5 take {take if n > 20 else 0} ms, gather {gather if n > 20 else 3} ms"

    said = {rank: [says(rank, n) for n in range(1, 41)] for rank in range(4)}
    found = diagnose(four_nodes(said, status=Status.CANCELLED), [])

    assert [one.node for one in found.nodes] == ["node-2"]
    assert any("take ms rose" in why for why in found.why)


def test_parts_of_twenty_steps_are_seconds_too() -> None:
    """They are longer than any step, and no longer than what passes from one line to the next."""
    said = {
        rank: [
            at(8 * n, f"clock {20 * n} busy {7.6 if rank == 1 else 2.0}s idle {0.1 if rank == 1 else 5.7}s")
            for n in range(1, 12)
        ]
        for rank in range(4)
    }
    assert suspected(four_nodes(said, status=Status.CANCELLED)) == ["node-1"]


def test_what_only_counts_up_is_no_part_of_a_step() -> None:
    """``it 41`` rises on all ranks, and explains nothing; what the others measure of waiting does."""
    said = {
        rank: [
            at(n + (0 if n < 21 else 3 * (n - 20)), f"it {n} L=2.{n} bw {0.01 if n < 21 or rank == 1 else 3.0}")
            for n in range(1, 41)
        ]
        for rank in range(4)
    }
    assert suspected(four_nodes(said, status=Status.CANCELLED)) == ["node-1"]


def test_the_number_of_an_epoch_is_no_part_of_a_step_either() -> None:
    """It stays as it is from one step to the next, and never falls: the job was no slower in its second half."""

    def says(n: int) -> str:
        return f"ep {(n - 1) // 10} img {((n - 1) % 10 + 1) * 512}/5120 load_s=0.1{n % 3} gpu_s=1.4{n % 7} sync_s=0.16"

    said = {rank: [says(n) for n in range(1, 41)] for rank in range(4)}

    assert diagnose(four_nodes(said, status=Status.COMPLETED), []).scope is Scope.NONE


def took(n: int, slow: object) -> int:
    """Milliseconds of a part that takes longer from the twentieth step on, or does not."""
    return (400 if n > 20 and slow else 10) + (7 * n) % 5


@pytest.mark.parametrize("parts", ["read/comp/comm = {own}/20/{rest} ms", "read {own} comp 20 comm {rest} ms"])
def test_parts_that_share_a_name_or_a_unit_are_read_one_by_one(parts: str) -> None:
    """Names and values in two rows; or a unit behind the last of them."""
    said = {
        rank: [
            at(
                0.1 * n + (0 if n < 21 else 0.4 * (n - 20)),
                f"step {n} loss 2.5 " + parts.format(own=took(n + rank, rank == 3), rest=took(n + rank, rank != 3)),
            )
            for n in range(1, 61)
        ]
        for rank in range(4)
    }
    found = diagnose(four_nodes(said, status=Status.CANCELLED), [])

    assert [one.node for one in found.nodes] == ["node-3"]
    assert "read ms rose" in found.nodes[0].because


def test_who_waits_longer_is_not_who_is_slow() -> None:
    """A search that grows with the job makes all ranks slow alike; one of them now waits twice as long in sync."""

    def says(rank: int, n: int) -> str:
        sync = (64 if rank == 0 else 30) if n > 20 else 28
        return f"round {n} err 0.5 step_time={1.9 if n > 20 else 0.3} sync={sync} ms"

    clock = [0.3 * n if n <= 20 else 6 + 1.9 * (n - 20) for n in range(1, 41)]
    said = {rank: [at(time, says(rank, n)) for n, time in enumerate(clock, start=1)] for rank in range(4)}

    assert diagnose(four_nodes(said, status=Status.CANCELLED), []).nodes == ()


def test_of_two_nodes_the_one_whose_own_work_takes_longer_is_slow() -> None:
    """Half of all ranks: those of the other node wait for them."""

    def say(rank: int, clock: float, n: int) -> list[str]:
        own = 0.9 if rank >= 2 and n > USUAL else 0.2
        waits = 0.75 if rank < 2 and n > USUAL else 0.02
        return [at(clock + 0.95, f"it {n} loss=2.5 fwdbwd={1000 * own:.1f}ms comm={1000 * waits:.1f}ms")]

    clocks = [0.3 * n if n <= USUAL else 0.3 * USUAL + 1.0 * (n - USUAL) for n in range(1, USUAL + LATER + 1)]
    files = {
        f"{host}/rank_{rank}.log": lines(*(line for n, clock in enumerate(clocks, 1) for line in say(rank, clock, n)))
        for rank, host in enumerate(("a", "a", "b", "b"))
    }
    files["slurm.out"] = at(clocks[-1] + 1.2, STOP["slurm.out"][0].split(" ", 2)[2]) + "\n"
    one = job(dict(files), nodes=("a", "b"), node_ranks={"a": (0, 1), "b": (2, 3)}, world_size=4)

    assert suspected(one) == ["b"]


def test_a_job_at_half_the_pace_of_good_ones_was_slow() -> None:
    """From its first step on; a third more is what another machine may take."""

    def paced(seconds: float, **known: Any) -> Job:
        return four_nodes({}, usual=[at(seconds * n, f"step {n} loss: 2.5") for n in range(1, 61)], **known)

    good = paced(0.4, status=Status.COMPLETED, job_id="good")
    slow, usual = (diagnose(paced(pace, status=Status.CANCELLED), [good]) for pace in (0.9, 0.5))

    assert "slow" in slow.headline
    assert "slow" not in usual.headline


def test_who_sends_and_receives_longer_has_the_slow_link_that_its_neighbours_meet_from_one_side() -> None:
    """In a ring of four: rank 1 sends to it, rank 3 receives from it; who only waits longer is nobody."""

    def say(rank: int, clock: float, n: int) -> list[str]:
        slow = n > USUAL
        send, receive = (900 if slow and rank in (1, 2) else 40), (880 if slow and rank in (2, 3) else 25)
        wait = (870 if slow and rank == 0 else 12) + (n + rank) % 3
        return [at(clock, f"iter={n} compute_ms={100 + n % 5} wait_ms={wait} recv_ms={receive} send_ms={send}")]

    found = told(say, lambda slow: 1.0 if slow else 0.16)

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "it takes longer to send and to receive" in found.nodes[0].because


def test_a_queue_that_fills_is_no_part_of_a_step() -> None:
    """Its length is no time, and who comes before a slow stage is not slow."""

    def say(rank: int, clock: float, n: int) -> list[str]:
        return [at(clock, f"step {n} loss 2.5 in_queue={4 if n > USUAL and rank == 1 else 1} fwd_ms={100 + n % 3}")]

    assert told(say, lambda slow: 1.0 if slow else 0.2).nodes == ()


@pytest.mark.parametrize(
    ("printed", "what"),
    [
        ("data_ms={slow} sync_ms=20 step_time={step}", "All ranks took longer to read their data: data_ms went from"),
        ("data_ms=20 sync_ms={slow} step_time={step}", "All ranks waited longer for each other: sync_ms went from"),
        ("step_time={step}", ""),
    ],
)
def test_the_part_that_grew_everywhere_is_told(printed: str, what: str) -> None:
    """Storage and network make all ranks slow alike; the time of the whole step tells of neither."""

    def say(rank: int, clock: float, n: int) -> list[str]:
        slow, step = (1600 + rank, 1.9) if n > USUAL else (20, 0.3)
        return [at(clock, f"step {n} loss: 2.5 " + printed.format(slow=slow, step=step))]

    found = told(say, lambda slow: 1.9 if slow else 0.3)

    assert found.nodes == ()
    assert what in " ".join(found.why)
    assert len(found.why) == 1 + bool(what)
    assert found.next is not None
    assert found.next.cause.startswith("it was slow: all ranks" if what else "it was slow")


def test_of_a_slow_node_it_is_told_which_part_of_its_step_grew() -> None:
    """Where a look begins depends on it: storage for who reads longer, clocks for whose own work is longer."""

    def say(rank: int, clock: float, n: int) -> list[str]:
        own = (1600 if rank == 2 and n > USUAL else 120) + 7 * (n + rank) % 11
        waits = (20 if rank == 2 or n <= USUAL else 1500) + 5 * (n + rank) % 7
        return [at(clock, f"step {n} loss: 2.5 fwd_ms={own} sync_ms={waits}")]

    found = told(say, lambda slow: 1.9 if slow else 0.3)

    assert [node.node for node in found.nodes] == ["node-2"]
    assert "its own work took longer and slowed the others down" in found.headline


def test_rays_actors_stand_for_ranks_where_nobody_tells_them() -> None:
    """Two workers a machine, by their processes; the data of both on one takes longer, and all others wait."""
    nodes = {f"10.20.1.{n}": (2 * n, 2 * n + 1) for n in range(4)}
    said = []
    for step in range(1, 61):
        for node, ranks in nodes.items():
            late = node == "10.20.1.2" and step > 30
            told = f"batch {step} host_prep={1.5 if late else 0.3} sync={0.05 if late or step <= 30 else 1.2}"
            said += [f"(RayTrainWorker pid={4100 + rank}, ip={node}) {told} loss=2.5" for rank in ranks]
    files = {"driver.log": lines(*said)}
    found = diagnose(job(files, nodes=tuple(nodes), node_ranks=nodes, world_size=8, status=Status.CANCELLED), [])

    assert [node.node for node in found.nodes] == ["10.20.1.2"]
    assert found.events == () or all(event.ranks == () for event in found.events)
