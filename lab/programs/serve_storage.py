# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""Storage on the wire: takes checkpoints and gives batches. ``serve_storage.py PORT``.

What begins with ``GET n`` and a line feed is answered with n bytes, again and again on one connection; anything else is
read to its end and answered with one byte.
"""

import socketserver
import sys

LONGEST = 32  # bytes of a request
WAITING = 128  # connections: all ranks open one at once, and five is the default


class Storage(socketserver.StreamRequestHandler):
    """One connection."""

    def handle(self) -> None:
        """Answer until the other side ends."""
        while (line := self.rfile.readline(LONGEST)).startswith(b"GET "):
            self.wfile.write(bytes(int(line[4:])))
        if line:
            while self.rfile.read(1 << 20):
                pass
            self.wfile.write(b"k")


if __name__ == "__main__":
    socketserver.ThreadingTCPServer.request_queue_size = WAITING
    socketserver.ThreadingTCPServer(("", int(sys.argv[1])), Storage).serve_forever()
