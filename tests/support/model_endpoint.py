"""A real HTTP server on loopback that plays model endpoints, those that misbehave above all."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Play = Callable[["Visitor"], None]


class Visitor(BaseHTTPRequestHandler):
    """One connection of a client. body: the request's JSON."""

    protocol_version = "HTTP/1.1"
    server: "Endpoint"
    body: dict[str, Any]

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.play(self)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the name that the base class gave it
        """Nothing on standard error."""

    def send(self, status: int, content: bytes, kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)


class Endpoint(ThreadingHTTPServer):
    """Plays its pieces in order, the last one for ever. heard: the JSON bodies; headers: those of each request."""

    daemon_threads = True

    def __init__(self, *pieces: Play) -> None:
        super().__init__(("127.0.0.1", 0), Visitor)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.heard: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.closing = threading.Event()
        self._pieces = list(pieces)
        self._lock = threading.Lock()

    def play(self, visitor: Visitor) -> None:
        with self._lock:
            self.heard.append(visitor.body)
            self.headers.append({name.lower(): value for name, value in visitor.headers.items()})
            piece = self._pieces.pop(0) if len(self._pieces) > 1 else self._pieces[0]
        piece(visitor)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hung up is part of the play."""


@contextmanager
def playing(*pieces: Play) -> Iterator[Endpoint]:
    """The endpoint, up and running."""
    with Endpoint(*pieces) as endpoint:
        thread = threading.Thread(target=endpoint.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield endpoint
        finally:
            endpoint.closing.set()
            endpoint.shutdown()
            thread.join()


def says(content: object, *, finish: str | None = "stop", tokens: tuple[int, int] = (7, 3), **message: object) -> Play:
    """A completion with that content."""
    whole = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "toy",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
        ],
        "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)},
    }
    return sends(json.dumps(whole))


def sends(content: str, *, status: int = 200, kind: str = "application/json", **headers: str) -> Play:
    """Any response."""
    return lambda visitor: visitor.send(status, content.encode(), kind, **headers)


def fails(status: int, message: str = "no", *, param: str | None = None, **headers: str) -> Play:
    """An error as OpenAI words it."""
    error = {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": None}}
    return sends(json.dumps(error), status=status, **headers)


def only(understood: Callable[[Mapping[str, Any]], bool], then: Play, complaint: str) -> Play:
    """``then`` for requests that the endpoint understands, HTTP 400 for the others."""
    return lambda visitor: (then if understood(visitor.body) else fails(400, complaint))(visitor)


def hangs(visitor: Visitor) -> None:
    """Takes the request and says nothing until the play is over."""
    visitor.server.closing.wait()
    visitor.close_connection = True


def drips(visitor: Visitor) -> None:
    """Sends a byte now and then, so that no read ever times out."""
    visitor.send_response(200)
    visitor.send_header("content-type", "application/json")
    visitor.send_header("content-length", "1000000")
    visitor.end_headers()
    while not visitor.server.closing.wait(0.02):
        visitor.wfile.write(b" ")
        visitor.wfile.flush()


def hangs_up(visitor: Visitor) -> None:
    """Closes the connection in the middle of the answer."""
    visitor.send_response(200)
    visitor.send_header("content-type", "application/json")
    visitor.send_header("content-length", "1000")
    visitor.end_headers()
    visitor.wfile.write(b'{"id": ')
    visitor.close_connection = True


def overflows(visitor: Visitor) -> None:
    """Sends white space without an end."""
    visitor.send_response(200)
    visitor.send_header("content-type", "application/json")
    visitor.send_header("connection", "close")
    visitor.end_headers()
    visitor.close_connection = True
    while not visitor.server.closing.is_set():
        visitor.wfile.write(b" " * 65_536)
