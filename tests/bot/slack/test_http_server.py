"""A server that anybody in the network may connect to: it neither waits for ever nor grows."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from itertools import count
from time import monotonic, sleep

import pytest

from benchmarks.support.patience import PATIENCE
from bot.slack.http_server import MOST, HttpServer, QuietHandler, split_address
from core.errors import BadSettings


class Answering(QuietHandler):
    """Says that all is well."""

    def do_GET(self) -> None:  # noqa: N802 the library's name
        """An empty answer."""
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


@contextmanager
def serving(patience: float = 30.0) -> Iterator[int]:
    server = HttpServer("127.0.0.1", 0, Answering, variable="X", patience=patience)
    server.start()
    try:
        yield server.port
    finally:
        server.stop()


@pytest.mark.parametrize(
    "address", ["127.0.0.1:99999", "127.0.0.1:65536", "127.0.0.1:\u00b2", "127.0.0.1:" + "9" * 5000]
)
def test_a_port_that_is_none_is_told(address: str) -> None:
    """Before, these ended in an OverflowError of the socket and a ValueError of int."""
    with pytest.raises(BadSettings):
        split_address(address, "FIRSTFAULT_ALERTS")


def test_who_sends_a_byte_now_and_then_is_hung_up_on() -> None:
    """Each byte came in time for the time-out of a read, so the thread was that client's for days."""
    with serving(patience=0.5) as port, socket.create_connection(("127.0.0.1", port), timeout=0.1) as client:
        client.sendall(b"GET /")
        until = monotonic() + PATIENCE
        assert any(_is_hung_up(client) or monotonic() > until for _ in count())
        assert monotonic() <= until


def _is_hung_up(client: socket.socket) -> bool:
    try:
        client.sendall(b"a")
        return client.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


@pytest.mark.slow
def test_there_are_never_more_threads_than_connections_that_are_allowed() -> None:
    """A thousand connections were a thousand threads; who comes when there is room again is answered."""
    with serving() as port:
        with ExitStack() as stack:
            for _ in range(MOST):
                stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
            late = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
            assert late.recv(1) == b""
        until = monotonic() + PATIENCE
        while (status := _status(port)) != 200 and monotonic() < until:
            sleep(0.05)
        assert status == 200


def _status(port: int) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status
    except OSError:  # the others are not gone yet
        return 0
    finally:
        connection.close()
