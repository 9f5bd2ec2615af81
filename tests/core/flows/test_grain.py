"""How fine records are: what silence ended is as exact as that silence, what a time-out cut is as long as it is."""

import numpy as np
import polars as pl
import pytest

from core.flows.connections import find_connections
from core.flows.jobs import JobFlows
from core.flows.record_grain import find_grain
from core.flows.signs import link_delays
from core.flows.table import table_from
from core.flows.timeline import Timeline
from core.flows.topology import topology_from

COLUMNS = ["start_us", "end_us", "src", "dst", "bytes", "packets", "switch"]


@pytest.mark.parametrize(("apart", "blur"), [(3_000, 3_000), (0, 20_000)], ids=["transfers", "cut while they went on"])
def test_grain_is_the_silence_that_ends_a_record(apart: int, blur: int) -> None:
    """Transfers of 20 ms are no coarse records where each ended by itself."""
    rows = [
        (at, at + 20_000, "a", "b", 10_000_000, 2_500, "") for at in range(0, 100 * (20_000 + apart), 20_000 + apart)
    ]
    connections = find_connections(
        table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"),
        topology_from({"schema": "firstfault.topology/1"}),
    )

    assert find_grain(connections, [0]).blur == blur


def test_what_begins_at_the_end_of_a_step_is_in_one_step_at_both_ends_of_a_link() -> None:
    """A tied embedding begins with the moment at which a step ends; the next switch sees it ten microseconds later."""
    ends = np.arange(1, 13, dtype=np.int64) * 400_000 + 1_800_000_000_000_000
    rows = []
    for turn, end in enumerate(ends.tolist()):
        stalled = 250_000 if turn == 6 else 0
        for later, switch in ((0, "leaf-0"), (10, "spine-0")):
            rows.append((end + later, end + later + 800, "a", "b", 300_000, 75, switch))
            rows.append(
                (end + later + 100_000 + stalled, end + later + 100_800 + stalled, "a", "b", 300_000, 75, switch)
            )
    topology = topology_from(
        {
            "schema": "firstfault.topology/1", "switches": [{"name": "leaf-0"}, {"name": "spine-0"}],
            "links": [{"a": "a", "b": "leaf-0"}, {"a": "leaf-0", "b": "spine-0"}],
        }
    )  # fmt: skip
    connections = find_connections(table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"), topology)
    timeline = Timeline(np.append(ends[0] - 400_000, ends[:-1]), ends, 400_000.0)

    delay = link_delays(connections, topology, JobFlows((0, 1), (0,), ()), timeline)

    assert np.nanmax(np.abs(delay.values - 10)) < 1
