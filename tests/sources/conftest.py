"""The same jobs in every kind of place: a folder, fsspec's memory, a real HTTP server that speaks S3, and the fake."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import boto3
import fsspec
import pytest
import s3fs
from moto.server import ThreadedMotoServer

from benchmarks.support.jobs_in_memory import FakeJobs
from sources.jobs import JobSource, open_source
from sources.limits import DEFAULT_LIMITS, Limits

Folders = Mapping[str, Mapping[str, bytes]]
MakeSource = Callable[..., JobSource]

_places = itertools.count()


@pytest.fixture(autouse=True)
def _credentials_of_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    nowhere = str(tmp_path_factory.getbasetemp() / "nowhere")
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "FSSPEC_S3_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", nowhere)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", nowhere)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


@pytest.fixture
def forgetful_s3() -> Iterator[None]:
    """For tests that change the environment, which a filesystem reads once and fsspec keeps."""
    s3fs.S3FileSystem.clear_instance_cache()
    yield
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """A server on loopback that answers as S3 does."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3_url(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A new bucket's jobs folder."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server)
    bucket = f"bucket-{next(_places)}"
    boto3.client("s3", endpoint_url=s3_server).create_bucket(Bucket=bucket)
    return f"s3://{bucket}/jobs"


def in_folder(root: Path, folders: Folders, limits: Limits = DEFAULT_LIMITS) -> JobSource:
    root.mkdir(exist_ok=True)
    for job_id, files in folders.items():
        (root / job_id).mkdir()
        for name, content in files.items():
            path = root / job_id / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return open_source(str(root), limits=limits)


def in_memory(folders: Folders, limits: Limits = DEFAULT_LIMITS) -> JobSource:
    url = f"memory://place-{next(_places)}/jobs"
    store, root = fsspec.core.url_to_fs(url)
    store.makedirs(root)
    for job_id, files in folders.items():
        store.makedirs(f"{root}/{job_id}")
        for name, content in files.items():
            store.pipe_file(f"{root}/{job_id}/{name}", content)
    return open_source(url, limits=limits)


def in_s3(server: str, url: str, folders: Folders, limits: Limits = DEFAULT_LIMITS) -> JobSource:
    bucket, _, prefix = url.removeprefix("s3://").partition("/")
    client = boto3.client("s3", endpoint_url=server)
    client.put_object(Bucket=bucket, Key=f"{prefix}/", Body=b"")
    for job_id, files in folders.items():
        client.put_object(Bucket=bucket, Key=f"{prefix}/{job_id}/", Body=b"")  # as a console's "new folder" does
        for name, content in files.items():
            client.put_object(Bucket=bucket, Key=f"{prefix}/{job_id}/{name}", Body=content)
    return open_source(url, limits=limits)


@pytest.fixture(params=["folder", "memory", "s3", "fake"])
def make_source(request: pytest.FixtureRequest, tmp_path: Path) -> MakeSource:
    """Puts job folders into one kind of place and opens it."""

    def make(folders: Folders, limits: Limits = DEFAULT_LIMITS) -> JobSource:
        if request.param == "folder":
            return in_folder(tmp_path / "jobs", folders, limits)
        if request.param == "memory":
            return in_memory(folders, limits)
        if request.param == "s3":
            url = request.getfixturevalue("s3_url")
            return in_s3(request.getfixturevalue("s3_server"), url, folders, limits)
        return FakeJobs(folders, limits=limits)

    return make
