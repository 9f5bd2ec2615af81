"""Made-up rings: several buckets a step, a link that is slow both ways, a dead NIC of RoCE, records of a time-out."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from core.flows.analyse import analyse
from core.flows.answer import FlowsAnswer
from core.flows.boundaries import find_boundaries
from core.flows.groups import WHOLE
from core.flows.table import table_from
from core.flows.topology import topology_from
from core.flows.transfers import uniform

SECOND = 1_000_000
BEGIN = 1.8e9
COLUMNS = ["start_us", "end_us", "src", "dst", "bytes", "packets", "sport", "dport", "proto", "tcp_flags"]
STORAGE = "10.0.9.1"
Row = tuple[Any, ...]


def nic(place: int) -> str:
    return f"10.0.0.{place}"


def sent(
    begin: float, near: str, far: str, size: int, *, lasts: float = 0.0, port: int = 4791, flags: int | None = None
) -> Row:
    """A record of RoCE, or with ``flags`` of TCP."""
    start, proto = round(begin * SECOND), 17 if flags is None else 6
    end = start + round(lasts * SECOND)
    return start, end, near, far, size, max(1, size // 4_000), 50_000, port, proto, flags or 0


def acknowledged(row: Row, later: float = 0.00002) -> Row:
    """The answer to a record, that ends so many seconds behind it."""
    start, end, near, far, _, packets, sport, dport, proto, flags = row
    many = max(1, packets // 64)
    return start + 15, end + round(later * SECOND), far, near, 62 * many, many, sport, dport, proto, flags


def answer(rows: list[Row], *, servers: int = 0) -> FlowsAnswer:
    """Of some rows, with a server for each of some NICs."""
    topology = {
        "schema": "firstfault.topology/1",
        "servers": [{"name": f"node-{place}", "nics": [nic(place)]} for place in range(servers)],
        "infrastructure": [{"name": "store", "addresses": [STORAGE], "role": "storage"}],
    }
    frame = pl.DataFrame(rows, COLUMNS, orient="row").with_columns(switch=pl.lit("leaf"))  # named: so none is a copy
    return analyse(table_from(frame, "made up"), topology_from(topology))


def buckets(many: int, *, spoken: bool = False, stored: bool = False) -> list[Row]:
    """Thirty steps of a ring of four with some equal bursts each; one of the bursts comes in two pieces.

    Args:
        spoken: there is a word between ranks behind each burst, not only behind the last one.
        stored: the first writes 4 MB to storage behind each step.
    """
    random, rows, now = np.random.default_rng(3), [], BEGIN
    for step in range(30):
        for bucket in range(many):
            now += 0.1 * (1 + 0.01 * random.standard_normal())
            pieces = 2 if (step, bucket) == (10, 0) else 1
            for place in range(4):
                for piece in range(pieces):
                    size, lasts = 30_000_000 // pieces, 0.018 / pieces
                    row = sent(now + piece * 0.016, nic(place), nic((place + 1) % 4), size, lasts=lasts)
                    rows += [row, acknowledged(row)]
            if spoken or bucket == many - 1:
                rows.append(sent(now + 0.026, nic(2), nic(0), 400, port=41_000, flags=24))
        if stored:
            rows.append(sent(now + 0.05, nic(0), STORAGE, 4_000_000, port=2_049, flags=24))
        now += 0.15
    return rows


@pytest.mark.parametrize("many", [1, 2, 3, 4, 6])
def test_several_equal_bursts_are_one_step(many: int) -> None:
    """Buckets of gradients: the silence behind the last one is the forward pass of the next step."""
    (job,) = answer(buckets(many)).jobs

    assert len(job.timeline) == 30
    assert job.findings == ()


@pytest.mark.parametrize("why", ["spoken", "stored"])
def test_bursts_that_each_end_a_step_stay_steps(why: str) -> None:
    """The norm of the gradients is sent once a step; and a checkpoint every so many steps is a long silence too."""
    (job,) = answer(buckets(4, **{why: True})).jobs

    assert len(job.timeline) == 120


def ring(
    lasts: Callable[[int, int], float],
    *,
    late: Callable[[int, int], float] = lambda *_: 0.0,
    queued: int | None = None,
    work: float = 0.3,
    size: int = 60_000_000,
    parts: int = 1,
    busy: float = 0.0,
) -> list[Row]:
    """Forty steps of a ring of six.

    Args:
        lasts: seconds that the transfer of a NIC lasts in a step.
        late: seconds that it begins later.
        queued: who acknowledges .8 ms later where its transfers are long.
        parts: records of a transfer, without silence in between.
        busy: seconds that all acknowledge later.
    """
    random, rows, now = np.random.default_rng(7), [], BEGIN
    for step in range(40):
        now += work * (1 + 0.005 * random.standard_normal())
        length = [lasts(step, place) for place in range(6)]
        for place, last in enumerate(length):
            far = (place + 1) % 6
            for part in range(parts):
                begin = now + late(step, place) + part * last / parts
                row = sent(begin, nic(place), nic(far), size // parts + 4_000 * part, lasts=last / parts - 0.000005)
                slow = last > 2 * min(length) and far == queued
                rows += [row, acknowledged(row, busy + (0.0008 if slow else 0.00002))]
        now += max(late(step, place) + last for place, last in enumerate(length))
        rows.append(sent(now + 0.0002, nic(2), nic(0), 400, port=41_000, flags=24))
    return rows


def test_link_that_is_slow_both_ways_is_told_by_the_queue_before_it() -> None:
    """What NIC 3 receives and what it sends are equally long; data waits before NIC 3 and not before NIC 4."""
    rows = ring(lambda step, place: 0.2 if step >= 20 and place in (2, 3) else 0.05, queued=3, parts=20)

    (finding,) = answer(rows, servers=6).jobs[0].findings

    assert finding.kind == "slow_nic"
    assert finding.subject is not None
    assert finding.subject.nic == nic(3)


def test_two_long_transfers_without_a_queue_accuse_no_nic() -> None:
    """Without a queue the records do not tell whose link it is."""
    rows = ring(lambda step, place: 0.2 if step >= 20 and place in (2, 3) else 0.05, parts=20)

    assert all(
        finding.subject is None or finding.subject.nic is None for finding in answer(rows, servers=6).jobs[0].findings
    )


@pytest.mark.parametrize("busy", [0.0, 0.0012])
def test_link_that_is_slow_to_send_on_is_told_on_a_busy_machine(busy: float) -> None:
    """All acknowledge late there; so nothing waits longer before the receiver than before others."""
    rows = ring(lambda step, place: 0.2 if step >= 20 and place == 2 else 0.05, parts=20, busy=busy)

    (finding,) = answer(rows, servers=6).jobs[0].findings

    assert finding.kind == "slow_nic"
    assert finding.subject is not None
    assert finding.subject.nic == nic(2)


@pytest.mark.parametrize(("closing", "kinds"), [(None, ["hang"]), (0.1, [])], ids=["open", "closed at once"])
def test_a_dead_nic_of_roce_is_named(closing: float | None, kinds: list[str]) -> None:
    """Its control connection stays open, and it acknowledges none of what is sent to it again and again."""
    found = [finding for job in stopped(closing, control=True).jobs for finding in job.findings]

    assert [finding.kind for finding in found] == kinds
    for finding in found:
        assert finding.subject is not None
        assert finding.subject.nic == nic(3)
        assert "acknowledged none of the last 3 records" in finding.because


def test_without_a_connection_of_tcp_a_job_of_roce_may_have_ended() -> None:
    """RoCE tells of no connection whether it is open: that is said, and no hang."""
    seen = stopped(None, control=False)

    assert all(job.findings == () for job in seen.jobs)
    assert "hang" in {skip.step for skip in seen.skipped}


def stopped(closing: float | None, *, control: bool) -> FlowsAnswer:
    """A ring of which NIC 3 died.

    Args:
        closing: seconds behind its last data, when the control connection is closed; None: it is not.
        control: there is one.
    """
    rows = [row for row in ring(lambda *_: 0.05) if control or row[8] != 6]
    last = max(row[1] for row in rows) / SECOND
    rows += [sent(last + again, nic(2), nic(3), 66_000) for again in (1, 2, 3)]
    rows.append(acknowledged(sent(last + 3, nic(2), nic(1), 66_000)))
    rows.append(sent(last + 20, "10.0.5.1", "10.0.5.2", 60_000_000))  # of another tenant: the capture goes on
    if closing is not None:
        rows.append(sent(last + closing, nic(2), nic(0), 66, port=41_000, flags=17))
    return answer(rows, servers=6)


def test_records_of_a_time_out_tell_who_began_late_where_silence_is_long() -> None:
    """Transfers of 6 s in two records each, and 39 s of silence; one of 14 s has records of 7 s: a step is seven."""

    def slow(step: int) -> bool:
        return 14 <= step < 24

    rows = ring(
        lambda step, place: 14.0 if slow(step) and place != 3 else 6.0,
        late=lambda step, place: 8.0 if slow(step) and place == 3 else 0.0,
        work=39.0,
        size=6_000_000_000,
        parts=2,
    )

    seen = answer(rows, servers=6)

    assert len(seen.jobs[0].timeline) == 40
    (finding,) = seen.jobs[0].findings
    assert (finding.kind, finding.subject and finding.subject.server) == ("slow_compute", "node-3")
    assert any("who began late" in skip.reason for skip in seen.skipped)


def one_way(lanes: list[tuple[int, int, int, int]]) -> list[Row]:
    """Thirty steps of what NICs send (from, to, bytes, how often a step), each on a connection of its own."""
    random, rows, now = np.random.default_rng(5), [], BEGIN
    for _ in range(30):
        now += 0.1
        for number, (near, far, size, often) in enumerate(lanes):
            for turn in range(often):
                # what is often goes one way, then the other, before what is sent once; a burst is at once both ways
                begin = now + (0.02 * turn + 0.01 * (near > far) if often > 1 else 0.2) + 0.0002 * random.random()
                row = sent(begin, nic(near), nic(far), size, lasts=0.005)
                row = (*row[:6], 50_000 + number, *row[7:])
                rows += [row, acknowledged(row)]
        now += 0.25
    return rows


def test_a_connection_for_each_way_is_a_pipeline_or_a_group_of_two() -> None:
    """Two stages of two replicas over queue pairs: 0 and 1 reduce gradients, so do 2 and 3; 0 sends on to 2."""
    stages = [(near, far, 2_000_000, 6) for near, far in ((0, 2), (2, 0), (1, 3), (3, 1))]
    replicas = [(near, far, 30_000_000, 1) for near, far in ((0, 1), (1, 0), (2, 3), (3, 2))]

    (job,) = answer(one_way(stages + replicas)).jobs

    assert sorted((group.kind, group.nics) for group in job.groups) == [
        ("dp", (nic(0), nic(1))), ("dp", (nic(2), nic(3))), ("pp", (nic(0), nic(2))), ("pp", (nic(1), nic(3))),
    ]  # fmt: skip


def test_two_rings_that_go_opposite_ways_are_one_group() -> None:
    """A ring that scatters one way and gathers the other, each on connections of its own, is no pipeline."""
    around = [(place, (place + 1) % 4, 30_000_000, 1) for place in range(4)]

    (job,) = answer(one_way([*around, *((far, near, size, often) for near, far, size, often in around)])).jobs

    assert [(group.kind, len(group.nics)) for group in job.groups] == [("dp", 4)]


def test_what_holds_the_bytes_of_two_steps_is_two_steps() -> None:
    """A silence between two steps that is shorter than those within is not among the long ones."""
    random = np.random.default_rng(1)
    bursts, now = [], 0
    for step in range(40):
        for part in range(4):
            size = 1_000_000 + int(random.integers(-500, 500))
            bursts.append((now, now + 20_000, size))
            now += 20_000 + (200_000 if part == 3 and step not in (11, 23) else 15_000)

    found = find_boundaries(np.array(bursts))

    assert found is not None
    assert found.last.tolist() == list(range(3, 160, 4))


def test_two_steps_that_ran_together_in_one_burst_stay_one() -> None:
    """Nothing within it tells where the first of them ends."""
    bursts = [(step * 300_000, step * 300_000 + 20_000, 2_000_000 if step == 17 else 1_000_000) for step in range(40)]

    found = find_boundaries(np.array(bursts))

    assert found is not None
    assert found.last.tolist() == list(range(40))


@pytest.mark.parametrize(
    ("sizes", "whole"),
    [
        ([500_000] * 700 + [24 * 500_000] * 60, True),
        ([1_500] * 700 + [390_000 + 7_500 * place for place in range(60)], False),
    ],
    ids=["activations that a slow link joins", "pieces of a packet"],
)
def test_whole_activations_are_told_by_the_middle_transfer(sizes: list[int], *, whole: bool) -> None:
    """What a slow link holds up comes in many at once: most of the bytes, and few of the transfers."""
    transfers = np.array([(place, place, size) for place, size in enumerate(sizes)], np.int64)

    assert (uniform(transfers, 0.1, together=3) >= WHOLE) is whole
