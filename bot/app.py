"""The whole bot, built at the edge: state, worker, listeners, one way in, health."""

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

from slack_bolt import App
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.errors import SlackClientError

from bot.jobs.run_files import RunFiles
from bot.jobs.tasks import TASKS
from bot.jobs.vectors import Vectors
from bot.jobs.watch_service import WatchService
from bot.jobs.work_context import Limits
from bot.jobs.worker import GRACE_SECONDS, Worker
from bot.library.session import open_fault_library
from bot.repeating_thread import RepeatingThread
from bot.settings import Settings, needed, read_channels, read_quiet
from bot.slack.alert_receiver import receiver_of
from bot.slack.approvals import Approvals
from bot.slack.click_listener import ClickListener
from bot.slack.client import TIMEOUT
from bot.slack.connect import Http, Socket, Transport, make_app, make_client, who_am_i
from bot.slack.failed_jobs import FailedJobs, FollowRules
from bot.slack.follow_requests import FollowRequests
from bot.slack.health import HealthServer, Metrics
from bot.slack.home import Home
from bot.slack.http_server import split_address
from bot.slack.inbox_readers import InboxReaders
from bot.slack.intake import Intake
from bot.slack.listener_context import ListenerContext
from bot.slack.listeners import Listeners
from bot.slack.objections import Objections
from bot.slack.organisation import Organisation, whole_organisation
from bot.slack.people import People, read_approvers
from bot.slack.posting import Posting
from bot.slack.requests import Requests
from bot.slack.run_messages import RunMessages
from bot.slack.text_listener import TextListener
from bot.slack.thinking import Thinking
from bot.slack.watch_requests import WatchRequests
from bot.slack.webhook import webhook_of
from bot.state.drafts import Decision
from bot.state.leases import LEASE
from bot.state.state import State, open_state
from core.errors import FirstfaultError
from faultlib.library import Library
from sources.jobs import open_source

DATABASE, REPORTS = "state.db", "reports"
KEPT = timedelta(days=90)  # of runs; what was approved is in the library, who did it in the audit
TIDY_EVERY = 6 * 3600.0  # seconds; chosen: what is dropped is 90 days old, so a quarter of a day late is nothing
LATE, LATE_EVERY = timedelta(seconds=2), 1.0  # how old is what was left undone, and seconds between two looks
# How late an edit may be done that a bot had sent when it died, perhaps after a newer one of another bot; and how far
# before its own beginning the next bot looks for that.
SETTLED, DIED_LATELY = timedelta(seconds=TIMEOUT), timedelta(minutes=1)
LEAVING_SECONDS = 6.0  # slack_sdk takes four to close a socket
_LOG = logging.getLogger(__name__)


