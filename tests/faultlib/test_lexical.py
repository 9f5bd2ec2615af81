"""How alike log-like texts are by their words."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultlib.lexical import Lexicon, words_of

OTHERS = ("ValueError: no", "TypeError: no", "KeyError: no", "the run broke")


def test_equal_texts_are_alike_and_strangers_are_not() -> None:
    """1 for the same words, 0 for none in common, something between for some."""
    lexicon = Lexicon(OTHERS)

    assert lexicon.similarity("NCCL watchdog timeout", "NCCL watchdog timeout") == pytest.approx(1)
    assert lexicon.similarity("NCCL watchdog timeout", "disk quota exceeded") == 0
    assert 0 < lexicon.similarity("NCCL watchdog timeout", "watchdog barked") < 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2026-11-21T03:59:44Z step 17 failed", "2024-01-02 11:22:33,123 step 98765 failed"),
        ("read 10.77.0.1:7070 failed", "read 192.168.1.9 failed"),
        ("free 0x7ffe0011aabb failed", "free 0x1234567890ab failed"),
        ("read <IP> <*> failed after <NUM> ms", "read failed after ms"),
    ],
    ids=["clocks and numbers", "addresses", "pointers", "masks"],
)
def test_what_masks_replace_counts_nothing(one: str, other: str) -> None:
    """Raw lines and templates of the same message have the same words."""
    assert words_of(one) == words_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("exitcode: -9", "exitcode: -11"),
        ("[Errno 13]", "[Errno 28]"),
        ("Xid (PCI:0000:3b:00): 79", "Xid (PCI:0000:3b:00): 94"),
    ],
)
def test_a_number_that_says_what_kind_counts(one: str, other: str) -> None:
    """Exit codes, errnos and Xids are the clue; the mask keeps them, and so do the words."""
    assert words_of(one) != words_of(other)


def test_identifiers_count_whole_and_in_parts() -> None:
    """`FileNotFoundError` is found by its name and by a person who writes "file not found"."""
    assert set(words_of("FileNotFoundError")) == {"filenotfounderror", "file", "found", "error"}
    assert {"ibv_poll_cq", "ibv", "poll", "cq"} <= set(words_of("ibv_poll_cq"))


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    """What every pattern says tells nothing; a word that no pattern has is as rare as one that a single one has."""
    lexicon = Lexicon(OTHERS)

    assert lexicon.rarity("broke") == lexicon.rarity("unheard") == pytest.approx(log(5))
    assert lexicon.rarity("error") == pytest.approx(log(1 + 4 / 3))
    assert lexicon.similarity("ValueError broke", "the run broke") > lexicon.similarity("ValueError broke", "TypeError")


def test_a_word_that_comes_again_and_again_counts_little_more() -> None:
    """A hundred times the same word is not a hundred words."""
    words = words_of("lost " * 100 + "once")

    assert words["lost"] == pytest.approx(1 + log(100))
    assert words["once"] == 1


def test_an_empty_library_can_be_asked() -> None:
    """Without any pattern the likeness of two texts is still defined, and of nothing it is 0."""
    assert Lexicon(()).similarity("a rank died", "a rank died") == pytest.approx(1)
    assert Lexicon(()).similarity("", "") == 0
    assert Lexicon(("", "")).similarity("the of and", "x") == 0


@given(one=st.text(max_size=60), other=st.text(max_size=60), library=st.lists(st.text(max_size=30), max_size=4))
def test_a_likeness_is_a_number_from_0_to_1_and_the_same_from_both_sides(
    one: str, other: str, library: list[str]
) -> None:
    """Any text, any library: symmetric, within bounds, and the same bytes each time."""
    lexicon = Lexicon(library)

    there, back = lexicon.similarity(one, other), lexicon.similarity(other, one)

    assert 0 <= there <= 1
    assert there == back
    assert lexicon.similarity(one, other) == there


@given(st.permutations(OTHERS))
def test_the_order_of_a_library_does_not_matter(library: list[str]) -> None:
    """A likeness depends on what the library holds, to the last bit, not on how it was read."""
    text, pattern = "ValueError: the run broke", "TypeError: broke again"

    assert Lexicon(library).similarity(text, pattern) == Lexicon(OTHERS).similarity(text, pattern)
