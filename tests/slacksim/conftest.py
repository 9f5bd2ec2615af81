"""A local Slack with short waits, and a bot on the real slack_bolt that is connected to it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.adapter.wsgi import SlackRequestHandler
from slack_sdk import WebClient

import slacksim
from benchmarks.support.processes import hang_up
from slacksim import Limits, Slack, Timing
from tests.support.toy_bot import ToyBot

QUICK = Timing(retries=(0.05, 0.1), ping=5.0)
Connect = Callable[[str], ToyBot]


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture
def slack() -> Iterator[Slack]:
    with slacksim.start(timing=QUICK, limits=Limits(enforced=False)) as running:
        yield running


@pytest.fixture
def client(slack: Slack) -> WebClient:
    return WebClient(slack.workspace.app.bot_token, base_url=slack.api_url)


@pytest.fixture
def connect(slack: Slack) -> Iterator[Connect]:
    """Start the toy bot over a transport: socket or http."""
    with ExitStack() as stack:

        def connected(transport: str) -> ToyBot:
            bot = ToyBot(slack)
            stack.enter_context((over_socket if transport == "socket" else over_http)(slack, bot))
            return bot

        yield connected


@pytest.fixture
def bot(connect: Connect) -> ToyBot:
    """For what does not depend on the transport: HTTP, because a socket client of slack_sdk takes a second to close."""
    return connect("http")


@contextmanager
def over_socket(slack: Slack, bot: ToyBot) -> Iterator[None]:
    app_token = slack.workspace.app.app_token
    handler = SocketModeHandler(
        bot.app, app_token, web_client=WebClient(app_token, base_url=slack.api_url), ping_interval=0.5
    )
    handler.connect()  # type: ignore[no-untyped-call]  # slack_bolt
    slack.wait_for_connection()
    try:
        yield
    finally:
        hang_up(slack, handler.client)


@contextmanager
def over_http(slack: Slack, bot: ToyBot) -> Iterator[None]:
    server = make_server("127.0.0.1", 0, SlackRequestHandler(bot.app), _Server, _Quiet)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        slack.use_http(f"http://127.0.0.1:{server.server_port}/slack/events")
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
