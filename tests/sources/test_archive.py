"""Jobs in one file: every way to pack gives the same job, damage costs what is damaged, and nothing gets out."""

import gzip
import io
import lzma
import multiprocessing
import os
import random
import stat
import tarfile
import tempfile
import tracemalloc
import zipfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import FirstfaultError, NoLogs, UnreadableLog
from core.job import Job, LogFile
from core.logs.array_store import NoSpace
from sources.jobs import open_path
from sources.limits import Limits

Files = Mapping[str, bytes]

FILES: Files = {
    "job-77/job.json": b'{"status": "FAILED", "nodes": ["node-0"], "job_id": "job-77"}',
    "job-77/logs/node-0/rank_0.log": b"".join(b"iteration %d of 9\n" % n for n in range(5000)),
    "job-77/logs/node-0/rank_1.log.gz": gzip.compress(b"packed twice\n" * 3000),
    "job-77/logs/empty.log": b"",
    "job-77/dumps/nccl_trace_rank_0.pickle": b"\x80\x04]\x94.",
    "job-77/README.md": b"beside the logs",
}


def tar(files: Files, form: int = tarfile.PAX_FORMAT) -> bytes:
    return tar_of([(name, content, {}) for name, content in files.items()], form)


def tar_of(members: Iterable[tuple[str, bytes, Mapping[str, object]]], form: int = tarfile.PAX_FORMAT) -> bytes:
    """A tar of names, contents, and whatever else stands in their headers."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=form) as archive:
        for name, content, fields in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            for field, value in fields.items():
                setattr(info, field, value)
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def changed(info: tarfile.TarInfo, at: int, value: bytes) -> bytes:
    """A header of GNU tar with something else in it, and the checksum of that."""
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[at : at + len(value)] = value
    header[148:156] = b"%06o\0 " % sum(header[:148] + b" " * 8 + header[156:512])
    return bytes(header)


def zipped(files: Files, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


STREAMS: dict[str, Callable[[bytes], bytes]] = {
    ".tar": bytes,
    ".tar.gz": gzip.compress,
    ".tar.zst": zstandard.compress,
    ".tar.xz": lambda content: lzma.compress(content, preset=0),
}
PACK: dict[str, Callable[[Files], bytes]] = {
    ".tar": tar,
    ".tar.gz": lambda files: gzip.compress(tar(files)),
    ".tgz": lambda files: gzip.compress(tar(files, tarfile.GNU_FORMAT)),
    ".tar.zst": lambda files: zstandard.compress(tar(files, tarfile.USTAR_FORMAT)),
    ".tar.xz": lambda files: lzma.compress(tar(files), preset=0),
    ".zip": zipped,
    ".stored.zip": lambda files: zipped(files, zipfile.ZIP_STORED),
}
every_way = pytest.mark.parametrize("suffix", PACK)
every_tar = pytest.mark.parametrize("suffix", STREAMS)


def stored(place: Path, content: bytes, name: str = "bundle.tar.gz", limits: Limits | None = None) -> Job:
    (place / name).write_bytes(content)
    return open_path(str(place / name), limits=limits or Limits())


def job_in(place: Path, files: Files, suffix: str = ".tar.gz", limits: Limits | None = None) -> Job:
    return stored(place, PACK[suffix](files), f"bundle{suffix}", limits)


def names(job: Job) -> list[str]:
    return [file.name for file in job.logs]


def read(file: LogFile) -> tuple[bytes, UnreadableLog | None]:
    """All that a log gives, and how it ended."""
    got = io.BytesIO()
    try:
        with file.open() as stream:
            while part := stream.read(70_001):
                got.write(part)
    except UnreadableLog as failure:
        return got.getvalue(), failure
    return got.getvalue(), None


def texts(job: Job) -> dict[str, bytes]:
    return {file.name: read(file)[0] for file in (*job.logs, *job.dumps)}


# --- the job --------------------------------------------------------------------------------------------------------


@every_way
def test_every_way_to_pack_gives_the_job_folder(tmp_path: Path, suffix: str) -> None:
    """Logs, dumps and job.json are those of the folder that was packed; files that are packed themselves are read."""
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)

    job, same = job_in(tmp_path, FILES, suffix), open_path(str(tmp_path / "job-77"))

    assert (job.id, job.manifest, job.problems) == (same.id, same.manifest, ())
    assert names(job) == ["logs/empty.log", "logs/node-0/rank_0.log", "logs/node-0/rank_1.log.gz"]
    assert texts(job) == texts(same)
    assert len(texts(job)["logs/node-0/rank_1.log.gz"]) == 39_000


@every_way
def test_logs_alone_are_a_job(tmp_path: Path, suffix: str) -> None:
    """Without logs/ everything is a log, and the job is called as the archive."""
    job = job_in(tmp_path, {"rank_0.log": b"0\n", "node-1/rank_1.log": b"1\n"}, suffix)

    assert job.id == ("bundle.stored" if suffix == ".stored.zip" else "bundle")
    assert texts(job) == {"rank_0.log": b"0\n", "node-1/rank_1.log": b"1\n"}


@pytest.mark.parametrize(
    ("packed", "job_id", "found"),
    [
        (["logs/a.log"], "bundle", ["logs/a.log"]),
        (["./logs/a.log", "./job.json"], "bundle", ["logs/a.log"]),
        (["7/logs/a.log", "7/job.json", "7/train.py"], "7", ["logs/a.log"]),
        (["7/logs/a.log"], "bundle", ["logs/a.log"]),
        (["data/jobs/7/job.json", "data/jobs/7/logs/a.log"], "7", ["logs/a.log"]),
        (["my job/job.json", "my job/a.log"], "bundle", ["a.log"]),
        (["7/a.log", "7/node-1/b.log"], "bundle", ["a.log", "node-1/b.log"]),
        (["7/node-0/a.log"], "bundle", ["node-0/a.log"]),
        (["7/a.log", "8/b.log"], "bundle", ["7/a.log", "8/b.log"]),
        (["7/logs/a.log", "._7", "7/logs/._a.log", "__MACOSX/._7"], "bundle", ["logs/a.log"]),
        (["7/logs/a.log", "README"], "bundle", ["7/logs/a.log", "README"]),
        (["/".join("a" * 1000) + "/a.log"], "bundle", ["/".join("a" * 999) + "/a.log"]),
    ],
)
def test_the_job_folder_is_found_in_the_archive(
    tmp_path: Path, packed: list[str], job_id: str, found: list[str]
) -> None:
    """A single folder at the top is the job folder, or leads to it; those of nodes stay; what a Mac adds is nothing."""
    job = job_in(tmp_path, dict.fromkeys(packed, b"{}"))

    assert (job.id, names(job)) == (job_id, found)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".tar", ".tar.gz", ".zip"])
def test_a_job_survives_pickling_into_another_process(tmp_path: Path, suffix: str) -> None:
    """Whoever reads the logs elsewhere needs the archive, and nothing that this process holds."""
    job = job_in(tmp_path, FILES, suffix)

    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as elsewhere:
        assert elsewhere.submit(texts, job).result() == texts(job)


@every_way
def test_logs_of_one_archive_are_read_at_the_same_time(tmp_path: Path, suffix: str) -> None:
    """Who reads one member does not move the place of who reads another, or of who reads another archive."""
    files = {f"logs/{n}.log": random.Random(n).randbytes(200_000) for n in range(4)}
    other = stored(tmp_path, PACK[suffix]({"logs/9.log": b"9" * 5000}), f"other{suffix}").logs[0].open()
    streams = [file.open() for file in job_in(tmp_path, files, suffix).logs]

    got = dict.fromkeys(files, b"")
    for _ in range(100):
        got = {name: text + stream.read(2001) for (name, text), stream in zip(got.items(), streams, strict=True)}

    assert got == files
    assert other.read(9999) == b"9" * 5000
    for stream in (*streams, other):
        stream.close()


def test_only_what_is_stored_as_it_is_can_be_read_in_parts(tmp_path: Path) -> None:
    """Large logs are read in spans where that is cheap: in tars; to go back in a zip means to unpack it again."""
    for suffix, seekable in ((".tar", True), (".tar.gz", True), (".zip", False)):
        with job_in(tmp_path, FILES, suffix).logs[1].open() as stream:
            assert stream.seekable() is seekable
            if seekable:
                stream.seek(1000)
                assert stream.read(8) == FILES["job-77/logs/node-0/rank_0.log"][1000:1008]


def test_the_content_decides_and_not_the_name(tmp_path: Path) -> None:
    """A tar called .log is an archive, and text called .tar.gz is a log, packed or not."""
    assert names(stored(tmp_path, PACK[".tar.gz"](FILES), "a.log")) == names(job_in(tmp_path, FILES))
    for content in (b"just text\n", gzip.compress(b"just text\n")):
        job = stored(tmp_path, content, "b.tar.gz")
        assert (job.id, texts(job)) == ("b.tar.gz", {"b.tar.gz": b"just text\n"})


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_names_of_every_length_are_read(tmp_path: Path, form: int) -> None:
    """Long names stand in headers of their own, in three ways; what is no UTF-8 in one can be shown."""
    files = {f"logs/{'n' * length}/{'a' * length}.log": b"%d" % length for length in (1, 60, 95)}
    if form != tarfile.USTAR_FORMAT:
        files[f"logs/{'d' * 200}/{'n' * 200}/{'f' * 240}"] = b"longest"

    job = stored(tmp_path, tar({**files, os.fsdecode(b"logs/\xff.log"): b"odd"}, form))

    assert texts(job) == {**files, "logs/\\xff.log": b"odd"}


def test_what_gnu_tar_writes_beside_files_is_no_part_of_them(tmp_path: Path) -> None:
    """A label, the list of a folder (tar -g), and times where other tars have the beginning of a name."""
    label, folder, log = tarfile.TarInfo("nightly"), tarfile.TarInfo("7/"), tarfile.TarInfo("7/logs/a.log")
    label.type, folder.type, folder.size, log.size = b"V", b"D", 5, 1
    content = label.tobuf(tarfile.GNU_FORMAT) + folder.tobuf(tarfile.GNU_FORMAT) + b"Dlogs" + bytes(507)
    content += changed(log, 345, b"15300525230") + b"a" + bytes(511 + 1024)

    job = stored(tmp_path, content, "a.tar")

    assert (texts(job), job.problems) == ({"logs/a.log": b"a"}, ())


@every_way
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_two_with_one_name_the_later_counts(tmp_path: Path, suffix: str) -> None:
    """As when an archive that was appended to is unpacked; "./a" and "a" are one name."""
    job = job_in(tmp_path, {"a.log": b"old", "b.log": b"b", "./a.log": b"new"}, suffix)

    assert texts(job) == {"a.log": b"new", "b.log": b"b"}


# --- what is left out -------------------------------------------------------------------------------------------------


@every_tar
def test_links_devices_and_names_that_lead_out_are_left_out_and_told(tmp_path: Path, suffix: str) -> None:
    """Nothing in an archive leads to a file of this machine."""
    (tmp_path / "secret").write_bytes(b"secret")
    out = ("../secret", "logs/../../secret", "/etc/passwd", "..", "./", "x" * 5000)
    content = tar_of(
        (
            ("logs", b"", {"type": tarfile.DIRTYPE}),
            ("logs/a.log", b"a", {}),
            ("logs/soft.log", b"", {"type": tarfile.SYMTYPE, "linkname": str(tmp_path / "secret")}),
            ("logs/hard.log", b"", {"type": tarfile.LNKTYPE, "linkname": "logs/a.log"}),
            ("logs/pipe.log", b"", {"type": tarfile.FIFOTYPE}),
            ("logs/null.log", b"", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 3}),
            *((name, b"out", {}) for name in out),
        )
    )

    job = stored(tmp_path, STREAMS[suffix](content), f"a{suffix}")

    assert texts(job) == {"logs/a.log": b"a"}
    assert job.problems == (
        "Links in the archive were not followed: logs/hard.log, logs/soft.log.",
        "Names that lead out of the archive were left out: ../secret, /etc/passwd, logs/../../secret.",
        f"Names that no file can have were left out: .., ./, {'x' * 120}.",
        "Pipes, devices and the like in the archive were left out: logs/null.log, logs/pipe.log.",
    )


def test_of_a_zip_too(tmp_path: Path) -> None:
    """A zip has links as well, members that need a password, and some that are packed in ways that nobody uses."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("logs/a.log", "../secret", "/etc/passwd", "logs/", "logs/secret.log"):
            archive.writestr(name, b"" if name.endswith("/") else b"a")
        archive.writestr("logs/bzip2.log", b"b" * 100, zipfile.ZIP_BZIP2)
        link = zipfile.ZipInfo("logs/link.log")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.getinfo("logs/secret.log").flag_bits |= 1
        archive.writestr("nameless", b"a")
        archive.getinfo("nameless").filename = ""

    job = stored(tmp_path, packed.getvalue(), "a.zip")

    assert texts(job) == {"logs/a.log": b"a"}
    assert job.problems == (
        "Encrypted files in the archive were left out: logs/secret.log.",
        "Links in the archive were not followed: logs/link.log.",
        "Names that lead out of the archive were left out: ../secret, /etc/passwd.",
        "Names that no file can have were left out: .",
        "Packed in a way that is not read, and left out: logs/bzip2.log.",
    )


