"""Layouts whose groups look like others: experts beside groups of two or ZeRO, and activations that are joined."""

from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Any

import polars as pl
import pytest

from core.flows.analyse import analyse
from core.flows.answer import JobAnswer
from core.flows.table import table_from
from core.flows.topology import Topology

SECOND = 1_000_000
COLUMNS = ["start_us", "end_us", "src", "dst", "bytes", "sport", "dport", "proto", "packets", "tcp_flags"]
STEPS, LENGTH = 30, 0.4
PIPELINE, RING, EXPERTS = 1, 2, 3  # ports: a connection each
ACTIVATION, GRADIENTS, TOKENS = 400_000, 3_000_000, 200_000
Row = tuple[Any, ...]


def sent(begin: float, near: int, far: int, size: int, *, port: int, lasts: float = 0.004) -> Row:
    start = round(begin * SECOND)
    end = start + round(lasts * SECOND)
    return start, end, f"10.0.0.{near}", f"10.0.0.{far}", size, port, port, 6, max(1, size // 4_000), 24


def both(begin: float, near: int, far: int, size: int, *, port: int) -> Iterator[Row]:
    yield sent(begin, near, far, size, port=port)
    yield sent(begin, far, near, size, port=port)


def job(rows: list[Row]) -> JobAnswer:
    (found,) = analyse(table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"), Topology()).jobs
    return found


def groups(found: JobAnswer) -> dict[str, set[tuple[int, ...]]]:
    """By kind the last numbers of the addresses."""
    kinds: dict[str, set[tuple[int, ...]]] = {}
    for group in found.groups:
        kinds.setdefault(group.kind, set()).add(tuple(int(nic.rpartition(".")[2]) for nic in group.nics))
    return kinds


def two_by_two(
    *, experts: bool = False, joined: bool = False, apart: float = 0.0, chunks: int = 0, runs: int = 0
) -> list[Row]:
    """Two stages (0 and 1, then 2 and 3) of two replicas.

    Args:
        chunks: so many activations a step go both ways at once, and two of three are one record; 0 for six in turns.
        runs: of the exchanges of a step so many run together in one record, each in its turn.
        experts: pairs of replicas exchange tokens with each micro-batch.
        joined: two activations are one record now and then.
        apart: seconds between tokens that go one way and the other.
    """
    rows: list[Row] = []
    for step in range(STEPS):
        clock = 1.8e9 + LENGTH * step
        for near, far in ((0, 2), (1, 3)):
            for place in range(chunks):
                many = 1 if (place + step) % 3 == 0 else 2 if (place + step) % 3 == 1 else 3
                for one, other in ((near, far), (far, near)):
                    begin = clock + 0.011 * place + 0.001 * (one > other)
                    rows.append(sent(begin, one, other, many * ACTIVATION, port=PIPELINE))
            sizes = () if chunks else (1, 1, 2, 2) if joined else (1,) * 6
            for place, many in enumerate(sizes):
                rows.append(sent(clock + 0.04 * place, near, far, many * ACTIVATION, port=PIPELINE))
                rows.append(sent(clock + 0.02 + 0.04 * place, far, near, many * ACTIVATION, port=PIPELINE))
        for near, far in ((0, 1), (2, 3)):
            for place in range(6 * experts):
                tokens = TOKENS * (2 if runs and (place + step) % runs == 0 else 1)
                rows.append(sent(clock + 0.03 + 0.04 * place, near, far, tokens, port=EXPERTS))
                rows.append(sent(clock + 0.03 + 0.04 * place + apart, far, near, tokens, port=EXPERTS))
            rows += both(clock + 0.3, near, far, GRADIENTS, port=RING)
    return rows


@pytest.mark.parametrize("apart", [0.0, 0.0015, 0.003])
def test_experts_beside_groups_of_two_are_no_pipeline(apart: float) -> None:
    """They send often and alike, as stages do, but on the pairs that exchange gradients, and stages are elsewhere."""
    found = groups(job(two_by_two(experts=True, apart=apart)))

    assert found == {"dp": {(0, 1), (2, 3)}, "pp": {(0, 2), (1, 3)}, "ep": {(0, 1), (2, 3)}}


def on_rails(numbers: int) -> tuple[list[Row], Topology]:
    """Two stages of two on some rails: of the last rail the activations of a pipeline are cut in the wrong places.

    What the second stage reduces is as much as what goes between stages.
    """
    rows: list[Row] = []
    for number in range(numbers):
        for start, end, near, far, size, *rest in two_by_two():
            one, other = (int(address.rpartition(".")[2]) for address in (near, far))
            cut = number == numbers - 1 and {one, other} == {1, 3}
            tenths = (5, 8, 12, 15)[start // 40_000 % 4] if cut else 10
            many = 6 * ACTIVATION if {one, other} == {2, 3} else size * tenths // 10
            rows.append((start, end, f"10.0.0.{10 * number + one}", f"10.0.0.{10 * number + other}", many, *rest))
    homes = {f"10.0.0.{10 * number + place}": f"server-{place}" for number in range(numbers) for place in range(4)}
    return rows, Topology(homes)


def test_what_sends_as_much_and_as_often_on_other_rails_is_of_their_kind() -> None:
    """A rail whose records are cut badly is as the others; gradients of the same bytes come far less often."""
    rows, topology = on_rails(4)

    (found,) = analyse(table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"), topology).jobs

    assert groups(found) == {
        "dp": {(rail + near, rail + near + 1) for rail in (0, 10, 20, 30) for near in (0, 2)},
        "pp": {(rail + near, rail + near + 2) for rail in (0, 10, 20, 30) for near in (0, 1)},
    }


def test_experts_of_two_that_shard_their_parameters_are_no_pipeline() -> None:
    """Nobody else is there, so what they exchange twice a step, one after the other, is no activation."""
    rows: list[Row] = []
    for step in range(STEPS):
        clock = 1.8e9 + LENGTH * step
        for place in (0, 1):
            rows.append(sent(clock + 0.1 * place, 0, 1, TOKENS, port=EXPERTS))
            rows.append(sent(clock + 0.1 * place + 0.006, 1, 0, TOKENS, port=EXPERTS))
        rows += both(clock + 0.3, 0, 1, GRADIENTS, port=RING)
        rows += both(clock + 0.33, 0, 1, GRADIENTS, port=RING + 10)

    assert groups(job(rows)) == {"dp": {(0, 1)}, "ep": {(0, 1)}}


def test_pipeline_of_which_activations_are_joined_is_one() -> None:
    """Records that end with a longer silence hold one activation or two: whole ones all the same."""
    found = groups(job(two_by_two(joined=True)))

    assert found == {"dp": {(0, 1), (2, 3)}, "pp": {(0, 2), (1, 3)}}


def test_experts_whose_exchanges_run_together_are_beside_their_gradients() -> None:
    """In records of 8 ms one exchange or two: of no one size, but whole ones, and on the pair that has gradients."""
    found = groups(job(two_by_two(experts=True, runs=2)))

    assert found == {"dp": {(0, 1), (2, 3)}, "pp": {(0, 2), (1, 3)}, "ep": {(0, 1), (2, 3)}}


def test_chunks_of_two_stages_that_are_at_once_are_a_pipeline() -> None:
    """They send far more often than a group of two does, whole activations, and nothing else is on their pair."""
    found = groups(job(two_by_two(chunks=24)))

    assert found == {"dp": {(0, 1), (2, 3)}, "pp": {(0, 2), (1, 3)}}


def rail(number: int, *, apart: float) -> list[Row]:
    """A ring of three that scatters one way around and gathers the other; its members begin so far apart."""
    rows: list[Row] = []
    for step in range(STEPS):
        clock = 1.8e9 + LENGTH * step
        for nic in range(3):
            one, other = 10 * number + nic, 10 * number + (nic + 1) % 3
            rows.append(sent(clock + 0.2 + apart * nic, one, other, GRADIENTS, port=RING, lasts=0.01))
            rows.append(sent(clock + 0.3 + apart * nic, other, one, GRADIENTS, port=RING, lasts=0.01))
    return rows


def test_rail_whose_members_take_turns_is_a_ring_as_the_others_are() -> None:
    """A slow link keeps one connection of a ring busy alone; alone such a job might be an interleaved pipeline."""
    rows = rail(0, apart=0.0) + rail(1, apart=0.02)
    servers = {f"10.0.0.{10 * number + nic}": f"server-{nic}" for number in range(2) for nic in range(3)}
    table = table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up")

    (found,) = analyse(table, Topology(servers)).jobs

    assert groups(found) == {"dp": {(0, 1, 2), (10, 11, 12)}}


def test_three_experts_of_a_ring_of_four_are_no_ring() -> None:
    """They exchange at once and close to a ring of three; the gradients' ring of all four is the larger one."""
    rows: list[Row] = []
    for step in range(STEPS):
        clock = 1.8e9 + LENGTH * step
        for place in range(4):
            for turn, (near, far) in enumerate(combinations((0, 1, 3), 2)):
                rows += both(clock + 0.05 * place + 0.0002 * turn, near, far, TOKENS, port=EXPERTS)
            for turn, other in enumerate((0, 1, 3)):  # with the fourth at moments of their own
                rows += both(clock + 0.02 + 0.05 * place + 0.008 * turn, other, 2, TOKENS, port=EXPERTS)
        for nic in range(4):  # scattered one way around, gathered the other way
            rows.append(sent(clock + 0.3, nic, (nic + 1) % 4, GRADIENTS, port=RING, lasts=0.01))
            rows.append(sent(clock + 0.33, (nic + 1) % 4, nic, GRADIENTS, port=RING, lasts=0.01))

    found = job(rows)

    assert groups(found)["dp"] == {(0, 1, 2, 3)}
    assert abs(len(found.timeline) - STEPS) <= 1


def test_experts_of_the_same_three_are_no_second_ring() -> None:
    """Of a ring of three they have all NICs, with less bytes and more often: its steps are those of the gradients."""
    rows: list[Row] = []
    for step in range(STEPS):
        clock = 1.8e9 + LENGTH * step
        for place in range(3 + step % 2):  # not as many each step, so that bytes of both together are no step's
            for near, far in combinations(range(3), 2):
                rows += both(clock + 0.05 * place, near, far, TOKENS, port=EXPERTS)
        for nic in range(3):
            rows.append(sent(clock + 0.3, nic, (nic + 1) % 3, GRADIENTS, port=RING, lasts=0.01))
            rows.append(sent(clock + 0.33, (nic + 1) % 3, nic, GRADIENTS, port=RING, lasts=0.01))

    found = job(rows)

    assert groups(found) == {"dp": {(0, 1, 2)}, "ep": {(0, 1, 2)}}
    assert abs(len(found.timeline) - STEPS) <= 1


def stages_of_three(stages: int, *, often: int = 3, embedding: bool = False) -> list[Row]:
    """Stages of three replicas each, whose rings send one way around.

    Args:
        often: transfers a step both ways between a stage and the next, all at once and of different sizes.
        embedding: the first and the last stage exchange one activation a step, in two records, one after the other.
    """
    rows: list[Row] = []
    for step in range(STEPS):
        clock = 1.8e9 + LENGTH * step
        for replica in range(3):
            chain = [replica + 3 * stage for stage in range(stages)]
            for near, far in pairwise(chain):
                for place in range(often):
                    size = ACTIVATION * (1 if embedding else 1 + (place + step) % 4)
                    apart = 0.01 if embedding else 0.001
                    rows.append(sent(clock + 0.03 * place, near, far, size, port=PIPELINE, lasts=0.008))
                    rows.append(sent(clock + 0.03 * place + apart, far, near, size, port=PIPELINE, lasts=0.008))
            if embedding:
                for part in (0.0, 0.012):
                    rows.append(sent(clock + 0.33 + part, chain[0], chain[-1], ACTIVATION // 2, port=PIPELINE))
                    rows.append(sent(clock + 0.336 + part, chain[-1], chain[0], ACTIVATION // 2, port=PIPELINE))
            for stage in range(stages):
                ring = sent(clock + 0.3, chain[stage], (replica + 1) % 3 + 3 * stage, GRADIENTS, port=RING, lasts=0.01)
                rows.append(ring)
    return rows


def test_stages_that_send_often_at_once_and_unlike_are_no_embedding() -> None:
    """Of interleaved stages coarser records hold pieces of any size, both ways; an embedding is sent once a step."""
    found = groups(job(stages_of_three(2, often=7)))

    assert found == {"dp": {(0, 1, 2), (3, 4, 5)}, "pp": {(0, 3), (1, 4), (2, 5)}}


def test_embedding_that_takes_turns_is_no_stage() -> None:
    """It has a third of the bytes of a pipeline of three micro-batches, which no stage has."""
    found = groups(job(stages_of_three(3, embedding=True)))

    assert found["pp"] == {(0, 3, 6), (1, 4, 7), (2, 5, 8)}
    assert found["emb"] == {(0, 6), (1, 7), (2, 8)}


def test_ring_whose_transfers_last_a_quarter_of_a_step_has_steps() -> None:
    """Silence ended them, so they are no coarse records."""
    rows = [
        sent(1.8e9 + LENGTH * step, nic, (nic + 1) % 3, GRADIENTS, port=RING, lasts=0.1)
        for step in range(STEPS)
        for nic in range(3)
    ]

    assert len(job(rows).timeline) == STEPS
