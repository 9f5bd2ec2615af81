"""Bots that kill themselves between two steps: each is a process of its own, forked from one that has all modules.

A line on standard input, ``KIND NUMBER``, starts one, and may end with an environment in JSON in place of that of this
process; its process id is the answer. As soon as it has been handed an
envelope of that kind it counts its steps, and after so many it ends by signal 9. A step is whatever outlives the
process: a transaction that changed something, an acknowledgement, a call of Slack, a write to the fault library. The
kind ``any`` counts from the start. TASKS in the environment names another module of what children do. With names of
modules on the command line their children are forked too, from a process that has loaded those.
"""

import contextlib
import gc
import importlib
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, cast

from slack_sdk.socket_mode.builtin import SocketModeClient
from slack_sdk.webhook import WebhookClient

import bot.commandline.serve
import faultlib.database
from benchmarks.support import quick
from benchmarks.support.forked_children import Forker
from bot.app import Bot
from bot.settings import Settings, load_settings
from bot.slack import envelopes, intake
from bot.slack.client import PatientClient
from bot.state import database, posts
from core.errors import FirstfaultError

LEASE, POSTING = timedelta(seconds=2), timedelta(seconds=3)
GRACE = 3.0  # seconds for what runs, after SIGTERM
NEVER = 0
ANY = "any"


class Steps:
    """Counts, and ends the process."""

    def __init__(self, kind: str, number: int, log: str) -> None:
        self._kind = kind
        self._left = number
        self._log = log
        self._armed = number == NEVER or kind == ANY
        self._lock = threading.Lock()

    def received(self, kind: str) -> None:
        self._armed = self._armed or kind == self._kind

    def taken(self, what: str) -> None:
        with self._lock:
            if not self._armed or self._left == NEVER:
                return
            self._left -= 1
            if self._left == NEVER:
                with open(self._log, "a", encoding="ascii") as log:  # noqa: PTH123 as short as can be
                    log.write(f"{self._kind}: after {what}\n")
                os.kill(os.getpid(), signal.SIGKILL)


class HastyBot(Bot):
    """The bot, but for its patience."""

    def __init__(self, settings: Settings, *, version: str) -> None:
        tasks = importlib.import_module(os.environ["TASKS"]).TASKS if "TASKS" in os.environ else quick.TASKS
        super().__init__(settings, version=version, tasks=tasks, lease=LEASE)

    def stop(self, grace_seconds: float = GRACE) -> None:
        super().stop(grace_seconds)


def count(steps: Steps) -> None:
    """Let every step be told to ``steps``, after it was taken."""
    envelope_of = envelopes.envelope_of

    def heard(body: Any) -> Any:
        found = envelope_of(body)
        if found is not None:
            steps.received(found.kind)
        return found

    cast("Any", intake).envelope_of = heard
    outermost = database.Database._outermost

    def committed(self: Any, seconds: float) -> Iterator[None]:
        before = self._connection().total_changes
        yield from outermost(self, seconds)
        if self._connection().total_changes != before:
            steps.taken("a transaction")

    cast("Any", database.Database)._outermost = committed
    writing = faultlib.database.Database.writing

    @contextlib.contextmanager
    def written(self: Any) -> Iterator[None]:
        with writing(self):
            yield
        steps.taken("a write to the library")

    cast("Any", faultlib.database.Database).writing = written
    _after(PatientClient, "_ask", lambda _, method, *__: steps.taken(f"a call of {method}"))
    _after(SocketModeClient, "send_socket_mode_response", lambda *_: steps.taken("an acknowledgement"))
    _after(WebhookClient, "send_dict", lambda *_: steps.taken("a private word"))


def _after(owner: Any, name: str, tell: Callable[..., None]) -> None:
    before = getattr(owner, name)

    def both(*words: Any, **more: Any) -> Any:
        result = before(*words, **more)
        tell(*words)
        return result

    setattr(owner, name, both)


def _served() -> int:
    """As the command ends."""
    try:
        return bot.commandline.serve.serve(load_settings(), version="0.1.0")
    except FirstfaultError as error:
        logging.getLogger(__name__).warning("%s %s", error.message, error.hint)
        return 2


def main() -> None:
    cast("Any", bot.commandline.serve).Bot = HastyBot
    cast("Any", posts).POSTING = POSTING
    with contextlib.ExitStack() as stack:
        if sys.argv[1:]:
            stack.enter_context(stack.enter_context(Forker(*sys.argv[1:])).used())
        _fork_bots()


def _fork_bots() -> None:
    gc.freeze()  # each bot would look at all that is loaded, and copy its pages
    for line in sys.stdin:
        kind, number, *environment = line.split(maxsplit=2)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        pid = os.fork()
        if not pid:
            os.close(0)
            os.close(1)
            os.open(os.devnull, os.O_RDWR)
            os.open(os.devnull, os.O_RDWR)
            if environment:
                os.environ.clear()
                os.environ.update(json.loads(environment[0]))
            count(Steps(kind, int(number), os.environ["KILLED"]))
            os._exit(_served())
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
