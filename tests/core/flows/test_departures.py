"""When a step ends by what its NICs send next: a rank may go on long after its last data has arrived."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from core.flows.analyse import analyse
from core.flows.answer import FlowsAnswer, JobAnswer
from core.flows.table import table_from
from core.flows.topology import topology_from

SECOND = 1_000_000
COLUMNS = ["start_us", "end_us", "src", "dst", "bytes", "sport", "dport", "proto", "packets", "tcp_flags"]
NICS, STEPS = 4, 30
BURST = 0.02  # seconds of the data of a step
Row = tuple[Any, ...]


def sent(begin: float, near: int, far: int, size: int, *, port: int, lasts: float = 0.0) -> Row:
    start = round(begin * SECOND)
    packets = max(1, size // 4_000)
    return (
        start, start + round(lasts * SECOND), f"10.0.0.{near}", f"10.0.0.{far}", size, port, port, 6, packets, 24,
    )  # fmt: skip


def ring(ends: list[float]) -> list[Row]:
    """The data of each step, around all NICs, and one message of a set-up that makes no difference."""
    rows = [sent(ends[0] - 2, 0, 2, 400, port=9)]
    for end in ends:
        rows += [sent(end - BURST, nic, (nic + 1) % NICS, 3_000_000, port=1, lasts=BURST) for nic in range(NICS)]
    return rows


def clock() -> list[float]:
    """When the data of each step has arrived; steps are never equally long."""
    random = np.random.default_rng(3)
    return list(1.8e9 + np.cumsum(0.4 * (1 + 0.03 * random.standard_normal(STEPS))))


def answer(rows: list[Row]) -> FlowsAnswer:
    table = table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up")
    return analyse(table, topology_from({"schema": "firstfault.topology/1"}))


def lengths(rows: list[Row]) -> Any:
    (job,) = answer(rows).jobs
    return ends_of(job)


def ends_of(job: JobAnswer) -> Any:
    return job.timeline.end / SECOND


def norms(ends: list[float], late: dict[tuple[int, int], float], *, usual: float = 0.0005) -> list[Row]:
    """A small message of each NIC behind each step, on a connection of its own."""
    return [
        sent(end + late.get((step, nic), usual), nic, (nic + 2) % NICS, 400, port=7)
        for step, end in enumerate(ends)
        for nic in range(NICS)
    ]


def test_step_ends_when_the_last_rank_speaks() -> None:
    """A rank that was kept from going on for 30 ms belongs to the step, though its data had arrived."""
    ends = clock()

    found = lengths(ring(ends) + norms(ends, {(10, 2): 0.03, (20, 1): 0.015}))

    later = np.zeros(STEPS)
    later[[10, 20]] = 0.03 - 0.0005, 0.015 - 0.0005
    assert np.diff(found) == pytest.approx(np.diff(np.array(ends) + later), abs=2e-5)


@pytest.mark.parametrize(
    "rows",
    [
        lambda ends: ends[:0],
        lambda ends: norms(ends, {}, usual=0.02),
        lambda ends: [sent(ends[0] + 0.037 * turn, 1, 3, 400, port=8) for turn in range(300)],
        lambda ends: norms(ends, {(5, 3): 0.35, (6, 3): 0.36}),
        lambda ends: norms(ends, {(5, 3): 0.1}),
    ],
    ids=["nothing follows", "what follows other work", "a heartbeat of its own", "of the next step", "behind a stall"],
)
def test_what_tells_of_no_departure_changes_nothing(rows: Any) -> None:
    """Messages that come later as a rule, at any time, or in the middle of the next step."""
    ends = clock()

    found = lengths(ring(ends) + rows(ends))

    assert np.diff(found) == pytest.approx(np.diff(ends), abs=2e-5)


def test_it_is_told_that_nobody_is_seen_to_go_on() -> None:
    """Where nothing follows the last data of a step, its end is less sure, and the answer says so."""
    ends = clock()

    told = [{skip.step for skip in answer(ring(ends) + more).skipped} for more in ([], norms(ends, {}))]

    assert ["step ends" in steps for steps in told] == [True, False]


def test_message_within_the_last_record_counts() -> None:
    """A record of data that ends with acknowledgements is longer than its data: the message began before its end."""
    ends = clock()

    found = lengths(ring(ends) + norms(ends, {}, usual=-0.0004))

    assert np.diff(found) == pytest.approx(np.diff(ends), abs=2e-5)


def test_calls_for_data_on_its_own_connection_are_no_departure() -> None:
    """On the connections of the data each NIC calls for more of it in the middle; what follows the data counts."""
    ends = clock()
    calls = [
        sent(end + after, (nic + 1) % NICS, nic, 114, port=1)
        for step, end in enumerate(ends)
        for nic in range(NICS)
        for after in (-0.01, 0.02 if (step, nic) == (12, 0) else 0.0007)
    ]

    found = lengths(ring(ends) + calls)

    later = np.zeros(STEPS)
    later[12] = 0.02 - 0.0007
    assert np.diff(found) == pytest.approx(np.diff(np.array(ends) + later), abs=2e-5)


def test_message_before_the_last_data_that_a_nic_sends_counts() -> None:
    """A rank that received all goes on, though the last that it sends leaves its kernel a little later."""
    ends = clock()
    late = [sent(end - 0.001, 1, 2, 300_000, port=1, lasts=0.001) for end in ends]
    calls = [sent(end + (0.0005 if step % 5 else -0.0015), 1, 3, 114, port=7) for step, end in enumerate(ends)]
    work = [sent(end + 0.1, 1, 3, 114, port=7) for end in ends]

    found = lengths(ring([end - 0.002 for end in ends]) + late + calls + work)

    assert np.diff(found) == pytest.approx(np.diff(ends), abs=2e-3)


def batches(ends: list[float], late: dict[tuple[int, int], float], *, usual: float = 0.0005) -> list[Row]:
    """A request of each NIC to storage at the beginning of each step, on a new connection each time."""
    return [
        (*sent(end + late.get((step, nic), usual), nic, 250, 400, port=9)[:5], 20_000 + step, 9, 6, 2, 24)
        for step, end in enumerate(ends)
        for nic in range(NICS)
    ]


def beside_storage(rows: list[Row]) -> Any:
    machine = {"name": "storage", "addresses": ["10.0.0.250"], "role": "storage"}
    table = table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up")
    (job,) = analyse(table, topology_from({"schema": "firstfault.topology/1", "infrastructure": [machine]})).jobs
    assert len(job.nics) == NICS
    return ends_of(job)


def test_call_for_the_next_batch_tells_who_has_left() -> None:
    """What goes to storage is no traffic of the job, and yet the first that a rank says when its step is over."""
    ends = clock()

    found = beside_storage(ring(ends) + batches(ends, {(10, 2): 0.03, (20, 1): 0.015}))

    later = np.zeros(STEPS)
    later[[10, 20]] = 0.03 - 0.0005, 0.015 - 0.0005
    assert np.diff(found) == pytest.approx(np.diff(np.array(ends) + later), abs=2e-5)


def test_what_is_sent_to_storage_at_any_time_changes_nothing() -> None:
    """A loader that reads ahead asks for batches when it has room."""
    ends = clock()
    ahead = [sent(ends[0] + 0.037 * turn, 1, 250, 400, port=8) for turn in range(300)]

    found = beside_storage(ring(ends) + ahead)

    assert np.diff(found) == pytest.approx(np.diff(ends), abs=2e-5)
