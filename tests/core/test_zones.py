"""Clocks of several zones in one job: the clock that most lines have is the job's, and the others are told by it."""

from datetime import timedelta

import numpy as np
import pytest

from core.course.pace import SECOND
from core.diagnose import diagnose
from core.job import Job, Status
from core.logs.lines import clock_form
from core.model import Scope
from tests.support.jobs import START, four_nodes, job, lines, parse


def zoned(seconds: float, text: str, hours: int = 9) -> str:
    """A line whose clock names its zone, so many hours ahead of UTC."""
    clock = START + timedelta(seconds=seconds, hours=hours)
    return f"{clock:%Y-%m-%dT%H:%M:%S}.{clock.microsecond // 1000:03d}+{hours:02d}:00 {text}"


def glog(seconds: float, text: str, hours: int = 9) -> str:
    """A line of c10d or torchrun: local time, and neither a year nor a zone."""
    clock = START + timedelta(seconds=seconds, hours=hours)
    return f"W{clock:%m%d %H:%M:%S}.000000 4711 {text}"


def stopped(last: int, end: float, hours: int, *, early: bool) -> Job:
    """Two ranks that count to an iteration, one a second, and are ended so many seconds after the start.

    early: their files begin with a line of c10d, which shows that its clock is another one.
    """
    head = [glog(0.1, "socket.cpp:207] [c10d] The hostname of the client socket cannot be retrieved. err=-3", hours)]
    end_line = glog(
        end, "torch/distributed/elastic/agent/server/api.py:753] Received 15 death signal, shutting down workers", hours
    )
    files = {
        f"node-{n}.log": lines(
            *(head if early else []),
            *(zoned(k, f"INFO r{n} iteration {k} loss 2.5", hours) for k in range(1, last + 1)),
            end_line,
        )
        for n in range(2)
    }
    return job(dict(files), nodes=("node-0", "node-1"), status=Status.CANCELLED, start="2026-11-21T04:00:00Z")


@pytest.mark.parametrize("hours", [9, 5, 3])
@pytest.mark.parametrize("early", [True, False])
def test_a_stop_by_another_clock_of_the_same_file_comes_when_it_came(hours: int, early: bool) -> None:
    """A logger with a zone beside torchrun's local time: the job did not stand still for nine hours."""
    found = diagnose(stopped(40, 40.5, hours, early=early), [])

    assert found.scope is Scope.NONE
    assert found.headline.startswith("Not a fault")


def test_a_hang_keeps_its_length() -> None:
    """Forty seconds without progress, not nine hours and forty seconds."""
    found = diagnose(stopped(40, 80.0, 9, early=True), [])

    assert "hung" in found.headline
    assert "40 s" in " ".join(found.why)


def test_a_scheduler_of_another_zone_did_not_stop_the_job_before_it_began() -> None:
    """Containers write UTC; slurmstepd, on the host, what its clock shows."""
    steps = [zoned(k, f"INFO iteration {k} loss 2.5", 0) for k in range(1, 41)]
    local = START + timedelta(hours=-5, seconds=41)
    order = f"slurmstepd: error: *** STEP 7.0 ON node-0 CANCELLED AT {local:%Y-%m-%dT%H:%M:%S} DUE TO TIME LIMIT ***"
    found = diagnose(four_nodes({}, usual=steps, others={"slurm.out": [order]}, status=Status.CANCELLED), [])

    assert found.headline.startswith("Not a fault")


def test_clocks_that_agree_are_left_alone() -> None:
    """A pause of an hour and twenty minutes is one, whoever writes the next line."""
    one = job({"node-0.log": lines(zoned(1, "iteration 1"), zoned(4800, "iteration 2"), zoned(4801, "iteration 3"))})

    assert np.diff(parse(one).table.time[:]).tolist() == [4799 * SECOND, SECOND]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (b"2026-11-21T04:00:00.123+09:00 up", "iso zoned"),
        (b"2026-11-21 04:00:00,123 up", "iso"),
        (b"W1121 04:00:00.000000 77 up", "glog"),
        (b"04:00:00 up", "clock"),
        (b"up since long", ""),
    ],
)
def test_clocks_are_told_apart_by_how_they_are_written(text: bytes, form: str) -> None:
    """And by whether they name their zone."""
    assert clock_form(text) == form


