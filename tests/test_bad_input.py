"""Bad input through the real command line: a clear message, a hint, the right exit code, and nothing is written.

What can be read is diagnosed, and what could not be read is said.
"""

import gzip
import io
import json
import random
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.bad_jobs import FAULT, FOUND, HANGS, MEGABYTE, Ended, Jobs, leads_nowhere, leads_out, loops, pipe


@pytest.fixture
def jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Jobs:
    (tmp_path / "jobs").mkdir()
    return Jobs(tmp_path / "jobs", capsys)


def told(ended: Ended) -> str:
    """The answer as one line: wrapping is for terminals."""
    return " ".join(ended.out.split())


def refused(ended: Ended, message: str, hint: str) -> None:
    """Exit code 2, nothing on standard output, a message and a hint without control bytes on standard error."""
    assert (ended.code, ended.out) == (2, "")
    first, second = ended.err.splitlines()
    assert first.startswith("error: ")
    assert message in first
    assert second.startswith("hint: ")
    assert hint in second
    assert ended.err.replace("\n", "").isprintable()


# --- wrong names ----------------------------------------------------------------------------------------------------


def test_an_unknown_job_is_told_with_those_that_look_like_it(jobs: Jobs) -> None:
    """A typing error is the most frequent one."""
    jobs.make("llm-1437825", {"logs/a.log": FAULT})

    refused(jobs.diagnose("llm-1437852"), "There is no job llm-1437852 below", "Did you mean llm-1437825?")


@pytest.mark.parametrize(
    ("job", "message", "hint"),
    [
        ("../outside/job", "no job folder and no log file ../outside/job", "Is the path right?"),
        ("jobs/../../etc/job", "no job folder and no log file", "Is the path right?"),
        ("\x1b[2Jevil\n", "cannot be a job id", "letters, digits"),
        ("", "cannot be a job id", "letters, digits"),
        ("..." * 100, "cannot be a job id", "letters, digits"),
    ],
)
def test_what_cannot_be_a_job_is_refused(jobs: Jobs, job: str, message: str, hint: str) -> None:
    """Dots, slashes, control characters, nothing at all: it never reaches a path below the jobs folder."""
    refused(jobs.diagnose(job), message, hint)


def test_a_jobs_folder_that_is_not_there_is_told(jobs: Jobs) -> None:
    """With where it is set."""
    nowhere = replace(jobs, path=jobs.path.with_name("nowhere"))

    refused(nowhere.diagnose("f07"), "cannot be listed", "--jobs or FIRSTFAULT_JOBS")


