"""Connecting to Slack: the client with its patience, Socket Mode by default, signed HTTP as an option."""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.adapter.wsgi import SlackRequestHandler
from slack_bolt.authorization import AuthorizeResult
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry.builtin_handlers import ConnectionErrorRetryHandler, RateLimitErrorRetryHandler
from slack_sdk.socket_mode.client import BaseSocketModeClient
from waitress.server import create_server

from core.errors import FirstfaultError

THREADS = 16  # of listeners; Bolt's own five starve with eight commands at once
SILENCE = 60.0  # seconds without a word of Slack after which the socket counts as gone; it pings every few
REQUEST_PATH = "/slack/events"
_RATE_RETRIES = 3
_LOG = logging.getLogger(__name__)


class SlackUnavailable(FirstfaultError):
    """Slack does not answer, or does not take the token."""


class Transport(Protocol):
    """How requests come in."""

    def start(self) -> None:
        """Listen; returns at once."""

    def healthy(self) -> bool:
        """Whether requests can come in now."""

    def stop(self) -> None:
        """Listen no more."""


def make_client(token: str, api_url: str) -> WebClient:
    """A client that waits when Slack says so, and tries a lost connection once again."""
    client = WebClient(token=token, base_url=api_url, timeout=30)
    client.retry_handlers = [
        ConnectionErrorRetryHandler(max_retry_count=1),
        RateLimitErrorRetryHandler(max_retry_count=_RATE_RETRIES),
    ]
    return client


def who_am_i(client: WebClient) -> AuthorizeResult:
    """The bot's own identity, asked once.

    Raises:
        SlackUnavailable: no answer, or the token is wrong.
    """
    try:
        answer = client.auth_test()
    except SlackApiError as error:
        raise SlackUnavailable(
            f"Slack does not take the bot token: {error.response.get('error')}.",
            "FIRSTFAULT_SLACK_BOT_TOKEN is the xoxb- token of the installed app (docs/slack.md).",
        ) from error
    except (SlackClientError, OSError) as error:
        raise SlackUnavailable(
            f"Slack does not answer at {client.base_url}: {type(error).__name__}.", "Is there a way out to Slack?"
        ) from error
    return AuthorizeResult(
        enterprise_id=answer.get("enterprise_id"),
        team_id=answer["team_id"],
        bot_user_id=answer["user_id"],
        bot_id=answer.get("bot_id"),
        bot_token=client.token,
    )


def make_app(client: WebClient, identity: AuthorizeResult, signing_secret: str) -> App:
    """The Bolt app, without listeners yet; it asks Slack nothing by itself."""
    return App(
        client=client,
        signing_secret=signing_secret or "not used by Socket Mode",
        authorize=lambda: identity,
        listener_executor=ThreadPoolExecutor(THREADS, thread_name_prefix="listener"),
        logger=logging.getLogger("bot.slack.bolt"),
    )


class Socket:
    """Socket Mode; health is the last word that Slack has sent, not whether a socket seems open."""

    def __init__(self, app: App, app_token: str, api_url: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._heard = clock()
        self._handler = SocketModeHandler(app, app_token=app_token, web_client=make_client(app_token, api_url))
        self._handler.client.message_listeners.append(self._hear)

    def start(self) -> None:
        """Connect; the client reconnects by itself."""
        try:
            self._handler.connect()  # type: ignore[no-untyped-call]  # Bolt's adapters have no types
        except (SlackClientError, OSError) as error:
            raise SlackUnavailable(
                f"Socket Mode does not start: {error}", "FIRSTFAULT_SLACK_APP_TOKEN is an xapp- token (docs/slack.md)."
            ) from error

    def healthy(self) -> bool:
        """Whether Slack was heard lately."""
        session = getattr(self._handler.client, "current_session", None)
        pong = getattr(session, "last_ping_pong_time", None)
        age = time.time() - pong if isinstance(pong, float) else self._clock() - self._heard
        return age < SILENCE

    def stop(self) -> None:
        """Disconnect."""
        self._handler.close()  # type: ignore[no-untyped-call]  # as connect

    def _hear(self, _client: BaseSocketModeClient, _message: dict[str, object], _raw: str | None) -> None:
        self._heard = self._clock()


class Http:
    """Signed requests over HTTP, with threads of their own."""

    def __init__(self, app: App, host: str, port: int) -> None:
        self._server = create_server(
            SlackRequestHandler(app, path=REQUEST_PATH), host=host, port=port, threads=THREADS, ident=None
        )
        self._thread = threading.Thread(target=self._server.run, name="http", daemon=True)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._server.effective_port)

    def start(self) -> None:
        """Listen."""
        self._thread.start()

    def healthy(self) -> bool:
        """Whether it listens."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Listen no more."""
        self._server.close()
        self._thread.join(5)
