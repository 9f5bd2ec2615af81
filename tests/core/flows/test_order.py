"""Which stage of a pipeline is the first one."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest

from core.flows.connections import Connections, find_connections
from core.flows.groups import FlowGroup, Groups
from core.flows.judge import in_order
from core.flows.record_grain import Grain
from core.flows.table import table_from
from core.flows.topology import Topology

STEP, STEPS = 400_000, 30  # microseconds
COLUMNS = ["start_us", "end_us", "src", "dst", "bytes", "packets"]


def pipeline(stages: Sequence[int], *, closed: bool = False, wait: int = 20_000) -> Connections:
    """An activation from each stage to the next one, then gradients back ``wait`` microseconds later."""
    rows: list[tuple[Any, ...]] = []
    path = [*stages, *stages[: 1 + closed]] if closed else list(stages)
    for step in range(STEPS):
        clock = step * STEP
        there = list(pairwise(path))
        for pairs in (there, [pair[::-1] for pair in reversed(there)]):
            for near, far in pairs:
                rows.append((clock, clock + 500, f"10.0.0.{near}", f"10.0.0.{far}", 400_000, 100))
                clock += 5_000
            clock += wait
    return find_connections(table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"), Topology())


def ordered(connections: Connections, *, steps: int = STEPS) -> list[str]:
    nics = tuple(range(len(connections.addresses)))
    group = FlowGroup("pp", nics, tuple(range(len(connections))))
    start = np.arange(steps, dtype=np.int64) * STEP - 1_000
    (found,) = in_order(connections, Groups((group,), {}, (), Grain(0.0, 0.0, 0.0, sampled=False)), start).groups
    return [connections.addresses[nic][-1] for nic in found.nics]


@pytest.mark.parametrize(
    ("stages", "closed", "wait"),
    [((2, 1, 3), False, 20_000), ((3, 1, 2), True, 20_000), ((2, 1), False, 300_000)],
    ids=["a path", "interleaved", "the second stage is slow"],
)
def test_pipeline_begins_with_who_sends_first(stages: tuple[int, ...], closed: bool, wait: int) -> None:
    """Whatever its addresses are, and how long the longest silences."""
    found = ordered(pipeline(stages, closed=closed, wait=wait))

    assert found == [str(stage) for stage in stages]


def test_without_steps_nothing_is_turned() -> None:
    """The order of the group stays."""
    assert ordered(pipeline((2, 1, 3)), steps=0) == ["1", "2", "3"]


def test_pipeline_goes_through_the_rings_as_most_do() -> None:
    """Two that begin at one ring turn the third, whose records begin at the other end."""
    rows: list[tuple[Any, ...]] = []
    for number, stages in enumerate(((1, 2), (1, 2), (2, 1))):
        for step in range(STEPS):
            for turn, (near, far) in enumerate((stages, stages[::-1])):
                begin = step * STEP + 20_000 * turn + 2_000 * number
                rows.append((begin, begin + 500, f"10.0.{number}.{near}", f"10.0.{number}.{far}", 400_000, 100))
    connections = find_connections(table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"), Topology())
    place = {address: nic for nic, address in enumerate(connections.addresses)}
    rings = [FlowGroup("dp", tuple(place[f"10.0.{number}.{stage}"] for number in range(3)), ()) for stage in (1, 2)]
    pairs = [FlowGroup("pp", (place[f"10.0.{number}.1"], place[f"10.0.{number}.2"]), (number,)) for number in range(3)]
    start = np.arange(STEPS, dtype=np.int64) * STEP - 1_000

    found = in_order(connections, Groups((*rings, *pairs), {}, (), Grain(0.0, 0.0, 0.0, sampled=False)), start)

    assert [[connections.addresses[nic][-1] for nic in group.nics] for group in found.of("pp")] == [["1", "2"]] * 3
