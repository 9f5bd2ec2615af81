"""Keeps the bot's watches: a process of its own follows the jobs, this stores what it finds and has it told once.

A thread of the bot. The state decides everything: what is watched, what was found, what was told. So a bot that starts
again goes on where another died, and a process that died is started again.
"""

import logging
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from bot.jobs.child_process import ChildProcess
from bot.jobs.messages import (
    ChildOrder,
    FailureMessage,
    FindingMessage,
    FollowJobs,
    LinesMessage,
    Message,
    TroubleMessage,
    WatchOrder,
)
from bot.jobs.tasks import FOLLOW, TASKS
from bot.repeating_thread import RepeatingThread
from bot.state.errors import StateUnavailable
from bot.state.runs import Run
from bot.state.small_values import Status, new_id
from bot.state.state import State
from bot.state.watches import Watch, WatchFinding
from core.live.findings import LiveKind

LOOK_SECONDS = 0.5  # seconds between two looks at what the process tells; people wait minutes for an alarm
AGAIN_SECONDS = 10.0  # before a process that died is started again, and after trouble with the state
QUIET = timedelta(hours=24)  # without a line, after which a job is not watched any more
HEALTHY_SECONDS = 60.0  # several looks, with Slack asking for pauses (bot/slack/posting.py, PATIENCE) in each
QUIET_ENDED, TROUBLE_ENDED = "quiet", "trouble"
_LOG = logging.getLogger(__name__)


class Announcer(Protocol):
    """Tells people in the chat."""

    def announce(self, watch: Watch, finding: WatchFinding) -> bool:
        """Tell a finding where it was asked for, once; False when it must be tried again later."""

    def thread(self, watch: Watch, finding: WatchFinding) -> str:
        """The thread of the alarm that a finding is about; empty: none."""

    def diagnosed(self, run: Run) -> None:
        """A diagnosis was queued because a watched job is over, or an alarm about it stands."""


