"""Which node falls silent when a job hangs, though only the first rank tells of its steps."""

import pytest

from core.diagnose import diagnose
from core.job import Job, Status
from tests.support.jobs import at, job, lines


def monitored(silent: set[int], *, clock: bool) -> Job:
    """A job of six nodes in one file that stands still after forty seconds; a monitor of each speaks every ten."""
    said = []
    for second in range(1, 400):
        if second <= 40:
            said.append(f"gpu-0: [rank0]: {at(second, f'step {second} loss 2.5')}")
        if second % 10 == 0:
            seen = "[mon] util=98 temp=60"
            ones = [n for n in range(6) if n not in silent or second <= 40]
            said += [f"gpu-{n}: {at(second, seen) if clock else seen}" for n in ones]
    order = f"gpu-0: {at(401, 'slurmstepd: error: *** JOB 77 ON gpu-0 CANCELLED AT 2026-11-21T04:06:41 ***')}"
    ranks = {f"gpu-{n}": (2 * n, 2 * n + 1) for n in range(6)}
    return job({"all.log": lines(*said, order)}, status=Status.CANCELLED, nodes=tuple(ranks), node_ranks=ranks)


@pytest.mark.parametrize("clock", [True, False], ids=["with a clock", "by the order of lines"])
def test_the_node_whose_monitor_stops_with_the_job_is_named(clock: bool) -> None:
    """The five others go on to report that their devices are busy."""
    found = diagnose(monitored({3}, clock=clock), [])

    assert [node.node for node in found.nodes] == ["gpu-3"]
    assert "fell silent" in found.headline


@pytest.mark.parametrize("silent", [set(), {1, 2, 3}], ids=["none", "half of them"])
def test_when_none_or_many_fall_silent_nobody_is_named(silent: set[int]) -> None:
    """A monitor may end with the job."""
    assert diagnose(monitored(silent, clock=True), []).nodes == ()
