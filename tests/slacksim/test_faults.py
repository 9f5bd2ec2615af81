"""Faults on demand, and the journal that tells what happened."""

from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from slacksim import LocalSlackError, Slack
from tests.support.slack_calls import ALERTS, post


def call(slack: Slack, timeout: int = 30) -> Any:
    client = WebClient(slack.workspace.app.bot_token, base_url=slack.api_url, timeout=timeout, retry_handlers=[])
    try:
        return client.chat_postMessage(channel=ALERTS, text="x").status_code
    except SlackApiError as error:
        return error.response.status_code
    except OSError as error:  # slack_sdk lets the errors of the connection through
        return type(error).__name__


@pytest.mark.parametrize(
    ("kind", "seen", "posted"),
    [
        ("ratelimited", 429, 0),
        ("error", 500, 0),
        ("malformed", 200, 0),
        ("drop", "RemoteDisconnected", 0),
        ("timeout", "RemoteDisconnected", 0),
        ("lost", "RemoteDisconnected", 1),
        ("slow", 200, 1),
    ],
)
def test_the_next_calls_go_wrong_and_then_no_more(slack: Slack, kind: str, seen: Any, posted: int) -> None:
    """Each fault comes as often as ordered; only a lost answer has done its work."""
    slack.faults.call("chat.postMessage", kind, times=2, seconds=0.1)

    results = [call(slack), call(slack)]
    done = len(slack.snapshot().messages("#training-alerts"))
    after = call(slack)

    assert results == [seen, seen]
    assert done == posted * 2
    assert after == 200
    assert [c.fault for c in slack.journal.calls("chat.postMessage")] == [kind, kind, ""]


def test_a_call_that_takes_too_long_can_be_given_up(slack: Slack) -> None:
    """A client with a timeout of its own does not wait for the server's."""
    slack.faults.call("*", "timeout", seconds=5)

    result = call(slack, timeout=1)

    assert result == "TimeoutError"


def test_faults_can_be_called_off(slack: Slack) -> None:
    """clear ends them, and unknown ones are refused with the list of those that exist."""
    slack.faults.call("*", "error", times=100)
    slack.faults.clear()

    assert call(slack) == 200
    with pytest.raises(LocalSlackError, match="There are ratelimited, error"):
        slack.faults.call("*", "explode")


def test_the_journal_tells_calls_with_arguments_and_outcome(slack: Slack, client: WebClient) -> None:
    """Method, arguments, outcome, status and times; never the token."""
    post(client, text="hello")
    with pytest.raises(SlackApiError):
        post(client, thread_ts="1.1")

    fine, refused = slack.journal.calls("chat.postMessage")

    assert (fine.args["text"], fine.outcome, fine.status) == ("hello", "ok", 200)
    assert refused.outcome == "thread_not_found"
    assert fine.started <= fine.ended <= refused.started
    assert slack.workspace.app.bot_token not in str(slack.journal.as_json())
    assert [c.outcome for c in slack.journal.calls(outcome="ok")] == ["ok"]
