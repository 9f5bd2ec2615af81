"""The app's home: what somebody asked for and watches, and what waits for a decision; made anew when it is opened."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackClientError

from bot.library.filing import OpenLibrary
from bot.slack import actions as act
from bot.slack.answer import has_fault
from bot.slack.blocks import Blocks, context, section
from bot.slack.people import People
from bot.slack.replies import run_line
from bot.slack.requests import Requests
from bot.slack.text import code, moment
from bot.state.inbox import Once
from bot.state.runs import Run
from bot.state.state import State
from bot.state.watches import Watch
from bot.text.wording import counted
from core.errors import FirstfaultError
from faultlib.pattern import Status

LISTED = 5  # lines of each list; the channels have the rest
LOOKED_AT = 20  # answers that are read to find those that wait for a decision
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HomeContent:
    """What is shown. waiting: what the person may decide. addresses: links to messages, by run."""

    asked: Sequence[Run] = ()
    waiting: Sequence[Run] = ()
    watches: Sequence[Watch] = ()
    failed: Sequence[str] = ()
    library: str = ""
    addresses: Mapping[str, str] = field(default_factory=dict)


class Home:
    """Publishes it for one person; runs of others are shown to approvers alone, as far as they wait for them."""

    def __init__(
        self, state: State, requests: Requests, people: People, client: WebClient, open_library: OpenLibrary
    ) -> None:
        self._state = state
        self._requests = requests
        self._people = people
        self._client = client
        self._open_library = open_library

    def opened(self, body: Mapping[str, Any], _once: Once) -> None:
        """Somebody looks at it; done twice it shows the same. Trouble costs nothing but the page."""
        try:
            view = home_view(self._content(body["team"], body["user"]))
            self._client.views_publish(user_id=body["user"], view=view)
        except (FirstfaultError, SlackClientError, OSError, HTTPException) as trouble:
            _LOG.warning("the home cannot be shown: %s", trouble)

    def _content(self, team: str, user: str) -> HomeContent:
        asked = self._state.runs.of_person(team, user, limit=LISTED)
        waiting = self._waiting(team, user)
        return HomeContent(
            asked=asked,
            waiting=waiting,
            watches=[watch for watch in self._state.watches.open(team) if watch.asked_by == user],
            failed=self._requests.failed_jobs(),
            library=self._library(),
            addresses={run.id: self._requests.address(run) for run in {*asked, *waiting}},
        )

    def _waiting(self, team: str, user: str) -> list[Run]:
        """Answered runs with a fault about which nobody has decided and this person may, newest first."""
        found = []
        for run in self._state.runs.undecided(team, limit=LOOKED_AT):
            if not self._people.may_approve(user, run.channel):
                continue
            answer = self._state.runs.answer(run.id)
            if answer is not None and has_fault(answer.diagnosis):
                found.append(run)
        return found[:LISTED]

    def _library(self) -> str:
        try:
            with self._open_library() as library:
                by_status = library.stats().by_status
        except FirstfaultError as trouble:
            _LOG.warning("the home shows no library: %s", trouble.message)
            return "The fault library cannot be read now: answers name no known faults."
        drafts = by_status.get(Status.DRAFT, 0)
        told = f"{counted(by_status.get(Status.APPROVED, 0), 'pattern')} in use"
        return f"{told}, {counted(drafts, 'draft')}." if drafts else f"{told}."


def home_view(shown: HomeContent) -> dict[str, Any]:
    """The page; a list that is empty is left out, but for that of what somebody asked."""
    waiting, asked = (
        [run_line(run, shown.addresses.get(run.id, "")) for run in runs] for runs in (shown.waiting, shown.asked)
    )
    watched = [f"• {code(watch.job, 128)}, since {moment(watch.asked_at)}" for watch in shown.watches[:LISTED]]
    failed = ", ".join(code(job, 128) for job in shown.failed)
    blocks = (
        *_list("Waits for your decision", waiting),
        *_list("You asked", asked or ["Nothing yet."]),
        *_list("You watch", watched),
        *_list("Failed lately", [failed] if failed else []),
        *_list("Fault library", [shown.library] if shown.library else []),
        *context(f"`{act.COMMAND} JOB` diagnoses, `{act.COMMAND} help` tells the rest. It is made anew when opened."),
    )
    return {"type": "home", "blocks": list(blocks)}


def _list(title: str, lines: Sequence[str]) -> Blocks:
    return section(f"*{title}*", *lines) if lines else ()
