"""Where people ask: checks what they want, puts it into the queue, and says privately what cannot be done."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from itertools import islice
from typing import Any

from rapidfuzz.distance import OSA
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot.slack import private_replies
from bot.slack.blocks import Message
from bot.slack.commands import ParsedCommand, Verb, job_in, names_in, read_command
from bot.slack.organisation import Organisation
from bot.slack.people import People
from bot.slack.run_messages import RunMessages
from bot.slack.watch_requests import WatchRequests, with_watched
from bot.state.inbox import Once
from bot.state.runs import Run, RunRequest, Task, Trigger
from bot.state.state import State
from core.errors import BadJobId, FirstfaultError, JobNotFound, NoLogs, UnreadableLog
from core.job import Status
from sources.job_ids import check_job_id
from sources.jobs import JobSource

MAX_OFFERED = 5  # failed jobs to pick from
MAX_LOOKED_AT = 60  # manifests that are read to find them, the last ids first
MAX_NEAR, LIKE = 3, 0.5  # ids that somebody may have meant, and how like they are (difflib)
MAX_COMPARED = 30  # of these the slips of the finger are counted
LOOKING = 2.0  # seconds that may take: somebody waits
_LOG = logging.getLogger(__name__)


def likest(typed: str, job_ids: Iterable[str]) -> list[str]:
    """Ids that somebody may have meant, those first from which the fewest slips lead to what was typed.

    A slip is a letter more, less or another, or two that changed places; difflib alone takes f15 to be as near to f41
    as f42 is.
    """
    known = {job_id.casefold(): job_id for job_id in job_ids if job_id != typed}
    near = get_close_matches(typed.casefold(), known, n=MAX_COMPARED, cutoff=LIKE)
    near.sort(key=lambda job_id: OSA.distance(typed.casefold(), job_id))
    return [known[job_id] for job_id in near[:MAX_NEAR]]


@dataclass(frozen=True, slots=True)
class Requests:
    """Asking, listing, cancelling; each answers with what the asker alone is told, or with None.

    wake: something has been queued.
    """

    state: State
    run_messages: RunMessages
    people: People
    client: WebClient
    open_jobs: Callable[[], JobSource]
    wake: Callable[[], None]
    watching: WatchRequests
    organisation: Organisation

    def serve(self, command: ParsedCommand, request: RunRequest, once: Once) -> Message | None:  # noqa: PLR0911 one a verb
        """Do what is wished, each step once; what only the asker is told."""
        match command.verb:
            case Verb.DIAGNOSE:
                return self.diagnose(request, once) if request.job else private_replies.usage_reply(self.failed_jobs())
            case Verb.HELP:
                return private_replies.HELP
            case Verb.LIST:
                return self._list(request)
            case Verb.STATUS:
                return self._status(request)
            case Verb.HISTORY:
                return self.history(replace(request, task=Task.HISTORY), once)
            case Verb.CANCEL:
                return self._cancel_job(request, once)
            case Verb.WATCH | Verb.UNWATCH:
                return self._watch(command, request, once)
            case _:  # nothing that is understood; following is ``FollowRequests``
                return private_replies.usage_reply(self.failed_jobs(), typed=command.job)

    def meant(self, text: str) -> ParsedCommand:
        """What a person wants; in any sentence without a command, the job that it names."""
        command = read_command(text)
        if command.verb is Verb.HISTORY:
            return command
        if command.verb not in (Verb.DIAGNOSE, Verb.NOTHING):
            return replace(command, job=next(iter(names_in(command.job)), command.job))
        if job := self.named_in(text):
            return ParsedCommand(Verb.DIAGNOSE, job)
        if command.verb is Verb.NOTHING and (job := job_in(text)):
            return ParsedCommand(Verb.DIAGNOSE, job)
        return command

    def named_in(self, text: str) -> str:
        """As ``known_in``, and empty where jobs cannot be listed: whoever asks is told so by what comes next."""
        with suppress(FirstfaultError):
            return self.known_in(text)
        return ""

    def known_in(self, text: str) -> str:
        """The id of the first known job in a text, however it is written; empty where there is none.

        Raises:
            FirstfaultError: nobody knows now which jobs there are.
        """
        names = names_in(text)
        if not names:
            return ""
        known = set(self.open_jobs().job_ids())
        alike = {job.casefold(): job for job in sorted(known)}
        return next((name for name in names if name in known), "") or next(
            (alike[name.casefold()] for name in names if name.casefold() in alike), ""
        )

    def diagnose(self, request: RunRequest, once: Once, *, forced: bool = False) -> Message | None:
        """Queue a job; a job that is at work or was answered here is shown in place of a second run."""
        try:
            jobs = self.open_jobs()
            status = jobs.manifest(check_job_id(request.job)).status
            if not forced and status in (Status.COMPLETED, Status.RUNNING):
                return private_replies.not_failed_reply(request.job, runs=status is Status.RUNNING)
            jobs.job(request.job)
        except (BadJobId, JobNotFound, NoLogs) as error:
            return private_replies.refused_reply(error, self.failed_jobs(), nearest=self._nearest(request.job))
        return self._queued(request, once, forced=forced)

    def history(self, request: RunRequest, once: Once) -> Message | None:
        """Queue the history of a run of training: told anew each time, for attempts come; the child knows its jobs."""
        return self._queued(request, once, forced=True) if request.job else private_replies.WHICH_RUN

    def _queued(self, request: RunRequest, once: Once, *, forced: bool) -> Message | None:
        """Queue what may be asked for, and show it; or say where it is already."""
        if self.organisation.is_shared(request.channel):
            return private_replies.SHARED_CHANNEL
        run_id, new = once("ask", lambda: self._ask(request, forced=forced))
        run = self.state.runs.get(run_id)
        if run is None:
            return private_replies.GONE
        if not new:
            reply_of = private_replies.already_reply if run.status.active else private_replies.answered_reply
            return reply_of(run, self.address(run))
        try:
            if not self.run_messages.show(run.id):
                self.state.runs.cancel(run.id, request.asked_by)  # before a child that is ready begins with it
                return private_replies.not_in_channel_reply(run.job)
        finally:  # the run is queued, whether Slack takes the message now or later
            self.wake()
        return None

    def again(self, run_id: str, user: str, once: Once) -> Message | None:
        """Run a diagnosis anew."""
        run = self.state.runs.get(run_id)
        if run is None:
            return private_replies.GONE
        request = RunRequest(run.job, run.team, run.channel, user, Trigger.MESSAGE, run.thread_ts, run.task)
        ask = self.history if run.task is Task.HISTORY else partial(self.diagnose, forced=True)
        return ask(request, once)

    def cancel(self, run_id: str, user: str, once: Once) -> Message | None:
        """End a run; only who asked for it, or an approver, may."""
        run = self.state.runs.get(run_id)
        if run is None:
            return private_replies.GONE
        if user != run.asked_by and not self.people.may_approve(user, run.channel):
            return private_replies.not_yours_reply(run)
        if once("cancel", lambda: self._cancelled(run_id, user)):
            self.run_messages.show(run.id)
        return private_replies.cancelled_reply(self.state.runs.get(run_id) or run)

    def address(self, run: Run) -> str:
        """A link to the message of a run; empty when Slack gives none."""
        if not run.message_ts:
            return ""
        try:
            return str(self.client.chat_getPermalink(channel=run.channel, message_ts=run.message_ts)["permalink"])
        except SlackApiError:
            return ""

    def _ask(self, request: RunRequest, *, forced: bool) -> list[Any]:
        """The id of the run that answers, and whether it is a new one."""
        asked = self.state.runs.ask(request, forced=forced)
        if asked.new:
            self._audit(request, "asked", asked.run)
        return [asked.run.id, asked.new]

    def _cancelled(self, run_id: str, user: str) -> bool:
        """Whether there was something to end."""
        run = self.state.runs.get(run_id)
        if run is None or not run.status.active:
            return False
        self.state.runs.cancel(run.id, user)
        self.state.audit.add(run.team, user, what="cancelled", target=run.id)
        return True

    def _cancel_job(self, request: RunRequest, once: Once) -> Message | None:
        def newest() -> str:
            active = [run for run in self.state.runs.active(request.team, request.channel) if run.job == request.job]
            return active[-1].id if active else ""

        run_id = once("which", newest)
        return (
            self.cancel(run_id, request.asked_by, once)
            if run_id
            else private_replies.nothing_to_cancel_reply(request.job)
        )

    def _watch(self, command: ParsedCommand, request: RunRequest, once: Once) -> Message | None:
        if not request.job:
            return private_replies.usage_reply()
        if command.verb is Verb.WATCH and self.organisation.is_shared(request.channel):
            return private_replies.SHARED_CHANNEL
        try:
            do = self.watching.watch if command.verb is Verb.WATCH else self.watching.unwatch
            return do(request, once)
        except (BadJobId, JobNotFound) as error:
            return private_replies.refused_reply(error)

    def _list(self, request: RunRequest) -> Message:
        recent = self.state.runs.recent(request.team, request.channel)[: private_replies.MAX_RUNS]
        return private_replies.list_reply(recent, {run.id: self.address(run) for run in recent})

    def _status(self, request: RunRequest) -> Message:
        active = self.state.runs.active(request.team)
        places = {run.id: self.state.runs.place(run.id) for run in active}
        return with_watched(private_replies.status_reply(active, places), self.state.watches.open(request.team))

    def failed_jobs(self) -> tuple[str, ...]:
        """The latest failed jobs, by their ids, as far as they are found quickly."""
        return self._lately(Status.FAILED)

    def running_jobs(self) -> tuple[str, ...]:
        """Jobs that run, by their ids, as far as they are found quickly."""
        return self._lately(Status.RUNNING)

    def _lately(self, status: Status) -> tuple[str, ...]:
        try:
            return tuple(islice(_with(status, self.open_jobs(), time.monotonic() + LOOKING), MAX_OFFERED))
        except FirstfaultError as trouble:
            _LOG.warning("no %s jobs to offer: %s", status.lower(), trouble.message)
            return ()

    def _nearest(self, job: str) -> list[str]:
        """Known ids like this one, the likest first."""
        try:
            return likest(job, self.open_jobs().job_ids())
        except FirstfaultError:
            return []

    def _audit(self, request: RunRequest, what: str, run: Run) -> None:
        details = {"job": run.job, "channel": run.channel, "through": str(request.trigger)}
        self.state.audit.add(request.team, request.asked_by, what=what, target=run.id, details=details)


def _with(status: Status, source: JobSource, end: float) -> Iterator[str]:
    for job_id in reversed(source.job_ids()[-MAX_LOOKED_AT:]):
        if time.monotonic() > end:
            return
        try:
            if source.manifest(job_id).status is status:
                yield job_id
        except (JobNotFound, BadJobId, UnreadableLog):
            continue
