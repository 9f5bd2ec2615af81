"""Who waits for whom: around a ring that stalls or hangs, beside a slow ring, and between two stages."""

from collections.abc import Collection
from typing import Any

import numpy as np
import polars as pl
import pytest

from core.flows.analyse import analyse
from core.flows.answer import FlowsAnswer
from core.flows.boundaries import find_boundaries
from core.flows.connections import find_connections
from core.flows.jobs import JobFlows
from core.flows.own_work import own_work
from core.flows.table import table_from
from core.flows.timeline import Timeline, latest
from core.flows.topology import Topology, topology_from

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
    packets = max(1, size // 4_000)
    return start, start + 9_000, f"10.0.0.{near}", f"10.0.0.{far}", size, port, port, 6, packets, 24


def around(
    begin: float, *, back: bool = False, nics: int = 5, without: tuple[int, ...] = (), late: float = 0.0, port: int = 1
) -> list[Row]:
    """All send to the next one, or to the one before, nearly at once; those ``without`` only ``late`` seconds later."""
    step = -1 if back else 1
    return [
        sent(begin + 0.0002 * nic + late * (nic in without), nic, (nic + step) % nics, port=port)
        for nic in range(nics)
        if late or nic not in without
    ]


def fsdp(
    steps: int,
    *,
    nics: int = 5,
    gathers: int = 2,
    scatter: int = 1,
    stalls: Collection[int] = (),
    slow: int | None = None,
) -> tuple[list[Row], list[float]]:
    """Gathers go around one way and scatters the other way; and the end of each step.

    Args:
        scatter: the port that tells its connections; 1 is that of the gathers.
        stalls: steps in which NIC 3 gathers half a second late, and NIC 2, who sends to it, waits with it.
        slow: from this step on the last but one (NIC 3 of five) works .15 s longer, and the last, who scatters to it,
            waits with it.
    """
    random = np.random.default_rng(0)
    clock, rows, ends = 1.8e9, [], []
    for step in range(steps):
        late = 0.5 if step in stalls else 0.0
        for turn, after in enumerate((0.02, 0.1)[:gathers]):
            clock += after
            rows += around(clock, nics=nics, late=late * (not turn), without=(2, 3) if late else ())
            clock += 0.0098 + late * (not turn)
        clock += 0.2 * random.normal(1, 0.05)
        late = 0.15 if slow is not None and step >= slow else 0.0
        rows += around(
            clock, back=True, nics=nics, port=scatter, late=late, without=(nics - 2, nics - 1) if late else ()
        )
        clock += 0.0098 + late
        ends.append(clock)
    return rows, ends


def test_fsdp_on_one_connection_ends_with_what_goes_the_other_way() -> None:
    """The longest silence is before the scatter, in the middle of a step."""
    rows, ends = fsdp(30)

    (found,) = answer(rows).jobs

    assert found.timeline.end / SECOND == pytest.approx(ends, abs=0.001)


def test_ring_of_three_that_scatters_and_gathers_is_no_pipeline() -> None:
    """ZeRO: every connection carries as much both ways, in turns, as between two stages; but all are busy at once."""
    rows, ends = fsdp(40, nics=3, gathers=1)

    (found,) = answer(rows).jobs

    assert [(group.kind, len(group.nics)) for group in found.groups] == [("dp", 3)]
    assert len(found.timeline) == len(ends)


def test_rings_that_scatter_and_gather_are_told_from_the_pipelines_between_them() -> None:
    """Two rings of three, one a stage: all of a ring send at once, and never while stages send to each other."""
    clock, rows = 1.8e9, []
    for _ in range(30):
        for near, far in ((0, 3), (3, 0)) * 3:
            clock += 0.02
            rows += [sent(clock + 0.001 * replica, near + replica, far + replica, port=5) for replica in range(3)]
        clock += 0.02
        for back in (False, True):
            ring = around(clock, back=back, nics=3)
            rows += ring
            rows += [(*row[:2], *(f"10.0.0.{int(end[-1]) + 3}" for end in row[2:4]), *row[4:]) for row in ring]
            clock += 0.03
        clock += 0.2

    (found,) = answer(rows).jobs

    assert [(group.kind, [nic[-1] for nic in group.nics]) for group in found.groups] == [
        ("dp", ["0", "1", "2"]), ("dp", ["3", "4", "5"]), ("pp", ["0", "3"]), ("pp", ["1", "4"]), ("pp", ["2", "5"]),
    ]  # fmt: skip
    assert len(found.timeline) == 30


def test_interleaved_pipeline_whose_stages_all_send_at_once_is_no_ring() -> None:
    """Three stages with three chunks each: what closes the pipeline carries two of the three."""
    clock, rows = 1.8e9, []
    for _ in range(30):
        for ahead in (True, False):
            for turn in range(9):
                clock += 0.02
                ends = ((0, 2), (2, 4), *(((4, 0),) if turn % 3 else ()))
                lanes = [(near, far) if ahead else (far, near) for near, far in ends]
                rows += [
                    sent(clock + 0.001 * rail, near + rail, far + rail, 300_000)
                    for near, far in lanes
                    for rail in (0, 1)
                ]
        clock += 0.05
        rows += [sent(clock, stage + rail, stage + 1 - rail, port=3) for stage in (0, 2, 4) for rail in (0, 1)]
        clock += 0.2

    (found,) = answer(rows).jobs

    assert [(group.kind, [nic[-1] for nic in group.nics]) for group in found.groups] == [
        ("dp", ["0", "1"]), ("dp", ["2", "3"]), ("dp", ["4", "5"]), ("pp", ["0", "2", "4"]), ("pp", ["1", "3", "5"]),
    ]  # fmt: skip


@pytest.mark.parametrize("scatter", [1, 2], ids=["one connection", "two connections"])
def test_stalled_rank_is_named_and_not_who_sends_to_it(scatter: int) -> None:
    """Whom a NIC waits for is who gets its first data of a step, not who gets most of it."""
    rows, _ = fsdp(40, scatter=scatter, stalls=(15, 30))

    (found,) = answer(rows).jobs

    named = [(finding.kind, finding.subject and finding.subject.nic) for finding in found.findings]
    assert named == [("slow_step", "10.0.0.3")] * 2


@pytest.mark.parametrize("nics", [3, 4, 5])
def test_slow_rank_of_fsdp_begins_its_scatter_late(nics: int) -> None:
    """What is slow between gather and scatter is late at the scatter; of three most are, for one waits for it."""
    rows, _ = fsdp(40, nics=nics, scatter=2, slow=20)

    (found,) = answer(rows).jobs

    (finding,) = found.findings
    assert finding.kind == "slow_compute"
    assert finding.subject is not None
    assert finding.subject.nic == f"10.0.0.{nics - 2}"


def work_of_two(*, stall: float = 0.0, busy: float = 0.0) -> np.ndarray[Any, np.dtype[np.float64]]:
    """(steps, NICs) microseconds of own work of two stages of 12 steps of .4 s, in milliseconds' reach.

    The first sends what the second calls for, and has back what that made of it.

    Args:
        stall: seconds that the second does nothing before it calls, in step 7.
        busy: seconds that the first takes longer until it has something to send, in the same step.
    """
    start = np.arange(12, dtype=np.int64) * 400_000 + 1_800_000_000_000_000
    rows = []
    for step, begun in enumerate((start / SECOND).tolist()):
        calls = begun + 0.002 + stall * (step == 7)
        ready = begun + 0.05 + busy * (step == 7)
        goes = max(ready, calls + 0.0005)
        rows += [sent(calls, 1, 0, 114)] + ([sent(ready, 0, 1, 114)] if goes > ready else [])
        rows += [sent(goes, 0, 1), sent(goes + 0.049, 1, 0)]
    connections = find_connections(table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"), Topology())
    return own_work(
        connections, Topology(), JobFlows((0, 1), (0,), ()), Timeline(start, start + 399_999, 400_000.0)
    ).values


@pytest.mark.parametrize(
    ("stall", "busy", "at_work"),
    [(0.25, 0.0, 1), (0.0, 0.2, 0)],
    ids=["the second stalls", "the first is slow"],
)
def test_who_waits_does_not_work(stall: float, busy: float, at_work: int) -> None:
    """Data goes out when its receiver calls: its sender had nothing to do, and said so; who calls late was busy."""
    more = work_of_two(stall=stall, busy=busy)[7] - np.median(work_of_two(), axis=0)

    assert more[at_work] == pytest.approx((stall + busy) * SECOND, rel=0.05)
    assert more[1 - at_work] == pytest.approx(0, abs=5_000)


def test_who_answers_no_call_hangs() -> None:
    """All who exchange data with it called later than it said anything, though it fell silent hardly before others."""
    rows, ends = fsdp(30)
    rows += [sent(ends[-1] + 0.001 * nic, nic, (nic + 2) % 5, 400, port=7) for nic in (3, 0, 1, 2, 4)]
    rows += [sent(ends[-1] + 0.02, near, far, 114) for near, far in ((0, 4), (1, 0), (2, 3), (4, 3))]
    rows += [(*row[:4], 66, *row[5:8], 1, 17) for row in around(ends[-1] + 20)]

    (found,) = answer(rows).jobs

    (hang,) = (finding for finding in found.findings if finding.kind == "hang")
    assert hang.subject is not None
    assert hang.subject.nic == "10.0.0.3"
    assert "none of the 2 that exchange data with it had an answer" in hang.because


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


def test_a_drift_inside_a_burst_ends_no_step() -> None:
    """The silence in which a ring waits for its slow member grows, until it is longer than that between two steps."""
    clock, rows = 0.0, []
    for step in range(60):
        for piece, (after, size) in enumerate(((0.19, 140_000), (0.008, 1_860_000))):
            clock += after + (0.01 * max(0, step - 13) if piece else 0.0)
            rows.append((clock * 1e6, (clock + 0.01) * 1e6, size))
            clock += 0.01

    found = find_boundaries(np.array(rows).astype(np.int64))

    assert found is not None
    assert found.last.tolist() == list(range(1, 120, 2))


def test_a_ring_beside_a_slow_one_keeps_its_own_steps() -> None:
    """The latest end of each step counts, though the quick group's end of the next step is nearer."""
    slow = np.cumsum(np.where(np.arange(40) % 40 < 30, 900_000, 400_000)).astype(np.int64)
    quick = slow - np.where(np.arange(40) < 30, 520_000, 20_000)

    assert latest([slow, quick]).tolist() == slow.tolist()
