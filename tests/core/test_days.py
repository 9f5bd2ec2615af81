"""Clocks without a date: which day they mean, and when they count."""

import numpy as np
import pytest

from core.logs.bare_clocks import Days
from core.logs.lines import BARE, DAY, NO_TIME
from tests.support.jobs import job, lines, parse

HOUR = DAY // 24
NOON = 1_795_348_800_000_000  # of 2026-11-22


def bare(*hours: float) -> list[int]:
    return [BARE + int(hour * HOUR) for hour in hours]


def dated(chunks: list[list[int]], start: int = NO_TIME) -> list[list[int]]:
    arrays = [np.array(chunk, np.int64) for chunk in chunks]
    days = Days(arrays, start)
    return [days.dated(array).tolist() for array in arrays]


def test_the_day_is_that_of_the_jobs_start() -> None:
    """The nearest one: a zone may lie between the two clocks."""
    assert dated([bare(11, 13)], NOON) == [[NOON - HOUR, NOON + HOUR]]
    assert dated([bare(1)], NOON) == [[NOON - 11 * HOUR]]
    assert dated([bare(23.5)], NOON + 11 * HOUR) == [[NOON + 11.5 * HOUR]]


def test_midnight_passes() -> None:
    """Forth, and back for a line that was written late; over chunks too."""
    assert dated([bare(22, 23.9, 0.1), bare(23.95, 1)], NOON) == [
        [NOON + 10 * HOUR, NOON + 11.9 * HOUR, NOON + 12.1 * HOUR],
        [NOON + 11.95 * HOUR, NOON + 13 * HOUR],
    ]


def test_a_date_in_the_file_says_more_than_the_job() -> None:
    """The first line has one, as torch's warnings have, and the program's own lines have not."""
    assert dated([[NO_TIME, NOON, *bare(12.5), NO_TIME, *bare(13)]], NOON - 9 * DAY) == [
        [NO_TIME, NOON, NOON + HOUR // 2, NO_TIME, NOON + HOUR]
    ]
    assert dated([bare(12.5, 13), [NOON + 2 * HOUR, *bare(14.5)]]) == [
        [NOON + HOUR // 2, NOON + HOUR],
        [NOON + 2 * HOUR, NOON + 2.5 * HOUR],
    ]


def test_a_date_further_down_starts_anew() -> None:
    """A job that stood still for days."""
    later = NOON + 3 * DAY
    assert dated([[NOON, *bare(12.5, 13, 13.5), later, *bare(12.5)]]) == [
        [NOON, NOON + HOUR // 2, NOON + HOUR, NOON + 1.5 * HOUR, later, later + HOUR // 2]
    ]


@pytest.mark.parametrize("times", [[NOON, NOON, *bare(3)], [NOON, *bare(3)]])
def test_a_better_clock_is_used_alone(times: list[int]) -> None:
    """What a few lines begin with may be anything."""
    assert dated([times], NOON)[0][-1] == NO_TIME


def test_without_any_date_there_is_no_time() -> None:
    """Nobody knows the day."""
    assert dated([bare(3, 4)]) == [[NO_TIME, NO_TIME]]


def test_rows_of_a_job_have_the_times_of_its_clocks() -> None:
    """One warning with a date at the start, then bare clocks; a traceback has the time of the line above it."""
    text = lines(
        "[W1122 04:42:24.402042094 socket.cpp:207] [c10d] no hostname",
        "04:42:25 pp0/dp0 warm",
        "04:43:25 pp0/dp0 step 9 loss 2.5",
        "Traceback (most recent call last):",
        "RuntimeError: peer is gone",
    )
    one = job({"rank_0.log": text}, start="2026-11-22T04:42:00Z")

    table = parse(one).table

    seconds = ((table.time[:] - table.time[0:1]) / 1e6).round(1).tolist()
    assert seconds == [0, 0.6, 60.6, 60.6, 60.6]
    assert table.timed[:].tolist() == [True, True, True, False, False]


def test_a_job_of_which_nobody_tells_the_day_has_times_all_the_same() -> None:
    """They say how long it stood still; of two files, midnight between them is not passed twice."""
    said = {
        n: [f"0{3 + step // 60}:{step % 60:02}:0{n} step {step} loss 2.5" for step in range(50, 80)] for n in (0, 1)
    }
    parsed = parse(job({f"rank_{n}.log": lines(*texts) for n, texts in said.items()}))
    times = [parsed.table.time[parsed.table.file == file] for file in (0, 1)]

    assert [int(np.ptp(time)) // 60_000_000 for time in times] == [29, 29]
    assert int(times[1][0] - times[0][0]) == 1_000_000


@pytest.mark.parametrize(
    "day", ["[W1121 04:00:07.848215425 socket.cpp:207]", "Nov 21 04:00:07 gpu-1", "11-21 04:00:07"]
)
def test_a_day_without_a_year_in_another_file_is_that_of_clocks_without_a_day(day: str) -> None:
    """Standard error has c10d's dates, standard output the program's own clock: a second lies between them."""
    files = {"err.log": f"{day} started\n", "out.log": lines("04:00:08 step 1", "04:00:09 step 2")}

    times = parse(job(files)).table.time

    assert (int(times[1]) - int(times[0])) // 1_000_000 in (0, 1)
    assert int(times[2]) - int(times[1]) == 1_000_000


def test_clocks_behind_mpiruns_tags_count() -> None:
    """The first of them stands behind a colon."""
    times = parse(
        job({"mpirun.log": lines(*(f"[1,{n % 2}]<stdout>:01:25:5{n} it {n} loss 1.1" for n in range(6)))})
    ).table.time

    assert [int(time - times[0]) // 1_000_000 for time in times[:]] == [0, 1, 2, 3, 4, 5]
