"""Local folders: links, pipes and other things that a bucket has not."""

import os
import socket
import stat
from functools import partial
from pathlib import Path

import pytest

from core.errors import JobNotFound, NoLogs, SourceUnavailable, UnreadableLog
from core.job import Job
from sources.folder import JobsFolder
from sources.jobs import open_path, open_source


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of job j, with one log."""
    home = tmp_path / "jobs" / "j"
    (home / "logs").mkdir(parents=True)
    (home / "logs" / "a.log").write_bytes(b"a\n")
    return home


def job_in(home: Path) -> Job:
    return JobsFolder(home.parent).job(home.name)


def names(job: Job) -> list[str]:
    return [file.name for file in job.logs]


def read(job: Job, name: str) -> bytes:
    with next(file for file in job.logs if file.name == name).open() as stream:
        return stream.read(1000)


def test_links_out_of_the_job_folder_are_not_followed(home: Path, tmp_path: Path) -> None:
    """Neither a file nor a folder elsewhere on the disk can be read through a job folder."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key.log").write_bytes(b"secret")
    (home / "logs" / "file.log").symlink_to(secret / "key.log")
    (home / "logs" / "folder").symlink_to(secret)
    (home / "logs" / "up.log").symlink_to("../../../secret/key.log")
    (home / "job.json").symlink_to(secret / "key.log")

    job = job_in(home)

    assert names(job) == ["logs/a.log"]
    assert job.problems == (
        "Links that lead out of the job folder were not followed: job.json, logs/file.log, logs/folder and 1 more.",
    )


def test_logs_beside_the_logs_folder_are_read(home: Path) -> None:
    """A scheduler's log and a list of events are; a script, settings and what lies deeper are not."""
    for name in ("slurmctld.log", "events.txt", "job.err.1.gz", "train.py", "conf.yaml", "notes"):
        (home / name).write_bytes(b"x\n")
    (home / "old.log").mkdir()
    (home / "old.log" / "b.log").write_bytes(b"b\n")

    assert names(job_in(home)) == ["logs/a.log", "events.txt", "job.err.1.gz", "slurmctld.log"]


def test_a_link_inside_the_job_folder_adds_only_what_is_not_read_anyway(home: Path) -> None:
    """`latest -> attempt_1` must not double every line, but a link to a file beside logs/ is that file's only name."""
    (home / "logs" / "attempt_1").mkdir()
    (home / "logs" / "attempt_1" / "b.log").write_bytes(b"b\n")
    (home / "logs" / "latest").symlink_to("attempt_1")
    (home / "logs" / "again.log").symlink_to("a.log")
    (home / "raw").mkdir()
    (home / "raw" / "c.log").write_bytes(b"c\n")
    (home / "logs" / "raw").symlink_to("../raw")

    job = job_in(home)

    assert names(job) == ["logs/a.log", "logs/attempt_1/b.log", "logs/raw/c.log"]
    assert read(job, "logs/raw/c.log") == b"c\n"
    assert job.problems == ()


def test_a_logs_folder_that_is_a_link_inside_the_job_folder_works(tmp_path: Path) -> None:
    """`logs -> output` is a logs folder."""
    home = tmp_path / "j"
    (home / "output").mkdir(parents=True)
    (home / "output" / "a.log").write_bytes(b"a")
    (home / "logs").symlink_to("output")

    assert names(job_in(home)) == ["logs/a.log"]


def test_loops_of_links_do_not_hang(home: Path) -> None:
    """A link to itself, two to each other, one to a folder above, and the jobs folder linked to itself all end."""
    (home / "logs" / "self").symlink_to("self")
    (home / "logs" / "ping").symlink_to("pong")
    (home / "logs" / "pong").symlink_to("ping")
    (home / "logs" / "up").symlink_to("..")
    (home / "logs" / "here").symlink_to(".")
    (home.parent / "all").symlink_to(".")
    (home.parent / "loop").symlink_to("loop")

    job = job_in(home)

    assert names(job) == ["logs/a.log"]
    assert job.problems == (
        "Links that lead back to themselves were not followed: logs/here, logs/ping, logs/pong and 2 more.",
    )
    assert JobsFolder(home.parent).job_ids() == ("j",)
    for job_id in ("all", "loop"):
        with pytest.raises(JobNotFound):
            JobsFolder(home.parent).job(job_id)


