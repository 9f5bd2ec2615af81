"""Jobs that end badly are diagnosed and posted without anybody asking, and nobody is flooded.

The settings name a channel, or one for each team; others begin by ``/diagnose follow``. Attempts of one run stand in
one thread; at most so many posts an hour, and none in quiet hours: of what waited then one digest tells. What had
ended before somebody began to follow is no news.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from functools import cache

from slack_sdk.errors import SlackClientError

from bot.repeating_thread import RepeatingThread
from bot.slack import actions as act
from bot.slack.blocks import Message, actions, menu, section
from bot.slack.posting import Posting
from bot.slack.run_messages import RunMessages
from bot.slack.text import code, fallback, prose
from bot.slack.thread import MAX_TELLING
from bot.state.followed import BY_SETTING, FollowedJob, FollowStatus
from bot.state.runs import Run, RunRequest, Trigger
from bot.state.state import State
from core.errors import BadJobId, JobNotFound, UnreadableLog
from core.job import Manifest, Status
from sources.jobs import JobSource

LOOK_SECONDS = 10.0  # between two looks at the jobs folder
HEALTHY_SECONDS = 120.0  # a look at a slow bucket takes its time
HOUR = timedelta(hours=1)
MAX_LISTED = 20  # jobs of a digest that are named
TEAM = "team"  # the field of job.json that names whose job it is
SAME = 2  # attempts with the same fault after which somebody is asked whether to go on
_ENDED = (Status.COMPLETED, Status.CANCELLED, Status.FAILED)
_ManifestOf = Callable[[str], Manifest | None]


@dataclass(frozen=True, slots=True)
class FollowRules:
    """Where and how often. posts: in an hour and channel. quiet: from and to, as minutes of the day; equal: never.

    channel: where no other is named for the team of a job; empty: none by the settings. teams: channels by team, which
    job.json tells.
    """

    team: str
    channel: str
    posts: int
    quiet: tuple[int, int] = (0, 0)
    zone: tzinfo | None = None  # None: that of the machine
    teams: Mapping[str, str] = field(default_factory=dict)

    def channels(self) -> frozenset[str]:
        """All channels that are named."""
        return frozenset((self.channel, *self.teams.values())) - {""}

    def is_quiet(self, at: datetime) -> bool:
        """Whether nothing is posted at this time."""
        local = at.astimezone(self.zone)
        minute, (begin, end) = local.hour * 60 + local.minute, self.quiet
        return begin <= minute < end if begin <= end else minute >= begin or minute < end


class FailedJobs:
    """``thread`` looks again and again; ``look`` is one round."""

    def __init__(
        self,
        state: State,
        run_messages: RunMessages,
        posting: Posting,
        rules: FollowRules,
        *,
        open_jobs: Callable[[], JobSource],
        wake: Callable[[], None],
        seconds: float = LOOK_SECONDS,
    ) -> None:
        """wake: a diagnosis has been queued. seconds: between two looks."""
        self._state = state
        self._run_messages = run_messages
        self._posting = posting
        self._rules = rules
        self._open_jobs = open_jobs
        self._wake = wake
        self.thread = RepeatingThread(
            "following", self.look, every=seconds, healthy_for=HEALTHY_SECONDS, known=(SlackClientError, OSError)
        )

    def alert(self, job: str) -> None:
        """Another program says that this job is in trouble: it is told of with the next look, once."""
        manifest = _manifest(self._open_jobs(), job)
        self._state.followed.alert(job, (manifest.run if manifest else "") or "")

    def look(self) -> None:
        """Note what has ended, queue the diagnoses that may be told now, list the rest, compare attempts."""
        followers = self._followers()
        if not followers:
            return
        jobs = self._open_jobs()
        manifest = cache(lambda job: _manifest(jobs, job))  # read once for all who follow
        for follower, rules in followers.items():
            self._note_ended(follower, jobs.job_ids(), manifest)
            self._tell(follower, rules, manifest)
        self._compare()

    def _followers(self) -> dict[str, FollowRules]:
        """Who follows now: the channels of the settings, and each that asked for it."""
        rules = self._rules
        asked = {
            follow.id: replace(rules, team=follow.team, channel=follow.channel, teams={})
            for follow in self._state.follows.all()
        }
        return ({BY_SETTING: rules} if rules.channel else {}) | asked

    def _note_ended(self, follower: str, jobs: Sequence[str], manifest_of: _ManifestOf) -> None:
        followed = self._state.followed
        first, known = not followed.begun(follower), followed.known(follower)
        for job in jobs:
            manifest = None if job in known else manifest_of(job)
            if manifest is None or manifest.status not in _ENDED:
                continue
            news = manifest.status is Status.FAILED and not first
            followed.add(job, manifest.run or "", FollowStatus.WAITS if news else FollowStatus.NO_NEWS, follower)
        if first:
            followed.begin(follower)

    def _tell(self, follower: str, rules: FollowRules, manifest_of: _ManifestOf) -> None:
        """Each by itself as long as there is room in this hour, else one and a digest of the rest."""
        now, waiting = self._state.clock(), self._state.followed.waiting(follower)
        if not waiting or rules.is_quiet(now):
            return
        by_channel: dict[str, list[FollowedJob]] = {}
        for job in waiting:
            by_channel.setdefault(_channel(job.job, rules, manifest_of), []).append(job)
        for channel, some in by_channel.items():
            self._tell_in(replace(rules, channel=channel), some, now)

    def _tell_in(self, rules: FollowRules, waiting: Sequence[FollowedJob], now: datetime) -> None:
        followed, channel = self._state.followed, rules.channel
        jobs = [job for job in followed.since(now - HOUR) if self._is_in(channel, job)]
        room = rules.posts - len({(job.run, job.fate) for job in jobs})
        if room <= 0:
            return
        if len(waiting) <= room:
            for failed in waiting:
                self._diagnose(failed, rules)
            return
        last = next((job for job in reversed(followed.diagnosed()) if self._is_in(channel, job)), None)
        *earlier, newest = waiting
        run = self._diagnose(newest, rules) if room > 1 or last is None else self._state.runs.get(last.run)
        if run is not None:
            self._list(run, earlier if room > 1 or last is None else waiting)

    def _is_in(self, channel: str, followed: FollowedJob) -> bool:
        run = self._state.runs.get(followed.run)
        return run is not None and run.channel == channel

    def _diagnose(self, followed: FollowedJob, rules: FollowRules) -> Run | None:
        """Queue it, in the thread of its run's first failure where there is one."""
        earlier = self._first(followed, rules.channel)
        thread = (earlier.thread_ts or earlier.message_ts) if earlier else ""
        request = RunRequest(followed.job, rules.team, rules.channel, "", Trigger.FOLLOW, thread)
        with self._state.together():
            asked = self._state.runs.ask(request)
            if not self._state.followed.asked(followed.job, asked.run.id, followed.follower):
                return None
        try:
            self._run_messages.show(asked.run.id)
        finally:  # it is queued, whether Slack takes the message now or later
            self._wake()
        return asked.run

    def _list(self, run: Run, left: Sequence[FollowedJob]) -> None:
        """Post one message about all jobs that are left."""
        self._posting.once(run, f"digest {left[0].job}", digest_message(left))
        for job in left:
            self._state.followed.listed(job.job, run.id, job.follower)

    def _compare(self) -> None:
        """Say once that attempts fail in the same way again and again."""
        for job in self._state.followed.not_compared():
            run = self._state.runs.get(job.run)
            if run is not None and not run.told:
                continue
            attempts = self._state.followed.of_lineage(job.lineage, job.follower)
            upto = [attempt for attempt in attempts if attempt.at <= job.at]
            causes = [self._cause(attempt.run) for attempt in upto]
            same = _streak(causes)
            if run is not None and same >= SAME and causes[-1]:
                message = again_message(job.lineage, len(upto), same, causes[-1])
                self._posting.once(run, "again", message, thread=run.thread_ts or run.message_ts)
            self._state.followed.compared(job.job, job.follower)

    def _first(self, followed: FollowedJob, channel: str) -> Run | None:
        attempts = self._state.followed.of_lineage(followed.lineage, followed.follower)
        runs = (self._state.runs.get(job.run) for job in attempts)
        return next((run for run in runs if run is not None and run.message_ts and run.channel == channel), None)

    def _cause(self, run_id: str) -> str:
        answer = self._state.runs.answer(run_id)
        step = answer.diagnosis.next if answer and answer.diagnosis else None
        return step.cause if step else ""


