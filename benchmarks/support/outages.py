"""What fails around a bot: a model that never gives a note, and a disk that can be filled."""

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

MODEL_TIMEOUT = 1.0  # seconds in place of 60
ROOM_ON_DISK = "8m"  # SQLite lets its write-ahead log grow to 4 MB


@contextmanager
def endpoint(how: str) -> Iterator[str]:
    """The address of a model that never gives a note."""
    if how == "refuses":
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        yield f"http://127.0.0.1:{port}/v1"
        return
    released = threading.Event()

    class Model(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if how == "hangs":
                released.wait()
            body = b'{"choices": [{"message": {"content": "I like trains."}}]}' if how == "is garbage" else b"<html>"
            self.send_response(500 if how == "is broken" else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the library's name
            pass

        def handle(self) -> None:
            with suppress(ConnectionError):  # the client has gone, as it should
                super().handle()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        released.set()
        server.shutdown()
        thread.join()
        server.server_close()


def remove(place: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink()


@contextmanager
def small_disk(place: Path, room: str = ROOM_ON_DISK) -> Iterator[None]:
    place.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={room}", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a disk that can be filled has to be mounted, which only root may")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path) -> Path:
    """Write until nothing more fits."""
    ballast = place / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            pass
    return ballast