def test_a_file_with_a_clock_in_its_head_alone_is_not_of_another_zone() -> None:
    """submitit writes one line with a clock, bars follow without; torch's errors come half an hour later."""
    head = "submitit INFO ({clock:%Y-%m-%d %H:%M:%S},020) - Starting with JobEnvironment(job_id=77, global_rank=0(4))"
    bars = [f"Epoch 0: {n}%|##| {n}/100 [00:{n // 2:02}<00:10,  0.71it/s]" for n in range(1, 90)]
    files = {f"77_{n}_log.out": lines(head.format(clock=START), *(bars if n == 0 else ())) for n in range(4)}
    late = START + timedelta(minutes=36)
    told = (
        "[rank{n}]:[E{late:%m%d %H:%M:%S}.521257991 ProcessGroupNCCL.cpp:683] [Rank {n}] Watchdog caught collective "
        "operation timeout"
    )
    files |= {f"77_{n}_log.err": lines("LOCAL_RANK: 0", told.format(n=n, late=late)) for n in range(4)}
    spoke = parse(job(files, world_size=4)).table.spoke

    assert (int(spoke.last.max()) - int(spoke.first.min())) // SECOND == 36 * 60


def test_a_kernel_of_another_zone_tells_of_the_time_that_job_json_has() -> None:
    """Its log ends before the job began, by the job's own clock, and within it by that of job.json."""
    steps = [f"{START + timedelta(hours=1, seconds=k):%H:%M:%S}.500 step {k} loss 2.5" for k in range(1, 61)]
    waits = [f"{START + timedelta(hours=1, seconds=60 + 30 * k):%H:%M:%S}.500 still waiting" for k in range(1, 30)]
    stuck = "kernel: [77507.201552] watchdog: BUG: soft lockup - CPU#41 stuck for {n}s! [kworker/41:1:9911]"
    quiet = [
        f"{START + timedelta(minutes=n - 12):%b %d %H:%M:%S} NODE kernel: [{76657 + 60 * n}.5] usb 3-1: USB disconnect"
        for n in range(16)
    ]
    broken = [f"{START + timedelta(seconds=61 + n):%b %d %H:%M:%S} NODE {stuck.format(n=n)}" for n in (26, 54, 82)]
    files = {f"gpu-{n}.log": lines(*steps, *(() if n == 2 else waits)) for n in range(4)}
    files |= {
        f"kern-gpu-{n}.log": lines(
            *(text.replace("NODE", f"gpu-{n}") for text in (*quiet, *(broken if n == 2 else ())))
        )
        for n in range(4)
    }
    found = diagnose(
        job(
            dict(files),
            nodes=tuple(f"gpu-{n}" for n in range(4)),
            status=Status.CANCELLED,
            start="2026-11-21T04:00:00Z",
            end="2026-11-21T04:16:00Z",
        ),
        [],
    )

    assert [node.node for node in found.nodes] == ["gpu-2"]
    assert "its kernel stopped" in found.headline


def test_kernels_whose_last_word_comes_minutes_before_the_end_are_not_an_hour_late() -> None:
    """Their clocks show UTC, the job's are eight hours ahead: what they say falls into the job, not behind it."""
    steps = [f"{START + timedelta(hours=8, seconds=5 * k):%H:%M:%S}.500 step {k} loss 2.5" for k in range(1, 121)]
    quiet = [
        f"{START + timedelta(seconds=60 * n):%b %d %H:%M:%S} NODE kernel: usb 3-{n}: USB disconnect" for n in (0, 3, 7)
    ]
    files = {f"gpu-{n}.log": lines(*steps) for n in range(4)}
    files |= {f"kern-gpu-{n}.log": lines(*(text.replace("NODE", f"gpu-{n}") for text in quiet)) for n in range(4)}

    spoke = parse(job(dict(files))).table.spoke

    assert (int(spoke.last.max()) - int(spoke.first.min())) // SECOND < 11 * 60


def test_a_clock_without_a_date_is_of_the_day_that_seconds_since_1970_tell() -> None:
    """Flux counts them in its event log; beside bare clocks the job had stood still for 56 years."""
    steps = [f"{START + timedelta(seconds=5 * k):%H:%M:%S} step {k} loss 2.5" for k in range(1, 121)]
    began = START.timestamp()
    flux = (f"{began:.6f} submit userid=58123 urgency=16", f'{began + 610:.6f} exception type="cancel" severity=0')
    spoke = parse(job({"job.out": lines(*steps), "job.eventlog": lines(*flux)})).table.spoke

    assert (int(spoke.last.max()) - int(spoke.first.min())) // SECOND < 11 * 60


