"""``firstfault history``: attempts are found in job folders and in single logs, and their time is told."""

import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.commandline.cli import app
from bot.history.document import SCHEMA, HistoryDocument
from bot.history.gather import HistoryRequest, gather
from bot.settings import Settings
from core.errors import JobNotFound
from core.history.attempt import End
from tests.bot.conftest import Run
from tests.support.attempts import ERROR, Log


@pytest.fixture
def tell(firstfault: Run) -> Callable[..., str]:
    """What ``firstfault history`` prints."""

    def command(*words: str) -> str:
        code, out, err = firstfault("history", *words)
        assert code == 0, err
        return out

    return command


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """Two attempts of one run with a minute between them, and a job of no run."""
    log, folder = Log(), tmp_path / "jobs"
    log.attempt(range(1, 36), ERROR)
    log.write(folder / "b-first", run="llama", attempt=1, status="FAILED", arguments="--lr 1e-4 --seed 1")
    second = Log(log.now + timedelta(seconds=60))
    second.attempt(range(31, 61))
    second.write(folder / "a-second", run="llama", attempt=2, status="COMPLETED", arguments="--lr 1e-2 --seed 2")
    Log().write(folder / "other")
    return folder


def test_jobs_that_share_a_run_are_its_attempts(tell: Callable[..., str], jobs: Path) -> None:
    """Parts that add up to the time from the first start to the last end, by the clock of job.json."""
    document = json.loads(tell("llama", "--jobs", str(jobs), "--json"))

    assert (document["schema"], [entry["name"] for entry in document["attempts"]]) == (SCHEMA, ["b-first", "a-second"])
    assert document["parts"]["productive"] == 60.0
    assert document["parts"]["recomputed"] == 5.0
    assert document["parts"]["saving"] == 10.0
    assert document["parts"]["down"] == 60.0
    assert document["parts"]["startup"] == 40.0
    assert round(sum(document["parts"].values()), 3) == document["wall"]
    assert [(entry["cause"], entry["attempts"]) for entry in document["causes"]] == [
        ("the accelerator failed during a kernel", ["b-first"])
    ]
    assert document["changes"][0]["changes"] == ["lr 1e-4 to 1e-2"]
    assert {entry["clock"] for entry in document["attempts"]} == {"job.json"}


@pytest.mark.parametrize("words", [("{jobs}",), ("{jobs}", "--run", "llama"), ("{jobs}/a-second",)])
def test_a_run_is_found_by_its_folder_and_by_one_of_its_jobs(
    tell: Callable[..., str], jobs: Path, words: tuple[str, ...]
) -> None:
    """Whatever way it is named, it is the same run."""
    assert tell(*(word.format(jobs=jobs) for word in words)).startswith("llama: ")


def test_a_log_that_holds_several_attempts_is_a_run(tell: Callable[..., str], tmp_path: Path) -> None:
    """A launcher started it twice again in the same file; each attempt has its own cause."""
    log = Log()
    log.attempt(range(1, 41), ERROR)
    log.now += timedelta(seconds=30)
    log.attempt(range(31, 36), "ValueError: bad value")
    log.now += timedelta(seconds=30)
    log.attempt(range(36, 61))  # from where it was: no iteration is lower than one before
    document = json.loads(tell(str(log.write(tmp_path / "one")), "--json"))

    assert [entry["first_iteration"] for entry in document["attempts"]] == [1, 31, 36]
    assert [entry["cause"] for entry in document["attempts"][:2]] == [
        "the accelerator failed during a kernel",
        "the program raised an exception",
    ]
    assert (document["parts"]["recomputed"], document["parts"]["productive"]) == (10.0, 60.0)
    assert document["parts"]["down"] == 2 * 35.0  # until the next first line


