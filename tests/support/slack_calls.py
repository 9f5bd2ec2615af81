"""What several tests need to call the Web API: a clock that a test sets, a message, a refusal."""

from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

ALERTS, GENERAL = "C0ALERTS", "C0GENERAL"


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def refusal(client: WebClient, method: str, **args: Any) -> dict[str, Any]:
    with pytest.raises(SlackApiError) as error:
        client.api_call(method, json=args)
    answered = error.value.response.data
    assert isinstance(answered, dict)
    return answered


def post(client: WebClient, **args: Any) -> str:
    return str(client.chat_postMessage(**{"channel": ALERTS, "text": "x", **args})["ts"])
