"""Who reads the logs of a job: threads of this process, or the workers of a Dask cluster when there is much to read.

A worker of the cluster runs the same functions on the same files, so the answer is the same, byte for byte. That it can
(it has this version of the program and sees the files) is asked before it is given anything (docs/how-to/cluster.md).
"""

import asyncio
import logging
import platform
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from core.errors import BadSettings, FirstfaultError, UnreadableLog
from core.job import Job, LogFile
from core.version import reader_version

if TYPE_CHECKING:
    from distributed import Client

# benchmarks/cluster.py, cluster.md: a cluster costs half a second to one, whatever there is to read; at this size
# two workers are level with one thread here. From here on a cluster that is stronger than this machine is sooner.
CLUSTER_BYTES = 512 << 20
PATIENCE = 8  # seconds for a scheduler, and again for its first worker; with all that is loaded a person waits ten
_ADDRESS = re.compile(r"(tcp|tls)://(\[[0-9a-fA-F:.]+\]|[^\s/:@]+):[0-9]{1,5}")


class ClusterFailed(FirstfaultError):
    """The Dask cluster does not answer, or its workers cannot read the logs."""


@contextmanager
def readers(
    scheduler: str, jobs: Sequence[Job], *, threads: int, least: int | None = None, insecure: bool = False
) -> Iterator[int | Executor]:
    """Whoever is to read the logs of these jobs: what ``core`` takes for ``workers``.

    Args:
        scheduler: address of a Dask scheduler; empty: threads of this process read.
        threads: how many of them.
        least: bytes below which they read, scheduler or not; None: CLUSTER_BYTES.
        insecure: whether it may be a scheduler by tcp://.

    Raises:
        BadSettings: the address makes no sense or is not secure, or Dask is not installed.
        ClusterFailed: there or while the logs are read.
    """
    if scheduler:
        _check_address(scheduler, insecure=insecure)
    files = [file for job in jobs for file in job.logs]
    if not scheduler or not files or sum(file.size for file in files) < (CLUSTER_BYTES if least is None else least):
        yield threads
        return
    with _cluster(scheduler, max(files, key=lambda file: file.size)) as cluster:
        yield cluster


@contextmanager
def judges(scheduler: str | None, *, insecure: bool = False) -> Iterator[Executor | None]:
    """Whoever is to judge the jobs of a capture of flows: the workers of a Dask scheduler, or None for this process.

    Raises:
        BadSettings: the address makes no sense or is not secure, or Dask is not installed.
        ClusterFailed: there or while the jobs are judged.
    """
    if not scheduler:
        yield None
        return
    _check_address(scheduler, insecure=insecure)
    with _cluster(scheduler, None) as cluster:
        yield cluster


def look_at_cluster(scheduler: str, sample: LogFile | None, *, insecure: bool = False) -> tuple[int, int]:
    """How many workers and threads would read, now.

    Args:
        sample: a file that they have to see; None: only whether they are of this version is asked.

    Raises:
        BadSettings: the address makes no sense or is not secure, or Dask is not installed.
        ClusterFailed: it does not answer, or would read something else.
    """
    _check_address(scheduler, insecure=insecure)
    with _translated(scheduler), closing(_connect(scheduler)) as client:
        _check(client, sample)
        threads = client.nthreads()
        return len(threads), sum(threads.values())


