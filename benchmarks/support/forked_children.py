"""Children of a bot in the test's own process, forked from one process that has loaded what they need.

The 1.8 s of CPU that a child takes to load its packages are most of a small diagnosis, and not what the end-to-end
tests are about. All else is as ``bot.jobs.child_process`` has it: one process for each order, in a session of its own,
with its own environment and pipes. Children that are started as a user's bot starts them are in tests/bot/jobs,
tests/contract and tests/bot/test_serve.py.
"""

import gc
import importlib
import json
import os
import select
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, Self, cast

from bot.jobs import child, child_process
from core.safe_import import elsewhere

ROOT = Path(__file__).parents[2]
_FDS = 4  # that come with a request: standard input, output and error, and where the process tells its id and its end
_LONGEST = 1 << 17  # bytes of a request: the environment


class ForkedProcess:
    """What ``ChildProcess`` uses of ``subprocess.Popen``."""

    def __init__(self, words: Sequence[str], *, source: socket.socket, env: Mapping[str, str]) -> None:
        """words: as for Popen; what follows the name of the module is what the child loads before its order."""
        pipes = [os.pipe() for _ in range(_FDS)]
        (theirs_in, ours_in), (ours_out, theirs_out), (ours_error, theirs_error), (ours_end, theirs_end) = pipes
        theirs = [theirs_in, theirs_out, theirs_error, theirs_end]
        request = json.dumps({"argv": [*words[words.index("-m") + 1 :]], "env": dict(env)}).encode()
        socket.send_fds(source, [request], theirs)
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

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(int(self._told()))
            self._end.close()
        return self.returncode

    def _told(self) -> bytes:
        """A line of the process that minds it; read by the byte, for the next line may be there already."""
        line = b""
        while not line.endswith(b"\n"):
            one = self._end.read(1)
            if not one:
                raise ChildProcessError("the process that forks children is gone")
            line += one
        return line


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
        patched = cast("Any", child_process)
        patched.subprocess = SimpleNamespace(Popen=self._start, PIPE=subprocess.PIPE)
        try:
            yield
        finally:
            patched.subprocess = subprocess

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ours.close()
        self._process.kill()
        self._process.wait()

    def _start(self, words: Sequence[str], *, env: Mapping[str, str], **_: Any) -> ForkedProcess:
        return ForkedProcess(words, source=self._ours, env=env)


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


def _mind(request: Mapping[str, Any], theirs_in: int, theirs_out: int, theirs_error: int, end: int) -> NoReturn:
    """Fork the child, and tell how it ended."""
    pid = os.fork()
    if not pid:
        os.setsid()
        for number, fd in enumerate((theirs_in, theirs_out, theirs_error)):
            os.dup2(fd, number)
        os.write(end, b"%d\n" % os.getpid())  # from here on it can be killed by its group
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        _be(request)
    for fd in (theirs_in, theirs_out, theirs_error):
        os.close(fd)
    os.write(end, b"%d\n" % os.waitpid(pid, 0)[1])
    os._exit(0)


def _be(request: Mapping[str, Any]) -> NoReturn:
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = request["argv"]
    code = 1
    try:
        child.main()
        code = 0
    except BaseException:  # noqa: BLE001 as an interpreter ends
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    with elsewhere():
        for name in sys.argv[2:]:
            module, _, function = name.partition(":")
            loaded = importlib.import_module(module)
            if function:
                getattr(loaded, function)()
    gc.freeze()  # each child would look at all of it again, and copy its pages
    _serve(socket.socket(fileno=int(sys.argv[1])))
