"""Logs read by the workers of a real Dask cluster: processes of their own, one of which is killed."""

import os
import pickle
import platform
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from benchmarks.support.dask_cluster import Cluster, needs_dask
from bot.fetch import cluster
from bot.fetch.cluster import PATIENCE, ClusterFailed, look_at_cluster, readers
from bot.fetch.jobs import Request
from bot.investigate import investigate
from bot.report.contract import to_contract
from bot.report.json_document import to_json
from bot.settings import Settings
from core.diagnose import diagnose
from core.errors import BadSettings
from core.job import Job
from sources.bucket import JobsBucket
from sources.folder import job_at
from tests.bot.conftest import Run
from tests.support.places import ROOT

NODES = 24


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster without workers."""
    (tmp_path / "dask").mkdir()
    started = Cluster(tmp_path / "dask")
    yield started
    started.close()


def job_of(folder: Path, lines: int) -> Job:
    """A job with a log a node, of which one fails."""
    logs = folder / "job" / "logs"
    logs.mkdir(parents=True)
    for node in range(NODES):
        log = [
            f"2026-11-21 03:{n // 60:02d}:{n % 60:02d} INFO iteration {n}/1500 loss {9 / (n + 1):.3f}"
            for n in range(lines)
        ]
        if node == 7:
            log += ["Traceback (most recent call last):", '  File "train.py", line 3, in <module>']
            log += ["OSError: [Errno 5] Input/output error"]
        (logs / f"node-{node:02d}.log").write_text("\n".join(log) + "\n")
    return job_at(str(folder / "job"))


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return job_of(tmp_path, 100)


@pytest.fixture
def long_job(tmp_path: Path) -> Job:
    """It is still read when somebody is killed."""
    return job_of(tmp_path, 1500)


def answer(job: Job, workers: int | Executor, progress: Callable[[str, int, int], None] | None = None) -> str:
    return to_json(to_contract(diagnose(job, (), workers=workers, progress=progress), (), None))


def read_by(address: str, job: Job, progress: Callable[[str, int, int], None] | None = None) -> str:
    """The answer of a cluster, however small the job is."""
    with readers(address, (job,), threads=1, least=0, insecure=True) as workers:
        return answer(job, workers, progress)


@needs_dask
@pytest.mark.slow
def test_a_cluster_answers_as_this_machine_does_also_when_a_worker_is_killed(dask: Cluster, long_job: Job) -> None:
    """Three worker processes, one gone by SIGKILL between the first file and the last: not a byte differs."""
    import distributed  # noqa: PLC0415 an extra

    for name in ("one", "two", "three"):
        dask.add_worker(name)
    left: list[int] = []

    with distributed.Client(dask.address, set_as_default=False) as onlooker:
        processes = onlooker.run(os.getpid)

        def kill_one(_: str, done: int, total: int) -> None:
            if not left:
                at_work = onlooker.processing()
                busiest = max(at_work, key=lambda worker: len(at_work[worker]))
                os.kill(processes[busiest], signal.SIGKILL)
                left.append(len(at_work[busiest]))
            left.append(total - done)

        found = read_by(dask.address, long_job, kill_one)
        gone = set(processes) - set(onlooker.scheduler_info()["workers"])

    assert left[0] > 0
    assert left[1:] == list(range(NODES - 1, -1, -1))
    assert len(gone) == 1
    assert found == answer(long_job, 1)


@needs_dask
@pytest.mark.slow
def test_a_scheduler_that_goes_away_ends_the_reading_with_one_error(dask: Cluster, long_job: Job) -> None:
    """Nobody waits for a cluster that is no more."""
    dask.add_worker("one")

    def kill_the_scheduler(_: str, done: int, total: int) -> None:
        if done == 1 < total:
            dask.scheduler.kill()

    with pytest.raises(ClusterFailed, match="went away while it worked"):
        read_by(dask.address, long_job, kill_the_scheduler)


@needs_dask
@pytest.mark.slow
def test_a_worker_that_does_not_see_the_files_is_told(dask: Cluster, job: Job, tmp_path: Path) -> None:
    """Their lines would be missing in the answer, so there is none."""
    dask.add_worker("one")
    for log in (tmp_path / "job" / "logs").iterdir():
        log.rename(log.with_suffix(".moved"))

    with pytest.raises(ClusterFailed, match=r"cannot read the logs: .* is no longer there"):
        read_by(dask.address, job)


def without_firstfault(folder: Path) -> Path:
    """A place in which another package is called like ours."""
    (folder / "core").mkdir(parents=True)
    (folder / "core" / "__init__.py").write_text("")
    return folder


@needs_dask
@pytest.mark.slow
def test_a_worker_without_firstfault_is_told(dask: Cluster, job: Job, tmp_path: Path) -> None:
    """Dask alone is not enough on a worker; what stands in the way of Firstfault there is said."""
    dask.add_worker("other", python_path=without_firstfault(tmp_path / "other"))

    with pytest.raises(ClusterFailed, match=r"cannot load Firstfault: .*ModuleNotFoundError"):
        read_by(dask.address, job)


@needs_dask
@pytest.mark.slow
def test_a_scheduler_without_firstfault_is_told(job: Job, tmp_path: Path) -> None:
    """It unpacks what it passes on, so Dask alone is not enough there either."""
    with closing(Cluster(tmp_path, python_path=without_firstfault(tmp_path / "other"))) as cluster:
        cluster.add_worker("one")

        with pytest.raises(ClusterFailed, match=r"scheduler cannot load Firstfault: ModuleNotFoundError") as error:
            read_by(cluster.address, job)

    assert "Scheduler and workers need the same Firstfault" in error.value.hint


@needs_dask
@pytest.mark.slow
def test_a_worker_with_another_python_is_told(dask: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tables of characters may differ, and so its answers."""
    dask.add_worker("one")
    monkeypatch.setattr(platform, "python_version_tuple", lambda: ("3", "99", "1"))

    with pytest.raises(ClusterFailed, match=r"scheduler runs Python 3\.1\d, and here is 3\.99"):
        look_at_cluster(dask.address, None, insecure=True)


