"""A bare Socket Mode client that notes what it hears, and waiting for what is not in the workspace's state."""

import threading
import time
from collections.abc import Callable
from typing import Any, Self

from slack_sdk import WebClient
from slack_sdk.socket_mode import SocketModeClient
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from benchmarks.support.patience import PATIENCE
from benchmarks.support.processes import hang_up
from slacksim import Slack
from slacksim.journal import Delivered


class Ears:
    """A Socket Mode client that notes what it hears; whether it acknowledges can be switched."""

    def __init__(self, slack: Slack) -> None:
        self.heard: list[SocketModeRequest] = []
        self.acknowledges = True
        token = slack.workspace.app.app_token
        self.client = SocketModeClient(token, web_client=WebClient(token, base_url=slack.api_url), ping_interval=0.5)
        self.client.socket_mode_request_listeners.append(self._hear)
        self._slack = slack

    def __enter__(self) -> Self:
        before = self._slack.snapshot().connections
        self.client.connect()
        self._slack.wait_for_connection(number=before + 1)
        return self

    def __exit__(self, *_error: object) -> None:
        hang_up(self._slack, self.client)

    def _hear(self, client: BaseSocketModeClient, request: SocketModeRequest) -> None:
        self.heard.append(request)
        if self.acknowledges:
            client.send_socket_mode_response(SocketModeResponse(envelope_id=request.envelope_id))


def wait_until(condition: Callable[[], Any]) -> Any:
    """For what is not in the workspace's state: journal and lists of the test."""
    tick, end = threading.Event(), time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, "not seen in time"
        tick.wait(0.01)
    return found


def deliveries(slack: Slack, what: str, number: int) -> tuple[Delivered, ...]:
    """Wait until the journal has so many finished attempts."""
    wait_until(lambda: len(slack.journal.deliveries(what=what)) >= number)
    return slack.journal.deliveries(what=what)