def test_files_by_one_clock_are_of_one_zone_whenever_each_of_them_ends() -> None:
    """A kernel that said its last word long before the end is no hour further away than its neighbours."""
    steps = [f"{START + timedelta(hours=8, seconds=20 * k):%H:%M:%S}.500 step {k} loss 2.5" for k in range(1, 61)]
    files = {f"gpu-{n}.log": lines(*steps) for n in range(3)}
    said = "kernel: perf: interrupt took too long (3474 > 3463), lowering kernel.perf_event_max_sample_rate to 42000"
    files |= {
        f"syslog/gpu-{n}.log": lines(
            *(f"{START + timedelta(minutes=m - 10):%b %d %H:%M:%S} gpu-{n} {said}" for m in range(0, last, 3))
        )
        for n, last in enumerate((31, 20, 31))
    }
    spoke = parse(job(dict(files))).table.spoke

    assert int(spoke.last.max()) <= int(spoke.first.min()) + (10 + 20 + 1) * 60 * SECOND


@pytest.mark.parametrize("planned", [True, False])
def test_one_form_of_clock_in_two_zones_is_told_apart_by_the_start_of_the_job(planned: bool) -> None:
    """A trainer in local time, and a stop in UTC of the same form: only job.json tells that it did not come before."""

    def local(seconds: float, text: str, hours: int) -> str:
        return f"{START + timedelta(seconds=seconds, hours=hours):%Y-%m-%d %H:%M:%S} {text}"

    files = {
        f"node-{n}.log": lines(*(local(k, f"INFO r{n} iteration {k} loss 2.5", 9) for k in range(1, 41)))
        for n in range(2)
    }
    when = START + timedelta(seconds=41)
    files["slurm.out"] = lines(f"slurmstepd: error: *** JOB 7 ON node-0 CANCELLED AT {when:%Y-%m-%dT%H:%M:%S} ***")
    span = {"start": f"{START:%Y-%m-%dT%H:%M:%SZ}", "end": f"{when:%Y-%m-%dT%H:%M:%SZ}"} if planned else {}

    table = parse(job(dict(files), nodes=("node-0", "node-1"), status=Status.CANCELLED, **span)).table
    stop = table.rows_of_file(table.files.index("logs/slurm.out")).start
    last = int(table.time[table.rows_of_file(table.files.index("logs/node-0.log")).stop - 1])

    assert bool(0 < int(table.time[stop]) - last < 2 * SECOND) is planned


def test_a_file_of_another_zone_that_ends_in_a_traceback_is_told_by_its_last_clock() -> None:
    """Frames have no clock: most lines of standard error may have none, and still its end is known."""
    frames = [f"frame #{k}: c10d::ProcessGroupNCCL::watchdogHandler() + 0x233 (0x7f43{k:04x})" for k in range(30)]
    files = {
        "trainer.log": lines(*(zoned(k, f"INFO iteration {k} loss 2.5", 9) for k in range(1, 61))),
        "err.log": lines(*frames, glog(61, "something went wrong", 0), *frames[:9]),
    }

    table = parse(job(files, nodes=("node-0",))).table
    wrong = table.rows_of_file(table.files.index("logs/err.log")).start + len(frames)

    assert int(table.time[wrong]) - int(table.spoke.first.min()) == 60 * SECOND


@pytest.mark.parametrize(("date", "same_day"), [("06/11/2026", True), ("06/03/2026", False)])
def test_a_day_before_its_month_is_of_the_day_of_the_job(date: str, same_day: bool) -> None:
    """Of 6 November, read as an American writes it, it is 11 June; what no order of both brings near is left alone."""
    ranks = {
        f"node-{n}/rank_{n}.log": lines(*(f"2026-11-06 19:17:{k:02d},000 iteration {k} loss 2.5" for k in range(1, 50)))
        for n in range(3)
    }
    daemons = {
        f"node-{n}/daemon.log": lines(f"{date} 19:17:00 [INFO] 4 processes", f"{date} 19:17:51 [INFO] ended")
        for n in range(3)
    }
    table = parse(job(ranks | daemons)).table

    spoke = [(table.files[file], int(time)) for file, time in zip(table.file_of_voice, table.spoke.last, strict=True)]
    ends = {time // SECOND for name, time in spoke if name.endswith("daemon.log")}
    last = max(time // SECOND for name, time in spoke if "rank" in name)
    assert (ends == {last + 2}) is same_day
