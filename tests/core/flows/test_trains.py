"""Whose link is slow where it lets pieces through one by one, with silences between them that end a record."""

from typing import Any

import numpy as np
import polars as pl

from core.flows.analyse import analyse
from core.flows.answer import FlowFinding
from core.flows.table import table_from
from core.flows.topology import Topology

SECOND = 1_000_000
COLUMNS = ["start_us", "end_us", "src", "dst", "bytes", "sport", "dport", "proto", "packets", "tcp_flags"]
NICS, STEPS, SLOW_FROM = 4, 40, 20
BURST, APART = 0.02, 0.005  # seconds of the data of a step, and between two pieces of 64 kB at 100 Mbit/s
Row = tuple[Any, ...]


def record(begin: float, near: int, far: int, size: int, *, lasts: float = 0.0, flags: int = 24) -> Row:
    start = round(begin * SECOND)
    return (
        start, start + round(lasts * SECOND), f"10.0.0.{near}", f"10.0.0.{far}", size, 1, 1, 6,
        max(1, size // 4_000), flags,
    )  # fmt: skip


def findings(acknowledgements: list[list[float]]) -> tuple[FlowFinding, ...]:
    """Of a ring of which the slow steps are .12 s longer; NIC 2 acknowledges then at these moments behind its data.

    Args:
        acknowledgements: of each slow step in turn.
    """
    random = np.random.default_rng(5)
    rows, end = [record(1.8e9 - 3, 0, 2, 400)], 1.8e9
    for step in range(STEPS):
        slow = step >= SLOW_FROM
        end += 0.4 * (1 + 0.01 * random.standard_normal()) + 0.12 * slow
        for nic in range(NICS):
            far = (nic + 1) % NICS
            rows.append(record(end - BURST, nic, far, 3_000_000, lasts=BURST))
            rows.append(record(end - BURST + 0.0001, far, nic, 66, lasts=BURST, flags=16))
            if slow and far == 2:
                moments = acknowledgements[step % len(acknowledgements)]
                rows += [record(end + moment, far, nic, 66, flags=16) for moment in moments]
    (job,) = analyse(table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"), Topology()).jobs
    return job.findings


def test_acknowledgements_that_come_one_by_one_name_the_slow_link() -> None:
    """Each is a record of its own, for more than 2 ms lie between them."""
    train = [APART * turn for turn in range(1, 20)]

    (finding,) = findings([train])

    assert finding.kind == "slow_nic"
    assert finding.subject is not None
    assert finding.subject.nic == "10.0.0.2"


def test_slow_link_of_which_some_steps_ask_more_is_named() -> None:
    """Two levels when slow, both far above what was usual, and two steps of five below the middle of usual and slow."""
    trains = [[APART * turn for turn in range(1, count)] for count in (20, 6, 22, 6, 20)]

    (finding,) = findings(trains)

    assert finding.kind == "slow_nic"
    assert finding.subject is not None
    assert finding.subject.nic == "10.0.0.2"


def test_lone_acknowledgement_names_nobody() -> None:
    """One that waited for data to go with, or tells of what a program read, says nothing of the link."""
    (finding,) = findings([[0.039]])

    assert finding.kind == "slowdown"
    assert finding.subject is None


def test_acknowledgements_far_apart_are_no_train() -> None:
    """Between them the receiver was at work."""
    (finding,) = findings([[0.03, 0.12, 0.21, 0.3]])

    assert finding.subject is None


def slow_receipts(queue: float) -> tuple[FlowFinding, ...]:
    """Of a ring in which the data to NIC 2 lasts .12 s longer in slow steps, acknowledged ``queue`` s behind it."""
    random = np.random.default_rng(6)
    rows, end = [record(1.8e9 - 3, 0, 2, 400)], 1.8e9
    for step in range(STEPS):
        more = 0.12 if step >= SLOW_FROM else 0.0
        end += 0.4 * (1 + 0.01 * random.standard_normal()) + more
        for nic in range(NICS):
            far = (nic + 1) % NICS
            begin = end - BURST - (more if far == 2 else 0)
            early = end - BURST - more  # short transfers before, as of small buckets
            rows += [record(early - 0.008 * turn, nic, far, 300_000, lasts=0.001) for turn in range(1, 11)]
            rows.append(record(begin, nic, far, 3_000_000, lasts=end - begin))
            behind = queue if more and far == 2 else 0.00002
            rows.append(record(begin + 0.0001, far, nic, 66, lasts=end - begin - 0.0001 + behind, flags=16))
    (job,) = analyse(table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"), Topology()).jobs
    return job.findings


def test_link_to_which_data_lasts_longer_is_named_where_it_queues() -> None:
    """A millisecond of queue is far less than the step's lateness: congestion control keeps it short."""
    (finding,) = slow_receipts(queue=0.001)

    assert finding.kind == "slow_nic"
    assert finding.subject is not None
    assert finding.subject.nic == "10.0.0.2"


def test_what_is_sent_slowly_names_no_receiver() -> None:
    """Without a queue behind the last switch the data was late before it: its sender, or somebody before."""
    (finding,) = slow_receipts(queue=0.00002)

    assert finding.subject is None or finding.subject.nic != "10.0.0.2"
