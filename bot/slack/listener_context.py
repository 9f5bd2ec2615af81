"""What listeners hand over to."""

from collections.abc import Callable
from dataclasses import dataclass

from slack_sdk import WebClient

from bot.slack.approvals import Approvals
from bot.slack.follow_requests import FollowRequests
from bot.slack.requests import Requests
from bot.state.state import State
from bot.state.threads import ThreadQuestion
from sources.jobs import JobSource


@dataclass(frozen=True, slots=True)
class ListenerContext:
    """Built once at the edge. open_jobs: goes where jobs live. wake: a question has been queued.

    heard: shows at once that it was. me: the user id of the bot.
    """

    state: State
    requests: Requests
    following: FollowRequests
    approvals: Approvals
    client: WebClient
    open_jobs: Callable[[], JobSource]
    wake: Callable[[], None]
    heard: Callable[[ThreadQuestion], None]
    me: str = ""
    alert_channels: frozenset[str] = frozenset()  # where what other programs post is read
