"""Accelerators that are slow by their own work alone, and what NICs of one server tell of each other."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from core.flows.analyse import analyse
from core.flows.connections import find_connections
from core.flows.hidden_work import HiddenWork, find_hidden_work
from core.flows.jobs import JobFlows
from core.flows.own_work import own_work
from core.flows.signs import FlowSign
from core.flows.table import table_from
from core.flows.timeline import Timeline
from core.flows.topology import Topology

SECOND = 1_000_000
COLUMNS = ["start_us", "end_us", "src", "dst", "bytes", "sport", "dport", "proto", "packets", "tcp_flags"]
HOMES = {0: "server-0", 1: "server-0", 2: "server-1", 3: "server-1", 4: "server-2", 5: "server-3"}
PERIOD = 400.0
Row = tuple[Any, ...]


def hidden(server: str, more: np.ndarray[Any, Any], *, others: float = 0.0) -> HiddenWork | None:
    """What is found in 60 steps of work of 200 with noise, of which one server's NICs take ``more``.

    Args:
        others: part of it that all others take longer as well.
    """
    values = 200 + 20 * np.random.default_rng(3).standard_normal((60, len(HOMES)))
    for nic, home in HOMES.items():
        values[:, nic] += more if home == server else others * more
    return find_hidden_work(FlowSign(tuple((nic,) for nic in HOMES), values), HOMES, PERIOD)


def test_server_that_works_longer_is_found_with_its_steps() -> None:
    """All its NICs do; no other server has two levels."""
    found = hidden("server-1", np.where((np.arange(60) >= 20) & (np.arange(60) < 45), 120.0, 0.0))

    assert found is not None
    assert (found.server, found.first, found.last, found.grows) == ("server-1", 20, 44, False)
    assert found.rise == pytest.approx(120, abs=15)


def test_work_that_grows_to_the_end_is_a_drift() -> None:
    """From about its first longer step on."""
    found = hidden("server-2", np.maximum(0.0, 6.0 * (np.arange(60) - 25)))

    assert found is not None
    assert (found.server, found.grows, found.last) == ("server-2", True, 59)
    assert abs(found.first - 25) <= 6


def test_busy_machine_hides_no_slow_server() -> None:
    """Where other tenants make all work longer, what a server takes beyond that of the others is its own."""
    found = hidden("server-1", np.where((np.arange(60) >= 20) & (np.arange(60) < 45), 300.0, 0.0), others=0.5)

    assert found is not None
    assert found.server == "server-1"
    assert found.rise == pytest.approx(150, abs=20)
    assert found.other < 20


@pytest.mark.parametrize(
    ("steps", "more", "others"),
    [((20, 45), 120.0, 0.5), ((0, 30), 120.0, 0.0), ((20, 27), 120.0, 0.0), ((20, 45), 40.0, 0.0), ((0, 0), 0.0, 0.0)],
    ids=["all work longer", "from the first step on", "noise of a few steps", "a tenth of a step", "healthy"],
)
def test_nobody_is_accused_by_less(steps: tuple[int, int], more: float, others: float) -> None:
    """What others share, what has nothing before it, what is short, and what is small beside a step."""
    inside = (np.arange(60) >= steps[0]) & (np.arange(60) < steps[1])

    assert hidden("server-1", np.where(inside, more, 0.0), others=others) is None


def sent(begin: float, near: str, far: str, size: int, *, lasts: float = 0.001) -> Row:
    start = round(begin * SECOND)
    return start, start + round(lasts * SECOND), near, far, size, 1, 1, 6, max(1, size // 1_500), 24


def two_rails(*, slow: float) -> tuple[list[Row], Topology]:
    """Two servers with two rails, a group of two on each; the transfers of one rail last longer from step 20 on.

    The ranks of the other rail wait for it over a link inside of their server, and call for data when they go on.
    """
    rows: list[Row] = []
    clock = 1.8e9
    for step in range(40):
        longer = slow if step >= 20 else 0.0
        for rail in (0, 1):
            one, other = f"10.0.{rail}.1", f"10.0.{rail}.2"
            lasts = 0.03 + longer * rail
            for near, far in ((one, other), (other, one)):
                rows.append(sent(clock + 0.2, near, far, 114, lasts=0.0))
                rows.append(sent(clock + 0.202, near, far, 1_000_000, lasts=0.005))
                rows.append(sent(clock + 0.21, near, far, 4_000_000, lasts=lasts))
        clock += 0.25 + longer
    homes = {f"10.0.{rail}.{number}": f"server-{number}" for rail in (0, 1) for number in (1, 2)}
    return rows, Topology(homes)


def test_waiting_for_another_rail_is_no_work() -> None:
    """No switch sees what NICs of a server wait for; while one of them receives, the others do not work."""
    rows, topology = two_rails(slow=0.1)
    connections = find_connections(table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"), topology)
    ends = (1.8e9 + np.cumsum([0.25 + 0.1 * (step >= 20) for step in range(40)])) * SECOND
    timeline = Timeline(np.append(1.8e9 * SECOND, ends[:-1]).astype(np.int64), ends.astype(np.int64), 250_000.0)

    work = own_work(connections, topology, JobFlows((0, 1, 2, 3), (0, 1), ()), timeline).values

    longer = np.median(work[22:], axis=0) - np.median(work[2:18], axis=0)
    assert np.abs(longer).max() < 10_000


def test_group_whose_data_comes_in_slower_is_told_where_nobody_is_named() -> None:
    """Of two that send to each other at once coarse records do not tell before whom the data waits."""
    rows, topology = two_rails(slow=0.1)

    (job,) = analyse(table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"), topology).jobs

    (finding,) = job.findings
    assert finding.kind == "slow_group"
    assert finding.subject is not None
    (group,) = [group for group in job.groups if group.id == finding.subject.group]
    assert group.nics == ("10.0.1.1", "10.0.1.2")