class WatchService:
    """Start ``thread`` with the bot, stop it before the state is closed; no process runs while nothing is watched."""

    def __init__(
        self,
        state: State,
        announcer: Announcer,
        *,
        environment: Mapping[str, str] | None = None,
        wake: Callable[[], None] = lambda: None,
        quiet: timedelta = QUIET,
    ) -> None:
        """wake: a diagnosis has been queued. quiet: how long a job may say nothing."""
        self._state = state
        self._announcer = announcer
        self._environment = os.environ if environment is None else environment
        self._wake_worker = wake
        self._quiet = quiet
        self._owner = new_id("k")
        self._process: ChildProcess | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None  # of the process
        self._followed: set[str] = set()
        self._settled: set[str] = set()  # watches whose job is over and has said all
        self._not_before = 0.0
        self.thread = RepeatingThread(
            "watches",
            self._look,
            every=LOOK_SECONDS,
            healthy_for=HEALTHY_SECONDS,
            pause=AGAIN_SECONDS,
            at_end=self._leave,
        )

    def _look(self) -> None:
        """One look at all watches: what is new is watched, what ended is not."""
        watches = self._state.watches.open()
        if not (watches or self._process or self._state.watches.untold()):
            return
        if not self._state.watches.keep(self._owner):
            self._end_process()
            return
        for message in self._process.news() if self._process else ():
            self._hear(message)
        for watch_id in sorted(self._settled):
            self._over(watch_id)
        self._end_quiet(watches)
        self._follow({watch.id: watch for watch in self._state.watches.open()})
        self._tell()

    def _hear(self, message: Message) -> None:
        """Store what the process tells."""
        match message:
            case FindingMessage():
                self._found(message)
            case LinesMessage(watch_id, lines, settled):
                self._state.watches.heard(watch_id, lines)
                if settled:
                    self._settled.add(watch_id)
            case TroubleMessage(watch_id, reason):
                if self._state.watches.end(watch_id, TROUBLE_ENDED):
                    _LOG.warning("%s: not followed any more: %s", watch_id, reason)
            case FailureMessage(failure, trace):
                _LOG.error("jobs cannot be followed: %s %s\n%s", failure.message, failure.hint, trace)

    def _found(self, found: FindingMessage) -> None:
        place = f"{found.file}:{found.number}" if found.number else found.file
        finding = WatchFinding(0, found.watch, found.kind, found.subject, found.says, found.line, place)
        if self._state.watches.note(finding):
            _LOG.info("%s: %s %s", found.watch, found.kind, found.subject)

    def _over(self, watch_id: str) -> None:
        """The job is over and has said all: end the watch and queue the diagnosis, both or none."""
        run = None
        with self._state.together():
            watch = self._state.watches.get(watch_id)
            if watch is not None and self._is_being_read(watch):
                return  # by somebody who may not have read its end; asked anew once that is done
            self._settled.discard(watch_id)
            if watch is None or not self._state.watches.end(watch_id, "over"):
                return
            if not self._state.watches.completed(watch_id):
                run = self._state.runs.ask(watch.request(), forced=True).run
        if run is not None:
            self._wake_worker()
            self._announcer.diagnosed(run)

    def _is_being_read(self, watch: Watch) -> bool:
        active = self._state.runs.active(watch.team, watch.channel)
        return any(run.job == watch.job and run.status is Status.RUNNING for run in active)

    def _end_quiet(self, watches: tuple[Watch, ...]) -> None:
        for watch in watches:
            if self._state.clock() - watch.heard_at > self._quiet and self._state.watches.end(watch.id, QUIET_ENDED):
                _LOG.info("%s: no line for too long, not watched any more", watch.id)

    def _follow(self, watches: Mapping[str, Watch]) -> None:
        """Let the process follow what is watched, and nothing else."""
        if (dead := self._process) is not None and not dead.alive():
            self._end_process()
            how, words = dead.how_it_ended(), dead.last_lines()
            _LOG.warning("the process that follows jobs ended (%s), another in %.0f s\n%s", how, AGAIN_SECONDS, words)
            self._not_before = time.monotonic() + AGAIN_SECONDS
        if not watches:
            self._end_process()
            return
        if self._process is None:
            if time.monotonic() < self._not_before:
                return
            self._temporary = tempfile.TemporaryDirectory(prefix="firstfault-", ignore_cleanup_errors=True)
            self._process = ChildProcess(None, temporary=Path(self._temporary.name), environment=self._environment)
            self._process.say(ChildOrder(TASKS[FOLLOW], FollowJobs()))
        for watch_id in sorted(self._followed - watches.keys()):
            self._process.say(WatchOrder("leave", watch_id))
        for watch_id in sorted(watches.keys() - self._followed):
            self._process.say(WatchOrder("watch", watch_id, watches[watch_id].job))
        self._followed = set(watches)

    def _tell(self) -> None:
        waiting: set[str] = set()
        for watch, finding in self._state.watches.untold():
            if self.thread.stopping.is_set():
                return
            if finding.kind == LiveKind.STANDS and watch.id not in waiting:
                self._diagnose_so_far(watch, finding)
            elif finding.kind != LiveKind.STANDS and self._announcer.announce(watch, finding):
                self._state.watches.mark_told(finding)
            else:
                waiting.add(watch.id)
            self.thread.goes_on()  # Slack may be slow

    def _diagnose_so_far(self, watch: Watch, finding: WatchFinding) -> None:
        """Queue the diagnosis of a job that runs, for the thread of its alarm, unless one is under way; once."""
        request = replace(watch.request(), thread_ts=self._announcer.thread(watch, finding))
        with self._state.together():
            self._state.watches.mark_told(finding)
            asked = self._state.runs.ask(request, forced=True) if watch.ended_at is None else None
        if asked is not None and asked.new:
            self._wake_worker()
            self._announcer.diagnosed(asked.run)

    def _end_process(self) -> None:
        if self._process is not None:
            self._process.end()
        if self._temporary is not None:
            self._temporary.cleanup()
        self._process, self._temporary, self._followed = None, None, set()

    def _leave(self) -> None:
        """Nothing of it is left, and another bot may go on at once."""
        self._end_process()
        try:
            self._state.watches.resign(self._owner)
        except StateUnavailable as trouble:
            _LOG.warning("%s", trouble.message)
