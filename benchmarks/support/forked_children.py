"""Children of bots, and bots and commands of their own, forked from one process that has loaded what they need.

The 1.8 s of CPU that a child takes to load its packages are most of a small diagnosis, and not what the end-to-end
tests are about. All else is as ``bot.jobs.child_process`` has it: one process for each order, in a session of its own,
with its own environment and pipes. Children that are started as a user's bot starts them are in
tests/bot/jobs/test_diagnoses.py and tests/bot/test_demo.py, whole bots there and in tests/bot/test_serve.py.
"""

import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, NoReturn, Self, cast

from bot.jobs import child_process
from core.safe_import import elsewhere

ROOT = Path(__file__).parents[2]
# That come with a request: standard input, output and error, where the process tells its id and its end, and where it
# can ask for children of its own.
_FDS = 5
_LONGEST = 1 << 17  # bytes of a request: the environment


class ForkedProcess:
    """What is used here of ``subprocess.Popen``."""

    def __init__(
        self,
        words: Sequence[str],
        *,
        source: socket.socket,
        env: Mapping[str, str],
        cwd: Path | None = None,
        stderr: IO[bytes] | int = subprocess.PIPE,
        **_: Any,
    ) -> None:
        """words: as for Popen; behind ``-m`` stand a module, whose ``main`` is called, and its arguments."""
        pipes = [os.pipe() for _ in range(_FDS - 1)]
        (theirs_in, ours_in), (ours_out, theirs_out), (ours_error, theirs_error), (ours_end, theirs_end) = pipes
        theirs = [theirs_in, theirs_out, theirs_error, theirs_end]
        heard = theirs if isinstance(stderr, int) else [theirs_in, theirs_out, stderr.fileno(), theirs_end]
        request = {"argv": [*words[words.index("-m") + 1 :]], "env": dict(env), "cwd": str(cwd or Path.cwd())}
        socket.send_fds(source, [json.dumps(request).encode()], [*heard, source.fileno()])
        for pipe in theirs:
            os.close(pipe)
        self.stdin = os.fdopen(ours_in, "wb")
        self.stdout, self.stderr = os.fdopen(ours_out, "rb"), os.fdopen(ours_error, "rb")
        self._end = os.fdopen(ours_end, "rb", buffering=0)
        self.returncode: int | None = None
        self.pid = int(self._told())

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._end], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._end], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
            self.returncode = os.waitstatus_to_exitcode(int(self._told()))
            self._end.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _told(self) -> bytes:
        """A line of the process that minds it; read by the byte, for the next line may be there already."""
        line = b""
        while not line.endswith(b"\n"):
            one = self._end.read(1)
            if not one:
                raise ChildProcessError("the process that forks children is gone")
            line += one
        return line


@contextmanager
def started(
    *words: str, env: Mapping[str, str], cwd: Path, stderr: IO[bytes], fresh: bool = False
) -> Iterator[ForkedProcess]:
    """The ``main`` of a module with its arguments, as a process that is forked within ``Forker.used``.

    At the end of the ``with`` it is gone. Its children are forked too; fresh: they alone, for its own memory counts.
    """
    popen: Any = cast("Any", child_process).subprocess.Popen
    command, more = [sys.executable, "-m", *words], dict[str, Any]()
    if not isinstance(popen, partial):
        more = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    elif fresh:
        number = popen.keywords["source"].fileno()
        request = {"argv": words, "env": dict(env), "cwd": str(cwd)}
        command = [sys.executable, "-c", f"from {__spec__.name} import be; be({request!r}, {number})"]
        popen, more = subprocess.Popen, {"pass_fds": [number]}
    process = popen(command, env=env, cwd=cwd, stderr=stderr, **more)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in filter(None, (process.stdin, process.stdout, process.stderr)):
            with suppress(BrokenPipeError):
                pipe.close()


@contextmanager
def _forked_by(source: socket.socket) -> Iterator[None]:
    """Within it, children of a bot in this process are forked by who hears this."""
    patched = cast("Any", child_process)
    patched.subprocess = SimpleNamespace(Popen=partial(ForkedProcess, source=source), PIPE=subprocess.PIPE)
    try:
        yield
    finally:
        patched.subprocess = subprocess


class Forker:
    """A process that has loaded modules, and forks children; use it in a ``with``, at whose end it is gone."""

    def __init__(self, *modules: str) -> None:
        """modules: what children need; with ``:function`` behind a name that is called, too."""
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "benchmarks.support.forked_children", str(theirs.fileno()), *modules]
        nothing = subprocess.DEVNULL
        self._process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=nothing, stdout=nothing)
        theirs.close()

    @contextmanager
    def used(self) -> Iterator[None]:
        """Within it, children of a bot in this process, and of processes forked from it meanwhile, are forked."""
        with _forked_by(self._ours):
            yield

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ours.close()
        self._process.kill()
        self._process.wait()


def _serve(requests: socket.socket) -> None:
    """Fork for each request, until nobody is left to make one."""
    while True:
        request, fds, _, _ = socket.recv_fds(requests, _LONGEST, _FDS)
        if not request:
            return
        if not os.fork():
            requests.close()
            _mind(json.loads(request), *fds)
        for fd in fds:
            os.close(fd)
        with suppress(ChildProcessError):  # those that minded a child before
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _mind(
    request: Mapping[str, Any], theirs_in: int, theirs_out: int, theirs_error: int, end: int, source: int
) -> NoReturn:
    """Fork the child, and tell how it ended."""
    pid = os.fork()
    if not pid:
        os.setsid()
        for number, fd in enumerate((theirs_in, theirs_out, theirs_error)):
            os.dup2(fd, number)
        os.write(end, b"%d\n" % os.getpid())  # from here on it can be killed by its group
        os.dup2(source, 3, inheritable=False)
        os.closerange(4, os.sysconf("SC_OPEN_MAX"))
        be(request, 3)
    for fd in (theirs_in, theirs_out, theirs_error, source):
        os.close(fd)
    os.write(end, b"%d\n" % os.waitpid(pid, 0)[1])
    os._exit(0)


def be(request: Mapping[str, Any], source: int) -> NoReturn:
    """Be the process that was asked for; source: the socket by which its own children are asked for."""
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = request["argv"]
    # those that were opened on other files know whether these can be sought in
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    code: Any = 1
    try:
        with _forked_by(socket.socket(fileno=source)):
            importlib.import_module(sys.argv[0]).main()
        code = 0
    except SystemExit as ended:
        code = ended.code
    except BaseException:  # noqa: BLE001 as an interpreter ends
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


if __name__ == "__main__":
    with elsewhere():
        for name in sys.argv[2:]:
            module, _, function = name.partition(":")
            loaded = importlib.import_module(module)
            if function:
                getattr(loaded, function)()
    gc.freeze()  # each child would look at all of it again, and copy its pages
    _serve(socket.socket(fileno=int(sys.argv[1])))
