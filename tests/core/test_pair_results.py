"""Tests of machines two by two: the one with which every pair is slow."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any, cast

import pytest

from core.diagnose import diagnose
from core.job import Job
from core.nodes import pair_results
from tests.support.jobs import job, lines

NODES = tuple(f"dgx-0{n}" for n in range(1, 7))


def sweep(slow: set[tuple[str, str]], heading: str = "### pair {} {}") -> Job:
    """nccl-tests (2.13) over all pairs, one log."""
    said = []
    for place, pair in enumerate(combinations(NODES, 2)):
        said += [heading.format(*pair), f"#  Rank  0 Group  0 Pid  {36667 + 977 * place} on    {pair[0]} device  0"]
        said += [f"# Avg bus bandwidth    : {42.3 if pair in slow else 165.0 + place / 10}", "#"]
    return job({"sweep.out": lines(*said)}, nodes=NODES)


def with_node(node: str) -> set[tuple[str, str]]:
    return {pair for pair in combinations(NODES, 2) if node in pair}


def test_the_machine_of_all_slow_pairs_is_told() -> None:
    """No pair tells which of both it is."""
    found = diagnose(sweep(with_node("dgx-04")), [])

    assert [node.node for node in found.nodes] == ["dgx-04"]
    assert "bandwidth of its pairs is 42.3 to 42.3, of all others 165" in found.headline


@pytest.mark.parametrize(
    "slow",
    [
        {("dgx-01", "dgx-04")},
        with_node("dgx-04") - {("dgx-01", "dgx-04")},
        with_node("dgx-04") | with_node("dgx-02"),
        set[tuple[str, str]](),
    ],
    ids=["one pair", "all pairs but one", "two machines", "none"],
)
def test_other_pairs_accuse_nobody(slow: set[tuple[str, str]]) -> None:
    """A cable between two, or a switch, is no machine's."""
    assert diagnose(sweep(slow), []).nodes == ()


def test_a_heading_that_names_no_two_machines_is_none() -> None:
    """Of results without their pair nobody knows whose they are."""
    assert diagnose(sweep(with_node("dgx-04"), heading="### pair"), []).nodes == ()


def test_of_lines_that_name_no_pair_the_first_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each message of a job of many machines is said often enough to be a heading."""
    read, each_row = [], cast(Any, pair_results).each_row

    def noted(*arguments: Any) -> Iterator[tuple[int, str]]:
        for row, text in each_row(*arguments):
            read.append(text)
            yield row, text

    monkeypatch.setattr(pair_results, "each_row", noted)
    diagnose(sweep(with_node("dgx-04"), heading="### pair"), [])

    assert len(read) == 4  # the heading, the line of the rank, the bandwidth and the line below it