def test_broken_links_are_told(home: Path) -> None:
    """A link to nothing is named, because a log that should be there is not."""
    (home / "logs" / "gone.log").symlink_to("nothing")

    assert job_in(home).problems == ("Links that lead nowhere were left out: logs/gone.log.",)


def test_pipes_and_sockets_are_never_opened(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening a pipe would wait for ever."""
    os.mkfifo(home / "logs" / "pipe.log")
    monkeypatch.chdir(home / "logs")  # the path of a socket may have 107 bytes only
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.log")

        job = job_in(home)

    assert names(job) == ["logs/a.log"]
    assert job.problems == ("Pipes, sockets and devices were not opened: logs/pipe.log, logs/socket.log.",)


def test_a_log_that_became_a_pipe_or_a_link_is_not_waited_for(home: Path, tmp_path: Path) -> None:
    """What is opened later is the regular file that was listed, or an error."""
    (home / "logs" / "b.log").write_bytes(b"b")
    job = job_in(home)
    for name in ("a.log", "b.log"):
        (home / "logs" / name).unlink()
    os.mkfifo(home / "logs" / "a.log")
    (tmp_path / "secret").write_bytes(b"secret")
    (home / "logs" / "b.log").symlink_to(tmp_path / "secret")

    for file in job.logs:
        with pytest.raises(UnreadableLog, match=f"{file.name} cannot be read"):
            file.open()


def test_a_log_that_vanished_is_told(home: Path) -> None:
    """A file removed between listing and reading is an UnreadableLog with its name."""
    job = job_in(home)
    (home / "logs" / "a.log").unlink()

    with pytest.raises(UnreadableLog, match=r"logs/a\.log is no longer there"):
        job.logs[0].open()


@pytest.fixture
def elsewhere(home: Path, tmp_path: Path) -> Path:
    """A successful job beside the jobs folder, and a link `k` to it within."""
    elsewhere = tmp_path / "scratch" / "runs" / "77"
    (elsewhere / "logs").mkdir(parents=True)
    (elsewhere / "logs" / "x.log").write_bytes(b"x")
    (elsewhere / "job.json").write_bytes(b'{"status": "COMPLETED"}')
    (home.parent / "k").symlink_to(elsewhere)
    return elsewhere


def test_a_job_that_is_a_link_out_of_the_jobs_folder_is_no_job(home: Path, elsewhere: Path) -> None:
    """An id that a chat sends cannot be led to another place; it is told apart from an unknown id, not where to."""
    source = JobsFolder(home.parent)

    assert source.job_ids() == ("j",)
    for ask in (source.job, source.manifest):
        with pytest.raises(JobNotFound, match=r"There is no job k .* a link that leads out of that folder") as caught:
            ask("k")
        assert "FIRSTFAULT_FOLLOW_LINKS" in caught.value.hint
        assert str(elsewhere) not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("allowed", ["scratch", "scratch/runs", "scratch/runs/77", "alias/runs"])
def test_a_link_to_where_links_may_lead_is_a_job(home: Path, elsewhere: Path, tmp_path: Path, allowed: str) -> None:
    """Whoever runs the bot may name folders that jobs are linked into; the job is called as its link."""
    (tmp_path / "alias").symlink_to("scratch")

    source = open_source(str(home.parent), links=(tmp_path / "other", tmp_path / allowed))

    assert source.job_ids() == ("j", "k")
    assert (source.job("k").id, names(source.job("k"))) == ("k", ["logs/x.log"])
    assert source.manifest("k").status == "COMPLETED"
    assert source.manifest("k") == source.job("k").manifest
    assert read(source.job("k"), "logs/x.log") == b"x"
    assert elsewhere.is_dir()


@pytest.mark.parametrize("allowed", ["scratch/run", "scratch/runs/7", "other", "jobs"])
def test_a_link_to_another_place_stays_forbidden(home: Path, elsewhere: Path, tmp_path: Path, allowed: str) -> None:
    """A folder whose name begins alike is another folder."""
    source = open_source(str(home.parent), links=(tmp_path / allowed,))

    assert elsewhere.is_dir()
    assert source.job_ids() == ("j",)
    with pytest.raises(JobNotFound):
        source.job("k")


def test_a_linked_job_cannot_lead_further(home: Path, elsewhere: Path, tmp_path: Path) -> None:
    """Of a linked job, too, only what is in its folder is read; and no link makes a job of what holds the jobs."""
    (tmp_path / "secret.log").write_bytes(b"secret")
    (elsewhere / "logs" / "out.log").symlink_to(tmp_path / "secret.log")
    (home.parent / "up").symlink_to("..")

    source = open_source(str(home.parent), links=(tmp_path,))

    assert names(source.job("k")) == ["logs/x.log"]
    assert source.job("k").problems == ("Links that lead out of the job folder were not followed: logs/out.log.",)
    assert source.job_ids() == ("j", "k")
    with pytest.raises(JobNotFound):
        source.job("up")


def test_a_job_with_several_names_is_one_job(home: Path, elsewhere: Path, tmp_path: Path) -> None:
    """`last -> 1437825` and two links to one folder: as a baseline each job counts once."""
    deep = home.parent / "2026" / "11"
    deep.mkdir(parents=True)
    (home.parent / "last").symlink_to("j")
    (home.parent / "k2").symlink_to(elsewhere)
    (home.parent / "n").symlink_to("2026/11")
    (home.parent / "n2").symlink_to(deep)

    assert open_source(str(home.parent), links=(tmp_path / "scratch",)).job_ids() == ("2026", "j", "k", "n")
    assert open_source(str(home.parent)).job_ids() == ("2026", "j", "n")


def test_an_alias_of_a_job_is_that_job(home: Path) -> None:
    """`last -> j` is job j by its own id, so that it is never its own baseline, and lines are found again tomorrow."""
    (home / "job.json").write_bytes(b'{"job_id": "j", "status": "FAILED"}')
    (home.parent / "last").symlink_to("j")

    job = JobsFolder(home.parent).job("last")

    assert (job.id, job.status, names(job), job.problems) == ("j", "FAILED", ["logs/a.log"], ())
    assert JobsFolder(home.parent).manifest("last") == job.manifest


def test_a_link_into_a_folder_that_may_not_be_entered_hides_no_other_job(
    home: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are listed, and it is like a job that is not there."""
    look = os.stat

    def forbid(path: str | Path, **options: bool) -> os.stat_result:  # as root nothing is forbidden
        if str(path) == str(elsewhere):
            raise PermissionError(13, "Permission denied")
        return look(path, **options)

    monkeypatch.setattr(os, "stat", forbid)
    source = JobsFolder(home.parent, links=(elsewhere,))

    assert source.job_ids() == ("j",)
    with pytest.raises(JobNotFound, match="There is no job k"):
        source.job("k")


def test_a_jobs_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    """A wrong --jobs is told apart from an unknown job, and says how to name the right one."""
    (tmp_path / "file").write_bytes(b"")
    for place in (tmp_path / "nothing", tmp_path / "file"):
        source = open_source(str(place))
        for ask in (source.job_ids, partial(source.job, "j"), partial(source.manifest, "j")):
            with pytest.raises(SourceUnavailable, match="cannot be listed") as caught:
                ask()
            assert "FIRSTFAULT_JOBS" in caught.value.hint


def test_a_folder_that_may_not_be_listed_costs_a_sentence(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One forbidden folder does not hide the others' logs."""
    (home / "logs" / "node-1").mkdir()
    list_folder = Path.iterdir

    def forbid(path: Path) -> object:  # as root, for whom no folder is forbidden, the tests cannot make a real one
        if path.name == "node-1":
            raise PermissionError(13, "Permission denied")
        return list_folder(path)

    monkeypatch.setattr(Path, "iterdir", forbid)

    job = job_in(home)

    assert names(job) == ["logs/a.log"]
    assert job.problems == ("Not readable, and left out: logs/node-1.",)


def test_names_that_are_no_text_can_be_printed(home: Path) -> None:
    """A file name of any bytes becomes a name that JSON and a terminal can show, and opens."""
    path = os.fsencode(home / "logs") + b"/bad-\xff\xfe.log"
    with open(path, "wb") as stream:  # noqa: PTH123 (a name of bytes)
        stream.write(b"x")

    job = job_in(home)

    assert names(job) == ["logs/a.log", "logs/bad-\\xff\\xfe.log"]
    assert read(job, "logs/bad-\\xff\\xfe.log") == b"x"


def test_folders_nested_deeper_than_python_calls_are_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree of 1,200 folders in one another is no reason to fail."""
    monkeypatch.chdir(home / "logs")
    for _ in range(1200):
        os.mkdir("d")  # noqa: PTH102 (the whole path would be longer than the system takes)
        os.chdir("d")
    Path("deep.log").write_bytes(b"x")

    job = job_in(home)

    assert len(job.logs) == 2
    assert job.problems == ()
    Path("deep.log").unlink()
    for _ in range(1200):  # pytest's own cleaning cannot go so deep
        os.chdir("..")
        os.rmdir("d")  # noqa: PTH106 (as above)


def test_nothing_is_written_into_a_job_folder(home: Path) -> None:
    """Reading a job leaves its folder as it was."""
    before = {path: path.lstat().st_mtime_ns for path in home.rglob("*")}

    job = job_in(home)
    read(job, "logs/a.log")

    assert {path: path.lstat().st_mtime_ns for path in home.rglob("*")} == before


def test_a_path_to_a_job_folder_is_a_job(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder given by path needs no jobs folder and no valid id."""
    spaced = home.rename(home.parent / "my job")
    (spaced / "job.json").write_bytes(b'{"status": "FAILED"}')
    monkeypatch.chdir(spaced)

    for path in (str(spaced), f"{spaced}/", ".", spaced.as_uri().replace("%20", " ")):
        job = open_path(path)

        assert (job.id, job.status, names(job)) == ("my job", "FAILED", ["logs/a.log"])


@pytest.mark.parametrize("name", ["train.log", ".hidden", "model.pt", "job.json"])
def test_a_path_to_a_file_is_a_job_with_one_log(tmp_path: Path, name: str) -> None:
    """Whoever names a file wants it read, whatever it is called."""
    (tmp_path / name).write_bytes(b"x\n")

    job = open_path(str(tmp_path / name))

    assert (job.id, names(job), job.problems) == (name, [name], ())
    assert read(job, name) == b"x\n"


def test_a_path_that_is_not_there_is_no_job(tmp_path: Path) -> None:
    """A path that does not exist, leads in a circle or cannot exist is told like an unknown job."""
    (tmp_path / "loop").symlink_to("loop")

    for path in (tmp_path / "nothing", tmp_path / "loop", "a\0b", tmp_path / ("x" * 300)):
        with pytest.raises(JobNotFound, match="There is no job folder and no log file"):
            open_path(str(path))


def test_a_stream_is_no_log_file(tmp_path: Path) -> None:
    """A pipe cannot be read twice, so it is refused with what to do instead."""
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(UnreadableLog, match="is no regular file") as caught:
        open_path(str(tmp_path / "pipe"))

    assert "save the stream" in caught.value.hint


def test_an_empty_folder_by_path_has_no_logs(tmp_path: Path) -> None:
    """The reasons why nothing is left stand in the hint."""
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(NoLogs) as caught:
        open_path(str(tmp_path))

    assert "pipe" in caught.value.hint
    assert stat.S_ISFIFO((tmp_path / "pipe").lstat().st_mode)


def test_system_logs_of_machines_beside_the_logs_folder_are_read(home: Path) -> None:
    """A folder that is called as the kernel, rsyslog or systemd call theirs; a file of that name is none."""
    for folder in ("syslog", "dmesg", "scripts"):
        (home / folder).mkdir()
        (home / folder / "gpu-7").write_bytes(b"x\n")
    (home / "journal").write_bytes(b"x\n")

    assert names(job_in(home)) == ["logs/a.log", "dmesg/gpu-7", "syslog/gpu-7"]
