"""Connecting to Slack: the client with its patience, Socket Mode by default, signed HTTP as an option."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Protocol

from slack_bolt import App, BoltRequest, BoltResponse
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.adapter.wsgi import SlackRequestHandler
from slack_bolt.authorization import AuthorizeResult
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.socket_mode.client import BaseSocketModeClient
from waitress import wasyncore
from waitress.server import create_server

from bot.outgoing.door import response_for_slack
from bot.slack.client import TRIES, PatientClient, error_of, retry_after
from core.errors import BadSettings, FirstfaultError

THREADS = 16  # that take requests over HTTP: each until it is acknowledged
PING = 2.0  # seconds; slack_sdk gives a dead socket up after four of them (its own 10 s are 40 s of lost commands)
GLANCE = 0.5  # seconds between two looks at whether a ping failed; slack_sdk waits for five failures: 10 s of commands
HURRY = 0.2  # seconds; else the old connection is read for three more, and nobody reads the new one
SILENCE = 20.0  # seconds without a word of Slack after which the socket counts as gone
REQUEST_PATH = "/slack/events"
SLACK = "https://slack.com/"
BOT_TOKEN, APP_TOKEN = "xoxb-", "xapp-"  # what they begin with
_SWAPPED = "The two tokens are swapped: xoxb- is the bot's, xapp- the app's (docs/how-to/slack.md, step 3)."
_BOLT = logging.getLogger("bot.slack.bolt")


class SlackUnavailable(FirstfaultError):
    """Slack does not answer, or does not take the token."""


class Transport(Protocol):
    """A way by which Slack's requests come in: Socket Mode or HTTP."""

    def start(self) -> None:
        """Listen; returns at once."""

    def healthy(self) -> bool:
        """Whether requests can come in now."""

    def stop(self) -> None:
        """Listen no more."""


def make_client(token: str, api_url: str, *, tries: int = TRIES) -> WebClient:
    """A client that waits when Slack says so, and tries again what may be done twice."""
    return PatientClient(token, api_url, tries=tries)


def who_am_i(client: WebClient) -> AuthorizeResult:
    """The bot's own identity, asked once; its team is the organisation, where that has installed the bot as a whole.

    Raises:
        SlackUnavailable: no answer, not now, or the token is wrong.
    """
    try:
        answer = client.auth_test()
    except SlackApiError as error:
        if (seconds := retry_after(error)) is not None:
            sentence = f"Slack wants to be left alone for {seconds:g} s, by its limit of requests."
            raise SlackUnavailable(sentence, "Nothing is wrong with the token: start again then.") from error
        wanted = "FIRSTFAULT_SLACK_BOT_TOKEN is the xoxb- token of the installed app (docs/how-to/slack.md, step 3)."
        hint = _SWAPPED if str(client.token).startswith(APP_TOKEN) else wanted
        raise SlackUnavailable(f"Slack does not take the bot token: {error_of(error)}.", hint) from error
    except (SlackClientError, OSError) as error:
        raise no_answer(client.base_url, error) from error
    organisation = answer.get("enterprise_id")
    return AuthorizeResult(
        enterprise_id=organisation,
        team_id=organisation if organisation and answer.get("is_enterprise_install") else answer["team_id"],
        bot_user_id=answer["user_id"],
        bot_id=answer.get("bot_id"),
        bot_token=client.token,
    )


def no_socket(token: str, api_url: str, error: Exception) -> SlackUnavailable:
    """Why Socket Mode does not start with this token."""
    if not isinstance(error, SlackApiError):
        return no_answer(api_url, error)
    wanted = "FIRSTFAULT_SLACK_APP_TOKEN is the xapp- token with connections:write (docs/how-to/slack.md, step 3)."
    hint = _SWAPPED if token.startswith(BOT_TOKEN) else wanted
    return SlackUnavailable(f"Slack does not take the app token: {error_of(error)}.", hint)


def no_answer(api_url: str, error: Exception) -> SlackUnavailable:
    """Nobody is there, or somebody else."""
    hint = "Is there a way out to Slack? A proxy is named by HTTPS_PROXY."
    if not api_url.startswith(SLACK):
        hint = "FIRSTFAULT_SLACK_API_URL names another address than Slack's own: is it meant?"
    return SlackUnavailable(f"Slack does not answer at {api_url} ({error}).", hint)


class _TimedApp(App):
    """Tells how long Slack waits for an acknowledgement; middleware cannot, its ``next`` returns at once."""

    def __init__(self, acknowledged: Callable[[float], None], **how: Any) -> None:
        super().__init__(
            name="firstfault", **how
        )  # else Bolt looks through all modules for the file that calls it: .4 s
        self._acknowledged = acknowledged

    def dispatch(self, req: BoltRequest) -> BoltResponse:
        started = time.monotonic()
        try:
            response = super().dispatch(req)
            if response.body:
                response.body = response_for_slack(response.body)
            return response
        finally:
            self._acknowledged(time.monotonic() - started)


