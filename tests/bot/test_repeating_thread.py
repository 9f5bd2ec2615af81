"""A thread that looks again and again."""

import logging
import threading

import pytest

from benchmarks.support.patience import PATIENCE
from bot.repeating_thread import RepeatingThread
from bot.state.errors import StateUnavailable


def test_it_outlives_every_error_and_tells_each_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    """Of what is known the sentence, of a defect the trace; then it looks on, and at last it does what comes last."""
    errors = [StateUnavailable("The disk is full.", "Free some."), OSError("no file"), KeyError("defect")]
    left, went_on, ended = list(errors), threading.Event(), threading.Event()

    def look() -> None:
        if left:
            raise left.pop(0)
        went_on.set()

    thread = RepeatingThread("looking", look, every=0, healthy_for=PATIENCE, known=(OSError,), at_end=ended.set)
    thread.start()

    assert went_on.wait(PATIENCE)
    assert thread.healthy()
    thread.stop(PATIENCE)
    assert ended.is_set()
    assert not thread.healthy()
    logged = [(record.levelno, record.getMessage(), bool(record.exc_info)) for record in caplog.records]
    assert logged[:2] == [
        (logging.ERROR, "looking: The disk is full. Free some.", False),
        (logging.WARNING, "looking: no file", False),
    ]
    assert logged[2][1].startswith("looking met an unknown error (e-")
    assert logged[2][2]


def test_one_that_waits_first_looks_when_it_is_woken() -> None:
    """And not before."""
    looked = threading.Event()
    thread = RepeatingThread("waiting", looked.set, every=None, waits_first=True)
    thread.start()

    before = looked.is_set()
    thread.wake()

    assert looked.wait(PATIENCE)
    assert not before
    thread.stop(PATIENCE)
