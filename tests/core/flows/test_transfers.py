"""Transfers of each connection of many, and moments of many things, are those that each has by itself."""

import numpy as np
import pytest

from benchmarks.flow_sets import Layout, simulate
from core.flows.connections import Connections, find_connections
from core.flows.table import table_from
from core.flows.topology import topology_from
from core.flows.transfers import MESSAGE_US, each_of, latest_before, transfers_of


@pytest.fixture(scope="module")
def connections() -> Connections:
    """Of a job of three stages and three replicas."""
    frame, topology, _ = simulate(Layout(dp=3, pp=3, micro=3, steps=8))
    return find_connections(table_from(frame, "made up"), topology_from(topology))


@pytest.mark.parametrize("silence", [MESSAGE_US, 100_000])
def test_transfers_of_many_are_those_of_each(connections: Connections, silence: int) -> None:
    """In any order of the connections, of both ends apart and together."""
    members = [*range(0, len(connections), 2), 1]

    apart = each_of(connections, members, silence)
    joined = each_of(connections, members, silence, ways=1)

    for place, member in enumerate(members):
        for back in (False, True):
            alone = transfers_of(connections, [member], back=back, silence=silence)
            assert apart[2 * place + back].tolist() == alone.tolist()
        assert joined[place].tolist() == transfers_of(connections, [member], silence=silence).tolist()
    assert each_of(connections, []) == []


def test_records_of_neighbours_are_those_of_each(connections: Connections) -> None:
    """Connections that follow each other need no list of rows; the rows are the same."""
    for chosen in (np.arange(2, 6), np.array([2, 3, 5])):
        rows, turn = connections.all_rows(chosen)

        wanted = [row for member in chosen for row in range(*connections.offset[member : member + 2])]
        assert np.arange(len(connections.start))[rows].tolist() == wanted
        assert np.bincount(turn).tolist() == np.diff(connections.offset)[chosen].tolist()


def test_latest_before_some_moments() -> None:
    """The highest value counts, not the last one; -1 is nothing; moments may come in any order."""
    start, values, thing = np.array([1, 2, 3, 8]), np.array([50, 20, 30, 90]), np.array([0, 0, 1, 0])

    found = latest_before(start, values, np.array([8, 0, 3]), thing, 2)

    assert found.tolist() == [[90, -1, 50], [30, -1, 30]]
