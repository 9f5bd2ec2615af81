"""The child process: does one task of the table, speaks over a pipe, and dies with whoever started it.

Started as ``python -m bot.jobs.child`` by ``bot.jobs.child_process``. Its standard input brings one order, to a
task that follows jobs more of them, and stays open: when it closes, the worker is gone, and so is the child, whatever
it is doing. A function that is named on its command line is called before the order: it loads what takes long.
"""

import contextlib
import gc
import importlib
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from queue import Queue
from typing import Any, BinaryIO

from bot.jobs.messages import (
    AnswerMessage,
    AnyMessage,
    BadMessage,
    ChildOrder,
    FailureMessage,
    Message,
    ProgressMessage,
    ReplyMessage,
    of_line,
    to_line,
)
from bot.outgoing.errors import Failure, whole_failure
from bot.state.answers import SavedAnswer
from core.errors import FirstfaultError

PROGRESS_SECONDS = 0.2  # between two messages of one step: a parser calls thousands of times a second
COLLECT_AFTER = 50_000  # new objects: as of a command (bot.commandline.cli), which begins with the same imports
MODEST = 5  # niceness: Slack gives the bot three seconds to acknowledge, and a diagnosis may take minutes
_EXPENDABLE = "500"  # of 1000: when memory runs out, the kernel ends the child and not the bot


def main() -> None:
    """Do the task that standard input names."""
    gc.set_threshold(COLLECT_AFTER)
    orders, output = _pipes()
    _be_modest()
    for loading in sys.argv[1:]:
        _function(loading)()
    line = orders.readline()
    if not line:
        return  # it was held ready, and nothing came
    order = of_line(line)
    if not isinstance(order, ChildOrder):
        raise TypeError("a child is told what to do first")
    threading.Thread(target=_hear, args=(orders, output), daemon=True).start()
    _keep_to(order)
    output.say(_outcome(order, output))


class PipeOutput:
    """Speaks to the bot, from any thread; about one step at most five times a second."""

    def __init__(self, pipe: int) -> None:
        self.orders: Queue[AnyMessage] = Queue()  # what came after the first one
        self._pipe = pipe  # a bare number: nothing closes it before the process ends, so its end is the process' end
        self._lock = threading.Lock()
        self._step = ""
        self._spoken = 0.0

    def progress(self, step: str, done: int, total: int) -> None:
        """How far a step is."""
        now = time.monotonic()
        with self._lock:
            if step == self._step and done != total and now - self._spoken < PROGRESS_SECONDS:
                return
            self._step, self._spoken = step, now
        self.say(ProgressMessage(step, done, total))

    def tell(self, answer: SavedAnswer) -> None:
        """The answer has grown."""
        self.say(AnswerMessage(answer, final=False))

    def say(self, message: AnyMessage) -> None:
        """Anything; when nobody listens any more, the work is for nobody."""
        with self._lock:
            unsent = memoryview(to_line(message))
            try:
                while unsent:
                    unsent = unsent[os.write(self._pipe, unsent) :]
            except BrokenPipeError:
                _die()


def _outcome(order: ChildOrder, output: PipeOutput) -> Message:
    """The last message. The except is broad: an unknown error goes to the bot with its trace."""
    try:
        ending = _function(order.target)(order.body, output)
    except FirstfaultError as error:
        return FailureMessage(whole_failure(error), audience=error.audience)
    except MemoryError:
        return FailureMessage(
            Failure("There was not enough memory.", "Fewer FIRSTFAULT_WORKERS need less.", "OutOfMemory")
        )
    except Exception as error:  # noqa: BLE001 the worker's boundary
        return FailureMessage(Failure("Something went wrong inside.", "", type(error).__name__), traceback.format_exc())
    return AnswerMessage(ending, final=True) if isinstance(ending, SavedAnswer) else ReplyMessage(ending)


def _function(target: str) -> Callable[..., Any]:
    """The function of ``package.module:function``."""
    module, _, function = target.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


def _pipes() -> tuple[BinaryIO, PipeOutput]:
    """Pipes that no library and no grandchild can write to: what they print goes to standard error."""
    orders, answers = os.fdopen(os.dup(0), "rb"), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return orders, PipeOutput(answers)


def _be_modest() -> None:
    os.nice(MODEST)
    os.umask(0o077)  # reports hold log lines: for the bot's user only
    with contextlib.suppress(OSError):  # not on Linux
        Path("/proc/self/oom_score_adj").write_text(_EXPENDABLE, encoding="ascii")


def _keep_to(order: ChildOrder) -> None:
    """Temporary files where the order wants them."""
    if order.temporary:
        os.environ["TMPDIR"], tempfile.tempdir = order.temporary, None


def _hear(orders: BinaryIO, output: PipeOutput) -> None:
    """Pass on further orders; when nobody is there to give any, nobody wants this work."""
    with contextlib.suppress(BadMessage):
        for line in orders:
            output.orders.put(of_line(line))
    _die()


def _die() -> Any:
    """End this process at once, with all that it started."""
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    main()
