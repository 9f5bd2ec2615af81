"""Who waits for whom: around a ring that stalls or hangs, beside a slow ring, and between two stages."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from core.flows.analyse import analyse
from core.flows.answer import FlowsAnswer
from core.flows.boundaries import find_boundaries
from core.flows.table import table_from
from core.flows.timeline import latest
from core.flows.topology import topology_from
from core.flows.turns import Turns, followers

SECOND = 1_000_000
COLUMNS = ["start_us", "end_us", "src", "dst", "bytes", "sport", "dport", "proto", "packets", "tcp_flags"]
Row = tuple[Any, ...]


def answer(rows: list[Row]) -> FlowsAnswer:
    return analyse(
        table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"),
        topology_from({"schema": "firstfault.topology/1"}),
    )


def sent(begin: float, near: int, far: int, size: int = 3_000_000, *, port: int = 1) -> Row:
    start = round(begin * SECOND)
    return start, start + 9_000, f"10.0.0.{near}", f"10.0.0.{far}", size, port, port, 6, 800, 24


def around(begin: float, *, back: bool = False, nics: int = 5, without: tuple[int, ...] = ()) -> list[Row]:
    """All send to the next one, or to the one before, nearly at once."""
    step = -1 if back else 1
    return [sent(begin + 0.0002 * nic, nic, (nic + step) % nics) for nic in range(nics) if nic not in without]


def fsdp(steps: int) -> tuple[list[Row], list[float]]:
    """Gathers go around one way, twice, and scatters the other way, on the same connections; and the end of each."""
    random = np.random.default_rng(0)
    clock, rows, ends = 1.8e9, [], []
    for _ in range(steps):
        for after, back in ((0.02, False), (0.1, False), (0.2 * random.normal(1, 0.05), True)):
            clock += after
            rows += around(clock, back=back)
            clock += 0.0098
        ends.append(clock)
    return rows, ends


def test_fsdp_on_one_connection_ends_with_what_goes_the_other_way() -> None:
    """The longest silence is before the scatter, in the middle of a step."""
    rows, ends = fsdp(30)

    (found,) = answer(rows).jobs

    assert found.timeline.end / SECOND == pytest.approx(ends, abs=0.001)


def test_who_sent_none_of_the_next_step_hangs() -> None:
    """Of those that sent nothing, one waits for its receiver: the receiver is named."""
    rows, ends = fsdp(30)
    rows += around(ends[-1] + 0.02, without=(2, 3))
    rows += [(*row[:4], 66, *row[5:8], 1, 17) for row in around(ends[-1] + 20, without=())]

    (found,) = answer(rows).jobs

    (hang,) = (finding for finding in found.findings if finding.kind == "hang")
    assert hang.subject is not None
    assert hang.subject.nic == "10.0.0.3"
    assert "sent no data of the next step" in hang.because


def test_a_stall_inside_a_burst_ends_no_step() -> None:
    """A ring whose first pieces are sent while one member stalls falls silent for longer than between two steps."""
    clock, rows, last = 0.0, [], []
    for step in range(40):
        for piece, (after, size) in enumerate(((0.26, 100_000), (0.008, 1_900_000))):
            clock += after + (0.6 if piece and step in (15, 30) else 0.0)
            rows.append((clock * 1e6, (clock + 0.01) * 1e6, size))
            clock += 0.01
        last.append(2 * step + 1)

    found = find_boundaries(np.array(rows).astype(np.int64))

    assert found is not None
    assert found.last.tolist() == last


def test_a_ring_beside_a_slow_one_keeps_its_own_steps() -> None:
    """The latest end of each step counts, though the quick group's end of the next step is nearer."""
    slow = np.cumsum(np.where(np.arange(40) % 40 < 30, 900_000, 400_000)).astype(np.int64)
    quick = slow - np.where(np.arange(40) < 30, 520_000, 20_000)

    assert latest([slow, quick]).tolist() == slow.tolist()


@pytest.mark.parametrize(("led", "waits"), [(0.0, {"a"}), (5.0, {"b"}), (2.0, set())], ids=["follows", "leads", "same"])
def test_of_two_slow_neighbours_the_one_that_follows_waits(led: float, waits: set[str]) -> None:
    """A NIC that begins its sendings first in the slow steps, and did not before, is the one that works."""
    steps = np.arange(20) >= 10
    turn = Turns(0, 1, np.full(20, 6.0), np.where(steps, led, 2.0))

    assert followers([turn], {0: "a", 1: "b"}, {"a", "b"}, steps, ~steps) == waits
