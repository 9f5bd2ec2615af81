"""The worker: threads that claim runs and questions, one that tells what another left untold, one that watches.

It runs in the bot's own process (``start``), or alone with the same state file beside other workers.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from bot.jobs.diagnoses import Diagnoses
from bot.jobs.lease_keeper import TICK_SECONDS, EndReason, Lease, LeaseKeeper
from bot.jobs.listener import Counters, Listener
from bot.jobs.pictures import Pictures
from bot.jobs.questions import Questions
from bot.jobs.run_files import RunFiles
from bot.jobs.spare_child import SpareChild
from bot.jobs.tasks import LOAD, TASKS
from bot.jobs.work_context import Limits, Work, WorkContext
from bot.repeating_thread import RepeatingThread
from bot.state.errors import StateUnavailable
from bot.state.small_values import new_id
from bot.state.state import State

GRACE_SECONDS = 20.0  # a small diagnosis ends in it; container platforms kill after 30
LEAVING_SECONDS = 5.0  # for threads whose child is gone to write that down
TROUBLE_SECONDS = 5.0  # pause after an error, so that a full disk does not fill the log
COUNT_SECONDS = 1.0  # between two looks at how many wait
HEALTHY_SECONDS = 30.0  # the watch looks four times a second, and waits at most five for a locked state
_LOG = logging.getLogger(__name__)


class Worker:
    """Carries out what the state's queues hold, until it is stopped."""

    def __init__(
        self,
        state: State,
        listener: Listener,
        *,
        files: Path,
        counters: Counters,
        limits: Limits | None = None,
        environment: Mapping[str, str] | None = None,
        tasks: Mapping[str, str] = TASKS,
        version: str = "",
    ) -> None:
        """Nothing begins before ``start``.

        Args:
            state: where runs and questions come from.
            listener: who is told.
            files: folder for the reports of runs.
            counters: who counts.
            limits: how much at a time, and how long.
            environment: of the children; None: this process' own. Slack's tokens are taken out.
            tasks: what children do; another table is for tests.
            version: of this program, for the reports.
        """
        self.owner = f"{new_id('w')}-{os.getpid()}"
        self._limits = limits or Limits()
        self._counters = counters
        child_environment, home = os.environ if environment is None else environment, RunFiles(files)
        loading = tasks.get(LOAD, "") if self._limits.spare else ""
        spare = SpareChild(loading, temporary=home.spare, environment=child_environment) if loading else None
        context = WorkContext(
            state=state,
            listener=listener,
            counters=self._counters,
            files=home,
            limits=self._limits,
            owner=self.owner,
            environment=child_environment,
            version=version,
            tasks=tasks,
            spare=spare,
        )
        self._diagnoses = Diagnoses(context, state.runs.leases)
        self._questions = Questions(context, state.threads.leases)
        self._pictures = Pictures(context, state.drawings.leases)
        self._spare = spare
        self._watch = LeaseKeeper(self.owner, state.clock, state.runs.cancelled)
        self._stopping = threading.Event()
        self._news = threading.Condition()
        self._slots: tuple[threading.Thread, ...] = ()
        self._counted = 0.0
        self._watcher = RepeatingThread("leases", self._keep_watch, every=TICK_SECONDS, healthy_for=HEALTHY_SECONDS)

    def start(self) -> None:
        """Begin; returns at once."""
        slots: list[tuple[str, Callable[[], None]]] = []
        slots += [(f"diagnose-{number}", lambda: self._serve(self._diagnoses)) for number in range(self._limits.runs)]
        slots += [(f"ask-{number}", lambda: self._serve(self._questions)) for number in range(self._limits.questions)]
        slots += [("draw", lambda: self._serve(self._pictures)), ("tell", self._serve_untold)]
        self._slots = tuple(threading.Thread(target=target, name=name, daemon=True) for name, target in slots)
        self._watcher.start()
        for thread in self._slots:
            thread.start()
        if self._spare:
            self._spare.prepare()

    def wake(self) -> None:
        """Something new is in a queue: do not wait for the next look."""
        with self._news:
            self._news.notify_all()

    def healthy(self) -> bool:
        """Whether all threads live and the watch has looked lately."""
        return self._watcher.healthy() and all(thread.is_alive() for thread in self._slots)

    def stop(self, grace_seconds: float = GRACE_SECONDS) -> None:
        """Claim nothing more, finish within the grace period, hand back the rest; returns when all of it is done."""
        self._stopping.set()
        self.wake()
        _join(self._slots, grace_seconds)
        end = time.monotonic() + LEAVING_SECONDS
        while any(thread.is_alive() for thread in self._slots) and time.monotonic() < end:
            for lease in self._watch.leases():  # again and again: one may have been claimed just now
                lease.end(EndReason.STOPPED)
            _join(self._slots, TICK_SECONDS)
        if self._spare:
            self._spare.stop()
        self._watcher.stop(LEAVING_SECONDS)

    def _serve(self, work: Work) -> None:
        """Claim and carry out rows of one kind, until the worker stops."""
        self._repeat(lambda: self._once(work, work.leases.claim, work.carry_out))

    def _serve_untold(self) -> None:
        """The life of the thread that tells what dead or unlucky workers did not."""
        self._repeat(
            lambda: any([self._once(work, work.leases.claim_telling, work.tell) for work in self._kinds()])  # noqa: C419 each has its turn
        )

    def _once(self, work: Work, claim: Callable[[str], str | None], do: Callable[[Lease], None]) -> bool:
        """Claim one row and do it; False when there is none."""
        row_id = claim(self.owner)
        if row_id is None:
            return False
        with self._watch.hold(row_id, work.leases) as lease:
            do(lease)
        if work is self._diagnoses:
            self.wake()  # its pictures are to be drawn now
        return True

    def _repeat(self, once: Callable[[], bool]) -> None:
        """Until the worker stops. The except is broad: a slot outlives every error."""
        while not self._stopping.is_set():
            try:
                if not once():
                    with self._news:
                        self._news.wait(self._limits.poll_seconds)
            except StateUnavailable as trouble:
                _LOG.error("%s %s", trouble.message, trouble.hint)
                self._stopping.wait(TROUBLE_SECONDS)
            except Exception:  # noqa: BLE001 the worker's boundary
                _LOG.exception("a slot met an unknown error (%s)", new_id("e"))
                self._stopping.wait(TROUBLE_SECONDS)

    def _keep_watch(self) -> None:
        """Renew what is held, end what has to end; now and again count what waits."""
        self._watch.look()
        if time.monotonic() - self._counted > COUNT_SECONDS:
            self._counted = time.monotonic()
            for work in self._kinds():
                self._counters.waiting(work.task, work.leases.waiting())

    def _kinds(self) -> tuple[Work, ...]:
        return self._diagnoses, self._questions, self._pictures


def _join(threads: tuple[threading.Thread, ...], seconds: float) -> None:
    end = time.monotonic() + seconds
    for thread in threads:
        if thread.is_alive():  # one that was never started cannot be joined
            thread.join(max(0.0, end - time.monotonic()))
