"""Clocks that stand behind a speaker, or are written as few write them."""

from datetime import UTC, datetime

import pytest

from core.logs.label import what_was_said
from core.logs.learn_format import learn
from core.logs.lines import BARE, NO_TIME, take_apart
from tests.support.wrapped_logs import layers, unwrapped

NOON = int(datetime(2026, 11, 22, 12, 0, 3, tzinfo=UTC).timestamp()) * 1_000_000


def first_time(content: bytes) -> int:
    """Of the fourth line, as it is read behind the wrapper."""
    said = unwrapped(content)
    return take_apart(said.split(b"\n")[3], learn(said, (), 2026)).time


def steps(head: str) -> bytes:
    """A step a second from noon on."""
    at = [datetime(2026, 11, 22, 12, 0, n, tzinfo=UTC) for n in range(30)]
    return "".join(
        f"{time:{head}} step {n} loss 2.5\n".replace("EPOCH", f"{time.timestamp():.3f}") for n, time in enumerate(at)
    ).encode()


@pytest.mark.parametrize(
    "head",
    [
        "rank=3; EPOCH;",
        "EPOCH: trainer:",
        "INFO 22.11.2026 %H:%M:%S",
        "[22/11/2026 %H:%M:%S]",
        "gpu-3 | 22/11 %H:%M:%S |",
        "%Y-%b-%d %H:%M:%S.%f 77:77 INFO",
        "%Y.%m.%d %H:%M:%S",
        "%Y%m%d %H:%M:%S",
        "%d-%m-%Y %H:%M:%S",
        "%d-%m-%y %H:%M:%S",
        "%Y-%m-%d, %H:%M:%S",
        "%Y-%m-%d_%H-%M-%S",
        "%Y-%m-%d %H.%M.%S",
        "%Y/%m/%d %I:%M:%S %p",
        "%b %d, %Y %I:%M:%S\u202f%p trainer",
        "%a %b %e %H:%M:%S UTC %Y",
        "So %d. Nov %H:%M:%S CET %Y",
        "%Y\u5e74%m\u6708%d\u65e5 %H:%M:%S",
        "%Y\u5e74%m\u6708%d\u65e5 %H\u65f6%M\u5206%S\u79d2",
        "[%m\u6708%d\u65e5 %H\u6642%M\u5206%S\u79d2]",
        "%Y\ub144 %m\uc6d4 %d\uc77c %H\uc2dc %M\ubd84 %S\ucd08",
        "[%m/%d/%y %H:%M:%S]",
    ],
)
def test_the_time_is_told(head: str) -> None:
    """Seconds since 1970, names and orders of the parts, and days before months where a day is greater than twelve."""
    assert first_time(steps(head)) == NOON


@pytest.mark.parametrize(
    "head", ["[gpu-3] %H:%M:%S INFO", "(r-fra) - [%H:%M:%S] -", "worker a7\t%H:%M:%S.250\ttrainer"]
)
def test_a_clock_without_a_date_stands_first(head: str) -> None:
    """Where ``core.logs.bare_clocks`` finds out its day."""
    assert BARE <= first_time(steps(head)) < NO_TIME
    assert (first_time(steps(head)) - BARE) // 1_000_000 == 12 * 3600 + 3


def test_labels_of_launchers_stay_first() -> None:
    """``core.logs.lines`` reads them, and the clock behind them."""
    said = "".join(f"{task}: 12:00:{n:02} step {n}\n" for n in range(20) for task in range(3)).encode()

    assert "written clock" not in layers(said)


@pytest.mark.parametrize(
    "text",
    [
        "step {n}/90 elapsed 00:01:{n:02}",
        "step {n} of 90, 8 it/s, eta: 00:01:{n:02}",
        "loss 2.{n} at 1763000000",
        "lr 2.5 10.0.{n}.1:8080 up",
    ],
)
def test_durations_and_counts_are_no_clocks(text: str) -> None:
    """How long something took or will take, and large numbers."""
    assert "written clock" not in layers("".join(text.format(n=n) + "\n" for n in range(30)).encode())


@pytest.mark.parametrize("head", ["%Y.%m.%d %H:%M:%S", "%Y%m%d %H:%M:%S", "[gpu-3] %H:%M:%S", "%d %b %Y, %H:%M:%S"])
def test_a_number_behind_the_clock_is_a_year_only_where_the_date_has_none(head: str) -> None:
    """2048 tokens are not the year of a date that has one, nor of a clock alone."""
    assert b" 2048 tokens step 3" in b" " + unwrapped(steps(head + " 2048 tokens")).split(b"\n")[3].split(b"\x1e")[-1]


@pytest.mark.parametrize("label", ["0: ", "[rank2]: "])
def test_a_clock_in_brackets_leaves_the_label_of_a_launcher_where_it_is_read(label: str) -> None:
    """``srun --label`` before a logger that prints ``[12:00:03]``: the rank is still the first word."""
    said = unwrapped(steps(label + "[%H:%M:%S]")).split(b"\n")[3]

    assert what_was_said(said) == f"{label}12:00:03 step 3 loss 2.5".encode()
