"""Which line above a traceback belongs to it: the record of the logger that printed it, and no other."""

import pytest

from tests.core.test_blocks import said
from tests.support.jobs import at, raised

UNCAUGHT = raised("ValueError: boom")
LOGGED = [line.replace("<module>", "run") for line in UNCAUGHT]


def taken(header: str, traceback: list[str]) -> bool:
    """Whether the header is part of the traceback's message, which is called the same in any case."""
    first, *others = said(header, *traceback)
    assert [one.text for one in (first, *others) if one.text.startswith("¶")] == ["¶ ValueError: boom"]
    return not others


@pytest.mark.parametrize("traceback", [LOGGED, UNCAUGHT])
@pytest.mark.parametrize(
    "header",
    [
        at(0, "ERROR train: training failed"),
        at(0, "[CRITICAL] root - Uncaught exception"),
        "ERROR:root:Unhandled exception in main loop",
        "2026-11-22 04:18:47.108 | ERROR    | __main__:<module>:86 - An error has been caught in function 'main'",
        "E1122 07:56:58.059155 140522047929216 train.py:231] training failed",
        "2026-11-22T07:56:54.000690Z [error    ] training failed                step=12",
        "Exception in thread Thread-3 (_run):",
        "Process SpawnProcess-3:",
        "Error executing job with overrides: ['trainer.max_steps=40']",
        at(0, "ERROR train: training failed: ValueError: boom"),
        at(0, "ERROR train: ValueError('boom')"),
    ],
)
def test_the_record_that_announces_a_traceback_belongs_to_it(header: str, traceback: list[str]) -> None:
    """Whoever printed it; the traceback is called the same without its record."""
    assert taken(header, traceback)


@pytest.mark.parametrize("traceback", [LOGGED, UNCAUGHT])
@pytest.mark.parametrize(
    "header",
    [
        at(0, "INFO train: step 12"),
        at(0, "WARNING train: cannot read shard 7, trying again"),
        # torch, distributed/elastic/multiprocessing/api.py
        "E1122 04:19:19.397000 7519 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -9)",
        at(0, "[ERROR] telemetry: push to http://10.77.0.5:9091 failed (3 so far): [Errno 111] Connection refused"),
        at(0, "ERROR train: KeyError: 'step'"),
        at(0, "ERROR train: ValueError: bad magic"),
        "Exception ignored in: <function Store.__del__ at 0x7f5f5642ee40>",
        "step 12 done",
        "",
    ],
)
def test_a_line_with_a_fact_of_its_own_stays_a_line(header: str, traceback: list[str]) -> None:
    """Another level, another exception, an exit code or an errno, or no record at all."""
    assert not taken(header, traceback)


def test_what_a_program_logs_before_it_raises_is_a_line_of_its_own() -> None:
    """The interpreter prints the traceback; only a mere announcement above it was written for it."""
    header = at(0, "ERROR train: gradient norm is nan at step 12")

    assert not taken(header, UNCAUGHT)
    assert taken(header, LOGGED)


def test_a_record_of_another_voice_is_not_taken() -> None:
    """Only what the same rank wrote right above."""
    first, *_ = said(f"[rank1]: {at(0, 'ERROR train: training failed')}", *(f"[rank0]: {line}" for line in LOGGED))

    assert first.lines == (1,)


def test_only_one_record_is_taken() -> None:
    """What stands above the header is another message."""
    record = at(0, "ERROR train: training failed")
    first, second = said(record, record, *LOGGED)

    assert (first.lines, second.lines) == ((1,), (2, 3, 4, 5, 6, 7, 8))


def test_the_head_of_a_block_is_not_taken_by_the_next_one() -> None:
    """What belongs to the traceback above is no header."""
    assert [one.lines for one in said(*LOGGED, *UNCAUGHT)] == [(1, 2, 3, 4, 5, 6), (7, 8, 9, 10, 11, 12)]
