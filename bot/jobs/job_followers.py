"""The task of a child that follows jobs for the bot, so that the bot itself never reads a log.

A thread a job, because a bucket may be slow and must not keep the others waiting.
"""

import threading
from collections.abc import Callable
from functools import partial
from typing import NoReturn

from bot.jobs.child import PipeOutput
from bot.jobs.job_watch import EVERY, JobWatch
from bot.jobs.messages import FollowJobs, LinesMessage, TroubleMessage, WatchOrder, found
from bot.settings import load_settings
from core.errors import FirstfaultError
from core.live.findings import LiveKind
from sources.jobs import JobSource, open_source

HEARD_SECONDS = 10.0  # between two words about how much was heard


def follow(_order: FollowJobs, output: PipeOutput) -> NoReturn:
    """Follow what further orders name; it ends with the process, for threads may wait for a bucket."""
    settings = load_settings()
    followers = JobFollowers(partial(open_source, settings.jobs, links=settings.follow_links), output)
    while True:
        command = output.orders.get()
        if not isinstance(command, WatchOrder):
            raise TypeError("it is told to follow jobs, or to leave them")
        followers.obey(command)


class JobFollowers:
    """A thread for each watched job."""

    def __init__(self, open_jobs: Callable[[], JobSource], output: PipeOutput) -> None:
        self._open_jobs = open_jobs
        self._output = output
        self._leaving: dict[str, threading.Event] = {}

    def obey(self, command: WatchOrder) -> None:
        """Begin to follow a job, or stop."""
        if command.do == "leave":
            leaving = self._leaving.pop(command.watch, None)
            if leaving is not None:
                leaving.set()
        elif command.watch not in self._leaving:
            leaving = self._leaving[command.watch] = threading.Event()
            threading.Thread(target=self._follow, args=(command, leaving), daemon=True).start()

    def _follow(self, command: WatchOrder, leaving: threading.Event) -> None:
        job_watch = JobWatch(lambda: self._open_jobs().job(command.job), every=EVERY)
        since = 0.0
        while not leaving.is_set():
            try:
                for finding in job_watch.look():
                    self._output.say(found(command.watch, finding))
            except FirstfaultError as trouble:
                self._output.say(TroubleMessage(command.watch, trouble.message))
                return
            over = job_watch.over
            settled = over is not None and (over.kind is LiveKind.COMPLETED or job_watch.settled())
            since += job_watch.pause()
            if settled or since >= HEARD_SECONDS:
                self._output.say(LinesMessage(command.watch, job_watch.standing().lines, settled))
                since = 0.0
            if settled:
                return
            leaving.wait(job_watch.pause())
