"""What listeners hand over to."""

from collections.abc import Callable
from dataclasses import dataclass

from slack_sdk import WebClient

from bot.slack.deciding import Deciding
from bot.slack.desk import Desk
from bot.state.state import State


@dataclass(frozen=True, slots=True)
class Parts:
    """Built once at the edge. jobs: where jobs live. wake: a question has been queued."""

    state: State
    desk: Desk
    deciding: Deciding
    client: WebClient
    jobs: str
    wake: Callable[[], None]
