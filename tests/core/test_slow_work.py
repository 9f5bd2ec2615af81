"""What took longer, or was first said, since a job became slow of which no node stands apart."""

from collections.abc import Collection

import pytest

from core.diagnose import diagnose
from core.job import Status
from core.model import Diagnosis
from tests.support.jobs import at, four_nodes

SLOW_FROM = 101  # iteration
# As src/transport/net_ib.cc of NCCL 2.19 prints it
NO_IB = "node-2:35890:36236 [2] NCCL INFO NET/IB : No device found."
# As ProcessGroupNCCL.cpp of PyTorch 2.5 prints it
BARRIER = (
    "ProcessGroupNCCL.cpp:4115] [PG ID 0 PG GUID 0 Rank 1]  using GPU 1 to perform barrier as devices used by this "
    "process are currently unknown."
)


def slowed(said: dict[int, str], *, driver: bool = False) -> Diagnosis:
    """The answer for a job whose steps take 9 s in place of 1 s from an iteration on.

    Args:
        said: a line of all nodes below the steps of these iterations.
        driver: node 2 alone says it, and without a clock.
    """
    logs: dict[int, list[str]] = {n: [] for n in range(4)}
    clock = 0.0
    for step in range(1, 141):
        clock += 1.0 if step < SLOW_FROM else 9.0
        for n in range(4):
            logs[n].append(at(clock, f"step {step} loss 2.5"))
        for n in (2,) if driver else range(4):
            if step in said:
                logs[n].append(said[step] if driver else at(clock + 0.5, said[step]))
    return diagnose(four_nodes(logs, status=Status.CANCELLED), [])


def reward(step: int) -> str:
    """A call of a service that answers late since the onset."""
    return f"reward: POST http://sandbox/run took {0.3 if step < SLOW_FROM else 7.5 + step % 3} s"


def test_work_that_takes_longer_since_then_is_told_with_its_times() -> None:
    """Nobody complains; the times that a message tells do."""
    found = slowed({step: reward(step) for step in range(2, 141, 2)})

    assert "reward: POST http://sandbox/run took" in found.events[0].lines[0].text
    assert found.events[0].iterations[0] >= SLOW_FROM
    assert "; 0.30 s before." in found.why[-1]
    assert not found.nodes


def test_lines_without_a_clock_are_dated_by_the_iterations_above_them() -> None:
    """A driver prints what its workers say as it comes."""
    found = slowed({step: reward(step) for step in range(2, 141, 2)}, driver=True)

    assert "reward: POST http://sandbox/run took" in found.events[0].lines[0].text


def test_a_message_that_was_never_said_before_is_told() -> None:
    """Programs that retry say so only when something is slow, in words of their own."""
    judge = {step: f"judge is busy, {step % 7 + 3} of 64 requests went to it again" for step in range(102, 140, 3)}

    found = slowed(judge)

    assert found.why[-1].startswith("Since then 4 ranks said \u201cjudge is busy, ")
    assert found.why[-1].endswith(", 52 times.")


def test_what_was_said_before_or_names_an_iteration_is_not_told() -> None:
    """Both are how the program talks."""
    often = {step: f"judge is well, {step % 7 + 3} of 64 requests went to it" for step in range(1, 140, 3)}
    progress = {step: f"validation loss at step {step} was {2 + step % 3}" for step in range(102, 140, 3)}

    for said in (often, progress):
        assert not any("Since then" in sentence for sentence in slowed(said).why)


def test_work_that_takes_a_small_part_of_what_a_step_lost_is_not_told() -> None:
    """Steps lost 8 s; what takes 0.4 s longer did not do that."""
    small = {
        step: f"reward: POST http://sandbox/run took {0.3 if step < SLOW_FROM else 0.7} s" for step in range(2, 141, 2)
    }

    assert not any("Since then" in sentence for sentence in slowed(small).why)


def slower_than_good(first: str, who: Collection[int] = range(4)) -> Diagnosis:
    """The answer for a job whose steps take 6 s where a good job took 1 s, and of which these said this at first."""

    def logs(pace: float, *early: str) -> dict[int, list[str]]:
        steps = [at(2 + pace * step, f"step {step} loss 2.5") for step in range(1, 61)]
        heads = {n: [at(1, text) for text in early if n in who] for n in range(4)}
        return {n: [at(0, "world is up"), *heads[n], *steps] for n in range(4)}

    good = four_nodes(logs(1.0), status=Status.COMPLETED)
    return diagnose(four_nodes(logs(6.0, first), status=Status.CANCELLED), [good])


def test_what_no_good_job_said_at_the_start_is_told_of_a_job_that_was_slower_all_along() -> None:
    """Sockets in place of InfiniBand: nothing fails."""
    found = slower_than_good(NO_IB)

    assert found.events[0].lines[0].text.endswith(NO_IB)
    assert "4 ranks said \u201cNCCL INFO NET/IB : No device found.\u201d, which no good job did." in found.why[-1]


@pytest.mark.parametrize(
    ("said", "who"),
    [("cubin cache is cold for this kernel", (1, 2)), ("placed as node-3 by the queue", (3,))],
    ids=["two of four", "its name"],
)
def test_what_some_said_or_how_a_machine_is_called_made_no_job_slow(said: str, who: Collection[int]) -> None:
    """What slows all is said by most, or by the one that holds the others up."""
    assert not any("no good job did" in sentence for sentence in slower_than_good(said, who).why)


def test_what_is_known_to_be_harmless_is_no_reason_to_be_slow() -> None:
    """PyTorch guesses the device in most jobs that do not name it."""
    assert not any("no good job did" in sentence for sentence in slower_than_good(BARRIER).why)


def collecting(until: int) -> dict[int, list[str]]:
    """Four nodes that become slow, of which one tells of collections since then; the steps that they make."""
    logs: dict[int, list[str]] = {n: [] for n in range(4)}
    clock = 0.0
    for step in range(1, until + 1):
        clock += 1.0 if step < SLOW_FROM else 5.0
        for n in range(4):
            logs[n].append(at(clock, f"step {step} loss 2.5"))
        if step >= SLOW_FROM:
            logs[2].append(
                at(clock + 0.5, f"gcwatch: gen2 collection took {3.5 + step % 3 / 10:.1f} s, {step} objects")
            )
    return logs


@pytest.mark.parametrize("usual", [False, True])
def test_work_that_one_node_alone_tells_of_and_that_took_what_the_steps_lost_is_told(usual: bool) -> None:
    """A program that watches its garbage collector says so where there is something to say; not if good jobs do."""
    good = four_nodes(collecting(SLOW_FROM + 2), status=Status.COMPLETED)
    found = diagnose(four_nodes(collecting(140), status=Status.CANCELLED), [good] if usual else [])

    assert [node.node for node in found.nodes] == ["node-2"]
    assert ("alone said since then" in found.nodes[0].because) is not usual
