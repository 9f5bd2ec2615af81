"""Jobs in one file: every way to pack gives the same job, damage costs what is damaged, and nothing gets out."""

import gzip
import io
import multiprocessing
import os
import random
import stat
import tarfile
import zipfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from core.logs.lines import LABEL_MARK
from sources.jobs import open_path
from sources.limits import Limits
from tests.support.packed_jobs import (
    FILES,
    PACK,
    STREAMS,
    changed,
    every_tar,
    every_way,
    job_in,
    names,
    stored,
    tar,
    tar_of,
    texts,
)

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
    files = {f"logs/{n}.log": random.Random(n).randbytes(200_000).replace(LABEL_MARK, b"") for n in range(4)}
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
