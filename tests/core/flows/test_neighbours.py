"""Who is beside whom: rails of a machine that has too few processors, and the stage that waits for a slow one."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars as pl
import pytest

from core.flows.analyse import analyse
from core.flows.answer import NamedGroup
from core.flows.blame import Localizer
from core.flows.signs import FlowSign
from core.flows.table import table_from
from core.flows.topology import Topology

SECOND = 1_000_000
COLUMNS = ["start_us", "end_us", "src", "dst", "bytes", "sport", "dport", "proto", "packets", "tcp_flags"]
STEPS = 60
Row = tuple[Any, ...]


def rail(number: int, clock: np.ndarray[Any, Any], late: np.ndarray[Any, Any]) -> list[Row]:
    """A group of two on two servers: two bursts a step, each begins late by something of its own."""
    rows: list[Row] = []
    for step, begin in enumerate((clock[:, None] + [0.1, 0.25] + late).tolist()):
        for moment in begin:
            start = round(moment * SECOND)
            for near, far in ((1, 2), (2, 1)):
                ends = f"10.0.{number}.{near}", f"10.0.{number}.{far}"
                size = 3_000_000 + step  # the steps of a job are alike, not the same
                rows.append((start, start + 12_000, *ends, size, 1, 1, 6, 2_000, 24))
    return rows


@pytest.mark.parametrize("late", [0.06, 0.08])
@pytest.mark.parametrize(("alike", "jobs"), [(True, 1), (False, 2)], ids=["rails", "tenants"])
def test_rails_that_keep_time_by_tens_of_milliseconds_are_one_job(*, alike: bool, jobs: int, late: float) -> None:
    """Ranks that take turns on few processors begin up to 80 ms apart; those of another tenant at any time.

    With 80 ms they keep time by .33 only; that is enough where both send as much.
    """
    random = np.random.default_rng(7)
    clocks = 1.8e9 + np.cumsum(0.4 + 0.05 * random.random((2, STEPS)), axis=1)
    rows = []
    for number in (0, 1):
        rows += rail(number, clocks[0 if alike else number], late * random.random((STEPS, 2)))
    homes = {f"10.0.{number}.{server}": f"server-{server}" for number in (0, 1) for server in (1, 2)}

    found = analyse(table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"), Topology(homes)).jobs

    assert len(found) == jobs


def test_rails_beside_another_tenant_are_one_job() -> None:
    """What a tenant on servers of its own sends is no activity of theirs, though its addresses come first."""
    random = np.random.default_rng(7)
    clocks = 1.8e9 + np.cumsum(0.4 + 0.05 * random.random((2, STEPS)), axis=1)
    rows = [(*row[:4], 8 * row[4], *row[5:]) for row in rail(0, clocks[0], 0.06 * random.random((STEPS, 2)))]
    for number in (1, 2):
        rows += rail(number, clocks[1], 0.04 * random.random((STEPS, 2)))
    homes = {f"10.0.{number}.{end}": f"server-{2 * (number > 0) + end}" for number in (0, 1, 2) for end in (1, 2)}

    found = analyse(table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"), Topology(homes)).jobs

    assert [len(job.nics) for job in found] == [2, 4]


@pytest.mark.parametrize(("single", "server"), [(25_000.0, "server-2"), (1_000.0, None)])
def test_of_two_stages_the_one_with_longer_pieces_of_work_is_named(single: float, server: str | None) -> None:
    """Beside a slow stage the one that waits for it seems to work as much longer: 120 and 118 ms of all its work.

    Args:
        single: microseconds by which the longest piece of work of the slow stage rose.
    """
    nics = [f"10.0.{number}.{place}" for place in (1, 2, 3) for number in (0, 1)]  # two rails of three stages
    homes = {nic: f"server-{nic[-1]}" for nic in nics}
    inside = (np.arange(40) >= 15) & (np.arange(40) < 30)

    def sign(base: float, rises: Sequence[float]) -> FlowSign:
        noise = np.random.default_rng(1).normal(0, 500, (40, 6))
        return FlowSign(tuple((nic,) for nic in range(6)), base + noise + inside[:, None] * np.array(rises))

    none = sign(0.0, [0.0] * 6)
    named = tuple(NamedGroup(f"J1.pp{number}", "pp", tuple(nics[number::2])) for number in (0, 1))
    stages = SimpleNamespace(of=lambda kind: named if kind == "pp" else ())
    localizer = Localizer(
        cast("Any", SimpleNamespace(addresses=tuple(nics), switches=())), Topology(homes),
        cast("Any", SimpleNamespace(nics=tuple(range(6)), heavy=())), cast("Any", stages), cast("Any", None), named,
    )  # fmt: skip
    nothing = FlowSign((), np.zeros((40, 0)))
    work, longest = [0, 0, 120_000, 119_000, 118_000, 117_000], [5_000, 0, single, 0, 0, 0]
    localizer.__dict__.update(_links=nothing, _stages=nothing, _answers=none, _receipts=none, _sendings=none)
    localizer.__dict__.update(_work=sign(300_000, work), _silences=sign(60_000, longest))

    found = localizer.blame(inside, ~inside, 80_000.0)

    assert (found.subject.server if found else None) == server
