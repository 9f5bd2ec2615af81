"""An HTTP server of the bot: it listens on an address of its own and answers in threads, until it is stopped."""

import socket
import sys
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from core.errors import BadSettings

IMPATIENCE = 10  # seconds for whoever connects and says nothing
PATIENCE = 30  # seconds for a whole request: a byte every nine seconds would keep a thread as long as it likes
MOST = 64  # connections at a time; Alertmanager, Prometheus and probes open one each
_PORTS = 1 << 16  # of TCP


class QuietHandler(BaseHTTPRequestHandler):
    """A handler that drops who says nothing, and writes no line for each request."""

    timeout = IMPATIENCE

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the library's name
        """Nothing: what counts is logged by whoever answers."""

    def answer(self, status: HTTPStatus, body: bytes = b"", kind: str = "") -> None:
        """Send a whole answer; kind: of its content, as MIME names it."""
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    """Answers in threads, of which there are never more than MOST, and none works longer than PATIENCE allows."""

    daemon_threads = True

    def __init__(self, *args: Any, patience: float) -> None:
        self._since: dict[Any, float] = {}  # when each open connection came, on the monotonic clock
        self._patience = patience
        self._changing = threading.Lock()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changing:
            has_room = len(self._since) < MOST
            if has_room:
                self._since[request] = time.monotonic()
        if has_room:
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def shutdown_request(self, request: Any) -> None:
        with self._changing:
            self._since.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Between two requests, and twice a second: who takes too long is hung up on."""
        before = time.monotonic() - self._patience
        with self._changing:
            late = [request for request, since in self._since.items() if since < before]
        for request in late:
            with suppress(OSError):  # it may have gone
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who hangs up in the middle is no error of ours."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class HttpServer:
    """Listens from the beginning; answers between ``start`` and ``stop``."""

    def __init__(
        self, host: str, port: int, handler: type[QuietHandler], *, variable: str, patience: float = PATIENCE
    ) -> None:
        """variable: the setting that holds the address. patience: seconds for a whole request.

        Raises:
            BadSettings: the address is taken, or is none of this machine.
        """
        try:
            self._server = _Server((host, port), handler, patience=patience)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise BadSettings(f"Cannot listen on {host}:{port}: {reason}.", f"Set {variable}.") from error
        self._thread = threading.Thread(target=self._server.serve_forever, name=variable, daemon=True)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._server.server_address[1])

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """Stop listening, and wait for the thread."""
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()


def split_address(address: str, variable: str) -> tuple[str, int]:
    """Host and port of ``host:port``.

    Raises:
        BadSettings: it is none; ``variable`` is the setting that holds it.
    """
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdecimal() or len(port) > len(str(_PORTS)) or int(port) >= _PORTS:
        raise BadSettings(f"{variable} is no address: {address[:80]}.", "Write host:port, such as 127.0.0.1:9464.")
    return host.strip("[]"), int(port)
