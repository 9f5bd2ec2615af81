"""As many bots as are wanted on one state: whoever dies is followed by another, as under a service manager."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import IO, cast

from benchmarks.support.forked_bots import ANY, NEVER
from benchmarks.support.processes import alive
from benchmarks.support.stage import Stage

ROOT = Path(__file__).resolve().parents[2]
LOOK = 0.1  # seconds between two looks at who is alive
KILLS = "kills"  # in the folder of the stage: a line for each bot that killed itself


class Bots:
    """Forked from one process that has all modules; use it in a ``with``.

    A bot kills itself after a number of steps (``benchmarks.support.forked_bots``), when one is waiting in ``deadly``.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._steps: dict[int, int] = {}  # of each process: after how many it dies
        self._guard, self._ended = threading.Lock(), threading.Event()
        self._wanted = 0
        self.deadly: deque[int] = deque()

    def want(self, number: int) -> None:
        """From now on there are so many."""
        self._wanted = number

    def pids(self) -> tuple[int, ...]:
        """Those that live."""
        return tuple(pid for pid in list(self._steps) if alive(pid))

    def end(self, number: int, chance: Random) -> bool:
        """Send a signal to one of them."""
        pids = self.pids()
        return bool(pids) and _send(chance.choice(pids), number)

    def disarm(self) -> None:
        """Only one bot, and it does not kill itself."""
        with self._guard:
            self._wanted = 1
            self.deadly.clear()
            for pid in [pid for pid, steps in self._steps.items() if steps != NEVER] + list(self._steps)[1:]:
                _send(pid, signal.SIGKILL)

    def end_all(self) -> None:
        """None is wanted, and none is there when this returns."""
        with self._guard:
            self._wanted = 0
            for pid in self._steps:
                _send(pid, signal.SIGKILL)
        while self.pids():
            self._ended.wait(LOOK)

    def killed_themselves(self) -> int:
        """How many did, so far."""
        file = self._stage.home / KILLS
        return len(file.read_text(encoding="ascii").splitlines()) if file.exists() else 0

    @contextlib.contextmanager
    def tended(self) -> Iterator["Bots"]:
        """Start the process that they are forked from, and look after them."""
        home = self._stage.home
        environment = {**os.environ, **self._stage.environment, "PYTHONPATH": str(ROOT), "KILLED": str(home / KILLS)}
        with (home / "log").open("ab") as log:
            zygote = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.support.forked_bots"],
                env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, cwd=home, text=True,
            )  # fmt: skip
        tending = threading.Thread(target=self._tend, args=(zygote,), name="tending")
        tending.start()
        try:
            yield self
        finally:
            self.end_all()
            self._ended.set()
            tending.join()
            zygote.kill()
            zygote.communicate()

    def _tend(self, zygote: "subprocess.Popen[str]") -> None:
        orders, answers = cast("IO[str]", zygote.stdin), cast("IO[str]", zygote.stdout)
        while not self._ended.wait(LOOK):
            with self._guard:
                for pid in [pid for pid in self._steps if not alive(pid)]:
                    del self._steps[pid]
                if len(self._steps) < self._wanted:
                    steps = self.deadly.popleft() if self.deadly else NEVER
                    orders.write(f"{ANY} {steps}\n")
                    orders.flush()
                    self._steps[int(answers.readline())] = steps


def _send(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True