def test_an_attempt_that_died_before_a_line_counts(tell: Callable[..., str], jobs: Path) -> None:
    """By the clock of job.json: it is the start of the attempt before it, and one more unplanned end."""
    first = json.loads((jobs / "b-first" / "job.json").read_text(encoding="utf-8"))["end"]
    begun = datetime.fromisoformat(first) + timedelta(seconds=20)
    empty = Log(begun)
    empty.now += timedelta(seconds=10)
    empty.write(jobs / "died", run="llama", attempt=1, status="FAILED")

    document = json.loads(tell("llama", "--jobs", str(jobs), "--json"))

    assert [entry["name"] for entry in document["attempts"]] == ["b-first", "died", "a-second"]
    assert (document["parts"]["startup"], document["parts"]["down"]) == (50.0, 50.0)
    assert document["mtbf"]["failures"] == 2


def test_a_program_that_puts_its_clock_in_brackets_evaluates_too(tell: Callable[..., str], tmp_path: Path) -> None:
    """As Megatron prints it; the clock is no part of what is said."""
    log = Log()
    log.attempt(range(1, 16))
    log.say("evaluating iter 1/100", 0)
    log.now += timedelta(seconds=30)
    for number in range(16, 31):
        log.say(f"iteration {number}/60 loss 2.0")
    log.lines = [re.sub(r"^(\S+ [\d:]+),\d+ INFO", r"[\1]", line) for line in log.lines]

    parts = json.loads(tell(str(log.write(tmp_path / "one")), "--json"))["parts"]

    assert (parts["evaluating"], parts["unexplained"]) == (30.0, 0.0)


def test_a_run_is_read_once(jobs: Path, tmp_path: Path) -> None:
    """The second time attempts are those that were kept; and the same."""
    settings = Settings(cache=tmp_path / "cache")
    first = gather(HistoryRequest("llama", str(jobs)), settings)
    again = gather(HistoryRequest("llama", str(jobs)), settings)

    assert [attempt.numbers.tolist() for attempt in first.attempts] == [
        attempt.numbers.tolist() for attempt in again.attempts
    ]
    assert [attempt.ended for attempt in again.attempts] == [End.FAILED, End.COMPLETED]
    assert first.attempts[0].checkpoints == again.attempts[0].checkpoints == (10, 20, 30)


def test_without_a_run_the_attempts_are_a_guess_and_said_to_be_one(tell: Callable[..., str], tmp_path: Path) -> None:
    """Jobs of the same settings below one folder."""
    log = Log()
    log.attempt(range(1, 36), ERROR)
    log.write(tmp_path / "jobs" / "one", model="m", framework="f")
    second = Log(log.now + timedelta(seconds=60))
    second.attempt(range(31, 61))
    second.write(tmp_path / "jobs" / "two", model="m", framework="f")

    assert "a guess" in tell("one", "--jobs", str(tmp_path / "jobs"))


def test_a_guess_holds_what_continues_and_says_what_does_not(tell: Callable[..., str], tmp_path: Path) -> None:
    """A job that ran beside another one, and one that begins beyond all others, are none of its attempts."""
    jobs, log = tmp_path / "jobs", Log()
    log.attempt(range(1, 36), ERROR)
    log.write(jobs / "one", model="m", framework="f")
    for after, numbers, name in ((-30, range(1, 9), "beside"), (60, range(31, 61), "two"), (600, range(900, 930), "x")):
        other = Log(log.now + timedelta(seconds=after))
        other.attempt(numbers)
        other.write(jobs / name, model="m", framework="f")

    document = json.loads(tell("one", "--jobs", str(jobs), "--json"))

    assert [entry["name"] for entry in document["attempts"]] == ["one", "two"]
    assert any("beside and 1 more continue nothing" in problem for problem in document["problems"])


def test_what_the_present_interval_costs_is_told(tell: Callable[..., str], jobs: Path) -> None:
    """Beside what the best one would cost, which is no more; and the share in windows where they are asked for."""
    document = json.loads(tell("llama", "--jobs", str(jobs), "--json", "--window", "30s"))

    assert 0 < document["saving"]["lost_at_best"] <= document["saving"]["lost_now"] < 1
    assert document["windows"]["seconds"] == 30
    assert 0 <= min(document["windows"]["ettr"]) < max(document["windows"]["ettr"]) <= 1
    assert "Windows     of 30 s: lowest" in tell("llama", "--jobs", str(jobs), "--window", "30s")