@needs_dask
@pytest.mark.slow
def test_a_cluster_can_be_looked_at_without_reading(dask: Cluster, job: Job, tmp_path: Path) -> None:
    """What would read now is counted; a file that nobody there sees is told."""
    dask.add_worker("one")
    dask.add_worker("two")

    assert look_at_cluster(dask.address, None, insecure=True) == (2, 2)
    assert look_at_cluster(dask.address, job.logs[0], insecure=True) == (2, 2)
    (tmp_path / "job" / job.logs[0].name).unlink()
    with pytest.raises(ClusterFailed, match=r"The Dask worker tcp://.* cannot read the logs: .* is no longer there"):
        look_at_cluster(dask.address, job.logs[0], insecure=True)


@needs_dask
@pytest.mark.slow
def test_a_worker_with_another_version_is_told(dask: Cluster, job: Job, tmp_path: Path) -> None:
    """A line of the reader that differs may read a line of the logs differently."""
    for package in ("bot", "core", "sources"):
        shutil.copytree(ROOT / package, tmp_path / "other" / package, ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "other" / "core" / "logs" / "scan.py").open("a") as code:
        code.write("# changed\n")
    dask.add_worker("other", python_path=tmp_path / "other")

    with pytest.raises(ClusterFailed, match="has another version of Firstfault"):
        read_by(dask.address, job)


