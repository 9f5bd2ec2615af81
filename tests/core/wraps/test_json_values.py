"""Objects whose fields have names of their own: what their values do tells a time, a speaker and a message."""

import json

import pytest

from tests.support.wrapped_logs import layers, shown, unwrapped


def ring(names: tuple[str, ...], steps: int = 12) -> bytes:
    """Ticks of several processes in one file, the last two of each step in the wrong order."""
    lines = []
    for n in range(steps):
        lines += [
            {"at": 1795414902.0 + n + late, "who": name, "ev": "tick" if n else "up", "progress": f"{n}/?"}
            for late, name in zip((0.1, 0.3, 0.2), names, strict=True)
        ]
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


def test_who_comes_again_and_again_speaks() -> None:
    """As often as the others, and between them; of events few are as frequent as the others."""
    told = ring(("r-ams", "r-fra", "r-lon"))

    assert layers(told) == ["JSON by its values"]
    assert shown(told)[3] == "2026-11-23T06:21:43.100000Z r-ams: tick progress=1/?"


def test_a_file_of_one_speaker_says_what_it_said() -> None:
    """The one who writes it is told by no change."""
    told = b"".join(line for line in ring(("r-ams", "r-fra", "r-lon")).splitlines(keepends=True) if b"r-ams" in line)

    assert shown(told)[1] == "2026-11-23T06:21:43.100000Z tick progress=1/? who=r-ams"


def test_a_field_that_is_called_node_stays_who_speaks() -> None:
    """Where no other field tells the speaker."""
    told = "".join(
        f'{{"node": "aurora-06", "when": "22/17:57:{n:02}.90", "do": "{"upd" if n else "ready"}", "u": {n}}}\n'
        for n in range(12)
    ).encode()

    assert shown(told)[1] == "aurora-06: 17:57:01.90 upd u=1"


def test_a_number_that_comes_again_and_again_is_a_rank() -> None:
    """Of one machine the records say 12 to 15, and no name."""
    told = "".join(
        f'{{"t": {1762859471.63 + n}, "r": {rank}, "ev": "{"it" if n else "up"}", "i": {n}, "l": {6.5 - n / 10}}}\n'
        for n in range(12)
        for rank in range(12, 16)
    ).encode()

    assert {line.split(b"\x1e")[1] for line in unwrapped(told).splitlines()} == {
        f"rank={rank}".encode() for rank in range(12, 16)
    }


def test_where_the_rank_has_its_field_words_that_take_turns_are_parts_of_a_step() -> None:
    """Of records without a time, too: who stops at "load" where the others said "reduce" is told by it."""
    told = "".join(
        f'{{"rank": {rank}, "step": {n}, "ev": "{part}"}}\n'
        for n in range(12)
        for part in ("load", "forward", "reduce")
        for rank in range(4)
    ).encode()

    assert layers(told) == ["JSON by its values"]
    assert unwrapped(told).splitlines()[4] == b"\x1erank=0\x1eforward step=0"


@pytest.mark.parametrize(
    ("field", "level", "read"),
    [
        ("niveau", "ERREUR", "ERROR"),
        ("stufe", "Warnung", "WARNING"),
        ("\u30ec\u30d9\u30eb", "\u30a8\u30e9\u30fc", "ERROR"),
    ],
)
def test_a_level_may_be_told_in_other_languages(field: str, level: str, read: str) -> None:
    """Of a program whose message has a name that loggers have."""
    told = "".join(
        f'{{"ts": "2026-11-06T19:20:{n:02d}Z", "{field}": "{"INFO" if n % 5 != 4 else level}", '
        f'"msg": "anneau rompu : {n}"}}\n'
        for n in range(20)
    ).encode()

    assert shown(told)[1].endswith("INFO anneau rompu : 1")
    assert shown(told)[4].endswith(f"{read} anneau rompu : 4")
