"""The process that follows jobs, as the bot sees it: commands in, messages out, and a sure end."""

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, cast

from bot.jobs.child_process import environment_of_child
from bot.jobs.messages import BadMessage, WatchMessage, WatchOrder, of_line, to_line

_LEAVING_SECONDS = 2.0  # for a reader whose pipe is closed: it ends at once
MAX_LINE = 1 << 20  # bytes; a message has some kB at most (messages.MAX_TEXT), so a longer one is none of ours
_MOST_WAITING = 10_000  # messages; a process that floods us is ended


class WatchProcess:
    """One process for all watched jobs."""

    def __init__(self, *, temporary: Path, environment: Mapping[str, str]) -> None:
        self._messages: queue.Queue[WatchMessage] = queue.Queue(_MOST_WAITING)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "bot.jobs.watch_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env=environment_of_child(environment, temporary),
        )
        self._reader = threading.Thread(target=self._read, name="followed", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def alive(self) -> bool:
        """Whether it still follows."""
        return self._process.poll() is None

    def order(self, command: WatchOrder) -> None:
        """Let it follow a job, or leave it; nothing happens when it is dead, which ``alive`` tells."""
        pipe = cast("IO[bytes]", self._process.stdin)
        with contextlib.suppress(BrokenPipeError):
            pipe.write(to_line(command))
            pipe.flush()

    def messages(self) -> list[WatchMessage]:
        """What it told since the last time."""
        messages: list[WatchMessage] = []
        with contextlib.suppress(queue.Empty):
            while True:
                messages.append(self._messages.get_nowait())
        return messages

    def end(self) -> None:
        """End it now; nothing of it is left."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join(_LEAVING_SECONDS)
        with contextlib.suppress(BrokenPipeError):
            cast("IO[bytes]", self._process.stdin).close()
        cast("IO[bytes]", self._process.stdout).close()

    def _read(self) -> None:
        pipe = cast("IO[bytes]", self._process.stdout)
        try:
            while line := pipe.readline(MAX_LINE):
                message = of_line(line)
                if not isinstance(message, WatchMessage):
                    raise BadMessage("it tells of no watched job")
                self._messages.put_nowait(message)
        except (BadMessage, queue.Full):  # no message of ours, or far too many
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
