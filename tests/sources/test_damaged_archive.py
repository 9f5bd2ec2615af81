"""Archives that were cut off, are damaged, or lie about what they hold: read as far as that goes, or told."""

import gzip
import random
import tarfile
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import FirstfaultError, NoLogs, UnreadableLog
from core.logs.array_store import NoSpace
from sources.jobs import open_path
from sources.limits import Limits
from tests.support.packed_jobs import (
    FILES,
    NOISE,
    PACK,
    STREAMS,
    WHOLE,
    Files,
    every_tar,
    every_way,
    job_in,
    names,
    read,
    stored,
    tar,
    tar_of,
    texts,
    zipped,
)


@every_way
@pytest.mark.parametrize("name", ["logs/model.pt", "job.json", ".hidden"])
def test_an_archive_without_logs_is_told(tmp_path: Path, suffix: str, name: str) -> None:
    """It is like a folder without logs."""
    with pytest.raises(NoLogs, match=r"Job bundle.* has no log files under .*bundle"):
        job_in(tmp_path, {name: b"{}"}, suffix)


@every_tar
@pytest.mark.parametrize("part", [0.3, 0.7, 0.97])
def test_of_an_archive_that_was_cut_off_is_read_what_is_there(tmp_path: Path, suffix: str, part: float) -> None:
    """Whole files, and the beginning of the one that was cut, which says so; the answer says so too."""
    whole = PACK[suffix](NOISE)

    job = stored(tmp_path, whole[: int(len(whole) * part)], f"a{suffix}")

    got = {file.name: read(file) for file in job.logs}
    assert len(got) >= int(5 * part - 0.5)
    assert all(WHOLE[name].startswith(text) for name, (text, _) in got.items())
    assert [file.size for file in job.logs] == [len(text) for text, _ in got.values()]
    broken = {name: failure for name, (text, failure) in got.items() if failure or text != WHOLE[name]}
    assert all("the archive ends in the middle of it" in str(failure) for failure in broken.values())
    assert len(broken) <= 1
    assert len(job.problems) == 1
    assert f"a{suffix} ends " in job.problems[0]


@every_tar
def test_of_a_damaged_archive_is_read_what_stands_before(tmp_path: Path, suffix: str) -> None:
    """A header that makes no sense is not taken for the end of the archive."""
    content = bytearray(tar(NOISE))
    at = content.index(b"7/logs/3.log")
    content[at : at + 300] = random.Random(1).randbytes(300)

    job = stored(tmp_path, STREAMS[suffix](bytes(content)), f"a{suffix}")

    assert texts(job) == {name: WHOLE[name] for name in ("logs/0.log", "logs/1.log", "logs/2.log")}
    assert job.problems == (f"a{suffix} is damaged after {at + 512:,} bytes of its files: what follows was not read.",)


