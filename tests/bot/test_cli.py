"""The command line as a person or a program meets it: words, exit codes, streams."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.support.patience import PATIENCE
from bot.commandline import job_commands as commands
from bot.fetch.jobs import Request
from bot.investigate import investigate
from bot.settings import Settings
from core.errors import BadJobId
from tests.bot.conftest import Run
from tests.support.places import ROOT


@pytest.fixture
def run(firstfault: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in an empty folder: exit code, standard output, standard error."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return firstfault


@pytest.fixture
def jobs(tmp_path: Path) -> str:
    """A jobs folder: one failed on a node, two went well, one has the log of a node alone, one has none."""
    folder = tmp_path / "jobs"
    for name in ("good1", "good2"):
        make_job(folder / name, "COMPLETED", "training done")
    make_job(folder / "bad", "FAILED", "training done")
    with (folder / "bad" / "logs" / "node-1" / "rank_1.log").open("a") as log:
        log.write('Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n')
        log.write("OSError: [Errno 5] Input/output error\n")
    make_job(folder / "mute", "FAILED", "reading data")
    (folder / "mute" / "logs" / "node-1" / "rank_1.log").unlink()
    make_job(folder / "empty", "FAILED", "")
    for log_file in (folder / "empty" / "logs").rglob("*.log"):
        log_file.unlink()
    return str(folder)


def make_job(folder: Path, status: str, last: str) -> None:
    """Two nodes that print ten iterations each."""
    for rank in (0, 1):
        log = folder / "logs" / f"node-{rank}" / f"rank_{rank}.log"
        log.parent.mkdir(parents=True)
        lines = [f"2026-11-21 03:00:{n:02d},000 INFO iteration {n}/10 loss {9 - n / 10:.3f}" for n in range(1, 11)]
        log.write_text("\n".join([*lines, last, ""]))
    facts = {"job_id": folder.name, "status": status, "settings_id": "tiny", "nodes": ["node-0", "node-1"]}
    (folder / "job.json").write_text(json.dumps(facts | {"node_ranks": {"node-0": [0], "node-1": [1]}}))


def test_a_diagnosis_is_exit_code_0(run: Run, jobs: str) -> None:
    """The answer goes to standard output, and nothing else does."""
    code, out, err = run("diagnose", "bad", "--jobs", jobs)
    assert code == 0
    assert out.startswith("bad: ")
    assert "with 2 successful jobs: good1, good2" in out
    assert err == ""


def test_nothing_conclusive_is_exit_code_1(run: Run, jobs: str) -> None:
    """A script can tell an answer from no answer; the person is still told what was read."""
    code, out, _ = run("diagnose", "mute", "--jobs", jobs)
    assert code == 1
    assert "Scope       unknown" in out
    assert "1 file" in out


def test_a_job_that_went_well_is_exit_code_0(run: Run, jobs: str) -> None:
    """That it did not fail is an answer."""
    code, out, _ = run("diagnose", "good1", "--jobs", jobs)
    assert code == 0
    assert "Scope       none" in out


@pytest.mark.parametrize(
    "words",
    [
        ("diagnose", "nosuch"),
        ("diagnose", "empty"),
        ("diagnose", "../bad/x"),
        ("diagnose", "\x1b[2Jevil"),
        ("diagnose", ""),
        ("diagnose", "bad", "--html", "/nowhere/x.html"),
        ("events", "nosuch"),
    ],
)
def test_what_cannot_work_is_exit_code_2_with_a_hint(run: Run, jobs: str, words: tuple[str, ...]) -> None:
    """Two lines on standard error, what happened and what to try; no traceback, no control bytes."""
    code, out, err = run(*words, "--jobs", jobs)
    assert (code, out) == (2, "")
    assert err.splitlines()[0].startswith("error: ")
    assert err.splitlines()[1].startswith("hint: ")
    assert "\x1b" not in err


@pytest.mark.parametrize(
    "words",
    [
        ("nosuch",),
        ("diagnose",),
        ("diagnose", "bad", "--method", "magic"),
        ("diagnose", "bad", "--workers", "0"),
        ("diagnose", "bad", "--json", "--html", "x"),
    ],
)
def test_wrong_words_are_exit_code_2(run: Run, words: tuple[str, ...]) -> None:
    """Usage errors are told as such."""
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert "Usage: firstfault" in err


def test_json_is_one_object(run: Run, jobs: str) -> None:
    """Standard output is the document and nothing else, the same with any number of workers."""
    code, out, err = run("diagnose", "bad", "--jobs", jobs, "--json")
    document = json.loads(out)
    assert (code, err) == (0, "")
    assert (document["schema"], document["job"]) == ("firstfault.diagnosis/1", "bad")
    assert document["coverage"]["baseline_ids"] == ["good1", "good2"]
    assert run("diagnose", "bad", "--jobs", jobs, "--json", "--workers", "3", "--no-cache")[1] == out


def test_a_page_is_written_where_it_should(run: Run, jobs: str, tmp_path: Path) -> None:
    """The first line is still said; the page holds the raw lines."""
    code, out, err = run("diagnose", "bad", "--jobs", jobs, "--html", str(tmp_path / "x.html"))
    page = (tmp_path / "x.html").read_text()
    assert code == 0
    assert out.startswith("bad: ")
    assert out.count("\n") == 1
    assert "x.html" in err
    assert "Input/output error" in page


def test_without_a_baseline_the_answer_says_so(run: Run, jobs: str) -> None:
    """Thin data is an answer."""
    code, out, _ = run("diagnose", "bad", "--jobs", jobs, "--no-baseline")
    assert code in (0, 1)
    assert "with no successful job" in out
    assert "Skipped" in out


def test_a_path_has_a_separator(run: Run, jobs: str) -> None:
    """A job folder by its path is compared with the jobs beside it; the settings' jobs folder plays no part."""
    code, out, _ = run("diagnose", f"{jobs}/bad")
    assert code == 0
    assert "good1, good2" in out