def _manifest(jobs: JobSource, job: str) -> Manifest | None:
    try:
        return jobs.manifest(job)
    except (JobNotFound, BadJobId, UnreadableLog):
        return None  # removed, or being written


def _channel(job: str, rules: FollowRules, manifest_of: _ManifestOf) -> str:
    """Where it is told: that of the team which job.json names, if it has one."""
    manifest = manifest_of(job) if rules.teams else None
    team = str(manifest.extra.get(TEAM, "")) if manifest else ""
    return rules.teams.get(team.casefold(), rules.channel)


def _streak(causes: Sequence[str]) -> int:
    """How many of the last attempts had the same cause."""
    return next((at for at, cause in enumerate(reversed(causes)) if cause != causes[-1]), len(causes))


def digest_message(left: Sequence[FollowedJob]) -> Message:
    """Jobs that failed while nothing, or nothing more, was posted."""
    names = ", ".join(code(job.job, 60) for job in left[:MAX_LISTED])
    more = f" and {len(left) - MAX_LISTED:,} more" if len(left) > MAX_LISTED else ""
    sentence = f"{len(left):,} more {'job has' if len(left) == 1 else 'jobs have'} failed"
    choices = [(job.job, job.job) for job in left[:MAX_LISTED]]
    pick = actions(menu("Diagnose one", act.DIAGNOSE, choices))
    return Message(fallback(f"{sentence}.", MAX_TELLING), section(f"*{sentence}*: {names}{more}.") + pick)


def again_message(lineage: str, attempts: int, same: int, cause: str) -> Message:
    """A run that fails in the same way whenever it is started."""
    sentence = f"Attempt {attempts:,} of {prose(lineage, 80)} that failed here; the last {same:,} with the same fault"
    plain = f"The last {same:,} attempts of {lineage} failed with the same fault: stop retrying?"
    return Message(fallback(plain, MAX_TELLING), section(f"{sentence}: {prose(cause, 200)}. *Stop retrying?*"))
