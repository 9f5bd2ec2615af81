"""Dates and clocks without signs between their numbers."""

from datetime import UTC, datetime

import pytest

from core.logs.learn_format import learn
from core.logs.lines import take_apart
from tests.support.wrapped_logs import layers, unwrapped

AT = [datetime(2026, 11, 22, 12, 0, second, tzinfo=UTC) for second in range(30)]
NOON = int(AT[3].timestamp()) * 1_000_000


def log(form: str) -> bytes:
    """A step a second from noon on."""
    heads = [f"{one:{form}}".replace("EPOCH", str(int(one.timestamp()))) for one in AT]
    return "".join(f"{head} w{n % 3} step {n} loss 2.5\n" for n, head in enumerate(heads)).encode()


@pytest.mark.parametrize(
    "form",
    [
        "%y%m%d-%H%M%S",
        "%Y%m%d-%H%M%S",
        "%Y%m%dT%H%M%SZ",
        "%Y%m%d_%H%M%S",
        "[%Y%m%d%H%M%S]",
        "EPOCH",
        "EPOCH000",
        "EPOCH000000000",
        "%Y%m%d-%H%M%S.000|",
    ],
)
def test_the_time_is_told(form: str) -> None:
    """And stands no more before what was said."""
    said = unwrapped(log(form))
    read = take_apart(said.split(b"\n")[3], learn(said, (), 2026))

    assert layers(log(form))[0] == "compact clock"
    assert read.time == NOON
    assert b"12000" not in read.body


@pytest.mark.parametrize(
    "lines",
    [
        [f"{100000 + n}-120000 rows read" for n in range(30)],  # no month
        [f"2611{22 - n % 20:02}-120000 part" for n in range(30)],  # they fall
        ["261122-120000 seed of the run"] * 30,  # a number that never changes
    ],
)
def test_other_numbers_are_no_clocks(lines: list[str]) -> None:
    """Identifiers, counts, and a number that never changes."""
    assert "compact clock" not in layers("".join(f"{line}\n" for line in lines).encode())
