"""What operations ask: ``/healthz`` for the platform, ``/metrics`` for Prometheus; they hold numbers, no content."""

import json
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from core.errors import BadSettings

# Of a diagnosis: small ones take a second, 10 GB a minute, the deadline is at a quarter of an hour.
_SECONDS = (0.5, 1, 2, 5, 10, 20, 60, 120, 300, 900)
_ACKS = (0.05, 0.1, 0.25, 0.5, 1, 3)  # Slack gives three seconds


class Metrics:
    """Numbers for a dashboard; a ``Counters`` for the worker."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._finished = Counter(
            "firstfault_finished_total",
            "Diagnoses and replies that are over",
            ["task", "outcome"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "firstfault_seconds", "From the question to the end", ["task"], buckets=_SECONDS, registry=self.registry
        )
        self._waiting = Gauge("firstfault_waiting", "Waiting for a worker", ["task"], registry=self.registry)
        self._deaths = Counter(
            "firstfault_child_deaths_total", "Child processes without a last word", ["task"], registry=self.registry
        )
        self._acks = Histogram(
            "firstfault_acknowledged_seconds", "Until Slack was answered", buckets=_ACKS, registry=self.registry
        )
        self._tokens = Counter("firstfault_model_tokens_total", "Of the model", ["kind"], registry=self.registry)
        self._calls = Counter("firstfault_model_calls_total", "To the language model", registry=self.registry)
        self._notes = Counter("firstfault_notes_total", "Notes by who wrote them", ["author"], registry=self.registry)
        self._decisions = Counter("firstfault_decisions_total", "What approvers did", ["what"], registry=self.registry)

    def finished(self, task: str, outcome: str, seconds: float) -> None:
        """A diagnosis or a reply is over."""
        self._finished.labels(task, outcome).inc()
        self._seconds.labels(task).observe(seconds)

    def waiting(self, task: str, number: int) -> None:
        """So many wait now."""
        self._waiting.labels(task).set(number)

    def child_died(self, task: str) -> None:
        """A child process ended without a last word."""
        self._deaths.labels(task).inc()

    def acknowledged(self, seconds: float) -> None:
        """Slack was answered."""
        self._acks.observe(seconds)

    def noted(self, author: str, calls: int, prompt_tokens: int, completion_tokens: int) -> None:
        """A note was written."""
        self._notes.labels(author).inc()
        self._calls.inc(calls)
        self._tokens.labels("prompt").inc(prompt_tokens)
        self._tokens.labels("completion").inc(completion_tokens)

    def decided(self, what: str) -> None:
        """An approver approved, rejected or undid."""
        self._decisions.labels(what).inc()

    def text(self) -> bytes:
        """All of it as Prometheus reads it."""
        return generate_latest(self.registry)


class HealthServer:
    """Serves both on an address of its own. checks: by name, whether that part is well."""

    def __init__(self, host: str, port: int, metrics: Metrics, checks: Mapping[str, Callable[[], bool]]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path == "/metrics":
                    self._answer(HTTPStatus.OK, CONTENT_TYPE_LATEST, metrics.text())
                elif self.path == "/healthz":
                    parts = {name: check() for name, check in checks.items()}
                    status = HTTPStatus.OK if all(parts.values()) else HTTPStatus.SERVICE_UNAVAILABLE
                    self._answer(status, "application/json", json.dumps(parts).encode() + b"\n")
                else:
                    self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"/healthz and /metrics\n")

            def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the library's name
                """Asked every few seconds: not worth a line."""

        try:
            self._server = ThreadingHTTPServer((host, port), Handler)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise BadSettings(f"Cannot listen on {host}:{port}: {reason}.", "Set FIRSTFAULT_HEALTH.") from error
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="health", daemon=True)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._server.server_address[1])

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._server.shutdown()
        self._server.server_close()


def split_address(address: str, variable: str) -> tuple[str, int]:
    """Host and port of ``host:port``."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or not host:
        raise BadSettings(f"{variable} is no address: {address[:80]}.", "Write host:port, such as 127.0.0.1:9464.")
    return host.strip("[]"), int(port)
