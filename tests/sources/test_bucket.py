"""Buckets: what goes wrong between us and them, told in our words."""

import socket
from functools import partial

import boto3
import pytest

from core.errors import BadSettings, JobNotFound, SourceUnavailable, UnreadableLog
from sources.jobs import open_path, open_source
from tests.sources.conftest import in_s3

FOLDERS = {"j": {"logs/a.log": b"a\n"}}


def test_a_bucket_that_does_not_exist_is_told(s3_url: str) -> None:
    """A wrong bucket or folder is told apart from an unknown job, and says which settings to look at."""
    for url in ("s3://no-such-bucket/jobs", s3_url + "-elsewhere"):
        with pytest.raises(SourceUnavailable, match="There is no jobs folder") as caught:
            open_source(url).job("j")
        assert "FIRSTFAULT_JOBS" in caught.value.hint
        assert "AWS_ACCESS_KEY_ID" in caught.value.hint


@pytest.mark.slow
@pytest.mark.usefixtures("forgetful_s3")
def test_an_endpoint_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the setting that holds the address, which may be wrong."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{unused.getsockname()[1]}")

        source = open_source("s3://bucket/jobs")
        for ask in (source.job_ids, partial(source.manifest, "j")):
            with pytest.raises(SourceUnavailable, match="does not answer") as caught:
                ask()

    assert "AWS_ENDPOINT_URL" in caught.value.hint


@pytest.mark.usefixtures("forgetful_s3")
def test_missing_credentials_are_told(s3_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without credentials the answer names the variables that hold them."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    with pytest.raises(SourceUnavailable) as caught:
        open_source(s3_url).job_ids()

    assert "AWS_ACCESS_KEY_ID" in caught.value.hint


@pytest.mark.parametrize("url", ["nosuch://bucket/jobs", "gs://bucket/jobs"])
def test_a_kind_of_place_that_cannot_be_read_is_a_wrong_setting(url: str) -> None:
    """An unknown scheme, and one whose package is not installed, name what works."""
    with pytest.raises(BadSettings, match="Jobs cannot be read from") as caught:
        open_source(url)

    assert "s3://" in caught.value.hint


def test_a_file_in_the_jobs_folder_is_no_job(s3_server: str, s3_url: str) -> None:
    """A README beside the job folders is neither listed nor taken for a job."""
    source = in_s3(s3_server, s3_url, FOLDERS)
    bucket = s3_url.removeprefix("s3://").split("/")[0]
    boto3.client("s3", endpoint_url=s3_server).put_object(Bucket=bucket, Key="jobs/README.md", Body=b"hello")

    assert source.job_ids() == ("j",)
    with pytest.raises(JobNotFound):
        source.job("README.md")


def test_a_job_that_comes_later_is_seen(s3_server: str, s3_url: str) -> None:
    """A bot that runs for weeks sees jobs and logs that were added meanwhile."""
    source = in_s3(s3_server, s3_url, FOLDERS)
    assert source.job_ids() == ("j",)
    assert len(source.job("j").logs) == 1

    in_s3(s3_server, s3_url, {"k": {"logs/a.log": b"k"}, "j": {"logs/b.log": b"b"}})

    assert source.job_ids() == ("j", "k")
    assert len(source.job("j").logs) == 2


def test_an_object_that_vanished_is_told(s3_server: str, s3_url: str) -> None:
    """An object that was deleted after the listing is an UnreadableLog with its name."""
    job = in_s3(s3_server, s3_url, FOLDERS).job("j")
    bucket = s3_url.removeprefix("s3://").split("/")[0]
    boto3.client("s3", endpoint_url=s3_server).delete_object(Bucket=bucket, Key="jobs/j/logs/a.log")

    with pytest.raises(UnreadableLog, match=r"logs/a\.log is no longer there"):
        job.logs[0].open()


def test_a_stamp_is_the_objects_version(s3_server: str, s3_url: str) -> None:
    """An object that was written anew with the same size has another stamp."""
    source = in_s3(s3_server, s3_url, FOLDERS)
    before = source.job("j").logs[0].stamp

    in_s3(s3_server, s3_url, {"j": {"logs/a.log": b"b\n"}})

    assert source.job("j").logs[0].stamp != before


def test_a_job_can_be_named_by_its_url(s3_server: str, s3_url: str) -> None:
    """What is a path for a local job is a URL for one in a bucket."""
    in_s3(s3_server, s3_url, FOLDERS)

    job = open_path(f"{s3_url}/j/")

    assert job.id == "j"
    assert [file.name for file in job.logs] == ["logs/a.log"]
