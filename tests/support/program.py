"""Another program that our webhook tells: it keeps what it heard."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer


@contextmanager
def listening(status: int = 200) -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    """Another program's address, and what it heard."""
    heard: list[tuple[dict[str, str], bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            if status in (301, 302):
                self.send_header("Location", "/elsewhere")
            self.end_headers()

        do_GET = do_POST  # noqa: N815 the library's name

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the library's name
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/hook", heard
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
