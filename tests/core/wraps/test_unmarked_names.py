"""Names of speakers that nothing marks: told from phases by their order, or by the machine that each stands beside."""

from collections.abc import Sequence

import pytest

from tests.support.wrapped_logs import layers, shown

STARS = ("sirius", "castor", "rigel", "altair")
PHASES = ("forward", "backward", "reduce", "update")


def rounds(names: Sequence[str], turn: int, before: str = "") -> list[str]:
    """What each says in twelve rounds, which begin with another one each; turn: by how many."""
    said = []
    for n in range(12):
        first = n * turn % len(names)
        order = [*names[first:], *names[:first]] if n % 2 == 0 or not turn else [*names[:first], *names[first:]][::-1]
        said += [f"{before}{name} ends round {n} after 1.{n:02} s" for name in order]
    return said


@pytest.mark.parametrize("before", ["", "2026/08/01 09:20:14 hb "])
def test_names_in_another_order_each_time_are_of_speakers(before: str) -> None:
    """Behind a clock and one word of the program too."""
    log = "\n".join((*rounds(STARS, 1, before), "")).encode()

    assert "unmarked names" in layers(log)
    assert {line.partition(":")[0].split()[-1] for line in shown(log)} == set(STARS)


def test_what_comes_in_one_order_is_a_phase() -> None:
    """Nobody speaks so."""
    assert layers("\n".join((*rounds(PHASES, 0), "")).encode()) == []


def test_rows_of_a_table_are_of_the_seats_that_have_a_machine() -> None:
    """However fixed their order."""
    seats = [f"  {seat}1  ->  hgx{n}7.lab.example slot 0" for n, seat in enumerate("ABCD")]
    rows = [
        line
        for n in range(12)
        for line in (
            f"--- block {n} ---",
            "seat   read    fwd    bwd",
            *(f"{seat}1     0.7{n % 10}   4.90   9.11" for seat in "ABCD"),
        )
    ]

    assert "unmarked names" in layers("\n".join(("SEATING PLAN", *seats, *rows, "")).encode())
    assert layers("\n".join((*rows, "")).encode()) == []


def test_an_address_may_stand_behind_more_words() -> None:
    """Nothing else looks so."""
    hosts = [f"10.3.1.{n}" for n in (7, 8, 9, 12)]
    said = [
        f"gen   {n} {host} ok  evals 64  took  10.{n:02}s"
        for n in range(12)
        for host in (*hosts[n % 4 :], *hosts[: n % 4])
    ]
    log = "\n".join((*said, "")).encode()

    assert layers(log) == ["unmarked names"]
    assert shown(log)[0] == "10.3.1.7: gen   0 ok  evals 64  took  10.00s"
