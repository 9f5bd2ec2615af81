"""The vectors of the fault library are made by children, when they are needed, and the bot stays small and well."""

import importlib.util
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.support.processes import alive
from bot.jobs.tasks import TASKS
from bot.jobs.vectors import Vectors
from bot.library.session import open_fault_library
from bot.settings import Settings
from tests.support.places import ROOT
from tests.support.workers import until

OURS = {"embed": "tests.bot.jobs.test_vectors:embed"}


def embed(*_: object) -> str:
    """In the child: how often, in which process; the file ``how`` says how it ends."""
    place = Path(os.environ["PLACE"])
    with (place / "starts").open("a", encoding="ascii") as starts:
        starts.write(f"{os.getpid()}\n")
    if (place / "die").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    while (place / "hang").exists():
        signal.pause()
    return "all made"


@contextmanager
def making(place: Path) -> Iterator[Vectors]:
    """At the end no thread of it is left."""
    before = set(threading.enumerate())
    vectors = Vectors(environment={**os.environ, "PLACE": str(place), "PYTHONPATH": str(ROOT)}, tasks=OURS)
    vectors.thread.start()
    try:
        yield vectors
    finally:
        vectors.stop()
        assert set(threading.enumerate()) <= before


def starts(place: Path) -> list[int]:
    file = place / "starts"
    return [int(line) for line in file.read_text(encoding="ascii").split()] if file.exists() else []


def test_they_are_made_at_the_start_and_after_a_change(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A child each time, which is gone afterwards."""
    caplog.set_level(logging.INFO)
    with making(tmp_path) as vectors:
        until(lambda: caplog.text.count("all made") == 1)
        vectors.thread.wake()
        until(lambda: caplog.text.count("all made") == 2)
    first, second = starts(tmp_path)
    assert first != second
    until(lambda: not alive(first) and not alive(second))


def test_a_child_that_dies_costs_nothing_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The log says so; the next change tries again."""
    caplog.set_level(logging.INFO)
    (tmp_path / "die").touch()
    with making(tmp_path) as vectors:
        until(lambda: "the vectors' child ended: killed by signal 9" in caplog.text)
        (tmp_path / "die").unlink()
        vectors.thread.wake()
        until(lambda: "all made" in caplog.text)
    assert len(starts(tmp_path)) == 2


def test_the_end_does_not_wait_for_a_model(tmp_path: Path) -> None:
    """A stop ends the child at once."""
    (tmp_path / "hang").touch()
    with making(tmp_path) as vectors:
        until(lambda: len(starts(tmp_path)) == 1)
        vectors.stop()
        until(lambda: not alive(starts(tmp_path)[0]))
    assert len(starts(tmp_path)) == 1


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("onnxruntime") is None, reason="onnxruntime is not installed")
def test_the_real_child_makes_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Every pattern gets its vector, and this process has not loaded the model."""
    caplog.set_level(logging.INFO)
    settings = Settings(library=tmp_path / "library", cache=tmp_path / "cache")
    monkeypatch.setenv("FIRSTFAULT_LIBRARY", str(settings.library))
    monkeypatch.setenv("FIRSTFAULT_CACHE", str(settings.cache))
    loaded = "onnxruntime" in sys.modules
    with open_fault_library(settings, embeds=False) as library:
        patterns = len(library.entries())
        assert sum(library.stats().vectors_by_model.values()) == 0
    vectors = Vectors(tasks=TASKS)
    vectors.thread.start()
    try:
        until(lambda: f"{patterns} vectors made" in caplog.text)
    finally:
        vectors.stop()
    with open_fault_library(settings, embeds=False) as library:
        assert sum(library.stats().vectors_by_model.values()) == patterns
    assert ("onnxruntime" in sys.modules) == loaded
