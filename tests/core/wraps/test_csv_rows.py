"""Rows of a table are read under the names of their columns, which stand once, above them all."""

import numpy as np
import pytest

from core.logs.bare_clocks import Days
from core.logs.lines import BARE, DAY
from tests.support.wrapped_logs import layers, shown

ROWS = b"rank,step,uptime_s,loss\n2,0,0.67,2.5\n2,2,1.09,2.25\n2,4,3661.5,2.0\n"
# What lightning.pytorch.loggers.CSVLogger 2.5 writes: an empty cell where a row does not measure something.
LIGHTNING = b"epoch,step,train_loss,val_loss\n0,9,0.69,\n0,19,0.68,\n0,19,,0.71\n"
METRICS = b"timestamp\tgpu\tutil\n1795348800\t0\t97\n1795348801\t0\t96\n1795348802\t0\t3\n"


def test_a_row_is_read_under_the_names_of_the_columns() -> None:
    """Its rank becomes the label's, and seconds that rise a clock from midnight on."""
    assert layers(ROWS) == ["rows of a table"]
    assert shown(ROWS)[1:] == [
        "[rank2]: 00:00:00.670000 loss=2.5 step=0 uptime_s=0.67",
        "[rank2]: 00:00:01.090000 loss=2.25 step=2 uptime_s=1.09",
        "[rank2]: 01:01:01.500000 loss=2.0 step=4 uptime_s=3661.5",
    ]


def test_what_was_not_measured_is_left_out() -> None:
    """A cell may be empty."""
    assert shown(LIGHTNING)[1:] == [
        "epoch=0 step=9 train_loss=0.69",
        "epoch=0 step=19 train_loss=0.68",
        "epoch=0 step=19 val_loss=0.71",
    ]


def test_seconds_since_1970_are_a_clock() -> None:
    """Whatever stands between the columns."""
    assert shown(METRICS)[1] == "2026-11-22T12:00:00.000000Z gpu=0 util=97"


def test_tables_drawn_for_people_are_rows_too() -> None:
    """Bars stand at both ends; what stands before the first one is who speaks."""
    rule = "+------+--------+--------+"
    rows = [f"|  {n:3} | {2.5 - n / 100:.4f} | {410 + n:6} |" for n in range(5, 40, 5)]
    drawn = "\n".join((rule, "|   it |   loss | rss MB |", rule, *rows, rule)).encode() + b"\n"
    table = [rule, "|   it |   loss | rss MB |", rule, *rows]
    beside = "".join(f"    fab{one} {row}\n" for row in table for one in (7, 8)).encode()

    assert layers(drawn) == ["rows of a table"]
    assert shown(drawn)[3] == "it=5 loss=2.4500 rss MB=415"
    assert layers(beside) == ["heads", "rows of a table"]
    assert shown(beside)[7] == "fab8: it=5 loss=2.4500 rss MB=415"


@pytest.mark.parametrize(
    "text",
    [
        b"one, two, three\nonce upon a time, far away, there was a job\nand it ran, and ran, and ran\n",
        b"rank,step,loss\nTraceback (most recent call last):\nKeyError: 'a'\n",
        b"rank,step,loss\n0,1\n0,2\n0,3\n",
    ],
)
def test_other_lines_with_commas_are_no_table(text: bytes) -> None:
    """Prose, a header without rows, rows of another length."""
    assert layers(text) == []


def test_what_is_written_beside_the_rows_stays() -> None:
    """A traceback below them."""
    assert shown(ROWS + b"KeyError: 'a'\n")[-1] == "KeyError: 'a'"


def test_a_clock_that_begins_at_zero_counts_from_the_jobs_start() -> None:
    """Unless the job starts at a full hour, when the clock may be one of another zone."""
    start = 1_795_370_279_000_000  # 17:57:59
    second = 1_000_000
    rows = [BARE + second, BARE + 5 * second]

    def dated(start: int) -> list[int]:
        return [int(time) for time in Days([np.array(rows)], start).dated(np.array(rows))]

    assert dated(start) == [start + second, start + 5 * second]
    assert dated(start - start % DAY) == [start - start % DAY + second, start - start % DAY + 5 * second]


def test_a_column_of_seconds_since_1970_is_a_clock_whatever_it_is_called() -> None:
    """``unix``, ``when``: its numbers rise, and each means a time of this century."""
    rows = b"unix,it,t_calc\n1795348800.5,1,0.2\n1795348801.5,2,0.2\n1795348802.5,3,0.3\n"
    seeds = b"seed,it,t_calc\n1795348802,1,0.2\n1795348801,2,0.2\n1795348800,3,0.3\n"

    assert shown(rows)[1] == "2026-11-22T12:00:00.500000Z it=1 t_calc=0.2"
    assert shown(seeds)[1] == "it=1 seed=1795348802 t_calc=0.2"


def test_bars_may_stand_between_columns_only() -> None:
    """A row begins with a value then."""
    rows = [f"d={n % 2}     | {n:<5} |  {9.5 - n / 10:.4f} |  1.2{n} | -" for n in range(1, 9)]
    table = "\n".join(("coord   | step  | loss    | s/step | note", *rows)).encode() + b"\n"

    assert layers(table) == ["rows of a table"]
    assert shown(table)[1] == 'coord="d=1" loss=9.4000 note=- s/step=1.21 step=1'


def test_the_port_of_a_switch_is_no_rank_of_the_machine_behind_it() -> None:
    """One column of names tells which machine a row is of; others, and the numbers in them, are what it tells."""
    ports = {"rec-trn-0152": 44, "rec-trn-0445": 12, "rec-trn-1005": 18, "rec-trn-1048": 7}
    rows = "".join(
        f"{1794320087 + 15 * n},leaf-11,Eth1/{port},{peer},{17 + n % 3}.{n % 10},1.5,{19 + n},5,up\n"
        for n in range(20)
        for peer, port in ports.items()
    )
    told = shown(f"ts,switch,port,peer,rx_gbps,tx_gbps,fcs_err,pause_rx,oper\n{rows}".encode())

    assert all("[rank" not in line for line in told)
    assert told[1].startswith("2026-11-10T14:14:47.000000Z rec-trn-0152: ")