@needs_dask
@pytest.mark.slow
def test_a_cluster_without_workers_is_told(dask: Cluster, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading would wait for ever."""
    monkeypatch.setattr(cluster, "PATIENCE", 3)

    with pytest.raises(ClusterFailed, match="has no workers"):
        read_by(dask.address, job)


@needs_dask
def test_a_scheduler_that_does_not_answer_is_told_within_ten_seconds(job: Job) -> None:
    """Whether nobody listens there, or somebody else who says something that is no Dask."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    with pytest.raises(ClusterFailed, match=f"No Dask scheduler answers at tcp://127.0.0.1:{port} within"):
        read_by(f"tcp://127.0.0.1:{port}", job)

    assert PATIENCE < 10


@needs_dask
def test_a_web_server_is_no_scheduler(job: Job) -> None:
    """The port of the dashboard is a usual mistake; what it says is not taken for a length of 3 EiB."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def greet() -> None:
            connection, _ = server.accept()
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.close()

        thread = Thread(target=greet)
        thread.start()
        with pytest.raises(ClusterFailed, match="No Dask scheduler answers"):
            read_by(f"tcp://127.0.0.1:{port}", job)
        thread.join()


def test_a_small_job_is_read_here(job: Job) -> None:
    """No cluster is asked for what is read sooner than it is sent away: there is none at this address."""
    with readers("tcp://127.0.0.1:1", (job,), threads=3, insecure=True) as workers:
        assert workers == 3


def test_what_is_kept_needs_no_cluster(tmp_path: Path) -> None:
    """The cluster is asked for at the first file that has to be read, so a job of the cache needs none."""
    logs = tmp_path / "job" / "logs"
    logs.mkdir(parents=True)
    line = "2026-11-21 03:00:00 ERROR node-1 went away\n"
    (logs / "a.log").write_text(line * (5_000_000 // len(line)))  # what is smaller is not kept
    settings = Settings(cache=tmp_path / "cache", library=tmp_path / "library", _env_file=None)
    before = investigate(Request(str(tmp_path / "job"), paths=True), settings)
    elsewhere = settings.model_copy(update={"scheduler": "tcp://127.0.0.1:1", "scheduler_insecure": True})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "CLUSTER_BYTES", 0)
        again = investigate(Request(str(tmp_path / "job"), paths=True), elsewhere)

    assert again.diagnosis == before.diagnosis


def test_files_can_be_sent_to_a_worker(job: Job, tmp_path: Path) -> None:
    """A file of a folder or a bucket arrives elsewhere as itself."""
    bucket = JobsBucket(f"file://{tmp_path}").job("job")
    for file in (job.logs[0], bucket.logs[0]):
        with pickle.loads(pickle.dumps(file)).open() as there, file.open() as here:
            assert there.read() == here.read() != b""


@pytest.mark.parametrize(
    "address", ["10.0.0.5:8786", "http://host:8786", "tcp://host", "tcp://me@host:8786", "inproc://1"]
)
def test_an_address_that_makes_no_sense_is_told(address: str, job: Job) -> None:
    """Also for a small job, and before anything is loaded."""
    with pytest.raises(BadSettings, match="is no address of a Dask scheduler"), readers(address, (job,), threads=1):
        pass


def test_a_scheduler_that_proves_nothing_is_refused(job: Job, tmp_path: Path) -> None:
    """Dask unpacks what it is sent: whoever answers at tcp:// can run code here. A person may allow it."""
    settings = Settings(cache=tmp_path / "cache", library=tmp_path / "library", _env_file=None)
    asked = Request(str(tmp_path / job.id), scheduler="tcp://127.0.0.1:1", paths=True)

    with pytest.raises(BadSettings, match="can run code here"):
        investigate(asked, settings)
    with pytest.raises(BadSettings, match="can run code here"):
        look_at_cluster("tcp://127.0.0.1:1", None)
    assert investigate(replace(asked, insecure=True), settings).job.id == job.id  # small: read here after all


def test_the_option_goes_before_the_setting_and_nothing_turns_it_off(job: Job, tmp_path: Path) -> None:
    """The setting reaches every command and the bot; `--scheduler ""` reads here all the same."""
    settings = Settings(cache=tmp_path / "cache", library=tmp_path / "library", scheduler="setting", _env_file=None)
    path = str(tmp_path / job.id)

    with pytest.raises(BadSettings, match="setting is no address"):
        investigate(Request(path, paths=True), settings)
    with pytest.raises(BadSettings, match="option is no address"):
        investigate(Request(path, scheduler="option", paths=True), settings)
    assert investigate(Request(path, scheduler="", paths=True), settings).job.id == job.id


@pytest.mark.parametrize("command", ["diagnose", "events"])
def test_the_command_line_takes_a_scheduler(firstfault: Run, command: str, job: Job, tmp_path: Path) -> None:
    """What is wrong with it is told as every other error, with exit code 2."""
    code, _, err = firstfault(command, str(tmp_path / job.id), "--scheduler", "10.0.0.5")

    assert code == 2
    assert "error: 10.0.0.5 is no address of a Dask scheduler." in err


def test_without_dask_the_hint_says_how_to_install_it(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask is an extra."""
    monkeypatch.setitem(sys.modules, "distributed", None)

    with pytest.raises(BadSettings) as error:
        read_by("tcp://127.0.0.1:1", job)

    assert "firstfault[cluster]" in error.value.hint