def test_a_log_file_is_a_job(run: Run, jobs: str) -> None:
    """One file is enough to ask."""
    code, out, _ = run("diagnose", f"{jobs}/bad/logs/node-1/rank_1.log")
    assert code in (0, 1)
    assert "1 file" in out


def test_an_id_comes_before_a_name_on_disk(run: Run, jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that happens to be called like a job does not hide it; without such a job the folder is taken."""
    make_job(Path("bad"), "COMPLETED", "another")
    make_job(Path("local"), "COMPLETED", "done")
    monkeypatch.setenv("FIRSTFAULT_JOBS", jobs)
    assert "Job         FAILED" in run("diagnose", "bad")[1]
    assert run("diagnose", "local")[1].startswith("local: ")


def test_with_jobs_a_name_is_never_a_path(run: Run, jobs: str) -> None:
    """Who names the jobs folder means a job in it."""
    make_job(Path("local"), "COMPLETED", "done")
    assert run("diagnose", "local", "--jobs", jobs)[0] == 2


def test_without_a_jobs_folder_a_path_is_still_diagnosed(run: Run, jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """That there is nothing to compare with is said, and is no error."""
    monkeypatch.setenv("FIRSTFAULT_JOBS", "/nowhere/at/all")
    code, out, _ = run("diagnose", f"{jobs}/bad/logs/node-1/rank_1.log")
    assert code in (0, 1)
    assert "no successful job" in out


def test_only_a_person_at_a_terminal_may_name_a_path(jobs: str, tmp_path: Path) -> None:
    """A path that came from a chat is an unusable job id, never a file that is read."""
    settings = Settings(jobs=jobs, cache=tmp_path / "cache")
    for words in (f"{jobs}/bad", "../jobs/bad", "/etc/passwd", "."):
        with pytest.raises(BadJobId):
            investigate(Request(words), settings)


def test_what_was_read_of_good_jobs_is_kept(
    run: Run, jobs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second diagnosis need not read the baseline again, and says the same; --no-cache keeps nothing."""
    monkeypatch.setenv("FIRSTFAULT_CACHE", str(tmp_path / "cache"))
    first = run("diagnose", "bad", "--jobs", jobs, "--no-cache")
    assert not (tmp_path / "cache").exists()
    second = run("diagnose", "bad", "--jobs", jobs)
    assert len([path for path in (tmp_path / "cache").rglob("*") if path.is_file()]) == 2
    assert first == second == run("diagnose", "bad", "--jobs", jobs)


def test_events_give_a_row_for_every_line(run: Run, jobs: str) -> None:
    """Each physical line is there, in the order of its file, with the fields of the contract."""
    code, out, _ = run("events", "bad", "--jobs", jobs, "--jsonl")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert list(rows[0]) == ["file", "line", "event", "node", "rank", "time", "stage"]
    places = [(row["file"], row["line"]) for row in rows]
    assert places == [("logs/node-0/rank_0.log", n) for n in range(1, 12)] + [
        ("logs/node-1/rank_1.log", n) for n in range(1, 15)
    ]
    assert rows[0]["time"] == "2026-11-21T03:00:01.000000Z"
    assert (rows[-1]["node"], rows[-1]["rank"]) == ("node-1", 1)


def test_events_for_people_are_aligned(run: Run, jobs: str) -> None:
    """The same rows as a table: place, event, node, rank, stage, template."""
    code, out, _ = run("events", "bad", "--jobs", jobs)
    lines = out.splitlines()
    assert code == 0
    assert len(lines) == 25
    assert lines[0].startswith("logs/node-0/rank_0.log:1  ")
    assert len({line.index("node-", 30) for line in lines}) == 1


def test_ctrl_c_is_quiet(run: Run, jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 130 and no traceback."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "investigate", interrupted)
    code, out, err = run("diagnose", "bad", "--jobs", jobs)
    assert (code, out) == (130, "")
    assert "Traceback" not in err


@pytest.mark.slow
def test_a_reader_may_leave_early(tmp_path: Path, jobs: str) -> None:
    """``| head`` ends the program without a word, whatever is left to write."""
    log = tmp_path / "jobs" / "good1" / "logs" / "node-0" / "rank_0.log"
    log.write_text("".join(f"step {number} of many, loss is {number}\n" for number in range(5_000)))
    process = subprocess.Popen(
        [sys.executable, "-m", "bot", "events", "good1", "--jobs", jobs, "--jsonl"],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith('{"file"')
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(PATIENCE) == 141
    process.stderr.close()


@pytest.mark.slow
def test_a_terminal_that_is_not_utf8_still_gets_an_answer(tmp_path: Path, jobs: str) -> None:
    """Characters that cannot be shown are written out, not a reason to fail."""
    make_job(tmp_path / "jobs" / "äöü", "FAILED", "日本語")
    done = subprocess.run(
        [sys.executable, "-m", "bot", "events", "äöü", "--jobs", jobs],
        cwd=ROOT,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.stdout.isascii()


def test_version_and_help_answer(run: Run) -> None:
    """``--version`` and ``--help`` work without anything else; examples come first."""
    assert run("--version")[1].startswith("firstfault ")
    for words in (("--help",), ("diagnose", "--help"), ("events", "-h")):
        code, out, _ = run(*words)
        assert code == 0
        assert out.index("firstfault ") < out.index("Options:")
