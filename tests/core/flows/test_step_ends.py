"""Where a step ends: with FSDP's scatter in a group of two, and when data has come through a slow link."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from core.flows.analyse import analyse
from core.flows.table import table_from
from core.flows.topology import topology_from

SECOND = 1_000_000
COLUMNS = ["start_us", "end_us", "src", "dst", "bytes", "sport", "dport", "proto", "packets", "tcp_flags"]
STEPS = 40
WIRE = 0.008  # seconds of a transfer
Row = tuple[Any, ...]


def sent(begin: float, near: int, far: int, size: int, *, lasts: float = WIRE, packets: int = 0) -> Row:
    start = round(begin * SECOND)
    count, flags = packets or max(1, size // 4_000), 16 if packets else 24
    return (
        start, start + round(lasts * SECOND), f"10.0.0.{near}", f"10.0.0.{far}", size, 1, 1, 6, count, flags,
    )  # fmt: skip


def ends_of(rows: list[Row]) -> Any:
    table = table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up")
    (job,) = analyse(table, topology_from({"schema": "firstfault.topology/1"})).jobs
    return job.timeline.end / SECOND


def works() -> Any:
    """The forward pass of each step, and the backward pass, which is about twice as long; none as long as another."""
    return 0.1 * np.array([1, 2]) * (1 + 0.05 * np.random.default_rng(5).standard_normal((STEPS, 2)))


def sharded(scatter: int, *, cut: bool = False) -> tuple[list[Row], list[float]]:
    """Records of two ranks of FSDP that gather, work, gather, work longer and scatter; when each step had ended."""
    now, rows, ends = 1.8e9, list[Row](), []
    for step, (forward, backward) in enumerate(works()):
        for size, behind in ((2_000_000, forward), (2_000_000, backward), (scatter, 0.02)):
            if cut and step == STEPS - 1 and size == scatter:
                break
            rows += [sent(now, 0, 1, size), sent(now, 1, 0, size)]
            now += WIRE + behind
        ends.append(now - 0.02)
    return rows, ends


@pytest.mark.parametrize("scatter", [2_000_001, 4_000_000])
def test_steps_of_two_sharded_ranks_end_with_the_scatter(scatter: int) -> None:
    """Not before the backward pass, which is the longest silence of a step."""
    rows, ends = sharded(scatter)

    assert ends_of(rows) == pytest.approx(ends, abs=1e-3)


def test_capture_that_ends_before_the_last_scatter() -> None:
    """What is cut off is no step."""
    rows, ends = sharded(4_000_000, cut=True)

    assert ends_of(rows) == pytest.approx(ends[:-1], abs=1e-3)


def test_buckets_of_two_ranks_are_no_shards() -> None:
    """Three equal buckets that overlap with the backward pass: the work between them is alike."""
    now, rows, ends = 1.8e9, list[Row](), []
    for forward, backward in works():
        now += forward + backward / 3
        for bucket in range(3):
            now += backward / 3 if bucket else 0
            rows += [sent(now, 0, 1, 2_000_000), sent(now, 1, 0, 2_000_000)]
            now += WIRE
        ends.append(now)

    assert ends_of(rows) == pytest.approx(ends, abs=1e-3)


def test_data_has_arrived_when_the_last_of_a_train_of_acknowledgements_is_sent() -> None:
    """A slow link lets pieces through one by one long after its switch has taken all of the data."""
    now, rows, ends = 1.8e9, list[Row](), []
    for step, (forward, _) in enumerate(works()):
        now += 0.3 + forward
        rows += [sent(now, nic, (nic + 1) % 3, 3_000_000) for nic in range(3)]
        now += WIRE
        if step >= STEPS // 2:
            pieces = [now + 0.005 * piece for piece in range(1, 13)]
            rows += [sent(piece, 2, 1, 120, lasts=0.0, packets=2) for piece in pieces]
            now = pieces[-1]
        ends.append(now)

    assert ends_of(rows) == pytest.approx(ends, abs=1e-3)