def test_a_link_out_of_the_jobs_folder_is_a_job_only_where_that_is_allowed(
    jobs: Jobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may ask for a job may not read what lies beside the jobs, unless whoever runs Firstfault says so."""
    replace(jobs, path=tmp_path / "secret").make("job", {"logs/a.log": FAULT})
    (jobs.path / "link").symlink_to(tmp_path / "secret" / "job")

    refused(jobs.diagnose("link"), "There is no job link", "FIRSTFAULT_FOLLOW_LINKS")

    monkeypatch.setenv("FIRSTFAULT_FOLLOW_LINKS", f"{tmp_path / 'other'}, {tmp_path / 'secret'}")
    assert FOUND in told(jobs.diagnose("link"))


# --- nothing to read ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("files", [{}, {"job.json": "{}"}, {"logs/model.pt": "x"}, {"logs/.hidden": "x"}])
def test_a_job_without_logs_is_told(jobs: Jobs, files: dict[str, bytes | str]) -> None:
    """An empty folder, a manifest alone, files that hold no log lines."""
    jobs.make("empty", files)

    refused(jobs.diagnose("empty"), "Job empty has no log files", "")


def test_a_folder_in_place_of_a_log_is_no_log(jobs: Jobs) -> None:
    """``rank_0.log/`` with nothing in it."""
    (jobs.make("odd", {}) / "logs" / "rank_0.log").mkdir(parents=True)

    refused(jobs.diagnose("odd"), "Job odd has no log files", "logs/ folder")


@pytest.mark.parametrize("files", [{"logs/a.log": "", "logs/b.log": ""}, {"dumps/rank_0.txt": "Thread 0x1\n"}])
def test_a_job_of_which_no_line_is_there_says_so(jobs: Jobs, files: dict[str, bytes | str]) -> None:
    """Only empty files, or only dumps: an answer without a conclusion, and what to look for."""
    jobs.make("mute", files, {"status": "FAILED"})

    ended = jobs.diagnose("mute")

    assert ended.code == 1
    assert "Nothing conclusive" in told(ended)
    assert "No log of this job holds a line that could be read." in told(ended)
    assert "whether the job ever started" in told(ended)
    assert jobs.run("events", "mute").out == ""


# --- files that are broken, or made to break the reader ---------------------------------------------------------------


def test_a_truncated_archive_is_diagnosed_as_far_as_it_goes(jobs: Jobs) -> None:
    """The job was killed while it wrote: what stood before the cut is read, and the cut is said."""
    noise = "".join(f"{random.Random(n).random()}\n" for n in range(3000))
    packed = gzip.compress((noise + FAULT).encode())
    whole = gzip.compress(FAULT.encode())
    jobs.make("cut", {"logs/rank_0.log.gz": packed[: len(packed) // 2], "logs/rank_1.log.gz": whole})

    ended = jobs.diagnose("cut")

    assert ended.code == 0
    assert FOUND in told(ended)
    assert "logs/rank_0.log.gz ends in the middle of its gzip data" in told(ended)


@pytest.mark.parametrize(
    ("fill", "said"),
    [
        (b"\0", "unpacks to more than 500 times its size"),
        (b"\n", "holds more than 4,194,304 lines of less than 8 bytes"),
    ],
    ids=["zeros", "newlines"],
)
def test_a_bomb_does_not_go_off(jobs: Jobs, fill: bytes, said: str) -> None:
    """A few kilobytes that unpack to 64 MB of nothing: read up to a limit, and said; other files are read."""
    jobs.make("bomb", {"logs/a.log.gz": gzip.compress(fill * 64 * MEGABYTE), "logs/b.log": FAULT})

    ended = jobs.measure("diagnose", "bomb")

    assert ended.code == 0
    assert FOUND in told(ended)
    assert said in told(ended)
    assert ended.seconds < HANGS
    assert ended.memory < 1200 * MEGABYTE


def test_bytes_that_are_no_text_crash_nothing(jobs: Jobs) -> None:
    """A checkpoint that is called .log, and a fault after bytes that are no UTF-8."""
    noise = random.Random(1).randbytes(MEGABYTE // 2)
    jobs.make("binary", {"logs/a.log": noise, "logs/b.log": b"\xff\xfe\x00 start\n" + FAULT.encode() + b"\x80\n"})

    ended, listed = jobs.measure("diagnose", "binary"), jobs.run("events", "binary", "--jsonl")

    assert ended.code == 0
    assert FOUND in told(ended)
    assert "not UTF-8" in told(ended)
    assert ended.seconds < HANGS
    assert listed.code == 0
    rows = [json.loads(line) for line in listed.out.splitlines()]
    assert {row["line"] for row in rows if row["file"] == "logs/a.log"} == set(range(1, noise.count(b"\n") + 2))


def test_a_line_of_a_hundred_megabytes_costs_neither_time_nor_memory(jobs: Jobs) -> None:
    """It is skipped through, not held; the fault behind it is found at the right line."""
    home = jobs.make("long", {"logs/a.log": ""})
    with (home / "logs" / "a.log").open("wb") as file:
        file.write(b"start\n")
        for _ in range(100):
            file.write(b"x 1 " * (MEGABYTE // 4))
        file.write(b"\n" + FAULT.encode())

    ended = jobs.measure("diagnose", "long", "--json")

    document = json.loads(ended.out)
    assert document["events"][0]["lines"][0]["line"] == 6
    assert document["coverage"]["bytes"] > 100 * MEGABYTE
    assert ended.seconds < HANGS
    assert ended.memory < 600 * MEGABYTE


def test_a_log_without_a_newline_at_its_end_is_read_to_its_end(jobs: Jobs) -> None:
    """Also when the end is a carriage return."""
    jobs.make("torn", {"logs/a.log": FAULT.rstrip("\n"), "logs/b.log": "3%| | 1/9\r"})

    ended = jobs.diagnose("torn")

    assert FOUND in told(ended)
    assert "2 files, 5 lines" in told(ended)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (loops, "Links that lead back to themselves were not followed: logs/loop, logs/one, logs/two."),
        (leads_out, "Links that lead out of the job folder were not followed: logs/out.log."),
        (leads_nowhere, "Links that lead nowhere were left out: logs/gone.log."),
        (pipe, "Pipes, sockets and devices were not opened: logs/pipe.log."),
    ],
)
def test_what_is_no_file_of_the_job_is_left_out_and_said(jobs: Jobs, spoil: Callable[[Path], None], said: str) -> None:
    """Links and pipes are not followed, the rest is read."""
    spoil(jobs.make("links", {"logs/a.log": FAULT}))

    ended = jobs.diagnose("links")

    assert ended.code == 0
    assert FOUND in told(ended)
    assert said in told(ended)
    assert "SECRET" not in jobs.run("events", "links").out if spoil is leads_out else True


# --- archives, and files that are no logs -----------------------------------------------------------------------------


def packed(home: Path, place: Path) -> Path:
    """A job folder as tar and gzip pack it."""
    with tarfile.open(place, "w:gz") as archive:
        archive.add(home, home.name)
    return place


def test_a_packed_job_folder_gives_the_same_answer(jobs: Jobs, tmp_path: Path) -> None:
    """Byte by byte; also of its events."""
    home = jobs.make(
        "job", {"logs/node-0/rank_0.log": FAULT, "logs/node-1/rank_1.log": "hello\n"}, {"status": "FAILED"}
    )
    archive = packed(home, tmp_path / "job.tar.gz")

    for command, form, shown in (("diagnose", "--json", FOUND), ("events", "--jsonl", '"logs/node-1/rank_1.log"')):
        ended = jobs.run(command, str(archive), form)
        assert (ended.code, ended.out) == (0, jobs.run(command, "job", form).out)
        assert shown in ended.out


def test_a_cut_archive_is_diagnosed_as_far_as_it_goes(jobs: Jobs, tmp_path: Path) -> None:
    """Or told, when nothing of it can be read."""
    noise = "".join(f"{random.Random(n).random()}\n" for n in range(9000))
    home = jobs.make("job", {"logs/a.log": FAULT, "logs/z.log": noise})
    whole = packed(home, tmp_path / "job.tar.gz").read_bytes()
    (tmp_path / "job.tar.gz").write_bytes(whole[: len(whole) * 3 // 4])
    (tmp_path / "nothing.tar.gz").write_bytes(whole[:40])

    ended = jobs.diagnose(str(tmp_path / "job.tar.gz"))

    assert ended.code == 0
    assert FOUND in told(ended)
    assert "job.tar.gz ends in the middle of its gzip data" in told(ended)
    assert "logs/z.log cannot be read: the archive ends in the middle of it" in told(ended)
    refused(jobs.diagnose(str(tmp_path / "nothing.tar.gz")), "ends in the middle of its gzip data", "cut short")


def test_a_hostile_archive_is_harmless(jobs: Jobs, tmp_path: Path) -> None:
    """Names that lead out, links and escapes: nothing is written or followed, and no terminal is told what to do."""
    (tmp_path / "secret.log").write_text("SECRET\n")
    with tarfile.open(tmp_path / "evil.tar", "w") as archive:
        for name, kind in (
            ("logs/a.log", tarfile.REGTYPE),
            ("../evil.log", tarfile.REGTYPE),
            ("logs/\x1b[2Jclear.log", tarfile.REGTYPE),
            ("logs/\x1b[2Jlink.log", tarfile.SYMTYPE),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, str(tmp_path / "secret.log")
            info.size = len(FAULT) if kind == tarfile.REGTYPE else 0
            archive.addfile(info, io.BytesIO(FAULT.encode()))

    ended = jobs.diagnose(str(tmp_path / "evil.tar"))

    assert ended.code == 0
    assert FOUND in told(ended)
    assert "Links in the archive were not followed" in told(ended)
    assert "Names that lead out of the archive were left out: ../evil.log." in told(ended)
    assert "\x1b" not in ended.out + ended.err
    assert not list(tmp_path.rglob("evil.log"))
    assert "SECRET" not in jobs.run("events", str(tmp_path / "evil.tar")).out


def test_a_checkpoint_is_no_log(jobs: Jobs, tmp_path: Path) -> None:
    """Whatever it is called."""
    (tmp_path / "train.log").write_bytes(b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19." + bytes(range(256)) * 99)

    refused(
        jobs.diagnose(str(tmp_path / "train.log")), "train.log is a PyTorch checkpoint, not a log.", "Logs are text"
    )


def test_only_the_jobs_of_the_jobs_folder_are_compared_with(
    jobs: Jobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each once, under its own name: no archive, no alias, no link to elsewhere that nobody allowed, never itself."""
    good: dict[str, Any] = {"status": "COMPLETED", "settings_id": "s"}
    failed = jobs.make("failed", {"logs/a.log": FAULT}, good | {"status": "FAILED"})
    linked = replace(jobs, path=tmp_path / "scratch").make("linked", {"logs/a.log": "hello\n"}, good)
    packed(jobs.make("well", {"logs/a.log": "hello\n"}, good), jobs.path / "well.tar.gz")
    archive = packed(failed, tmp_path / "bundle.tar.gz")
    for name, target in (("k", linked), ("k2", linked), ("last", "failed"), ("alias", "well")):
        (jobs.path / name).symlink_to(target)

    def compared(job: str) -> list[str]:
        ids: list[str] = json.loads(jobs.run("diagnose", job, "--json").out)["coverage"]["baseline_ids"]
        return ids

    assert compared("last") == ["well"]
    monkeypatch.setenv("FIRSTFAULT_FOLLOW_LINKS", str(tmp_path / "scratch"))
    (failed / "job.json").write_text(json.dumps(good))  # from now on it says of itself that it went well
    assert compared("last") == compared(str(archive)) == ["k", "well"]


# --- manifests --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        (b'{"status": "FAI', "job.json is not valid JSON"),
        (b"[1, 2]", "job.json is not a JSON object"),
        (b"[" * 200_000, "job.json is nested too deeply"),
        (b'{"x": "' + b"y" * (17 * MEGABYTE) + b'"}', "job.json is larger than 16,777,216 bytes"),
        (
            {"nodes": ["a", "b"], "node_ranks": {"a": [0, 1], "b": [1, 2]}, "world_size": 2, "job_id": "other"},
            "job.json gives the same ranks to several nodes: 1",
        ),
        ({"status": "WHATEVER", "world_size": -3, "nodes": {"a": 1}}, "job.json has a world_size that is no count"),
    ],
    ids=["broken", "no object", "nested", "huge", "lying", "nonsense"],
)
def test_a_bad_manifest_costs_a_sentence(jobs: Jobs, manifest: bytes | dict[str, Any], said: str) -> None:
    """The logs are diagnosed without it, or with what of it makes sense."""
    jobs.make("job", {"logs/rank_0.log": FAULT, "logs/rank_1.log": "hello\n"}, manifest)

    ended = jobs.diagnose("job")

    assert ended.code == 0
    assert FOUND in told(ended)
    assert said in told(ended)


