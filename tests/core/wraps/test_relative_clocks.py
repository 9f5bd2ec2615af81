"""Clocks that count from the start of a program, and those of twelve hours."""

from datetime import UTC, datetime, timedelta

import pytest

from core.logs.label import what_was_said
from core.logs.learn_format import learn
from core.logs.lines import BARE, NO_TIME, take_apart
from tests.support.wrapped_logs import layers, unwrapped

DAY = int(datetime(2026, 11, 24, tzinfo=UTC).timestamp())


def time_of(content: bytes, line: int) -> int:
    """As it is read behind the wrapper, in microseconds."""
    said = unwrapped(content)
    return take_apart(said.split(b"\n")[line], learn(said, (), 2026)).time


def numbered(form: str, *, every: float = 7.25) -> bytes:
    """A line each so many seconds; MINUTES and SECONDS of it stand in the form, or all of its seconds."""
    times = [number * every for number in range(30)]
    said = (
        form.replace("MINUTES", f"{int(time) // 60}")
        .replace("SECONDS", f"{time % 60:05.2f}")
        .replace("ALL", f"{time:.3f}")
        .replace("DELTA", str(timedelta(seconds=time)))
        for time in times
    )
    return "".join(f"{head} step {number} loss 2.5\n" for number, head in enumerate(said)).encode()


@pytest.mark.parametrize(
    "form",
    ["[ALL]", "[ ALLs]", "T+ALL", "+ ALLs p3", "ALL s |", "   ALL |", "MINUTES:SECONDS", "gpu-7: + ALLs", "[DELTA]"],
)
def test_a_clock_may_count_from_the_start(form: str) -> None:
    """It is that of a day that began with the program, wherever that began."""
    assert time_of(numbered(form), 20) - BARE == int(20 * 7.25 * 1_000_000)


def test_labels_of_launchers_stay_before_it() -> None:
    """``core.logs.lines`` reads them, and the clock behind them."""
    said = unwrapped(numbered("gpu-7: [ALL]")).split(b"\n")[4]

    assert what_was_said(said) == b"gpu-7: 00:00:29.000000 step 4 loss 2.5"


@pytest.mark.parametrize(
    "text",
    [
        "0.{n} loss, lower is better, of 30",
        "[0.{m}] accuracy of the fold, which falls",
        "2026-11-24 12:00:{n:02} step {n} took 0.3s",
        "took 0:12.{n} step",
    ],
)
def test_measures_are_no_clocks(text: str) -> None:
    """What nothing marks as a time, what does not rise, and what stands behind a clock or a word."""
    said = "".join(text.format(n=n, m=99 - 3 * n) + "\n" for n in range(30)).encode()

    assert "elapsed clock" not in layers(said)


# The third is java.util.logging's SimpleFormatter (OpenJDK 17); newer ones have U+202F before the half of the day
@pytest.mark.parametrize("date", ["2026-11-24 ", "2026/11/24 ", "Nov 24, 2026 ", "11/24/2026 ", "11/24/2026, "])
@pytest.mark.parametrize("blank", [" ", "\u202f"])
@pytest.mark.parametrize(("clock", "seconds"), [("1:50:{:02}", 110 * 60), ("12:50:{:02}", 50 * 60)])
def test_clocks_of_twelve_hours_with_a_date(date: str, blank: str, clock: str, seconds: int) -> None:
    """Twelve is the first hour of either half."""
    for half, more in (("AM", 0), ("PM", 12 * 3600)):
        said = "".join(f"{date}{clock.format(n)}{blank}{half} Ps worker\nINFO: pushed {n}\n" for n in range(20))

        assert time_of(said.encode(), 6) == (DAY + seconds + more + 3) * 1_000_000


def test_a_clock_of_twelve_hours_without_a_date_stands_first() -> None:
    """Noon does not fall back to midnight: 12:59:59 PM is followed by 01:00:00 PM."""
    said = "".join(f"[{12 if n < 10 else 1}:{59 if n < 10 else 0:02}:{n % 10:02} pm] pass {n}\n" for n in range(20))

    assert time_of(said.encode(), 9) - BARE == (12 * 3600 + 59 * 60 + 9) * 1_000_000
    assert time_of(said.encode(), 10) - BARE == 13 * 3600 * 1_000_000
    assert time_of(said.encode(), 10) < NO_TIME


def test_how_long_a_kernel_has_run_is_no_clock_beside_one_with_a_date() -> None:
    """journald's stamp tells when; what stands in brackets behind it is a number of the message."""
    said = [f"Nov  5 09:52:{n:02} gpu-7 kernel: [{76657.887556 + n:.6f}] usb 3-1: USB disconnect" for n in range(30)]
    content = "\n".join(said).encode() + b"\n"

    assert "elapsed clock" not in layers(content)
    assert b"[76658.887556] usb 3-1" in unwrapped(content)
