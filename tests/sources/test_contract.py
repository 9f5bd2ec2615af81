"""What every place that holds jobs promises, whichever it is."""

import gzip
import pickle

import pytest

from core.errors import BadJobId, JobNotFound, NoLogs, UnreadableLog
from core.job import Status
from sources.limits import Limits
from tests.sources.conftest import MakeSource

LOG = {"logs/rank_0.log": b"hello\n"}


def test_job_ids_are_sorted_and_leave_out_what_is_no_job(make_source: MakeSource) -> None:
    """Ids come in one order everywhere, and a folder that no id could name is not offered."""
    source = make_source({"b-2": LOG, "a_1": LOG, "10": LOG, ".trash": LOG, "-x": LOG, "two words": LOG})

    assert source.job_ids() == ("10", "a_1", "b-2")


def test_a_job_has_its_logs_and_dumps_sorted_by_name(make_source: MakeSource) -> None:
    """Logs and dumps of any tree are told apart by folder, and sorted."""
    files = {
        "logs/node-1/b.log": b"1b",
        "logs/node-1/a.log": b"1a",
        "logs/node-0/attempt_0/0/stderr.log": b"0",
        "logs/top.log": b"t",
        "dumps/rank1.txt": b"stack",
        "dumps/rank0.txt": b"stack",
        "README.md": b"beside the logs",
    }

    job = make_source({"j": files}).job("j")

    assert [file.name for file in job.logs] == [
        "logs/node-0/attempt_0/0/stderr.log",
        "logs/node-1/a.log",
        "logs/node-1/b.log",
        "logs/top.log",
    ]
    assert [file.name for file in job.dumps] == ["dumps/rank0.txt", "dumps/rank1.txt"]
    assert job.problems == ()


def test_without_a_logs_folder_the_files_of_the_job_folder_are_its_logs(make_source: MakeSource) -> None:
    """Logs that lie directly in the job folder are found; job.json and dumps are no logs."""
    files = {"out.log": b"x", "node-1/err.log": b"y", "job.json": b"{}", "dumps/d.txt": b"z"}

    job = make_source({"j": files}).job("j")

    assert [file.name for file in job.logs] == ["node-1/err.log", "out.log"]
    assert [file.name for file in job.dumps] == ["dumps/d.txt"]


def test_a_log_can_be_read_again_and_in_another_process(make_source: MakeSource) -> None:
    """Each open gives a new stream from the start; a job survives pickling, so files can be scanned anywhere."""
    text = b"line\n" * 100_000
    job = make_source({"j": {"logs/a.log": text, "logs/b.log.gz": gzip.compress(text)}}).job("j")

    job = pickle.loads(pickle.dumps(job))

    for file in (*job.logs, *job.logs):
        with file.open() as stream:
            assert stream.read(7) == text[:7]
            assert b"".join(iter(lambda: stream.read(65_537), b"")) == text[7:]


def test_a_read_never_returns_more_than_asked(make_source: MakeSource) -> None:
    """read(n) and readinto(buffer) fill exactly, until the end of the file."""
    job = make_source({"j": {"logs/a.gz": gzip.compress(b"x" * 1000), "logs/b": b"x" * 1000}}).job("j")

    for file in job.logs:
        with file.open() as stream:
            buffer = bytearray(600)
            filled = [stream.readinto(buffer), stream.readinto(buffer), stream.readinto(buffer)]  # type: ignore[attr-defined]  # BinaryIO has it not
        assert filled == [600, 400, 0]


def test_an_empty_log_is_a_log(make_source: MakeSource) -> None:
    """A rank that wrote nothing is evidence: its empty file stays, with size zero."""
    job = make_source({"j": {"logs/rank_1.log": b"", "logs/rank_0.log.gz": b""}}).job("j")

    assert [(file.name, file.size) for file in job.logs] == [("logs/rank_0.log.gz", 0), ("logs/rank_1.log", 0)]
    for file in job.logs:
        with file.open() as stream:
            assert stream.read(10) == b""


def test_the_manifest_is_read_with_and_without_the_logs(make_source: MakeSource) -> None:
    """manifest(id) and job(id).manifest say the same."""
    source = make_source({"j": {**LOG, "job.json": b'{"status": "failed", "nodes": ["n0"], "world_size": 2}'}})

    manifest = source.manifest("j")

    assert (manifest.status, manifest.nodes, manifest.world_size) == (Status.FAILED, ("n0",), 2)
    assert source.job("j").manifest == manifest


def test_a_job_without_a_manifest_is_a_job(make_source: MakeSource) -> None:
    """Without job.json everything but the id is unknown."""
    source = make_source({"j": LOG})

    assert source.manifest("j").job_id == "j"
    assert source.manifest("j").status is Status.UNKNOWN
    assert source.job("j").problems == ()


