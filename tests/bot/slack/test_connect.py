"""Ways in: an app that says nothing needless, counts what Slack waits for, and closes once or twice."""

import logging
import socket

import pytest
from slack_bolt import App, BoltResponse
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.socket_mode.builtin.connection import Connection
from waitress import wasyncore

from benchmarks.support.patience import PATIENCE
from bot.slack.connect import Http, SlackUnavailable, close_twice, make_app, make_client, no_socket, who_am_i
from core.errors import BadSettings
from slacksim import start

SLACK = "https://slack.com/api/"
IDENTITY = AuthorizeResult(
    enterprise_id=None, team_id="T1", bot_user_id="U1", bot_id="B1", bot_token="xoxb-1",
)  # fmt: skip


def http(port: int = 0) -> Http:
    return Http(app(), "127.0.0.1", port)


def app() -> App:
    return make_app(make_client("xoxb-1", SLACK), IDENTITY, "secret", lambda: BoltResponse(status=200), lambda _: None)


def test_bolt_does_not_warn_of_the_tokens_that_it_is_not_given(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """SLACK_BOT_TOKEN is one of the two names of our own setting; afterwards Bolt may speak again."""
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    app()
    assert caplog.messages == []
    logging.getLogger("bot.slack.bolt").warning("heard")
    assert caplog.messages == ["heard"]


def test_closing_a_server_that_is_closing_is_no_error() -> None:
    """Its threads pull the same trigger: one of them may have closed it in the moment in which it is stopped."""
    server = http()
    server.start()
    server._server.trigger.pull_trigger(lambda: wasyncore.close_all(server._sockets))
    server._thread.join(PATIENCE)
    server.stop()
    assert not server.healthy()


def test_a_server_that_never_listened_is_closed_too() -> None:
    """Whoever cannot start for another reason leaves no socket behind."""
    server = http()
    server.stop()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port))


def test_a_port_that_is_taken_is_told_by_its_setting() -> None:
    """No trace, and what to set."""
    server = http()
    server.start()
    try:
        with pytest.raises(BadSettings, match=r"Cannot listen on 127.0.0.1:\d+: Address already in use") as error:
            http(server.port)
        assert "FIRSTFAULT_LISTEN" in error.value.hint
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("api_url", "hint"), [(SLACK, "HTTPS_PROXY"), ("http://127.0.0.1:9/api/", "FIRSTFAULT_SLACK_API_URL")]
)
def test_nobody_at_the_address_is_one_line_with_a_hint(api_url: str, hint: str) -> None:
    """Slack's own address is right: then the way is wrong."""
    trouble = no_socket("xapp-1", api_url, OSError("Connection refused"))
    assert trouble.message == f"Slack does not answer at {api_url} (Connection refused)."
    assert hint in trouble.hint


def test_a_limit_at_the_start_is_no_wrong_token() -> None:
    """Whoever reads it does not look for another token, and learns when to start again."""
    with start() as slack:
        slack.faults.call("auth.test", "ratelimited", seconds=60)
        with pytest.raises(SlackUnavailable) as error:
            who_am_i(make_client(slack.workspace.app.bot_token, slack.api_url))
    assert "60 s" in error.value.message
    assert "Nothing is wrong with the token" in error.value.hint


def test_a_socket_that_another_thread_closes_first_is_closed_without_an_error() -> None:
    """Both saw it open; the one that waited for the lock finds nothing to close."""
    ours, slacks = socket.socketpair()
    with ours, slacks:
        session = Connection(url="ws://127.0.0.1/", logger=logging.getLogger(__name__))
        session.sock = ours  # type: ignore[assignment]  # it says ssl, and takes any
        session.sock_send_lock = _ClosedMeanwhile(session)  # type: ignore[assignment]
        with pytest.raises(AttributeError):
            session.disconnect()
        session.sock = ours  # type: ignore[assignment]
        close_twice(session.disconnect)
        assert not session.is_active()


class _ClosedMeanwhile:
    """A lock that somebody else held for as long as it took to close the socket."""

    def __init__(self, session: Connection) -> None:
        self._session = session

    def __enter__(self) -> None:
        self._session.sock = None

    def __exit__(self, *_error: object) -> None:
        pass