def make_app(
    client: WebClient,
    identity: AuthorizeResult,
    signing_secret: str,
    receive: Callable[..., BoltResponse],
    acknowledged: Callable[[float], None],
) -> App:
    """The Bolt app: it verifies requests, leaves out what the bot itself has said, and hands the rest over.

    It has no listeners, because Bolt runs those beside the acknowledgement, and asks Slack nothing by itself.

    Args:
        receive: takes the ``body`` of a request; what it returns is the answer to Slack.
        acknowledged: is told how many seconds each request took.
    """
    with _bolt_silent():  # it warns that SLACK_BOT_TOKEN is there too, under one of the names of our own setting
        app = _TimedApp(
            acknowledged,
            client=client,
            signing_secret=signing_secret or "not used by Socket Mode",
            authorize=lambda: identity,
            logger=_BOLT,
        )
    app.use(receive)
    return app


class Socket:
    """Socket Mode; health is the last word that Slack has sent, not whether a socket seems open."""

    def __init__(self, app: App, app_token: str, api_url: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._token = app_token
        self._api_url = api_url
        self._heard = clock()
        self._handler = SocketModeHandler(
            app, app_token=app_token, web_client=make_client(app_token, api_url), ping_interval=PING
        )
        self._handler.client.message_listeners.append(self._hear)
        self._handler.client.on_message_listeners.append(self._hurry)
        self._stopping = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="socket", daemon=True)

    def start(self) -> None:
        """Connect; the client reconnects by itself."""
        try:
            with _bolt_silent():  # what it would say is told below, with what to do
                self._handler.connect()  # type: ignore[no-untyped-call]  # Bolt's adapters have no types
        except (SlackClientError, OSError) as error:
            raise no_socket(self._token, self._api_url, error) from error
        self._watcher.start()

    def healthy(self) -> bool:
        """Whether Slack was heard lately."""
        session = getattr(self._handler.client, "current_session", None)
        pong = getattr(session, "last_ping_pong_time", None)
        age = time.time() - pong if isinstance(pong, float) else self._clock() - self._heard
        return age < SILENCE

    def stop(self) -> None:
        """Close the connection to Slack."""
        self._stopping.set()
        close_twice(self._handler.close)

    def _watch(self) -> None:
        """Drop a connection at its first failed ping; slack_sdk then makes another."""
        while not self._stopping.wait(GLANCE):
            session = self._handler.client.current_session
            if session is not None and session.is_active() and session.consecutive_check_state_error_count:
                close_twice(session.disconnect)

    def _hurry(self, text: str) -> None:
        """Slack is about to renew the connection: let slack_sdk leave the old one at once."""
        session = self._handler.client.current_session
        sock = session.sock if session is not None and text.startswith('{"type":') and '"disconnect"' in text else None
        if sock is not None:
            sock.settimeout(HURRY)

    def _hear(self, _client: BaseSocketModeClient, _message: dict[str, object], _raw: str | None) -> None:
        self._heard = self._clock()


def close_twice(close: Callable[[], None]) -> None:
    """Close what slack_sdk may be closing in another thread at the same moment.

    ``Connection.disconnect`` looks whether its socket is open before it waits for its locks, and then closes None; the
    second call finds nothing open.
    """
    try:
        close()
    except AttributeError:
        close()


class Http:
    """Signed requests over HTTP, with threads of their own."""

    def __init__(self, app: App, host: str, port: int) -> None:
        self._sockets: dict[int, object] = {}
        try:
            self._server = create_server(
                SlackRequestHandler(app, path=REQUEST_PATH),
                host=host,
                port=port,
                threads=THREADS,
                ident=None,
                map=self._sockets,
            )
        except (OSError, ValueError) as error:  # waitress' own word for a name that nobody knows is ValueError
            wasyncore.close_all(self._sockets)  # what was made before it failed
            reason = getattr(error, "strerror", None) or str(error)
            raise BadSettings(f"Cannot listen on {host}:{port}: {reason}.", "Set FIRSTFAULT_LISTEN.") from error
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
        """Listen no more; closed by the thread that listens, which else fails on a socket that is gone."""
        if self._thread.is_alive():  # else nobody hears the trigger, whose number may be another file's by now
            with suppress(OSError):  # pulled by somebody else in the same moment: it is closed before we pull
                self._server.trigger.pull_trigger(partial(wasyncore.close_all, self._sockets))
            self._thread.join(5)
        if not self._thread.is_alive():
            wasyncore.close_all(self._sockets, ignore_all=True)  # of a server that never listened, or failed at it
        self._server.task_dispatcher.shutdown()


@contextmanager
def _bolt_silent() -> Iterator[None]:
    before = _BOLT.level
    _BOLT.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        _BOLT.setLevel(before)
