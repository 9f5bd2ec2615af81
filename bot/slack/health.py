"""What operations ask: ``/healthz`` for the platform, ``/metrics`` for Prometheus; they hold numbers, no content."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from bot.slack.http_server import HttpServer, QuietHandler

# Of a diagnosis: small ones take a second, 10 GB a minute, the deadline is at a quarter of an hour.
_SECONDS = (0.5, 1, 2, 5, 10, 20, 60, 120, 300, 900)
_ACKS = (0.05, 0.1, 0.25, 0.5, 1, 2, 3)  # Slack gives three seconds
TASKS = ("diagnose", "draw", "ask")  # what the worker counts


class Metrics:
    """Numbers for a dashboard; a ``Counters`` for the worker. Every label has few values, known beforehand."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        counter, gauge = partial(Counter, registry=registry), partial(Gauge, registry=registry)
        histogram = partial(Histogram, registry=registry)
        self._finished = counter(
            "firstfault_tasks_finished_total",
            "Diagnoses and replies that are over, by how they ended",
            ["task", "outcome"],
        )
        self._seconds = histogram(
            "firstfault_task_duration_seconds",
            "From the question to the end of the work, with the time in the queue",
            ["task"],
            buckets=_SECONDS,
        )
        self._waiting = gauge("firstfault_tasks_waiting", "Diagnoses and replies that wait for a worker", ["task"])
        self._deaths = counter(
            "firstfault_child_deaths_total", "Child processes that ended without a last word", ["task"]
        )
        self._acks = histogram(
            "firstfault_acknowledgement_duration_seconds",
            "From a request of Slack to our acknowledgement",
            buckets=_ACKS,
        )
        self._tokens = counter("firstfault_model_tokens_total", "Tokens of the language model", ["kind"])
        self._calls = counter("firstfault_model_calls_total", "Requests to the language model")
        self._notes = counter("firstfault_notes_total", "Notes, by who wrote them: model or code", ["author"])
        self._decisions = counter("firstfault_decisions_total", "What approvers did with notes", ["what"])
        self._healthy = gauge("firstfault_healthy", "1 when this part is well: the same as /healthz", ["part"])
        for task in TASKS:  # a counter that appears with its first event hides that event from rate()
            self._waiting.labels(task)
            self._deaths.labels(task)
            self._seconds.labels(task)

    def finished(self, task: str, outcome: str, seconds: float) -> None:
        """A diagnosis or a reply is over."""
        self._finished.labels(task, outcome).inc()
        self._seconds.labels(task).observe(seconds)

    def waiting(self, task: str, number: int) -> None:
        """How many rows of this kind wait now."""
        self._waiting.labels(task).set(number)

    def child_died(self, task: str) -> None:
        """A child process ended without a last word."""
        self._deaths.labels(task).inc()

    def acknowledged(self, seconds: float) -> None:
        """A request of Slack was acknowledged, after so many seconds."""
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

    def healthy(self, parts: Mapping[str, bool]) -> None:
        """Which parts are well now."""
        for part, well in parts.items():
            self._healthy.labels(part).set(well)

    def text(self) -> bytes:
        """All of it as Prometheus reads it."""
        return generate_latest(self.registry)


class HealthServer(HttpServer):
    """Serves both on an address of its own. checks: by name, whether that part is well."""

    def __init__(self, host: str, port: int, metrics: Metrics, checks: Mapping[str, Callable[[], bool]]) -> None:
        ProcessCollector(registry=metrics.registry)  # memory, processor time and open files, where there is /proc

        class Handler(QuietHandler):
            def do_GET(self) -> None:  # noqa: N802 the library's name
                path = self.path.partition("?")[0]
                if path not in ("/metrics", "/healthz"):
                    self.answer(HTTPStatus.NOT_FOUND, b"/healthz and /metrics\n", "text/plain")
                    return
                parts = {name: check() for name, check in checks.items()}
                if path == "/metrics":
                    metrics.healthy(parts)
                    self.answer(HTTPStatus.OK, metrics.text(), CONTENT_TYPE_LATEST)
                else:
                    status = HTTPStatus.OK if all(parts.values()) else HTTPStatus.SERVICE_UNAVAILABLE
                    self.answer(status, json.dumps(parts).encode() + b"\n", "application/json")

        super().__init__(host, port, Handler, variable="FIRSTFAULT_HEALTH")
