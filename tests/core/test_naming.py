"""Names in the order and the words that people use."""

import pytest

from core.naming import natural, of_several, together


def test_numbers_in_names_are_ordered_as_numbers() -> None:
    """Rank 9 comes before rank 14, and node-2 before node-10, whatever their text says."""
    names = ["rank 14", "node-10", "rank 9", "node-2", "node-2b", "10.0.0.11", "10.0.0.2"]
    assert sorted(names, key=natural) == ["10.0.0.2", "10.0.0.11", "node-2", "node-2b", "node-10", "rank 9", "rank 14"]


def test_a_name_of_thousands_of_digits_has_a_place() -> None:
    """Python reads no number of more than 4,300 digits; job.json may name a node so."""
    names = ["9" * 5000, "n2", "1" * 30, "7"]
    assert sorted(names, key=natural) == ["7", "1" * 30, "9" * 5000, "n2"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["node-1"], "node-1"),
        (["rank 9"], "rank 9"),
        (["rank 9", "rank 14"], "ranks 9, 14"),
        (["node-1", "rank 9"], "node-1, rank 9"),
    ],
)
def test_several_ranks_share_their_noun(names: list[str], said: str) -> None:
    """A headline says "ranks 9, 14", not "rank 9, rank 14"."""
    assert together(names) == said


@pytest.mark.parametrize(
    ("of_one", "of_more"),
    [
        ("its own work took longer", "their own work took longer"),
        ("it went silent", "they went silent"),
        ("it runs with other settings", "they run with other settings"),
        ("storage failed", "storage failed"),
    ],
)
def test_several_nodes_are_told_as_several(of_one: str, of_more: str) -> None:
    """A headline that names three nodes does not go on with "it"."""
    assert of_several(of_one) == of_more