def test_a_damaged_member_of_a_zip_costs_itself(tmp_path: Path) -> None:
    """The others are read, and of the damaged one what stands before."""
    content = bytearray(zipped(NOISE))
    at = content.index(b"7/logs/3.log") + 60_000
    content[at : at + 20] = bytes(20)

    job = stored(tmp_path, bytes(content), "a.zip")

    for file in job.logs:
        text, failure = read(file)
        assert bool(failure) is (file.name == "logs/3.log")
        assert text == WHOLE[file.name] or (failure and len(text) >= 60_000)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.zip", zipped(NOISE)[:-30], "a.zip has no list of its files at its end"),
        ("a.tar.gz", PACK[".tar.gz"](NOISE)[:30], "a.tar.gz ends in the middle of its gzip data"),
        ("a.tar.xz", PACK[".tar.xz"](NOISE)[:40] + b"\xff" * 99, "a.tar.xz is corrupt after 0 unpacked bytes"),
        ("a.tar.zst", PACK[".tar.zst"](NOISE)[:30], "a.tar.zst ends in the middle of its zstd data"),
        ("a.tar", b"", "a.tar is no archive, or its beginning is damaged"),
        ("a.tgz", gzip.compress(b""), "a.tgz is no archive, or its beginning is damaged"),
        ("a.tar", random.Random(1).randbytes(4096), "a.tar is no archive, or its beginning is damaged"),
        ("a.tar", bytes(4096), "a.tar is no archive, or its beginning is damaged"),
        ("a.tar", b"x" * 257 + b"ustar" + bytes(1000), "a.tar is damaged after 512 bytes"),
        ("a.tar", tar_of([("a", b"", {"type": tarfile.DIRTYPE})])[:512], "a.tar ends without the mark of its end"),
    ],
    ids=["zip", "gz", "xz", "zst", "empty", "nothing packed", "noise", "zeros", "one header", "no end"],
)
def test_an_archive_of_which_nothing_can_be_read_is_an_error(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    """It says what is wrong, and what to try."""
    with pytest.raises(UnreadableLog) as caught:
        stored(tmp_path, content, name)

    assert message in caught.value.message
    assert caught.value.hint


@pytest.mark.slow
@pytest.mark.parametrize("pack", [tar, zipped])
@given(changes=st.lists(st.tuples(st.integers(0), st.integers(0, 255)), max_size=8), cut=st.integers(0, 3000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300)
def test_no_damage_crashes(
    tmp_path: Path, pack: Callable[[Files], bytes], changes: list[tuple[int, int]], cut: int
) -> None:
    """Whatever is changed in an archive: a job, or an error of ours, and so is each of its files."""
    content = bytearray(pack({"7/logs/a.log": b"a\n" * 99, "7/logs/" + "b" * 120: b"b\n" * 99, "7/job.json": b"{}"}))
    for at, value in changes:
        content[at % len(content)] = value

    try:
        texts(stored(tmp_path, bytes(content[: len(content) - cut]), "a.zip" if pack is zipped else "a.tar"))
    except FirstfaultError:
        return


@pytest.mark.parametrize("suffix", [".tar.gz", ".tar.zst", ".tar.xz"])
def test_a_tar_that_unpacks_to_absurd_sizes_is_cut(tmp_path: Path, suffix: str) -> None:
    """What stands before the zeros is read, and neither memory nor disk is filled."""
    (tmp_path / "bomb").write_bytes(STREAMS[suffix](tar({"logs/a.log": b"a", "logs/b.log": bytes(64 << 20)})))

    tracemalloc.start()
    job = open_path(str(tmp_path / "bomb"), limits=Limits(unpacked_bytes=1 << 20, ratio=50, archive_memory=1 << 20))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert job.logs[0].size == 1
    assert sum(file.size for file in job.logs) < 8 << 20
    assert "bomb unpacks to more than 50 times its size: stopped after" in job.problems[0]
    assert peak < 40 << 20


def test_a_member_of_a_zip_that_unpacks_to_absurd_sizes_is_left_out(tmp_path: Path) -> None:
    """The others are read."""
    job = job_in(tmp_path, {"logs/a.log": b"a", "logs/b.log": bytes(20 << 20)}, ".zip")

    assert names(job) == ["logs/a.log"]
    assert job.problems == ("Packed suspiciously well, and left out: logs/b.log.",)


@every_way
def test_more_members_than_an_archive_may_have_are_left_out(tmp_path: Path, suffix: str) -> None:
    """The first ones are read, and the answer says that there are more."""
    job = job_in(tmp_path, {f"logs/{n}.log": b"x" for n in range(30)}, suffix, Limits(archive_members=7))

    assert len(job.logs) == 7
    assert job.problems == (f"bundle{suffix} has more than 7 members: the rest was left out.",)


@pytest.mark.parametrize("suffix", [suffix for suffix in PACK if suffix != ".tar"])
def test_more_bytes_than_an_archive_may_have_are_left_out(tmp_path: Path, suffix: str) -> None:
    """Files are taken whole, as long as there is room; a tar that is not packed needs none."""
    files = {f"logs/{n}.log": bytes([n]) * 40_000 for n in range(9)}
    limits = Limits(archive_bytes=90_000)

    few, all_ = job_in(tmp_path, files, suffix, limits), job_in(tmp_path, files, ".tar", limits)

    if suffix != ".stored.zip":  # of what is stored as it is, as much as there is
        assert names(few) == ["logs/0.log", "logs/1.log"]
        assert few.problems == (f"bundle{suffix} unpacks to more than 90,000 bytes: the rest was left out.",)
    assert names(all_) == sorted(files)


@every_tar
@pytest.mark.parametrize(
    ("size", "problem"),
    [
        ("99999", " ends without the mark of its end: its last files are cut off or missing."),
        ("9" * 30, " unpacks to more than 68,719,476,736 bytes: the rest was left out."),
        ("-1", ""),
        ("1e3", ""),
        ("", ""),
    ],
)
def test_a_header_that_lies_about_a_size_is_harmless(tmp_path: Path, suffix: str, size: str, problem: str) -> None:
    """More than there is ends the archive; where it is no number, the other number counts."""
    lie = {"pax_headers": {"size": size}}
    content = tar_of([("logs/a.log", b"a", {}), ("logs/b.log", b"bc", lie), ("logs/c.log", b"d", {})])

    job = stored(tmp_path, STREAMS[suffix](content), f"a{suffix}")

    assert texts(job)["logs/a.log"] == b"a"
    assert ("logs/c.log" in names(job)) == (not problem)
    assert job.problems == ((f"a{suffix}{problem}",) if problem else ())


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_header_of_absurd_size_is_not_read(tmp_path: Path, suffix: str) -> None:
    """A name of 200 MB is damage."""
    long = tarfile.TarInfo("././@LongLink")
    long.type, long.size = tarfile.GNUTYPE_LONGNAME, 200 << 20
    content = tar({"logs/a.log": b"a"})[:1024] + long.tobuf(tarfile.GNU_FORMAT) + b"x" * (4 << 20)

    tracemalloc.start()
    job = stored(tmp_path, gzip.compress(content, 1) if suffix else content, f"a.tar{suffix}")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert texts(job) == {"logs/a.log": b"a"}
    assert "is damaged after 1,536 bytes" in job.problems[0]
    assert peak < 16 << 20


def test_a_packed_tar_that_memory_does_not_take_leaves_nothing_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it unpacks to is in a file that has no name, so that there is nothing to clean up."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))

    job = job_in(tmp_path, FILES, ".tar.gz", Limits(archive_memory=1))

    assert texts(job) == texts(job_in(tmp_path, FILES, ".tar"))
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_disk_that_takes_nothing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the folder, and the variable that names another one."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))

    with pytest.raises(NoSpace, match=r"The unpacked archive cannot be written to .*missing") as caught:
        job_in(tmp_path, FILES, ".tar.gz", Limits(archive_memory=1))

    assert "TMPDIR" in caught.value.hint


def test_an_archive_that_was_written_anew_is_read_anew(tmp_path: Path) -> None:
    """What was unpacked before is not taken for it."""
    for suffix in PACK:
        job_in(tmp_path, {"a.log": b"old"}, suffix)
        assert texts(job_in(tmp_path, {"a.log": b"newer"}, suffix)) == {"a.log": b"newer"}
