"""What operations read: whether each part is well, and numbers by Prometheus' conventions."""

import json
import re
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.error import HTTPError

import pytest

from benchmarks.support.patience import PATIENCE
from bot.slack.health import TASKS, HealthServer, Metrics
from core.errors import BadSettings

UNITS = ("_seconds", "_bytes", "_total")
MAX_SERIES = 200  # of a bot that has seen everything


@contextmanager
def serving(metrics: Metrics, parts: dict[str, bool]) -> Iterator[str]:
    server = HealthServer("127.0.0.1", 0, metrics, {name: lambda name=name: parts[name] for name in parts})  # type: ignore[misc]
    server.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.stop()


def read(address: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_both_addresses_tell_the_same_parts() -> None:
    """503 as soon as one part is not well, and the same in a metric, for who alerts by those."""
    parts = {"worker": True, "slack": True}
    with serving(Metrics(), parts) as place:
        assert read(f"{place}/healthz?verbose") == (200, json.dumps(parts) + "\n")
        parts["slack"] = False
        status, body = read(f"{place}/healthz")
        numbers = read(f"{place}/metrics")[1]
        assert read(f"{place}/")[0] == 404
    assert (status, json.loads(body)) == (503, {"worker": True, "slack": False})
    assert 'firstfault_healthy{part="slack"} 0.0' in numbers
    assert 'firstfault_healthy{part="worker"} 1.0' in numbers


def test_names_follow_the_conventions() -> None:
    """A prefix, snake case, the unit or _total at the end where there is one, and a sentence of help each."""
    for family in Metrics().registry.collect():
        name = family.name + ("_total" if family.type == "counter" else "")
        assert re.fullmatch(r"firstfault(_[a-z]+)+", name)
        assert family.type == "gauge" or name.endswith(UNITS)
        assert family.documentation[0].isupper() or family.documentation[0].isdigit()
        assert len(family.documentation.split()) >= 3


def test_series_are_there_before_their_first_event() -> None:
    """A death that makes its own series would be missed by rate()."""
    numbers = Metrics().text().decode()
    for task in TASKS:
        assert f'firstfault_child_deaths_total{{task="{task}"}} 0.0' in numbers
        assert f'firstfault_tasks_waiting{{task="{task}"}} 0.0' in numbers


def test_the_number_of_series_is_bounded() -> None:
    """Thousands of runs add no series: no label holds a job, a person or a channel."""
    metrics = Metrics()
    for number in range(1_000):
        for task in TASKS:
            for outcome in ("done", "failed", "cancelled", "expired"):
                metrics.finished(task, outcome, number / 10)
            metrics.child_died(task)
        metrics.noted("model", 1, 2_000, 300)
        metrics.noted("code", 0, 0, 0)
        for what in ("approved", "edited", "rejected", "undone"):
            metrics.decided(what)
        metrics.acknowledged(0.02)
    assert len([line for line in metrics.text().decode().splitlines() if line[0] != "#"]) < MAX_SERIES


def test_an_address_that_is_taken_is_told() -> None:
    """By the name of its setting."""
    with serving(Metrics(), {}) as place, pytest.raises(BadSettings, match=r"Cannot listen on 127\.0\.0\.1"):
        HealthServer("127.0.0.1", int(place.rpartition(":")[2]), Metrics(), {})
