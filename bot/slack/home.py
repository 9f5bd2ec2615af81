"""The app's home: what waits for a decision, what one asked for, watches and missed; made anew when it is opened."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.client import HTTPException
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackClientError

from bot.library.filing import OpenLibrary
from bot.slack import actions as act
from bot.slack.blocks import Block, Blocks, actions, ask_first, button, context, divider, link_button, section
from bot.slack.envelopes import MESSAGES
from bot.slack.parent_message import approve_button, has_fault
from bot.slack.people import People
from bot.slack.private_replies import run_line
from bot.slack.requests import Requests
from bot.slack.text import code, moment, prose
from bot.state.inbox import Once
from bot.state.runs import Run
from bot.state.small_values import Status as RunStatus
from bot.state.state import State
from bot.state.watches import Watch
from bot.text.wording import counted
from core.errors import FirstfaultError
from core.model import Diagnosis
from faultlib.pattern import Origin, Status
from faultlib.stats import Stats

LISTED = 5  # lines of each list; the channels have the rest
LOOKED_AT = 20  # answers that are read to find those that wait for a decision
MAX_PROMPTS = 4  # docs.slack.dev/reference/methods/assistant.threads.setSuggestedPrompts
MAX_HEADLINE = 200  # characters; four lines of a phone
UNSEEN = "Its evidence and note stand in the thread. Approving makes of it a fault pattern that later answers name."
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Undecided:
    """An answer that waits for a decision; revision: of the draft that is approved."""

    run: Run
    diagnosis: Diagnosis
    revision: int


@dataclass(frozen=True, slots=True)
class HomeContent:
    """What is shown. waiting: what the person may decide. addresses, headlines: links to messages, and answers, by run.

    failed and running: ids of jobs. direct: the channel of the person and the bot, where clicks are answered.
    """

    asked: Sequence[Run] = ()
    waiting: Sequence[Undecided] = ()
    watches: Sequence[Watch] = ()
    failed: Sequence[str] = ()
    running: Sequence[str] = ()
    library: str = ""
    addresses: Mapping[str, str] = field(default_factory=dict)
    headlines: Mapping[str, str] = field(default_factory=dict)
    direct: str = ""


@dataclass(frozen=True, slots=True)
class Home:
    """Publishes it for one person; runs of others are shown to approvers alone, as far as they wait for them."""

    state: State
    requests: Requests
    people: People
    client: WebClient
    open_library: OpenLibrary

    def opened(self, body: Mapping[str, Any], _once: Once) -> None:
        """Somebody looks at it, or has clicked there; done twice it shows the same. Trouble costs only the page."""
        direct = str(body.get("channel") or "")
        try:
            if body.get("tab") == MESSAGES:
                self._suggest(direct)
                return
            view = home_view(self._content(body["team"], body["user"], direct))
            self.client.views_publish(user_id=body["user"], view=view)
        except (FirstfaultError, SlackClientError, OSError, HTTPException) as trouble:
            _LOG.warning("the home cannot be shown: %s", trouble)

    def _suggest(self, direct: str) -> None:
        """What one may ask in the messages; Slack refuses it where the app is no agent, and shows none."""
        prompts = suggested_prompts(self.requests.failed_jobs())
        self.client.assistant_threads_setSuggestedPrompts(
            channel_id=direct, thread_ts=None, prompts=prompts, title="Ask about a job"
        )

    def _content(self, team: str, user: str, direct: str) -> HomeContent:
        asked = self.state.runs.of_person(team, user, limit=LISTED)
        waiting = self._waiting(team, user)
        watches = [watch for watch in self.state.watches.open(team) if watch.asked_by == user]
        watched, seen = (
            {watch.job for watch in watches},
            {run.job for run in asked} | {undecided.run.job for undecided in waiting},
        )
        mine = [run for run in asked if run not in {undecided.run for undecided in waiting}]
        return HomeContent(
            asked=mine,
            waiting=waiting,
            watches=watches,
            failed=[job for job in self.requests.failed_jobs() if job not in seen],
            running=[job for job in self.requests.running_jobs() if job not in watched],
            library=self._library(),
            addresses={
                run.id: self.requests.address(run) for run in {*asked, *(undecided.run for undecided in waiting)}
            },
            headlines={run.id: self._headline(run) for run in mine},
            direct=direct,
        )

    def _headline(self, run: Run) -> str:
        """What was found; empty where nothing was told yet."""
        answer = self.state.runs.answer(run.id) if run.told else None
        return answer.diagnosis.headline if answer and answer.diagnosis else ""

    def _waiting(self, team: str, user: str) -> list[Undecided]:
        """Answered runs with a fault about which nobody has decided and this person may, newest first."""
        found = []
        for run in self.state.runs.undecided(team, limit=LOOKED_AT):
            if not self.people.may_approve(user, run.channel):
                continue
            answer, draft = self.state.runs.answer(run.id), self.state.drafts.current(run.id)
            if (
                answer is not None
                and answer.diagnosis is not None
                and draft is not None
                and has_fault(answer.diagnosis)
            ):
                found.append(Undecided(run, answer.diagnosis, draft.revision))
        return found[:LISTED]

    def _library(self) -> str:
        try:
            with self.open_library() as library:
                return library_health(library.stats())
        except FirstfaultError as trouble:
            _LOG.warning("the home shows no library: %s", trouble.message)
            return "The fault library cannot be read now: answers name no known faults."


def library_health(stats: Stats) -> str:
    """How many patterns there are, whose, and whether new ones can be kept."""
    drafts, own = stats.by_status.get(Status.DRAFT, 0), stats.by_origin.get(Origin.TEAM, 0)
    sentences = [f"{counted(stats.by_status.get(Status.APPROVED, 0), 'pattern')} in use, {own:,} of your own"]
    sentences += [counted(drafts, "draft")] if drafts else []
    sentences += [counted(stats.sightings, "sighting")] if stats.sightings else []
    return f"{', '.join(sentences)}." + ("" if stats.writable else " It cannot be written to: nothing can be approved.")


def suggested_prompts(failed: Sequence[str]) -> list[dict[str, str]]:
    """A question for each job that failed lately, and what else there is; the first is shown first."""
    asked = [f"Why did {job} fail?" for job in failed[: MAX_PROMPTS - 1]]
    return [
        *({"title": question, "message": question} for question in asked),
        {"title": "What can you do?", "message": "help"},
    ]


def home_view(shown: HomeContent) -> dict[str, Any]:
    """The page; each thing stands once, and an empty list is left out, but on an empty page."""
    nothing = [] if shown.waiting else [section("Nothing yet.")]
    blocks = (
        *_list("Waits for your decision", [_undecided(undecided, shown) for undecided in shown.waiting]),
        *_list("You asked", [_asked(run, shown) for run in shown.asked] or nothing),
        *_list("You watch", [_watched(watch) for watch in shown.watches[:LISTED]]),
        *_list("Runs now", [_job(job, "Watch", act.WATCH) for job in shown.running[:LISTED]]),
        *_list("Failed lately", [_job(job, "Diagnose", act.DIAGNOSE) for job in shown.failed[:LISTED]]),
        *_list("Fault library", [section(shown.library)] if shown.library else []),
        *divider(),
        *context(
            f"`{act.COMMAND} JOB` diagnoses, `{act.COMMAND} help` tells the rest. What you start here is answered in"
            " Messages. The page is made anew when it is opened."
        ),
    )
    about = {"private_metadata": shown.direct} if shown.direct else {}
    return {"type": "home", **about, "blocks": list(blocks[1:])}  # nothing stands above the first line


def _list(title: str, rows: Sequence[Blocks]) -> Blocks:
    return (*divider(), *section(f"*{title}*"), *(block for row in rows for block in row)) if rows else ()


def _undecided(undecided: Undecided, shown: HomeContent) -> Blocks:
    """The fault in a line, and what can be done; whoever approves here has perhaps not read the thread."""
    first = ask_first("Approve without reading?", UNSEEN, "Approve", "Not yet")
    approve = approve_button(
        undecided.run.id, undecided.revision, undecided.diagnosis, label="Approve", style="", first=first
    )
    reject = button("Reject", act.REJECT, str(act.DraftClick(undecided.run.id, undecided.revision)))
    body = section(run_line(undecided.run, ""), prose(undecided.diagnosis.headline, MAX_HEADLINE))
    return body + actions(_thread(undecided.run, shown), approve, reject)


def _asked(run: Run, shown: HomeContent) -> Blocks:
    """What somebody asked for, and what was found; what is at work can be ended."""
    cancel = button("Cancel", act.CANCEL, str(act.DraftClick(run.id, 0)))
    waits = run.status in (RunStatus.QUEUED, RunStatus.RUNNING)
    found = prose(shown.headlines.get(run.id, ""), MAX_HEADLINE)
    return section(run_line(replace(run, asked_by=""), ""), found, accessory=cancel if waits else _thread(run, shown))


def _watched(watch: Watch) -> Blocks:
    stop = button("Stop watching", act.UNWATCH, watch.id, spoken=f"Stop watching {watch.job}")
    return section(f"• {code(watch.job, 128)}, since {moment(watch.asked_at)}", accessory=stop)


def _job(job: str, label: str, action: str) -> Blocks:
    return section(f"• {code(job, 128)}", accessory=button(label, action, job, spoken=f"{label} {job}"))


def _thread(run: Run, shown: HomeContent) -> Block | None:
    """To its message; None where Slack gives no address of it."""
    address = shown.addresses.get(run.id, "")
    return link_button("Open thread", act.OPEN, address, spoken=f"Open the thread of {run.job}") if address else None