def test_a_broken_manifest_costs_a_sentence_and_no_logs(make_source: MakeSource) -> None:
    """The logs of a job with a broken job.json are read all the same."""
    source = make_source({"j": {**LOG, "job.json": b'{"status": '}, "empty": {**LOG, "job.json": b""}})

    for job in (source.job("j"), source.job("empty")):
        assert len(job.logs) == 1
        assert len(job.problems) == 1
        assert job.problems[0].startswith("job.json is not valid JSON")
    assert source.manifest("j").status is Status.UNKNOWN


def test_a_huge_manifest_is_not_parsed(make_source: MakeSource) -> None:
    """A job.json over the limit is left out, and the answer says so."""
    source = make_source({"j": {**LOG, "job.json": b'{"a": "' + b"x" * 200 + b'"}'}}, Limits(manifest_bytes=100))

    assert source.job("j").problems == ("job.json is larger than 100 bytes and was left out.",)


@pytest.mark.parametrize(
    "job_id", ["..", ".", "", "../b", "a/b", "/etc", "-rf", ".hidden", "a\nb", "a\0b", "ä", "x" * 129]
)
def test_an_id_that_is_no_name_is_refused(make_source: MakeSource, job_id: str) -> None:
    """Whatever a chat sends, only plain names get near a path."""
    source = make_source({"a": LOG})

    for ask in (source.job, source.manifest):
        with pytest.raises(BadJobId):
            ask(job_id)


def test_an_unknown_job_is_not_found_and_close_names_are_offered(make_source: MakeSource) -> None:
    """A slip of the finger is answered with the ids that look like it."""
    source = make_source({"1437825": LOG, "1437852": LOG, "other": LOG})

    for ask in (source.job, source.manifest):
        with pytest.raises(JobNotFound, match="There is no job 1437826") as caught:
            ask("1437826")
        assert "1437825" in caught.value.hint
        assert "other" not in caught.value.hint


@pytest.mark.parametrize("files", [{}, {"job.json": b"{}"}, {"logs/.gitkeep": b""}, {"logs/model.pt": b"x"}])
def test_a_job_without_logs_says_so(make_source: MakeSource, files: dict[str, bytes]) -> None:
    """A job folder without a single log file is told apart from a job that does not exist."""
    source = make_source({"j": files, "k": LOG})

    with pytest.raises(NoLogs, match="Job j has no log files"):
        source.job("j")
    assert source.manifest("j").job_id == "j"


def test_dumps_alone_make_a_job(make_source: MakeSource) -> None:
    """A hung job of which only stack dumps were kept can be asked about."""
    job = make_source({"j": {"dumps/rank0.txt": b"stack"}}).job("j")

    assert job.logs == ()
    assert [file.name for file in job.dumps] == ["dumps/rank0.txt"]


def test_files_that_hold_no_lines_are_named_not_read(make_source: MakeSource) -> None:
    """Archives, checkpoints and the like are left out with a sentence that counts them."""
    names = [
        "a.log",
        "b.json",
        "c.out",
        "old.tar.gz",
        "x.ZIP",
        "m.pt",
        "n.pt",
        "p.npy.zst",
        "events.out.tfevents.1.host",
    ]

    job = make_source({"j": {f"logs/{name}": b"x" for name in names}}).job("j")

    assert [file.name for file in job.logs] == ["logs/a.log", "logs/b.json", "logs/c.out"]
    assert job.problems == (
        "The archive logs/old.tar.gz and 1 more was not read: unpack it into the job folder.",
        "Files that hold no log lines were not read: 1 .npy, 2 .pt, 1 .tfevents.",
    )


def test_a_stamp_changes_with_the_content(make_source: MakeSource) -> None:
    """Stamps are part of cache keys: other content gives another one, the same content in place the same."""
    source = make_source({"a": {"logs/x": b"one"}, "b": {"logs/x": b"three"}})

    assert source.job("a").logs[0].stamp == source.job("a").logs[0].stamp
    assert source.job("a").logs[0].stamp != source.job("b").logs[0].stamp


def test_a_truncated_archive_gives_what_it_has(make_source: MakeSource) -> None:
    """The lines before the cut come first; the read after them says what is wrong."""
    text = b"".join(b"line %d\n" % number for number in range(50_000))
    job = make_source({"j": {"logs/a.log.gz": gzip.compress(text)[:-5000]}}).job("j")

    with job.logs[0].open() as stream:
        got = stream.read(1 << 20)
        with pytest.raises(UnreadableLog, match=r"logs/a\.log\.gz ends in the middle"):
            stream.read(1)

    assert len(got) > 10_000
    assert text.startswith(got)
