"""Watched jobs in Slack: asking for a watch, ending it, and what the bot says by itself."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from slack_sdk.errors import SlackApiError, SlackClientError

from bot.slack import actions as act
from bot.slack.blocks import Message, preformatted, says, section
from bot.slack.people import People
from bot.slack.posting import MayNotPost, Posting, PostPending
from bot.slack.private_replies import not_in_channel_reply
from bot.slack.run_messages import RunMessages
from bot.slack.text import code, fallback, moment, person, prose
from bot.slack.thread import MAX_TELLING
from bot.state.inbox import Once
from bot.state.runs import Run, RunRequest
from bot.state.state import State
from bot.state.watches import Watch, WatchFinding
from bot.text.wording import counted
from core.errors import FirstfaultError
from core.job import Status
from core.live.findings import LiveKind
from sources.job_ids import check_job_id
from sources.jobs import JobSource

BEGUN = "begun"  # the post that says that a watch begins
MAX_SAYS, MAX_LINE = 500, 300  # characters; an alarm is read on a phone
MAX_LISTED = 10  # lines, below those of the runs
_TITLES = {
    LiveKind.SILENT: "has gone silent",
    LiveKind.HUNG: "makes no progress",
    LiveKind.RESUMED: "goes on",
    LiveKind.NUMBERS: "has odd numbers",
    LiveKind.FAILED: "has failed",
    LiveKind.STOPPED: "was stopped",
    LiveKind.COMPLETED: "has completed",
}
_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class WatchRequests:
    """Asking, ending, listing and announcing.

    limit: jobs that are watched at the same time. wake: tells the watch service that something has changed.
    """

    state: State
    posting: Posting
    run_messages: RunMessages
    people: People
    open_jobs: Callable[[], JobSource]
    limit: int
    wake: Callable[[], None] = lambda: None

    def watch(self, request: RunRequest, once: Once) -> Message | None:
        """Begin to watch a job; the channel is told of it."""
        status = self.open_jobs().manifest(check_job_id(request.job)).status
        if status in (Status.COMPLETED, Status.FAILED, Status.CANCELLED):
            return over_reply(request.job, status)
        watch_id, new = once("watch", lambda: self._added(request))
        watch = self.state.watches.get(watch_id)
        if watch is None:
            return too_many_reply(self.limit)
        if not new:
            return watched_already_reply(watch)
        try:
            self.posting.once(watch.as_run(), BEGUN, begun_message(watch), thread=watch.thread_ts)
        except MayNotPost:
            self.state.watches.end(watch.id, "not in channel")
            return not_in_channel_reply(watch.job, verb="watch")
        except PostPending:
            _LOG.info("%s: that it begins is not told", watch.id)  # the watch is what counts
        self.wake()
        return None

    def unwatch(self, request: RunRequest, once: Once) -> Message:
        """End a watch; only who asked for it, or an approver, may."""
        watch = self.state.watches.get(once("which", lambda: self._open_watch(request)))
        if watch is None:
            return not_watched_reply(request.job)
        if request.asked_by != watch.asked_by and not self.people.may_approve(request.asked_by, watch.channel):
            return not_your_watch_reply(watch)
        once("unwatch", lambda: self._ended(watch, request))
        self.wake()
        return unwatched_reply(watch)

    def _added(self, request: RunRequest) -> list[Any]:
        """The id of the watch (empty: there are too many), and whether it is a new one."""
        watch, new = self.state.watches.add(request, limit=self.limit)
        if watch is not None and new:
            details = {"job": watch.job}
            self.state.audit.add(request.team, request.asked_by, what="watched", target=watch.id, details=details)
        return [watch.id if watch else "", new]

    def _open_watch(self, request: RunRequest) -> str:
        watch = self.state.watches.of_job(request.team, request.channel, request.job)
        return watch.id if watch else ""

    def _ended(self, watch: Watch, request: RunRequest) -> bool:
        ended = self.state.watches.end(watch.id, f"by {request.asked_by}")
        if ended:
            self.state.audit.add(request.team, request.asked_by, what="unwatched", target=watch.id)
        return ended

    def announce(self, watch: Watch, finding: WatchFinding) -> bool:
        """Tell a finding in the channel, once; what goes on again is told below the alarm that it takes back."""
        try:
            thread = self.thread(watch, finding) if finding.kind == LiveKind.RESUMED else watch.thread_ts
            self.posting.once(watch.as_run(), _kind(finding), finding_message(watch, finding), thread=thread)
        except MayNotPost as trouble:
            _LOG.warning("%s: %s", watch.id, trouble.message)
            self.state.watches.end(watch.id, "not in channel")
        except (PostPending, SlackClientError, OSError) as trouble:
            if isinstance(trouble, SlackApiError):
                _LOG.error("%s: Slack refuses a finding: %s", watch.id, trouble)
                return True
            return False
        return True

    def thread(self, watch: Watch, finding: WatchFinding) -> str:
        """Where the watch was asked for, or else below the alarm that a finding is about."""
        before = None if watch.thread_ts else self.state.watches.alarm_before(finding)
        return (self.state.watch_posts.ts(watch.id, _kind(before)) or "") if before else watch.thread_ts

    def diagnosed(self, run: Run) -> None:
        """Show the diagnosis that was queued; when Slack does not take it now, it comes by itself."""
        self.state.audit.add(
            run.team, run.asked_by, what="asked", target=run.id, details={"job": run.job, "through": str(run.trigger)}
        )
        try:
            self.run_messages.show(run.id)
        except (FirstfaultError, SlackClientError, OSError) as trouble:
            _LOG.info("%s: Slack shows it later: %s", run.id, type(trouble).__name__, extra={"run": run.id})


def _kind(finding: WatchFinding) -> str:
    return f"finding {finding.seq}"


# --- what is said ---------------------------------------------------------------------------------------------------


def begun_message(watch: Watch) -> Message:
    """The channel knows what will come, and who wanted it."""
    body = (
        f"{person(watch.asked_by)} lets me watch {code(watch.job, 128)}: I post here when it goes silent, fails or"
        f" completes. `{act.COMMAND} unwatch {watch.job}` ends it."
    )
    return Message(fallback(f"I watch {watch.job}.", MAX_TELLING), section(body))


def finding_message(watch: Watch, finding: WatchFinding) -> Message:
    """What a watched job does wrong, with its numbers and the line that says so."""
    title, line, sentence = _TITLES.get(LiveKind(finding.kind), ""), finding.line.strip(), finding.says
    quoted = preformatted([line[:MAX_LINE]]) if line else ()
    where = section(code(finding.place, MAX_LINE)) if line and finding.place else ()
    body = section(f"*{code(watch.job, 128)} {title}*", prose(f"{sentence[:1].upper()}{sentence[1:]}.", MAX_SAYS))
    return Message(fallback(f"{watch.job} {title}: {sentence}", MAX_TELLING), (*body, *quoted, *where))


def watched_already_reply(watch: Watch) -> Message:
    """The reply to who asks to watch a job that is watched already."""
    body = f"{code(watch.job, 128)} is watched here already, since {moment(watch.asked_at)} for"
    return says(f"{body} {person(watch.asked_by)}.", "It is watched already.")


def over_reply(job: str, status: Status) -> Message:
    """The reply to who asks to watch a job that is over."""
    body = f"{code(job, 128)} is over: {status}. `{act.COMMAND} {job}` diagnoses it."
    return says(body, "The job is over.")


def too_many_reply(limit: int) -> Message:
    """The reply where no more jobs may be watched; watching costs memory and requests."""
    if not limit:
        return says("I watch no jobs here: whoever runs me has switched it off.", "I watch no jobs.")
    body = f"I watch {counted(limit, 'job')} already, which is my limit. `{act.COMMAND} status` lists them."
    return says(body, "I watch too many jobs already.")


def not_watched_reply(job: str) -> Message:
    """The reply to who ends the watch of a job that is not watched."""
    named = code(job, 128) or "That job"
    return says(f"{named} is not watched in this channel.", "It is not watched here.")


def not_your_watch_reply(watch: Watch) -> Message:
    """Only who asked, or an approver, may end it."""
    body = f"{person(watch.asked_by)} asked for it: they or an approver may end the watch."
    return says(body, "You cannot end this watch.")


def unwatched_reply(watch: Watch) -> Message:
    """The private answer to who ended a watch."""
    return says(f"{code(watch.job, 128)} is not watched any more.", "Not watched any more.")


def with_watched(status: Message, watches: Sequence[Watch]) -> Message:
    """The status with what is watched below it."""
    lines = [
        f"• {code(watch.job, 128)} is watched, since {moment(watch.asked_at)}, {person(watch.asked_by)}"
        for watch in watches[:MAX_LISTED]
    ]
    if not lines:
        return status
    more = f"and {counted(len(watches) - MAX_LISTED, 'more job')}" if len(watches) > MAX_LISTED else ""
    body = f"{status.text.rstrip('.')}. {counted(len(watches), 'job')} watched."
    return Message(body, (*status.blocks, *section(*lines, more)))
