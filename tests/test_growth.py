"""No expression of the house grows faster than the text that it sees, but for those that are listed with a bound.

``tests/growth.toml`` is the list: it may only become shorter. Time is not measured against a clock: how often four
times the text takes longer is what counts, and the least of some tries.
"""

import json
import re
import subprocess
import sys
import tomllib
from typing import Any

import pytest

from tests.support.expressions import FASTER, LINEAR, LIST, exponent, known, sites
from tests.support.growth import pumps
from tests.support.places import ROOT

MOST = 63  # expressions of the list; whoever makes one linear takes it from there, and this down
Pattern = tuple[str, str]


@pytest.fixture(scope="module")
def told() -> list[dict[str, Any]]:
    """What tests/support/expressions.py tells of each expression."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.support.expressions"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return [json.loads(line) for line in run.stdout.splitlines()]


@pytest.fixture(scope="module")
def measured(told: list[dict[str, Any]]) -> dict[Pattern, float]:
    """The exponent of each expression."""
    return {(one["place"], one["pattern"]): one["exponent"] for one in told if "pattern" in one}


@pytest.mark.slow
def test_no_other_expression_grows_faster(measured: dict[Pattern, float]) -> None:
    """A new one is made linear (possessive repeats, an anchor, a bound on each repeat) before it is written down."""
    faster = {pattern for pattern, power in measured.items() if power > FASTER}
    assert faster - known() == set()
    assert len(measured) > 900


@pytest.mark.slow
def test_the_list_holds_nothing_that_is_linear_or_gone(measured: dict[Pattern, float]) -> None:
    """What was repaired or removed cannot come back unseen."""
    assert {pattern for pattern in known() if measured.get(pattern, 0.0) < LINEAR} == set()


@pytest.mark.slow
def test_no_expression_is_left_unmeasured(told: list[dict[str, Any]]) -> None:
    """One that is written down is measured, one that is made of parts is reached or listed with a reason."""
    made = tomllib.loads(LIST.read_text(encoding="utf-8"))["made"]
    parts = {site.place: site.code for site in sites() if not site.text}
    unreached = {one["place"] for one in told if "unreached" in one}

    assert unreached <= made.keys() <= parts.keys()
    assert len(unreached) < 23


def test_the_list_becomes_shorter() -> None:
    """Each with the bound of what it sees and a reason; and no more of them than there were."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))["known"]
    assert all(entry["sees"] and entry["bytes"] <= 1 << 22 for entry in listed)
    assert len(known()) == MOST


def test_the_measure_tells_one_from_the_other() -> None:
    """A square is found, also where it begins only after something; and so is its anchored, linear twin."""
    assert exponent(re.compile(r"\w+\s*$"), "finditer") > FASTER
    assert exponent(re.compile(r"begin (a|b)*c"), "finditer") < LINEAR
    assert exponent(re.compile(r"x\d+y"), "finditer") < LINEAR
    assert exponent(re.compile(r"[a-z]+x"), "finditer") > FASTER
    assert exponent(re.compile(r"[a-z]+x"), "match") < LINEAR
    assert ("x", "7") in pumps(r"x\d+y", 0)
