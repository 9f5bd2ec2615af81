"""The tests that a person runs between two edits stay quick: two minutes on two cores."""

import ast

import pytest

from tests.support.fast_tier import FUNCTION_SECONDS, LIST, TIER_SECONDS, function_of, listed, too_dear, written
from tests.support.places import ROOT


def test_every_test_that_is_left_out_is_there() -> None:
    """Who renames a test, or deletes it, measures anew; the list is in order and holds no quick one."""
    missing = []
    for name in listed():
        file, _, function = name.partition("::")
        place = ROOT / file
        names = {getattr(node, "name", "") for node in ast.parse(place.read_text(encoding="utf-8")).body}
        missing += [] if function in names else [name]

    assert missing == []
    assert list(listed()) == sorted(listed())
    assert min(listed().values()) > FUNCTION_SECONDS


def test_what_is_listed_is_marked(request: pytest.FixtureRequest) -> None:
    """Of the tests of this run: nothing that is listed runs between two edits."""
    slow = listed()
    unmarked = [
        item.nodeid
        for item in request.session.items
        if function_of(item.nodeid) in slow and item.get_closest_marker("slow") is None
    ]
    assert unmarked == []


def test_a_fast_tier_that_became_dear_fails() -> None:
    """As a whole, wherever the CPU went; parts of it and the whole suite are not judged."""
    more = TIER_SECONDS + 1

    assert "240" in too_dear(more, words="not slow", places=())
    assert too_dear(TIER_SECONDS, words="not slow", places=()) == ""
    assert too_dear(more, words="", places=()) == ""
    assert too_dear(more, words="not slow", places=("tests/core",)) == ""


def test_a_measurement_adds_and_takes_away() -> None:
    """What became quick leaves, what became slow comes, what did not run stays."""
    before = {"tests/a.py::test_a": 2.0, "tests/b.py::test_b": 3.0}

    text = written(before, {"tests/a.py::test_a": 0.1, "tests/c.py::test_c": 0.76})

    assert text.splitlines()[1:] == ["3.00 tests/b.py::test_b", "0.76 tests/c.py::test_c"]
    assert LIST.read_text(encoding="ascii") == written(listed(), {})