class Bot:
    """Everything that runs; ``start`` returns at once, ``stop`` when all of it is done."""

    def __init__(
        self, settings: Settings, *, version: str, tasks: Mapping[str, str] = TASKS, lease: timedelta = LEASE
    ) -> None:
        """Open the state and say hello to Slack; ``tasks`` and ``lease`` are other ones in tests.

        Raises:
            BadSettings: a token is missing.
            SlackUnavailable: Slack does not answer, or takes no token.
            StateUnavailable: the state cannot be opened.
        """
        token = needed(settings.slack_bot_token.get_secret_value(), "FIRSTFAULT_SLACK_BOT_TOKEN")
        self.metrics = Metrics()
        self._settings = settings
        self._open_jobs = partial(open_source, settings.jobs, links=settings.follow_links)
        self._client = make_client(token, settings.slack_api_url)
        identity = who_am_i(self._client)
        self.state: State = open_state(settings.state / DATABASE, lease=lease)
        self._files = RunFiles(settings.state / REPORTS)
        self._one_try = make_client(token, settings.slack_api_url, tries=1)
        self._posting = Posting(self._one_try, self.state.posts)
        self._run_messages = RunMessages(
            self._posting, self.state, version=version, metrics=self.metrics, webhook=webhook_of(settings)
        )
        self._organisation = Organisation(self._client, identity, _ids(settings.allowed_teams))
        self._people = People(self._client, read_approvers(settings.approvers.split(",")))
        self._approvals = Approvals(
            self.state, self._run_messages, self._posting, self._people, self._open_library, metrics=self.metrics
        )
        self.worker = Worker(
            self.state,
            self._run_messages,
            files=settings.state / REPORTS,
            limits=Limits(runs=settings.runs, run_seconds=settings.deadline, spare=True),
            counters=self.metrics,
            version=version,
            tasks=tasks,
        )
        self._follow_rules = _follow_rules(settings, identity)
        self._failed_jobs = FailedJobs(
            self.state, self._run_messages, self._posting, self._follow_rules,
            open_jobs=self._open_jobs, wake=self.worker.wake,
        )  # fmt: skip
        self._vectors = Vectors(tasks=tasks)
        asking = self._make_requests()
        self._alerts = receiver_of(settings, self._failed_jobs, known_in=asking.known_in)
        self._readers, intake = self._make_listeners(identity, asking)
        secret = settings.slack_signing_secret.get_secret_value()
        app = make_app(self._client, identity, secret, intake.receive, self.metrics.acknowledged)
        self._transport = _transport(settings, app)
        self._health = self._make_health(settings)
        self._began, self._settled = self.state.clock(), False
        self._tidy = RepeatingThread("tidying", self._forget_old, every=TIDY_EVERY, waits_first=True)
        self._late = RepeatingThread("what was left undone", self._look_for_late, every=LATE_EVERY, waits_first=True)

    @property
    def health_port(self) -> int | None:
        """Where ``/healthz`` is."""
        return self._health.port if self._health else None

    @property
    def alert_port(self) -> int | None:
        """Where Alertmanager's notifications come in."""
        return self._alerts.port if self._alerts else None

    @property
    def request_port(self) -> int | None:
        """Where Slack's requests go, when they come over HTTP."""
        return self._transport.port if isinstance(self._transport, Http) else None

    def start(self) -> None:
        """Work first, then listen: what was left in the queue, and in the inbox, needs no new question."""
        self.worker.start()
        self._readers.thread.start()
        if self._health:
            self._health.start()
        self._transport.start()
        for thread in (self._vectors.thread, self._watch_service.thread, self._failed_jobs.thread):
            thread.start()
        if self._alerts:
            self._alerts.start()
        self._tidy.start()
        self._late.start()

    def healthy(self) -> bool:
        """Whether worker, transport, readers of the inbox, watches and failed jobs are well."""
        threads = (self._readers.thread, self._watch_service.thread, self._failed_jobs.thread)
        return all(part.healthy() for part in (self.worker, self._transport, *threads))

    def stop(self, grace_seconds: float = GRACE_SECONDS) -> None:
        """Take nothing new, finish what ends soon, hand back the rest."""
        self._late.stopping.set()
        leaving = threading.Thread(target=self._transport.stop, name="leaving", daemon=True)
        reading = threading.Thread(target=self._readers.stop, name="reading", daemon=True)
        reading.start()
        leaving.start()  # beside the worker: together they stay below the 30 s that container platforms give
        self._vectors.stop()
        self._watch_service.thread.stop(LEAVING_SECONDS)
        if self._alerts:
            self._alerts.stop()
        self._failed_jobs.thread.stop(LEAVING_SECONDS)
        self.worker.stop(grace_seconds)
        leaving.join(LEAVING_SECONDS)
        reading.join(2 * LEAVING_SECONDS)
        for thread in (self._late, self._tidy):
            thread.stop(LEAVING_SECONDS)
        if self._health:
            self._health.stop()
        self.state.close()

    @contextmanager
    def _open_library(self) -> Iterator[Library]:
        with open_fault_library(self._settings, embeds=False) as library:
            yield library
        self._vectors.thread.wake()  # an approval is answered before its pattern has a vector

    def _make_requests(self) -> Requests:
        """What people ask for, and the service that keeps what of it is a watch."""
        watching = WatchRequests(
            self.state, Posting(self._one_try, self.state.watch_posts), self._run_messages, self._people,
            self._open_jobs, self._settings.watches,
        )  # fmt: skip
        self._watch_service = WatchService(self.state, watching, wake=self.worker.wake)
        watching.wake = self._watch_service.thread.wake
        return Requests(
            self.state, self._run_messages, self._people, self._client,
            self._open_jobs, self.worker.wake, watching, self._organisation,
        )  # fmt: skip

    def _make_listeners(self, identity: AuthorizeResult, asking: Requests) -> tuple[InboxReaders, Intake]:
        """What people write and click: who takes it in, and who deals with it."""
        following = FollowRequests(
            self.state, Posting(self._one_try, self.state.follow_posts), self._people, self._organisation,
            self._follow_rules, self._open_jobs, self._failed_jobs.thread.wake,
        )  # fmt: skip
        context = ListenerContext(
            state=self.state,
            requests=asking,
            following=following,
            approvals=self._approvals,
            client=self._client,
            open_jobs=self._open_jobs,
            wake=self.worker.wake,
            heard=Thinking(self._one_try, self._posting, self.state.runs.get).show,
            me=str(identity.bot_user_id or ""),
            alert_channels=_ids(self._settings.alert_channels),
        )
        texts, clicks, objections = TextListener(context), ClickListener(context), Objections(context)
        home = Home(self.state, asking, self._people, self._client, self._open_library)
        readers = InboxReaders(self.state.inbox, Listeners(texts, clicks, home, self._organisation, self._client).deal)
        intake = Intake(
            self.state.inbox,
            concerns_us=texts.concerns_us,
            objection=objections.to_form,
            wake=readers.thread.wake,
            organisation=whole_organisation(identity),
        )
        readers.is_crowded = intake.is_crowded
        return readers, intake

    def _make_health(self, settings: Settings) -> HealthServer | None:
        if not settings.health:
            return None
        host, port = split_address(settings.health, "FIRSTFAULT_HEALTH")
        checks = {
            "worker": self.worker.healthy,
            "slack": self._transport.healthy,
            "inbox": self._readers.thread.healthy,
            "watches": self._watch_service.thread.healthy,
            "state": self.state.writable,
        }
        return HealthServer(host, port, self.metrics, checks)

    def _look_for_late(self) -> None:
        """Give runs the message, or the newest edit of it, that Slack did not take, and approvals their patterns."""
        late = {run.id for run in self.state.runs.unposted(self.state.clock() - LATE)}
        if not self._settled and self.state.clock() - self._began >= SETTLED:
            late |= {run.id for run in self.state.runs.ended(self._began - DIED_LATELY)}
            self._settled = True
        for run_id in sorted(late | self._posting.behind()):
            self._post_late(run_id)
        for decision in self.state.drafts.pending(self.state.clock() - LATE):
            self._file_late(decision)
        for decision in self.state.drafts.dropped():
            self._approvals.clear(decision)

    def _post_late(self, run_id: str) -> None:
        run = self.state.runs.get(run_id)
        if run is None or self._late.stopping.is_set() or not (run.told or run.status.active):
            return  # one that is over, and not told, is the worker's
        try:
            if not self._run_messages.show(run_id):
                self.state.runs.cancel(run_id, run.asked_by)  # it may not write there any more
        except (FirstfaultError, SlackClientError) as trouble:
            _LOG.info("%s: Slack shows something old: %s", run_id, trouble, extra={"run": run_id})

    def _file_late(self, decision: Decision) -> None:
        """Archive what somebody approved when the bot died."""
        try:
            self._approvals.finish(decision)
        except (FirstfaultError, SlackClientError) as trouble:
            _LOG.error("%s: an approval is not archived: %s", decision.run, trouble, extra={"run": decision.run})

    def _forget_old(self) -> None:
        self._files.remove(self.state.forget(KEPT))


def _follow_rules(settings: Settings, identity: AuthorizeResult) -> FollowRules:
    channel, teams = read_channels(settings.follow_channel)
    quiet = read_quiet(settings.follow_quiet)
    return FollowRules(identity.team_id or "", channel, settings.follow_posts, quiet, teams=teams)


def _ids(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(",") if name.strip())


def _transport(settings: Settings, app: App) -> Transport:
    if settings.slack_transport == "http":
        needed(settings.slack_signing_secret.get_secret_value(), "FIRSTFAULT_SLACK_SIGNING_SECRET")
        return Http(app, *split_address(settings.listen, "FIRSTFAULT_LISTEN"))
    token = needed(settings.slack_app_token.get_secret_value(), "FIRSTFAULT_SLACK_APP_TOKEN")
    return Socket(app, token, settings.slack_api_url)