@every_tar
def test_sparse_files_are_left_out(tmp_path: Path, suffix: str) -> None:
    """A file may say to be a terabyte of nothing; what stands behind it is read all the same."""
    old = tarfile.TarInfo("logs/old.log")
    old.type, old.size = tarfile.GNUTYPE_SPARSE, 600
    header = changed(old, 482, b"\1")  # its map goes on in a block of its own
    new = {"pax_headers": {"GNU.sparse.major": "1", "GNU.sparse.name": "logs/new.log", "GNU.sparse.realsize": "1" * 13}}
    content = header + bytes(512) + b"s" * 600 + bytes(424)
    content += tar_of([("GNUSparseFile.0/new.log", b"1\n0\n", new), ("logs/a.log", b"a", {})])

    job = stored(tmp_path, STREAMS[suffix](content), f"a{suffix}")

    assert texts(job) == {"logs/a.log": b"a"}
    assert job.problems == ("Sparse files in the archive were left out: logs/new.log, logs/old.log.",)


@every_way
def test_what_is_no_log_is_counted_and_not_unpacked(tmp_path: Path, suffix: str) -> None:
    """A checkpoint beside the logs costs no room."""
    files = {"logs/a.log": b"a", "logs/model.pt": bytes(3_000_000), "logs/old.tar.gz": b"x", ".git/config": b"x" * 3000}

    job = job_in(tmp_path, files, suffix, Limits(archive_bytes=1000, ratio=10_000))

    assert texts(job) == {"logs/a.log": b"a"}
    assert job.problems == (
        "The archive logs/old.tar.gz was not read: unpack it into the job folder.",
        "Files that hold no log lines were not read: 1 .pt.",
    )


@every_way
@pytest.mark.parametrize("name", ["logs/model.pt", "job.json", ".hidden"])
def test_an_archive_without_logs_is_told(tmp_path: Path, suffix: str, name: str) -> None:
    """It is like a folder without logs."""
    with pytest.raises(NoLogs, match=r"Job bundle.* has no log files under .*bundle"):
        job_in(tmp_path, {name: b"{}"}, suffix)


# --- damage ---------------------------------------------------------------------------------------------------------

NOISE = {
    f"7/logs/{n}.log": b"".join(b"%x\n" % random.Random(9000 * n + m).getrandbits(60) for m in range(9000))
    for n in range(5)
}
WHOLE = {name.removeprefix("7/"): content for name, content in NOISE.items()}


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


# --- bombs ------------------------------------------------------------------------------------------------------------


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


# --- the disk ---------------------------------------------------------------------------------------------------------


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
