"""An HTTP server of the bot: it listens on an address of its own and answers in threads, until it is stopped."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from core.errors import BadSettings

IMPATIENCE = 10  # seconds for whoever connects and says nothing


class QuietHandler(BaseHTTPRequestHandler):
    """A handler that drops who says nothing, and writes no line for each request."""

    timeout = IMPATIENCE

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the library's name
        """Nothing: what counts is logged by whoever answers."""


class HttpServer:
    """Listens from the beginning; answers between ``start`` and ``stop``."""

    def __init__(self, host: str, port: int, handler: type[QuietHandler], *, variable: str) -> None:
        """variable: the setting that holds the address.

        Raises:
            BadSettings: the address is taken, or is none of this machine.
        """
        try:
            self._server = ThreadingHTTPServer((host, port), handler)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise BadSettings(f"Cannot listen on {host}:{port}: {reason}.", f"Set {variable}.") from error
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name=variable, daemon=True)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._server.server_address[1])

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """End."""
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()


def split_address(address: str, variable: str) -> tuple[str, int]:
    """Host and port of ``host:port``.

    Raises:
        BadSettings: it is none; ``variable`` is the setting that holds it.
    """
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or not host:
        raise BadSettings(f"{variable} is no address: {address[:80]}.", "Write host:port, such as 127.0.0.1:9464.")
    return host.strip("[]"), int(port)
