"""Another program that we speak to over HTTP: it keeps what it heard, and answers every request the same."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Heard:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes


@contextmanager
def listening(
    status: int = 200, body: bytes = b"", headers: Mapping[str, str] | None = None
) -> Iterator[tuple[str, list[Heard]]]:
    """Its address, without a path, and what it hears; ``status``, ``body`` and ``headers`` are its answer."""
    heard: list[Heard] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            heard.append(Heard(self.path, dict(self.headers), asked))
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST  # noqa: N815 the library's name

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the library's name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", heard
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