def test_a_run_that_nobody_knows_is_refused_with_those_that_are_there(jobs: Path, tmp_path: Path) -> None:
    """The hint names them."""
    with pytest.raises(JobNotFound) as refused:
        gather(HistoryRequest("lama", str(jobs)), Settings(cache=tmp_path / "cache"))
    assert "llama" in refused.value.hint


@pytest.mark.parametrize("name", ["", " "])
def test_nothing_is_no_run(name: str, tmp_path: Path) -> None:
    """It would be the working directory."""
    with pytest.raises(JobNotFound):
        gather(HistoryRequest(name, paths=True), Settings(cache=tmp_path / "cache"))


def test_points_of_progress_are_a_run(tell: Callable[..., str], tmp_path: Path) -> None:
    """A CSV with the columns time and iteration, in seconds or ISO 8601; other columns do not matter."""
    points = tmp_path / "progress.csv"
    rows = [f"2026-11-20T10:00:{second:02d},{second},x" for second in range(1, 50)]
    points.write_text("\n".join(["time,iteration,loss", *rows]), encoding="utf-8")

    assert "100.0%" in tell(str(points))


def test_incidents_of_nodes_come_from_a_table(tell: Callable[..., str], jobs: Path, tmp_path: Path) -> None:
    """One node five times, ten others once: the one repeats."""
    rows = [f"2026-11-{day:02d}T00:00:00,,bad,gpu" for day in range(1, 6)]
    rows += [f"2026-11-10T00:00:00,2026-11-11T00:00:00,n{number},nic" for number in range(10)]
    table = tmp_path / "incidents.csv"
    table.write_text("\n".join(["start,end,node,class", *rows]), encoding="utf-8")

    document = json.loads(tell("llama", "--jobs", str(jobs), "--incidents", str(table), "--json"))

    assert [(entry["node"], entry["incidents"]) for entry in document["repeaters"]] == [("bad", 5)]


def test_the_page_shows_the_run_and_needs_nothing_else(tell: Callable[..., str], jobs: Path, tmp_path: Path) -> None:
    """Three pictures, wide and narrow; no script, nothing from outside; the same bytes again."""
    page = tmp_path / "run.html"
    tell("llama", "--jobs", str(jobs), "--html", str(page))
    text = page.read_text(encoding="utf-8")
    tell("llama", "--jobs", str(jobs), "--html", str(page))

    assert text == page.read_text(encoding="utf-8")
    assert text.count("<svg") == 6
    assert "the accelerator failed during a kernel" in text
    assert "<script" not in text
    assert not [address for address in re.findall(r"https?://[^\s\"']+", text) if "w3.org" not in address]


def test_a_saved_checkpoint_stops_the_training_for_as_long_as_the_log_shows(
    tell: Callable[..., str], jobs: Path
) -> None:
    """Two seconds each; the last one, after which no step came, does not count."""
    assert json.loads(tell("llama", "--jobs", str(jobs), "--json"))["saving"]["stops_seconds"] == 2.0


def test_the_document_survives_a_round_trip(tell: Callable[..., str], jobs: Path) -> None:
    """What is printed can be read back without loss."""
    text = tell("llama", "--jobs", str(jobs), "--json")
    assert HistoryDocument.model_validate_json(text).model_dump(mode="json") == json.loads(text)


@pytest.mark.parametrize("seconds", ["inf", "1e308", "nan", "0"])
def test_a_time_that_no_iteration_takes_is_wrong_use(tmp_path: Path, seconds: str) -> None:
    """Infinity ended in an OverflowError."""
    path = tmp_path / "run.csv"
    path.write_text("time,iteration\n2026-11-21T00:00:00,1\n2026-11-21T00:10:00,10\n")

    assert CliRunner().invoke(app, ["history", str(path), "--iteration-seconds", seconds]).exit_code == 2
