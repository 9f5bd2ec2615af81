"""What code reads in a question: names, numbers, quotes; other languages; and what is no question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.ask.chatter import is_chatter
from bot.ask.english import EVENT, NODE, labelled, mended, normal
from bot.ask.question import named_nodes, read_question

NODES = ("gpu018", "gpu019", "node-01.cluster")


def test_names_are_read() -> None:
    """Nodes, ranks, iterations, evidence, other jobs and quoted words."""
    asked = read_question(
        'is e2 of GPU018 like "no route" of rank 3 and 5 at step 40 in f15?', NODES, ("f15", "f07"), "f07"
    )
    assert (asked.nodes, asked.ranks, asked.iterations) == (("gpu018",), (3, 5), (40,))
    assert (asked.ids, asked.jobs, asked.quoted) == (("E2",), ("f15",), ("no route",))


def test_a_name_is_understood_when_only_one_node_can_be_meant() -> None:
    """A "node 1" is node-01, and gpu-1 does not stand in gpu-11."""
    nodes = ("gpu-1", "gpu-11", "node-01.cluster")
    assert list(named_nodes("gpu-11 or gpu 1", nodes)) == ["gpu-11", "gpu-1"]
    assert list(named_nodes("Node1", nodes)) == ["node-01.cluster"]
    assert named_nodes("gpu-111", nodes) == {}


def test_a_node_that_is_none_of_the_job_is_told_apart() -> None:
    """So that nobody gets an answer about another one."""
    assert read_question("what about gpu099?", NODES).unknown == ("gpu099",)
    assert read_question("rank 3 at step3", NODES).unknown == ()


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("why gpu018?", f"why {NODE}"),
        ("explain E1", f"explain {EVENT}"),
        ("wie lange lief der Job?", "how long run the job"),
        ("为什么失败", "why failed"),
        ("was it killed at 12", "was it killed at 7"),
    ],
)
def test_a_question_becomes_plain_english_words(text: str, plain: str) -> None:
    """Names by their kind, German and Chinese word by word; an English "was" stays."""
    assert normal(text, ["gpu018"]) == plain


def test_slips_are_mended_towards_words_that_are_known() -> None:
    """One letter of a short word, two of a long one, and never the first."""
    known = {"restart", "checkpoint", "loss"}
    assert mended("restrat chekpoint moss", known) == "restart checkpoint moss"


def test_the_labelled_questions_are_many_and_distinct() -> None:
    """At least four hundred, each once."""
    every = labelled()
    assert len(every) >= 400
    assert len({text for text, _ in every}) > 0.9 * len(every)


@pytest.mark.parametrize(
    ("text", "chatter"),
    [
        ("thanks!", True),
        ("thx, on it", True),
        ("I'll take a look", True),
        (":eyes:", True),
        ("<@U777> can you look?", True),
        ("<@UBOT> why gpu018?", False),
        ("ok, but why gpu018", False),
        ("why?", False),
        ("E1?", False),
        ("gpu018", False),
        ("danke", True),
        ("谢谢", True),
        ("为什么失败", False),
        ("I think it is the network, is it?", False),
    ],
)
def test_thanks_and_words_to_others_are_no_question(text: str, chatter: bool) -> None:
    """What asks nothing, or asks somebody else, gets no reply; everything else does."""
    assert is_chatter(text, "UBOT") == chatter


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    """Whatever somebody types."""
    assert len(read_question(text, NODES, ("f15",), "f07").text) <= 1_000
    is_chatter(text)
