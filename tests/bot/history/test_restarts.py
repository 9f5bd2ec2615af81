"""Several attempts in one log: those that came to no iteration are attempts, too."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from core.diagnose import diagnose_parsed
from core.history import job_attempts
from core.history.attempt import Attempt
from core.history.job_attempts import attempts_of
from core.model import Diagnosis
from core.next import advise
from core.parsed import parse_job
from sources.jobs import open_source

# What a launcher and its two ranks printed (torchrun 2.13, --max-restarts 3), shortened; ranks write to one stream.
START = """\
2026-11-23 15:{m}:03,247 INFO initializing process group: rank 0, world size 2
2026-11-23 15:{m}:03,467 INFO initializing process group: rank 1, world size 2
2026-11-23 15:{m}:08,529 INFO building model: 4160 parameters
2026-11-23 15:{m}:09,634 INFO building model: 4160 parameters
"""
LOADS = "2026-11-23 15:{m}:09,719 INFO loading checkpoint from A.state\n"
TRAINS = "".join(
    f"2026-11-23 15:{{m}}:{10 + number},100 INFO iteration {number}/60 loss 0.3{number:02d}\n"
    for number in range(1, 21)
)
RAISES = """\
[rank0]: Traceback (most recent call last):
[rank0]:   File "/w/train.py", line 24, in <module>
[rank0]:     raise RuntimeError(
[rank0]: RuntimeError: Error(s) in loading state_dict for Linear:
"""
ELASTIC = "torch/distributed/elastic/multiprocessing/api.py"
REPORT = """\
W1123 15:{m}:37.479000 17717 {elastic}:1028] Sending process 17735 closing signal SIGTERM
E1123 15:{m}:37.751000 17717 {elastic}:1002] failed (exitcode: 1) local_rank: 1 (pid: 17736) of binary: /venv/bin/python
"""


def told(folder: Path, log: str) -> tuple[tuple[Attempt, ...], Diagnosis]:
    """The attempts in a log, and its diagnosis."""
    job = folder / "jobs" / "one"
    (job / "logs").mkdir(parents=True)
    (job / "logs" / "train.log").write_text(log, encoding="utf-8")
    (job / "job.json").write_text(json.dumps({"job_id": "one"}), encoding="utf-8")
    parsed = parse_job(open_source(str(folder / "jobs")).job("one"), (), cache=None, workers=1, progress=None)
    diagnosis = diagnose_parsed(parsed)
    return attempts_of(parsed, diagnosis), diagnosis


def minute(at: int, *parts: str) -> str:
    """Lines of an attempt that begins at that minute."""
    return "".join(parts).replace("{m}", str(at)).replace("{elastic}", ELASTIC)


def test_attempts_without_an_iteration_are_told(tmp_path: Path) -> None:
    """torchrun starts ranks again which cannot load: three attempts, each up to the report of its end."""
    attempts, _ = told(
        tmp_path,
        minute(10, START, TRAINS, RAISES, REPORT) + minute(11, START, LOADS, RAISES, REPORT)
        + minute(12, START, LOADS, RAISES, REPORT),
    )  # fmt: skip

    assert [len(attempt.numbers) for attempt in attempts] == [20, 0, 0]
    assert [attempt.end - attempt.start for attempt in attempts] == [34_504, 34_504, 34_504]
    assert [following.start - attempt.end for attempt, following in pairwise(attempts)] == [25_496] * 2
    assert {attempt.cause for attempt in attempts} == {"the checkpoint does not fit the model"}


def test_a_crash_loop_within_one_log_is_to_be_stopped(tmp_path: Path) -> None:
    """The fourth attempt that comes to no new checkpoint says so in the next step."""
    _, diagnosis = told(tmp_path, "".join(minute(10 + at, START, LOADS, RAISES, REPORT) for at in range(4)))

    assert diagnosis.next is not None
    assert "4 attempts made no new checkpoint: stop retrying" in diagnosis.next.because


def test_a_loop_of_a_shell_is_told_without_a_launcher(tmp_path: Path) -> None:
    """A traceback without a clock and the same first line again; the silence between is time down."""
    start = "2026-11-23 15:{m}:03,247 INFO initializing process group: rank 0, world size 1\n"
    log = "".join(minute(10 + at, start, LOADS, RAISES.replace("[rank0]: ", "")) for at in range(3))
    attempts, _ = told(tmp_path, log)

    assert [attempt.end - attempt.start for attempt in attempts] == [6_472] * 3


@pytest.mark.parametrize(
    "log",
    [
        # a rank dies while another one still starts; the launcher reports once
        minute(10, START.splitlines(keepends=True)[0], RAISES, START, TRAINS, REPORT),
        # somebody caught it: training goes on, and something is loaded again
        minute(10, START, RAISES, TRAINS) + minute(11, LOADS, LOADS),
        # nothing died: the same is loaded twice
        minute(10, START, LOADS, LOADS, TRAINS),
    ],
    ids=["a-rank-before-the-other", "caught", "loaded-twice"],
)
def test_one_start_is_one_attempt(tmp_path: Path, log: str) -> None:
    """No end, or no start after it: nothing began anew."""
    assert len(told(tmp_path, log)[0]) == 1


def test_a_hang_before_the_report_is_no_time_between(tmp_path: Path) -> None:
    """Half an hour of silence, the report, six seconds, the next start: the half hour stalled."""
    attempts, _ = told(tmp_path, minute(10, START, TRAINS) + minute(40, REPORT) + minute(41, START, TRAINS))

    assert [attempt.end - attempt.start for attempt in attempts] == [30 * 60_000 + 34_504, 26_853]


def _falling(times: int) -> str:
    """A rank whose count falls again and again."""
    stamps = (f"2026-11-23 {15 + n // 3600:02}:{n // 60 % 60:02}:{n % 60:02},100" for n in range(2 * times))
    return "".join(f"{stamp} INFO iteration {1 + 49 * (n % 2)}/60 loss 0.31\n" for n, stamp in enumerate(stamps))


def test_so_many_attempts_are_told_apart_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A count that falls at each other line is no more restarts than any job has; the answer says what was capped."""
    monkeypatch.setattr(job_attempts, "MAX_ATTEMPTS", 16)
    monkeypatch.setattr(advise, "MAX_ATTEMPTS", 16)
    attempts, diagnosis = told(tmp_path, _falling(40))

    assert len(attempts) == 16
    assert advise.TOO_MANY_ATTEMPTS in [load.reason for load in diagnosis.skipped]


def test_what_is_the_same_for_all_attempts_is_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of a stage are as many looks for eight attempts as for one: each look is at all rows of the job."""
    looks = 0
    look = job_attempts._in_stage

    def counted(*arguments: Any) -> Any:
        nonlocal looks
        looks += 1
        return look(*arguments)

    monkeypatch.setattr(job_attempts, "_in_stage", counted)
    costs = []
    for times in (1, 8):
        looks = 0
        attempts, _ = told(tmp_path / str(times), _falling(times))
        assert len(attempts) == times
        costs.append(looks // (1 + (times > 1)))  # for the next step after several attempts they are found too

    assert costs[0] == costs[1]
