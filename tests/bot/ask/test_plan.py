"""Which looks code chooses for a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.ask.gather import _LOOKS
from bot.ask.plan import LOOKS, MAX_LOOKS, Look, named_nodes, plan
from core.parsing.parsed import Parsed, parse_job
from tests.core.jobs import example


@pytest.fixture(scope="module")
def parsed() -> Parsed:
    return parse_job(example("f07"), (), cache=None, workers=1, progress=None)


@pytest.mark.parametrize(
    ("question", "looks"),
    [
        ("why did it die?", [Look("verdict")]),
        ("E1?", [Look("evidence", words=("E1",))]),
        ("what did gpu018 log before the crash?", [Look("of_node", node="gpu018")]),
        ("and GPU018?", [Look("of_node", node="gpu018")]),
        ("compare gpu018 and gpu019", [Look("compare", node="gpu018", other="gpu019")]),
        ("rank 3 vs rank 5", [Look("of_rank", number=3), Look("of_rank", number=5)]),
        ("iteration 60 please", [Look("of_iteration", number=60)]),
        ("is there an Xid anywhere?", [Look("search", words=("Xid",))]),
        ('show me "no route to host"', [Look("search", words=("no route to host",))]),
        ("`exit` on gpu019?", [Look("search", node="gpu019", words=("exit",)), Look("of_node", node="gpu019")]),
        ("did NCCL time out on rank 2", [Look("search", number=2, words=("NCCL",)), Look("of_rank", number=2)]),
        ("was the loss going up?", [Look("numbers", words=("loss",))]),
        ("which node went silent first", [Look("ends")]),
        ("have we seen this before?", [Look("known")]),
        ("which logs are missing", [Look("coverage")]),
        ("pushgateway telemetry", [Look("search", words=("pushgateway", "telemetry"))]),
        ("", []),
        ("the of and", []),
    ],
)  # fmt: skip
def test_a_question_is_looked_up_where_its_words_point(question: str, looks: list[Look], parsed: Parsed) -> None:
    """Names and quotes first, words of the field then, its own words last."""
    assert list(plan(question, parsed)) == looks


def test_a_name_is_understood_when_only_one_node_can_be_meant() -> None:
    """A "node 1" is node-01, and gpu-1 does not stand in gpu-11."""
    nodes = ("gpu-1", "gpu-11", "node-01.cluster")
    assert named_nodes("gpu-11 or gpu 1", nodes) == ["gpu-11", "gpu-1"]
    assert named_nodes("Node1", nodes) == ["node-01.cluster"]
    assert named_nodes("gpu-111", nodes) == []


@given(st.text(max_size=300))
def test_any_question_gives_a_few_looks_of_the_list(question: str) -> None:
    """Whatever somebody types, nothing outside the list is done."""
    looks = plan(question, PARSED)
    assert len(looks) <= MAX_LOOKS
    assert all(look.name in LOOKS for look in looks)


PARSED = parse_job(example("s01"), (), cache=None, workers=1, progress=None)


def test_every_look_of_the_list_can_be_done() -> None:
    """The list that a model picks from and the functions are the same."""
    assert set(LOOKS) == set(_LOOKS)
