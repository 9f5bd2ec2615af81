"""Watching one job: look at its files at a bounded pace, hand over what is new, say what there is to say."""

import time
from collections.abc import Callable

from bot.jobs.growing_files import GrowingFiles
from core.errors import FirstfaultError, JobNotFound, NoLogs, SourceUnavailable
from core.job import Job, Manifest
from core.live.findings import LiveFinding, Standing
from core.live.job import LiveJob
from core.parsing.parse import find_year

EVERY = 1.0  # seconds between two looks
SHARE = 0.2  # of the time that looking may take: a folder of thousands of files is looked at less often
MAX_EVERY = 30.0  # seconds; an alarm of a hang comes after minutes, so half a minute more is late, not wrong
PATIENCE = 120.0  # seconds that a source may fail, or a folder be gone, before it is told

Fetch = Callable[[], Job]


class JobWatch:
    """One job under watch; ``look`` as often as ``pause`` says."""

    def __init__(self, fetch: Fetch, *, every: float = EVERY, clock: Callable[[], float] = time.time) -> None:
        """Nothing is read before the first ``look``.

        Args:
            fetch: the job with its files as they are now.
            every: seconds between two looks, at least.
            clock: seconds; of the watch, not of the job.
        """
        self._fetch = fetch
        self._every = every
        self._clock = clock
        self._follower = GrowingFiles()
        self._live: LiveJob | None = None
        self._failing: float | None = None
        self._took = 0.0

    def look(self) -> tuple[LiveFinding, ...]:
        """Read what is new and say what there is to say.

        Raises:
            FirstfaultError: there is no such job, or its source has not answered for two minutes.
        """
        began = self._clock()
        try:
            return self._look()
        finally:
            self._took = max(0.0, self._clock() - began)

    def pause(self) -> float:
        """Seconds until the next look: long looks are rare ones."""
        return min(MAX_EVERY, max(self._every, self._took * (1 / SHARE - 1)))

    def standing(self) -> Standing:
        """Iteration, ranks heard, lines read and seconds of silence of the job, now."""
        return self._live.standing(self._clock()) if self._live else Standing()

    @property
    def over(self) -> LiveFinding | None:
        """How it ended, when it has."""
        return self._live.over if self._live else None

    def settled(self) -> bool:
        """Whether a job that ended has said all that it had to say."""
        return self._live is not None and self._live.settled(self._clock())

    def _look(self) -> tuple[LiveFinding, ...]:
        job = self._job()
        if job is None:
            return ()
        first = self._live is None
        if self._live is None:
            self._live = LiveJob(job.manifest, year=find_year(job))
        news = self._follower.look(job.logs)
        for name in news.begun_again:
            self._live.begin_again(name)
        for name in news.cut:
            self._live.leave_out(name)
        now = self._clock()
        if first:
            self._live.catch_up(news.added, now)
        else:
            self._live.hear(news.added, now)
        return (*self._live.look(now), *self._live.status(job.status, now))

    def _job(self) -> Job | None:
        """The job as it is now; None while it cannot be had, which may be nothing but a slow network."""
        try:
            job = self._fetch()
        except NoLogs:
            return Job(Manifest(""), ()) if self._live is not None else None  # it has just begun
        except (JobNotFound, SourceUnavailable) as trouble:
            self._bear(trouble)
            return None
        self._failing = None
        return job

    def _bear(self, trouble: FirstfaultError) -> None:
        now = self._clock()
        if self._live is None:
            raise trouble
        self._failing = now if self._failing is None else self._failing
        if now - self._failing > PATIENCE:
            raise trouble
