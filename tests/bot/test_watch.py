"""``firstfault watch``: what it prints, what it answers, how it ends."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.support.jobs_in_memory import FakeJobs
from benchmarks.support.patience import PATIENCE
from bot.commandline.watch import command
from bot.commandline.watch.findings import finding_json, finding_lines, status_line
from bot.fetch.jobs import Request
from bot.jobs.job_watch import PATIENCE as UNREADABLE_FOR
from bot.jobs.job_watch import JobWatch
from bot.settings import Settings
from core.errors import JobNotFound, NoLogs
from core.job import Job, Manifest
from core.live.findings import LiveFinding, LiveKind, Standing
from core.model import Line
from tests.support.places import ROOT

TRACEBACK = b'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nValueError: broken\n'


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Growing:
    """A job in memory that grows."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {"job.json": b'{"status": "RUNNING", "world_size": 1}'}
        self.trouble: Exception | None = None

    def fetch(self) -> Job:
        if self.trouble:
            raise self.trouble
        return FakeJobs({"j": self.files}).job("j")

    def say(self, text: bytes) -> None:
        self.files["logs/rank_0.log"] = self.files.get("logs/rank_0.log", b"") + text


@pytest.fixture
def job() -> Growing:
    return Growing()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def seconds(job: Growing, clock: Clock) -> Callable[[int], list[LiveFinding]]:
    watch = JobWatch(job.fetch, clock=clock)

    def go(number: int) -> list[LiveFinding]:
        found: list[LiveFinding] = []
        for _ in range(number):
            found += watch.look()
            clock.now += 1
        return found

    return go


def test_a_job_is_watched_before_it_has_logs(job: Growing, seconds: Callable[[int], list[LiveFinding]]) -> None:
    """People watch what they have just submitted."""
    before = seconds(3)
    job.say(b"hello\n")
    seconds(2)
    job.say(TRACEBACK)

    after = seconds(15)

    assert before == []
    assert [finding.kind for finding in after] == [LiveKind.FAILED]


def test_a_status_that_changes_ends_the_watch(job: Growing, seconds: Callable[[int], list[LiveFinding]]) -> None:
    """Schedulers write job.json when the job is over."""
    job.say(b"hello\n")
    seconds(3)
    job.files["job.json"] = b'{"status": "COMPLETED"}'

    assert [finding.says for finding in seconds(3)] == ["job.json says COMPLETED"]


def test_a_source_that_fails_for_a_while_is_borne(
    job: Growing, seconds: Callable[[int], list[LiveFinding]], clock: Clock
) -> None:
    """Networks come back; a folder that stays away for two minutes is told."""
    job.say(b"hello\n")
    seconds(1)
    job.trouble = JobNotFound("There is no job j.")

    seconds(60)
    job.trouble = None
    seconds(1)
    job.trouble = JobNotFound("There is no job j.")

    seconds(1)
    clock.now += UNREADABLE_FOR
    with pytest.raises(JobNotFound):
        seconds(2)


def test_a_job_that_was_never_there_is_told_at_once(job: Growing, seconds: Callable[[int], list[LiveFinding]]) -> None:
    """A wrong id must not wait."""
    job.trouble = JobNotFound("There is no job j.")

    with pytest.raises(JobNotFound):
        seconds(1)


def test_logs_that_were_moved_away_are_borne(job: Growing, seconds: Callable[[int], list[LiveFinding]]) -> None:
    """A folder without logs is a job that has nothing new to say."""
    job.say(b"hello\n")
    seconds(1)
    job.trouble = NoLogs("Job j has no log files.")

    assert seconds(5) == []


def test_looking_takes_a_bounded_share_of_the_time() -> None:
    """A source that needs a second for a look is looked at every four seconds at most."""
    clock = Clock()

    def slow() -> Job:
        clock.now += 1.0
        return Job(Manifest("j"), ())

    watch = JobWatch(slow, every=0.5, clock=clock)
    before = watch.pause()
    watch.look()

    assert (before, watch.pause()) == (0.5, 4.0)


# --- words ----------------------------------------------------------------------------------------------------------

FINDING = LiveFinding(
    LiveKind.SILENT, 1_763_700_000.5, "node-01", "rank 2 on node-01: no word for 14 s", 14.0, 7.0,
    Line("logs/a.log", 7, "\x1b[31mlast\x07 words"),
)  # fmt: skip


def test_a_finding_is_a_line_with_its_time_and_the_log_line_below() -> None:
    """Harmless, whatever the log line holds."""
    assert finding_lines(FINDING) == (
        "04:40:00  SILENT     rank 2 on node-01: no word for 14 s",
        "                     > last\N{REPLACEMENT CHARACTER} words",
        "                     logs/a.log:7",
    )


def test_a_finding_for_programs_is_one_line_of_json() -> None:
    """Numbers as numbers, the line with its place."""
    text = finding_json(FINDING, "j")

    assert text.count("\n") == 1
    assert json.loads(text) == {
        "schema": "firstfault.watch/1",
        "job": "j",
        "kind": "silent",
        "time": "2025-11-21T04:40:00.500Z",
        "subject": "node-01",
        "says": "rank 2 on node-01: no word for 14 s",
        "quiet": 14.0,
        "usual": 7.0,
        "line": {"file": "logs/a.log", "line": 7, "text": "last\N{REPLACEMENT CHARACTER} words"},
    }


