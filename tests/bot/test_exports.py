"""What other programs open: the timeline for Perfetto, the stacks for speedscope, the PDF for a phone."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from bot.report.pdf_sheets import MAX_SHEETS, Paragraph, to_pdf
from bot.report.phone_report import render_phone
from bot.report.speedscope import to_speedscope
from bot.report.trace import has_timeline, to_trace
from core.model import Diagnosis, Pictures, StackBar
from tests.support.diagnoses import inconclusive, job_wide, no_logs, running, succeeded
from tests.support.hard_diagnoses import hostile, huge

BARS = (
    StackBar(0, 0, 4, "main (train.py:1)", "ranks 0-3"),
    StackBar(1, 0, 3, "all_reduce (comm.py:7)", "ranks 0-2"),
    StackBar(1, 3, 1, "read (data.py:9)", "rank 3"),
)


def test_a_timeline_has_spans_and_marks_of_known_nodes() -> None:
    """Every event names a process that was introduced; times are those of the diagnosis, and nothing is negative."""
    shown = hostile()
    trace = json.loads(to_trace(shown))["traceEvents"]
    named = {event["pid"] for event in trace if event["name"] == "process_name"}
    marks = [event for event in trace if event["ph"] == "i"]

    assert {event["pid"] for event in trace} <= named
    known = {event.id for event in shown.events}
    assert sorted(event["ts"] for event in marks) == sorted(
        mark.time for mark in shown.pictures.marks if mark.event in known
    )
    assert all(event["dur"] >= 0 for event in trace if event["ph"] == "X")
    assert has_timeline(shown)
    assert not has_timeline(no_logs())


def test_stacks_weigh_as_many_processes_as_there_are() -> None:
    """Three processes wait in one call and one reads: two samples, outermost frame first, four in all."""
    document = json.loads(to_speedscope(replace(job_wide(), pictures=Pictures(stacks=BARS))))
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    (profile,) = document["profiles"]

    assert [[frames[at] for at in sample] for sample in profile["samples"]] == [
        ["main (train.py:1)", "all_reduce (comm.py:7)"],
        ["main (train.py:1)", "read (data.py:9)"],
    ]
    assert profile["weights"] == [3, 1]
    assert profile["endValue"] == sum(profile["weights"]) == 4
    assert to_speedscope(job_wide()) == ""


@pytest.mark.parametrize(
    "made",
    [
        *(job_wide, inconclusive, succeeded, running, no_logs),
        *(pytest.param(made, marks=pytest.mark.slow) for made in (hostile, huge)),
    ],
)
def test_every_diagnosis_has_sheets_for_a_phone(made: Callable[[], Diagnosis]) -> None:
    """It is a PDF, the same bytes each time, of not too many sheets, whatever the logs hold."""
    drawn = render_phone(made(), {}, version="1.0")

    assert drawn.startswith(b"%PDF-")
    assert drawn == render_phone(made(), {}, version="1.0")
    assert 1 <= drawn.count(b"/Type /Page\n") + drawn.count(b"/Type /Page ") <= MAX_SHEETS


@pytest.mark.slow
def test_no_secret_stands_in_the_sheets() -> None:
    """Each text passes what takes secrets out: the letters of a PDF are packed, and cannot be searched later."""
    seen: list[str] = []

    def clean(text: str) -> str:
        seen.append(text)
        return "cleaned"

    drawn = render_phone(job_wide(), {}, version="1.0", clean=clean)

    assert any(job_wide().headline in text for text in seen)
    assert drawn != render_phone(job_wide(), {}, version="1.0")


def test_a_word_wider_than_a_sheet_is_broken() -> None:
    """A path of a thousand characters runs over several lines, and no sheet is left out."""
    few, many = (to_pdf([Paragraph("x" * size)], title="t") for size in (10, 2_000))

    assert len(many) > len(few)
    assert many.startswith(b"%PDF-")
