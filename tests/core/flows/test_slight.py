"""What is slow by little counts only with a name; and a link that is slow to send on names its sender."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from core.flows.analyse import analyse
from core.flows.answer import FlowFinding
from core.flows.table import table_from
from core.flows.topology import Topology

SECOND = 1_000_000
COLUMNS = ["start_us", "end_us", "src", "dst", "bytes", "sport", "dport", "proto", "packets", "tcp_flags"]
NICS, STEPS, PERIOD, BURST = 5, 50, 0.4, 0.01
Row = tuple[Any, ...]


def record(begin: float, near: int, far: int, size: int, *, lasts: float, flags: int = 24) -> Row:
    start = round(begin * SECOND)
    return (
        start, start + round(lasts * SECOND), f"10.0.0.{near}", f"10.0.0.{far}", size, 1, 1, 6,
        max(1, size // 4_000), flags,
    )  # fmt: skip


def findings(
    more: dict[int, float],
    *,
    late: int | None = None,
    slow: int | None = None,
    queue: float = 0.0,
    calls: bool = False,
    hidden: bool = False,
) -> tuple[FlowFinding, ...]:
    """Of a ring.

    Args:
        more: seconds that a step takes longer.
        late: who begins to send that much later than the others; who sends to it waits with it.
        slow: whose data takes that much longer to be sent.
        queue: seconds behind its data, that it is acknowledged in those steps.
        calls: receivers call for data, at any time of a step, so that the sums of what lies before a word tell nothing.
        hidden: steps are no longer than others for it, and differ by a tenth.
    """
    random = np.random.default_rng(5)
    rows, end = [record(1.8e9 - 3, 0, 2, 400, lasts=0.0)], 1.8e9
    for step in range(STEPS):
        longer = more.get(step, 0.0)
        noise = 0.1 if hidden else 0.005
        end += PERIOD * (1 + noise * random.standard_normal()) + longer * (not hidden)
        for nic in range(NICS):
            far = (nic + 1) % NICS
            lasts = BURST + longer * (nic == slow)
            begin = end - lasts - (longer if late is not None and nic not in (late, late - 1) else 0.0)
            rows.append(record(begin, nic, far, 3_000_000, lasts=lasts))
            if calls:
                rows.append(record(end - 0.05 - longer - 0.3 * random.random(), far, nic, 100, lasts=0.0))
            after = queue if nic == slow and longer else 0.00005
            rows.append(record(begin + 0.0001, far, nic, 66, lasts=lasts - 0.0001 + after, flags=16))
    (job,) = analyse(table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"), Topology()).jobs
    return job.findings


def named(found: tuple[FlowFinding, ...]) -> list[tuple[str, str | None]]:
    return [(finding.kind, finding.subject.nic if finding.subject else None) for finding in found]


def test_stall_of_a_quarter_of_a_step_is_told_with_its_rank() -> None:
    """Somebody clearly began later; the same slowness of all alike is noise, and nobody hears of it."""
    assert named(findings({30: 0.1}, late=3)) == [("slow_step", "10.0.0.3")]
    assert named(findings({30: 0.1})) == []


def test_who_enters_a_ring_late_stalled_it_where_work_tells_nothing() -> None:
    """What a rank works is hidden between calls of any time; when it first sends is not."""
    assert named(findings({30: 0.3}, late=3, calls=True)) == [("slow_step", "10.0.0.3")]


@pytest.mark.parametrize("first", [15, 25])
def test_stretch_of_six_hundredths_is_told_with_its_rank(first: int) -> None:
    """Below .08 a stretch counts only with a name."""
    more = dict.fromkeys(range(first, first + 20), 0.024)

    assert named(findings(more, late=3)) == [("slow_compute", "10.0.0.3")]
    assert named(findings(more)) == []


def test_who_sends_slowly_is_told_from_who_receives_slowly() -> None:
    """Both take as long; what is sent slowly waits nowhere, what comes in slowly queues before its receiver."""
    more = dict.fromkeys(range(20, 40), 0.15)

    assert named(findings(more, slow=1)) == [("slow_nic", "10.0.0.1")]
    assert named(findings(more, slow=1, queue=0.004)) == [("slow_nic", "10.0.0.2")]


def test_link_that_is_slow_by_its_own_signs_is_named_though_no_step_is_longer() -> None:
    """Noise hides it in the lengths of steps; its acknowledgements are late in these steps and in no others."""
    more = dict.fromkeys(range(15, 35), 0.03)

    assert named(findings(more, slow=1, queue=0.03, hidden=True)) == [("slow_nic", "10.0.0.2")]
    assert named(findings(more, hidden=True)) == []
    assert named(findings(dict.fromkeys(range(20), 0.03), slow=1, queue=0.03, hidden=True)) == []


def test_late_answers_without_a_queue_name_the_sender() -> None:
    """In a group of two both send: what one sends in pieces is answered at once, though the answers go on as long."""
    random = np.random.default_rng(5)
    rows, end = [record(1.8e9 - 3, 0, 1, 400, lasts=0.0)], 1.8e9
    for step in range(STEPS):
        slow = 15 <= step < 35
        end += PERIOD * (1 + 0.005 * random.standard_normal()) + 0.15 * slow
        for pair in (0, 2):
            pieces = 50 if slow and pair == 0 else 1
            for piece in range(pieces):
                begin = end - (0.003 * (pieces - piece) if pieces > 1 else BURST)
                lasts = 0.0002 if pieces > 1 else BURST
                rows.append(record(begin, pair, pair + 1, 3_000_000 // pieces, lasts=lasts))
                rows.append(record(begin + lasts, pair + 1, pair, 66, lasts=0.00005, flags=16))
                if pieces > 1:  # the program's own calls, which the answers' ends hold
                    rows.append(record(begin + 0.0004, pair + 1, pair, 100, lasts=0.002))
            rows.append(record(end - BURST, pair + 1, pair, 3_000_000, lasts=BURST))
        for near, far in ((0, 2), (1, 3)):
            for place in range(6):
                rows.append((*record(end - 0.35 + 0.02 * place, near, far, 400_000, lasts=0.001)[:5], 2, 2, 6, 100, 24))
                rows.append((*record(end - 0.34 + 0.02 * place, far, near, 400_000, lasts=0.001)[:5], 2, 2, 6, 100, 24))
    (job,) = analyse(table_from(pl.DataFrame(rows, COLUMNS, orient="row"), "made up"), Topology()).jobs

    assert named(job.findings) == [("slow_nic", "10.0.0.0")]
