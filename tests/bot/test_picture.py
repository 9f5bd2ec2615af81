"""The plot in the thread: drawn from data alone, the same every time, of a size for a phone, and told in words."""

import struct
from dataclasses import replace

import pytest

from bot.report.picture import MAX_TEXT, SHARP, WIDTH, Picture, draw_picture
from core.model import Diagnosis, NodeBar, Pictures, Scope
from tests.support import diagnoses
from tests.support.slack_samples import stopped

LARGEST = 300_000  # bytes; it is looked at over a phone's network
TALLEST = 2.2  # times as high as wide: what is higher, a thread shows small


def drawn(diagnosis: Diagnosis) -> Picture:
    picture = draw_picture(diagnosis)
    assert picture is not None
    return picture


def size(picture: Picture) -> tuple[int, int]:
    width, height = struct.unpack(">II", picture.png[16:24])
    return width, height


@pytest.mark.parametrize("name", ["node_fault", "job_wide", "huge", "hostile"])
def test_it_is_the_same_picture_every_time_and_fits_a_phone(name: str) -> None:
    """Same input, same bytes; one width whatever is in it, and neither large nor much higher than wide."""
    picture, again = drawn(diagnoses.ALL[name]()), drawn(diagnoses.ALL[name]())

    width, height = size(picture)
    assert picture == again
    assert picture.png.startswith(b"\x89PNG")
    assert abs(width - WIDTH * SHARP) <= 2
    assert height <= width * TALLEST
    assert len(picture.png) < LARGEST


def test_the_words_say_what_the_picture_shows() -> None:
    """For those who do not see it: the job, each suspect with its score, the numbers and the marked iteration."""
    words = drawn(diagnoses.node_fault()).text

    assert words.startswith("f07. Anomaly score of 4 nodes, 0 to 1. Suspects: node-01 ")
    assert "Numbers by iteration: " in words
    assert "Marked iterations: " in words


def test_the_words_have_an_end_and_hold_no_control_byte() -> None:
    """Names of nodes and series come from logs; Slack takes so many characters and no more."""
    words = drawn(diagnoses.hostile()).text

    assert len(words) <= MAX_TEXT
    assert words.isprintable()


@pytest.mark.parametrize("name", ["inconclusive", "no_logs", "succeeded"])
def test_nothing_is_plotted_where_there_is_nothing_to_show(name: str) -> None:
    """No empty axes, and no bars of a job that did not fail."""
    assert draw_picture(diagnoses.ALL[name]()) is None


def test_what_did_not_fail_is_not_plotted_even_with_numbers() -> None:
    """Scores of the nodes of a job that somebody stopped would only accuse them."""
    bars = tuple(NodeBar(f"node-{n}", 0.2 * n, 0, 1, 10, 5) for n in range(4))

    assert stopped().scope is Scope.NONE
    assert draw_picture(replace(stopped(), pictures=Pictures(bars))) is None
