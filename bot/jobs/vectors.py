"""The vectors of the fault library, made by a child process, so that the bot never holds the embedding model.

Measured with the model in the bot: 304 MB after the start, 450 MB after an approval, in place of 70.
"""

import logging
import os
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from bot.jobs.child_process import ChildProcess
from bot.jobs.messages import ChildOrder, Embed, FailureMessage, ReplyMessage
from bot.jobs.tasks import TASKS
from bot.repeating_thread import RepeatingThread

TASK = "embed"
LEAVING_SECONDS = 5.0  # for a child that was killed
_LOG = logging.getLogger(__name__)


class Vectors:
    """Makes what is missing: at the start, and when somebody says that a pattern has changed.

    What is not made, because the child dies or the model is not there, is made by the next diagnosis that needs it.
    """

    def __init__(self, *, environment: Mapping[str, str] | None = None, tasks: Mapping[str, str] = TASKS) -> None:
        """environment: of the child; None: this process' own. tasks: as for the worker."""
        self._environment = os.environ if environment is None else environment
        self._tasks = tasks
        self._lock = threading.Lock()
        self._process: ChildProcess | None = None
        # woken when a pattern has changed; OSError: no process, no room for its temporary files
        self.thread = RepeatingThread("vectors", self._make, every=None, known=(OSError,))

    def stop(self) -> None:
        """End the thread, and the child with it."""
        with self._lock:
            self.thread.stopping.set()
            if self._process:
                self._process.kill()
        self.thread.stop(LEAVING_SECONDS)

    def _make(self) -> None:
        with tempfile.TemporaryDirectory(prefix="firstfault-", ignore_cleanup_errors=True) as temporary:
            order = ChildOrder(self._tasks[TASK], Embed())
            process = ChildProcess(order, temporary=Path(temporary), environment=self._environment)
            with process:
                self._hold(process)
                finished = self._listen(process)
                self._hold(None)
        if not finished and not self.thread.stopping.is_set():
            _LOG.warning("the vectors' child ended: %s\n%s", process.how_it_ended(), process.last_lines())

    def _hold(self, process: ChildProcess | None) -> None:
        with self._lock:
            self._process = process
            if process and self.thread.stopping.is_set():
                process.kill()

    def _listen(self, process: ChildProcess) -> bool:
        """Whether the child had a last word."""
        finished = False
        for message in process.messages():
            match message:
                case ReplyMessage(text):
                    finished = True
                    _LOG.info("fault library: %s", text)
                case FailureMessage(failure, trace):
                    finished = True
                    _LOG.warning("the fault library is not ready: %s\n%s", failure.message, trace)
                case _:
                    pass  # nobody waits for it, so nobody sees progress
        return finished
