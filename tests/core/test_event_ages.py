"""Events that kubectl listed by their ages stand among the lines that have a clock."""

import pytest

from core.diagnose import diagnose
from core.job import Status
from core.model import Scope
from core.parsed import Parsed
from tests.support.jobs import at, job, lines, parse

HEAD = "LAST SEEN   TYPE      REASON        OBJECT                MESSAGE"
MOUNT = 'MountVolume.SetUp failed for volume "kube-api-access-x7k2p" : failed to sync configmap cache: timed out'


def listed(*events: str) -> dict[str, str]:
    """Four pods that count for a minute and are stopped, and what kubectl says of them."""
    pods = {
        f"trainer-worker-{n}.log": lines(
            *(at(k, f"INFO rank {n} iteration {k} loss 2.5") for k in range(1, 61)),
            at(60.2, "W1121 04:01:00.200000 71 torch/distributed/elastic/agent/server/api.py:719] Received 15 death"),
        )
        for n in range(4)
    }
    return pods | {"events.txt": lines(HEAD, *events)}


def seconds(parsed: Parsed) -> list[float]:
    """When each event was last seen, in seconds since the first line of the job."""
    table = parsed.table
    rows = table.rows_of_file(table.files.index("logs/events.txt"))
    began = int(table.time[table.rows_of_file(table.files.index("logs/trainer-worker-0.log")).start])
    return [round((int(table.time[row]) - began) / 1e6, 1) for row in range(rows.start + 1, rows.stop)]


@pytest.mark.parametrize("namespace", ["", "ml-train   "])
@pytest.mark.parametrize(
    ("started", "ended", "told"),
    [
        ("90s", "30s", [-0.8, 59.2]),  # the youngest is the end of the job
        ("10m", "8m", [-60.8, 59.2]),
        ("3h2m", "3h", [-60.8, 59.2]),
        (
            "91s",
            "31s",
            [-0.8, 59.2],
        ),  # kubectl ran a second after the last line: the pod was killed when it was told to end
        ("80s", "50s", [1.0, 31.0]),  # a container had started when the first line was written, but for a unit
    ],
)
def test_ages_become_times(started: str, ended: str, told: list[float], namespace: str) -> None:
    """By the last line of the job, and by its first where a container started."""
    events = [
        f"{namespace}{started}   Normal   Started   pod/trainer-worker-0   Started container pytorch",
        f"{namespace}{ended}   Normal   Killing   pod/trainer-worker-0   Stopping container pytorch",
    ]

    assert seconds(parse(job(listed(*events)))) == pytest.approx(told, abs=0.5)


def test_a_mount_that_failed_before_the_container_started_did_not_stop_the_job() -> None:
    """The kubelet tries again: what ended the job is that its pods were preempted."""
    events = (
        f"12m         Warning   FailedMount   pod/trainer-worker-0  {MOUNT}",
        *(f"90s         Normal    Started       pod/trainer-worker-{n}  Started container pytorch" for n in range(4)),
        "32s         Normal    Preempted     pod/trainer-worker-0  Preempted by pod 5f0c7a1e-2b7d on node n7",
        *(f"30s         Normal    Killing       pod/trainer-worker-{n}  Stopping container pytorch" for n in range(4)),
    )

    found = diagnose(job(listed(*events), status=Status.FAILED), [])

    assert (found.scope, found.nodes) == (Scope.NONE, ())
