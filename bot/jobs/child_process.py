"""A child process as the worker sees it: a stream of messages, and a sure end.

Why ``subprocess`` and not ``multiprocessing``: no pickles, no second import of the program's main module, an own
session from the first instant (so that a kill reaches grandchildren), its own environment without Slack's tokens, and
its standard error for our log.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Self, cast

import bot
from bot.jobs.messages import (
    MAX_LINE,
    BadMessage,
    ChildOrder,
    Message,
    ProgressMessage,
    WatchOrder,
    is_last,
    of_line,
    to_line,
)
from bot.text.harmless import harmless

LAST_LINES, LINE_LENGTH = 30, 400  # of standard error, kept for our log
MOST_WAITING = 10_000  # messages that nobody took; a process that floods us is ended
EXIT_SECONDS = 2.0  # from the last word to the end; an interpreter with all our packages needs about 0.1
# A process that reads hostile logs has no business with these.
_SECRETS = ("SLACK_", "FIRSTFAULT_SLACK_", "FIRSTFAULT_WEBHOOK", "FIRSTFAULT_ALERTS_TOKEN")


class ChildProcess:
    """One order, carried out in a process of its own; use it in a ``with``, at whose end nothing of it is left."""

    def __init__(
        self, order: ChildOrder | None, *, temporary: Path, environment: Mapping[str, str], loading: str = ""
    ) -> None:
        """order: None for one that is given it later. loading: what it calls before the order."""
        self._messages: deque[Message] = deque()
        self._ended = False
        self._changed = threading.Condition()
        self._killing = threading.Lock()
        self._reaped = False
        self._last_lines: deque[str] = deque(maxlen=LAST_LINES)
        self._process = subprocess.Popen(  # noqa: S603 words of ours
            [sys.executable, "-P", "-m", "bot.jobs.child", *filter(None, (loading,))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=environment_of_child(environment, temporary),
        )
        self._orders = cast("IO[bytes]", self._process.stdin)
        self._readers = {
            threading.Thread(target=read, args=(pipe,), daemon=True): pipe
            for read, pipe in ((self._read, self._process.stdout), (self._overhear, self._process.stderr))
        }
        for reader in self._readers:
            reader.start()
        self.order = order

    @property
    def pid(self) -> int:
        """Its process id, and that of its group."""
        return self._process.pid

    def messages(self) -> Iterator[Message]:
        """Give the order, and hear everything until the end; of progress that nobody took in time only the newest."""
        if self.order is None:
            raise LookupError("a child without an order has nothing to say")
        self.say(self.order)
        patience = None
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._messages or self._ended, patience)
                if not self._messages:
                    return
                message = self._messages.popleft()
            if is_last(message):
                patience = EXIT_SECONDS
            yield message

    def say(self, order: ChildOrder | WatchOrder) -> None:
        """Give it an order; one that is dead hears nothing, and its messages end at once."""
        with contextlib.suppress(BrokenPipeError):
            self._orders.write(to_line(order))
            self._orders.flush()

    def news(self) -> list[Message]:
        """What it has said since the last look, for who does not wait for it."""
        with self._changed:
            found = list(self._messages)
            self._messages.clear()
        return found

    def alive(self) -> bool:
        """Whether the child process runs."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End it and everything that it started, now; any thread may call this at any time."""
        with self._killing:
            if not self._reaped:  # until then the number of the group cannot be another's
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def last_lines(self) -> str:
        """What it wrote to standard error last, harmless."""
        return "\n".join(self._last_lines)

    def how_it_ended(self) -> str:
        """Exit code or signal, in words; after the ``with``."""
        code = self._process.returncode
        return f"killed by signal {-code}" if code is not None and code < 0 else f"exit code {code}"

    def was_told_to_end(self) -> bool:
        """Whether somebody else ended it politely, as a service manager does that stops all; after the ``with``."""
        return self._process.returncode == -signal.SIGTERM

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """The messages have ended because the child has (then a kill finds only grandchildren), or it has to."""
        self.kill()
        with self._killing:
            self._process.wait()
            self._reaped = True
        for reader, pipe in self._readers.items():
            reader.join(EXIT_SECONDS)
            if pipe and not reader.is_alive():  # a grandchild that left the session may still hold the other end
                pipe.close()
        with contextlib.suppress(BrokenPipeError):
            self._orders.close()

    def _read(self, pipe: IO[bytes]) -> None:
        while line := pipe.readline(MAX_LINE):
            try:
                message = of_line(line)
                if not isinstance(message, Message) or len(self._messages) >= MOST_WAITING:
                    raise BadMessage("it is no answer to an order, or nobody takes any more")
            except BadMessage as error:
                self._last_lines.append(f"(worker: {error})")
                self.kill()
                break
            with self._changed:
                if (
                    isinstance(message, ProgressMessage)
                    and self._messages
                    and isinstance(self._messages[-1], ProgressMessage)
                ):
                    self._messages.pop()
                self._messages.append(message)
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _overhear(self, pipe: IO[bytes]) -> None:
        while line := pipe.readline(LINE_LENGTH * 4):
            self._last_lines.append(harmless(line.decode("utf-8", "replace").rstrip(), LINE_LENGTH))


def environment_of_child(environment: Mapping[str, str], temporary: Path) -> dict[str, str]:
    """For every child that reads hostile logs: without the bot's tokens, temporary files where they are removed."""
    kept = {name: value for name, value in environment.items() if not name.startswith(_SECRETS)}
    return {**with_own_code(kept), "TMPDIR": str(temporary)}


def with_own_code(environment: Mapping[str, str]) -> dict[str, str]:
    """For a child that must find the same code: in a checkout, wherever it is started."""
    root = Path(bot.__file__).resolve().parent.parent
    if root.name in ("site-packages", "dist-packages"):
        return dict(environment)
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, (str(root), environment.get("PYTHONPATH"))))}