class _Cluster(Executor):
    """The workers of a scheduler; it is asked for when there is something to read that no cache has."""

    def __init__(self, address: str, sample: LogFile | None) -> None:
        self._address, self._sample = address, sample
        self._client: Client | None = None

    def submit(self, task: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have a function run by any worker; one that dies has it run by another."""
        if self._client is None:
            self._client = _connect(self._address)
            _check(self._client, self._sample)
        # not pure: what was read for somebody else, of a file that has changed since, is no answer
        future: Future[Any] = self._client.get_executor(pure=False).submit(task, *args, **kwargs)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
        """Leave the cluster; it goes on without us, and forgets what it still does for us."""
        if self._client is not None:
            self._client.close()
            self._client = None


@contextmanager
def _cluster(scheduler: str, sample: LogFile | None) -> Iterator[Executor]:
    """The workers of a scheduler, until they are left; what Dask raises meanwhile is translated."""
    cluster = _Cluster(scheduler, sample)
    try:
        with _translated(scheduler):
            yield cluster
    finally:
        cluster.shutdown()


def _check_address(scheduler: str, *, insecure: bool) -> None:
    found = _ADDRESS.fullmatch(scheduler)
    if not found:
        raise BadSettings(
            f"{scheduler} is no address of a Dask scheduler.", "It is like tls://10.0.0.5:8786 (or tcp://...)."
        )
    if found[1] == "tcp" and not insecure:
        raise BadSettings(
            f"{scheduler} is a Dask scheduler that proves nothing: whoever answers there can run code here.",
            "Use tls:// with certificates (docs/how-to/cluster.md). In a network that nobody else is in: --insecure, or"
            " FIRSTFAULT_SCHEDULER_INSECURE=1.",
        )


def _connect(address: str) -> "Client":
    try:
        import distributed  # noqa: PLC0415 an extra that most do without, and half a second
    except ImportError as error:
        raise BadSettings(
            f"{address} is a Dask scheduler, and Dask is not installed here.",
            "Install it with: pip install 'firstfault[cluster]'. Or leave out --scheduler (FIRSTFAULT_SCHEDULER).",
        ) from error
    for name in ("distributed", "distributed.client", "distributed.comm"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what it would say is an error of ours, told once
    _check_certificates(address)
    try:
        asyncio.run(_knock(address))
        return distributed.Client(address, timeout=PATIENCE, set_as_default=False, name="firstfault")
    except (OSError, ValueError, MemoryError) as error:  # what HTTP answers is taken for the length of a message
        raise ClusterFailed(
            f"No Dask scheduler answers at {address} within {PATIENCE} seconds.",
            "Is it running, can this machine reach it, and is this the port of the scheduler (8786), not of its"
            " dashboard (8787)? Look at --scheduler (FIRSTFAULT_SCHEDULER).",
        ) from error


def _check_certificates(address: str) -> None:
    """Dask takes them from its own configuration; without any it fails in words that help nobody."""
    from distributed.security import Security  # noqa: PLC0415 see above

    if not address.startswith("tls://"):
        return
    try:
        secured = Security().get_connection_args("client").get("ssl_context") is not None
        reason = "no certificate authority and no certificate of a client are named"
    except (OSError, ValueError) as error:  # a file that is not there, or is no certificate: ssl's error is an OSError
        secured, reason = False, f"they cannot be read ({getattr(error, 'reason', None) or type(error).__name__})"
    if not secured:
        raise BadSettings(
            f"{address} wants certificates, and {reason}.",
            "Name them in Dask's configuration: DASK_DISTRIBUTED__COMM__TLS__CA_FILE and so on"
            " (docs/how-to/cluster.md).",
        )


async def _knock(address: str) -> None:
    """Shake hands with the scheduler; a client that cannot do that keeps trying, even while it is taken away."""
    from distributed.comm import connect  # noqa: PLC0415 see above
    from distributed.security import Security  # noqa: PLC0415

    comm = await connect(address, timeout=PATIENCE, **Security().get_connection_args("client"))
    await comm.close()


def _check(client: "Client", sample: LogFile | None) -> None:
    """Raise unless the scheduler can pass on what is asked, and there are workers that read what this process would."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError as error:
        raise ClusterFailed(
            "The Dask cluster has no workers.",
            "Start some; one that grows by itself needs minimum=1 (docs/how-to/cluster.md).",
        ) from error
    _refuse("scheduler", _look_from_scheduler(client))
    for worker, answer in client.run(_look, sample, on_error="return").items():
        _refuse(f"worker {worker}", answer)


def _look_from_scheduler(client: "Client") -> object:
    """The answer of the scheduler, which unpacks every task to see what it needs (Dask 2023.4 and later)."""
    try:
        return client.run_on_scheduler(_look, None)
    except (ImportError, AttributeError, TypeError, ValueError) as error:  # ValueError: it may not unpack anything
        return error


def _refuse(who: str, answer: object) -> None:
    """Raise when this part of a cluster is of no use, and say what to do."""
    if isinstance(answer, BaseException):
        raise ClusterFailed(
            f"The Dask {who} cannot load Firstfault: {type(answer).__name__}: {answer}",
            "Scheduler and workers need the same Firstfault installed, in the same Python (docs/how-to/cluster.md).",
        )
    version, python, problem = answer if isinstance(answer, tuple) and len(answer) == 3 else ("", "", "")
    if version != reader_version():
        raise ClusterFailed(
            f"The Dask {who} has another version of Firstfault.", "Install the same one there: its answers may differ."
        )
    if python != _python():
        raise ClusterFailed(
            f"The Dask {who} runs Python {python}, and here is {_python()}.",
            "Use the same one there: its answers may differ.",
        )
    if problem:
        raise ClusterFailed(
            f"The Dask {who} cannot read the logs: {problem}",
            "Workers read them where this machine does: share the folder or bucket.",
        )


def _look(sample: LogFile | None) -> tuple[str, str, str]:
    """There: its version, its Python, and why it cannot read a file."""
    if sample is not None:
        try:
            with sample.open() as stream:
                stream.read(1)
        except UnreadableLog as error:
            return reader_version(), _python(), error.message
    return reader_version(), _python(), ""


def _python() -> str:
    """Without its last number: patches change no answer."""
    return ".".join(platform.python_version_tuple()[:2])


@contextmanager
def _translated(address: str) -> Iterator[None]:
    try:
        yield
    except _loaded_foreign_errors() as error:
        raise ClusterFailed(
            f"The Dask cluster {address} went away while it worked ({type(error).__name__}).",
            "Ask again, or leave out --scheduler (FIRSTFAULT_SCHEDULER): then this machine does all.",
        ) from error


def _loaded_foreign_errors() -> tuple[type[Exception], ...]:
    if sys.modules.get("distributed") is None:
        return ()
    from distributed import KilledWorker  # noqa: PLC0415 see above
    from distributed.comm import CommClosedError  # noqa: PLC0415
    from distributed.core import RPCClosed  # noqa: PLC0415

    return CancelledError, KilledWorker, CommClosedError, RPCClosed