# --- thin data --------------------------------------------------------------------------------------------------------


def test_one_node_and_one_rank_are_enough(jobs: Jobs) -> None:
    """There is nobody to compare with, and the answer says so; without iterations too."""
    jobs.make("one", {"logs/node-0/rank_0.log": FAULT}, {"status": "FAILED", "nodes": ["node-0"]})

    ended = jobs.diagnose("one")

    assert ended.code == 0
    assert FOUND in told(ended)
    assert "One node and at most one rank: there is nobody to compare it with." in told(ended)
    assert "No line of the logs counts iterations." in told(ended)


def test_a_job_that_succeeded_did_not_fail(jobs: Jobs) -> None:
    """Whatever its logs hold."""
    jobs.make("done", {"logs/a.log": FAULT}, {"status": "COMPLETED"})

    ended = jobs.run("diagnose", "done", "--json")

    document = json.loads(ended.out)
    assert ended.code == 0
    assert (document["scope"], document["events"], document["nodes"]) == ("none", [], [])


@pytest.mark.parametrize(("log", "code", "said"), [("iteration 3/ 9\n", 1, "still running"), (FAULT, 0, FOUND)])
def test_a_running_job_is_diagnosed_as_far_as_it_is(jobs: Jobs, log: str, code: int, said: str) -> None:
    """Without a fault there is no conclusion yet; with one there is."""
    jobs.make("now", {"logs/a.log": log}, {"status": "RUNNING"})

    ended = jobs.diagnose("now")

    assert ended.code == code
    assert said in told(ended)