def test_the_status_line_fits_the_terminal() -> None:
    """Iteration, ranks heard, last word; one line that never wraps."""
    standing = Standing(
        12_000, 50_000, 0.25, 8, 8, 12_345, 3.0, Line("logs/a.log", 7, "iteration 12000 | loss 2.1 " * 9)
    )

    line = status_line("f07", standing, 120)

    assert line.startswith(
        "f07, iteration 12,000 of 50,000, 0.25 s each, 8 of 8 ranks heard, 12,345 lines, quiet for 3.0 s | iter"
    )
    assert len(status_line("f07", standing, 120)) < 120
    assert len(status_line("f07", standing, 30)) < 30


# --- the command ----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "jobs" / "j"
    (home / "logs").mkdir(parents=True)
    (home / "job.json").write_text('{"status": "RUNNING", "world_size": 1}')
    (home / "logs" / "rank_0.log").write_bytes(b"hello\n")
    return home


@pytest.fixture
def started(folder: Path) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    running: list[subprocess.Popen[str]] = []

    def start(*words: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "bot", "watch", str(folder), "--every", "0.1", "--no-baseline", *words]
        running.append(subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.communicate()


def test_a_failure_is_printed_at_once_and_then_diagnosed(
    folder: Path, started: Callable[..., "subprocess.Popen[str]"]
) -> None:
    """First the finding, then the answer as of `firstfault diagnose`; the exit code is 1."""
    process = started()
    with (folder / "logs" / "rank_0.log").open("ab") as log:
        log.write(TRACEBACK)

    out, _ = process.communicate(timeout=PATIENCE)

    assert process.returncode == 1
    assert "FAILED     the job has failed: rank 0 said it first" in out
    assert out.index("FAILED") < out.index("ValueError: broken") < out.index("Evidence")


def test_a_job_that_completes_ends_the_watch_with_code_0(
    folder: Path, started: Callable[..., "subprocess.Popen[str]"]
) -> None:
    """As JSON: one object, and nothing else on standard output."""
    process = started("--json")
    (folder / "job.json").write_text('{"status": "COMPLETED", "world_size": 1}')

    out, err = process.communicate(timeout=PATIENCE)

    assert (process.returncode, err) == (0, "")
    (finding,) = map(json.loads, out.splitlines())
    assert (finding["kind"], finding["says"]) == ("completed", "job.json says COMPLETED")


def test_a_failed_job_for_programs_ends_with_its_diagnosis(
    folder: Path, started: Callable[..., "subprocess.Popen[str]"]
) -> None:
    """The last object holds the diagnosis as `firstfault diagnose --json` prints it."""
    (folder / "logs" / "rank_0.log").write_bytes(TRACEBACK)
    (folder / "job.json").write_text('{"status": "FAILED", "world_size": 1}')

    out, _ = started("--json").communicate(timeout=PATIENCE)

    failed, diagnosis = map(json.loads, out.splitlines())
    assert failed["kind"] == "failed"
    assert diagnosis["diagnosis"]["schema"].startswith("firstfault.diagnosis/")


def test_ctrl_c_ends_the_watch_and_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback; the exit code is that of an interrupted program."""

    def press_ctrl_c(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", press_ctrl_c)

    code = command.watch(Request(str(folder), paths=True), every=1.0, output=command.Output(False, True, ""))

    assert (code, *capsys.readouterr()) == (130, "", "\nNot watched any more; the job goes on.\n")


def test_a_hang_is_diagnosed_once_while_it_lasts(
    job: Growing, clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever watches a terminal reads what is known so far, and the watch goes on to the end."""
    began, diagnosed = clock.now, list[float]()

    def wait(_: float) -> None:
        clock.now += 1
        second = int(clock.now - began)
        if second < 30:
            job.say(b"iteration %d timers (ms): forward-compute: 12.5\n" % second)
        if second > 1_000:
            job.files["job.json"] = b'{"status": "COMPLETED"}'

    monkeypatch.setattr("time.sleep", wait)
    output, status = command.Output(False, False, ""), command._Status()

    ended = command._until_the_end(
        JobWatch(job.fetch, clock=clock), "j", output, status, lambda: diagnosed.append(clock.now)
    )

    assert ended.kind is LiveKind.COMPLETED
    assert len(diagnosed) == 1
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines() if line[:2].isdigit()] == [
        "HUNG",
        "STANDS",
        "COMPLETED",
    ]


def test_a_diagnosis_that_cannot_be_made_does_not_end_the_watch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says why, and the job is watched on."""
    settings = Settings(cache=tmp_path / "cache", library=tmp_path / "library", _env_file=None)

    command._so_far(Request(str(tmp_path / "gone"), paths=True), settings, command.Output(False, False, ""))

    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.splitlines()[-1].startswith("No diagnosis of the job as it stands: ")


def test_an_unknown_job_is_wrong_use(tmp_path: Path) -> None:
    """As in every command: exit code 2, one sentence, one hint."""
    command = [sys.executable, "-m", "bot", "watch", "nope", "--jobs", str(tmp_path)]

    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False, timeout=PATIENCE)

    assert done.returncode == 2
    assert done.stderr.startswith("error: There is no job nope below")
