"""Whose own work is slow among experts, who all wait for the last one in each exchange."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from core.flows.analyse import analyse
from core.flows.answer import JobAnswer
from core.flows.table import table_from
from core.flows.topology import Topology

SECOND = 1_000_000
COLUMNS = ["start_us", "end_us", "src", "dst", "bytes", "sport", "dport", "proto", "packets", "tcp_flags"]
STEPS, EXCHANGES = 40, 4
Row = tuple[Any, ...]


def sent(begin: float, near: int, far: int, size: int, *, port: int, lasts: float = 0.001) -> Row:
    start = round(begin * SECOND)
    packets = max(1, size // 4_000)
    end = start + round(lasts * SECOND)
    return start, end, f"10.0.0.{near}", f"10.0.0.{far}", size, port, port, 6, packets, 24


def experts(nics: int, *, slow: int | None = None, late: int | None = None, lost: int = 0) -> JobAnswer:
    """A job of which all exchange with all several times a step, then send gradients around a ring.

    Args:
        slow: from step 20 on its work takes half as long again.
        lost: every how manyth record is missing; 0 for none.
        late: from step 20 on what is sent to it arrives 30 ms later, as its acknowledgements show.
    """
    random = np.random.default_rng(0)
    free, rows = np.full(nics, 1.8e9), []
    for step in range(STEPS):
        for _ in range(EXCHANGES):
            work = 0.05 * (1 + 0.03 * random.standard_normal(nics))
            if slow is not None and step >= 20:
                work[slow] *= 1.5
            there = free + work
            done = there.copy()
            for near in range(nics):
                for far in range(nics):
                    if near == far:
                        continue
                    begin = max(there[near], there[far])
                    held = 0.03 if far == late and step >= 20 else 0.0
                    rows.append(sent(begin, near, far, 200_000, port=2))
                    ack = sent(begin + 0.0005, far, near, 66, port=2, lasts=0.0005 + held)
                    rows.append((*ack[:8], 1, 16))
                    done[far] = max(done[far], begin + 0.001 + held)
            free = done
        begin = float(free.max()) + 0.001
        rows += [sent(begin, nic, (nic + 1) % nics, 3_000_000, port=1, lasts=0.008) for nic in range(nics)]
        free = np.full(nics, begin + 0.008)
    if lost:
        del rows[::lost]
    frame = pl.DataFrame(rows, COLUMNS, orient="row").with_columns(switch=pl.lit("leaf-0"))
    table = table_from(frame, "made up")
    (job,) = analyse(table, Topology()).jobs
    return job


@pytest.mark.parametrize("nics", [3, 4, 6])
def test_slow_expert_is_named(nics: int) -> None:
    """All enter the ring at once, for all wait for it in each exchange; only it works longer in between."""
    job = experts(nics, slow=1)

    (finding,) = job.findings
    assert {group.kind for group in job.groups} == {"dp", "ep"}
    assert (finding.kind, finding.steps) == ("slow_compute", (20, STEPS - 1))
    assert finding.subject is not None
    assert finding.subject.nic == "10.0.0.1"


def test_slow_expert_is_named_where_some_of_its_exchanges_are_not_seen() -> None:
    """Steps with a record too few tell nothing; those that are whole are enough."""
    (finding,) = experts(4, slow=1, lost=307).findings

    assert finding.subject is not None
    assert (finding.kind, finding.subject.nic) == ("slow_compute", "10.0.0.1")


def test_slow_link_among_experts_is_no_slow_work() -> None:
    """Who receives late begins its work late, and so the next exchange; its acknowledgements tell why."""
    (finding,) = experts(4, late=2).findings

    assert finding.kind == "slow_nic"
    assert finding.subject is not None
    assert finding.subject.nic == "10.0.0.2"


def test_healthy_experts_accuse_nobody() -> None:
    """Work that differs by chance."""
    assert experts(4).findings == ()
