"""Which words of a claim may be left out, and which may not: every rule with a sentence that shows why."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.note.evidence import Item, Kind
from bot.note.order import keeps_order
from bot.note.passages import passages
from core.model import Role

NAMES = frozenset({"node-00", "node-01"})
STOPPED = "task did not stop within 12 s after SIGTERM, sending SIGKILL"
LOST = "node node-01 not responding: no heartbeat for 9 s, marking it DOWN*"


def held(
    clause: str, *claims: str, lines: tuple[str, ...] = (), advice: bool = False, quotes: tuple[str, ...] = ()
) -> bool:
    places = tuple("logs/node-01/noded.log:1" for _ in lines)
    item = Item("E1", Kind.EVENT, claims, lines, places, ("node-01",), iterations=(60,), count=1, role=Role.ROOT)
    return any(keeps_order(clause, one, NAMES, quotes, advice=advice) for one in passages(item, NAMES, trusted=advice))


@pytest.mark.parametrize(
    ("clause", "line"),
    [
        ("The task did not stop within 12 s after SIGTERM.", STOPPED),
        ("node-01 logged that the task did not stop within 12 seconds after SIGTERM.", STOPPED),
        ("no heartbeat for 9 s, marking it DOWN", LOST),
        ("The node is not responding.", LOST),
        ("Port 2 entered disabled state after iteration 60.", "INFO switch kernel: port 2 entered disabled state"),
    ],
)  # fmt: skip
def test_a_line_may_be_told_in_part(clause: str, line: str) -> None:
    """From the beginning of a part to its end, with where and when the item says that it was."""
    assert held(clause, lines=(line,))


@pytest.mark.parametrize(
    ("clause", "line"),
    [
        ("The task did not stop within 12 s after SIGKILL.", STOPPED),
        ("The task did not stop.", STOPPED),
        ("The task did not stop after SIGTERM.", STOPPED),
        ("The task did stop within 12 s after SIGTERM.", STOPPED),
        ("node-01 sent SIGKILL.", STOPPED),
        ("node-00 logged that the task did not stop within 12 s after SIGTERM.", STOPPED),
        ("node-01 marked the controller as down.", LOST),
        ("A heartbeat for 9 s.", LOST),
    ],
)
def test_what_a_word_hangs_on_stays(clause: str, line: str) -> None:
    """A "not" to the end of its part, what a preposition binds, and who did it."""
    assert not held(clause, lines=(line,))


@pytest.mark.parametrize(
    ("clause", "claim"),
    [
        ("Its link went down at iteration 60.", "Look: its link went down during training, at iteration 60."),
        ("The link went down.", "Look here: its network link went down during training."),
        ("The controller lost the node.", "The controller lost node-01 and no other node."),
        ("A process on node-01 was killed.", "A process was killed (SIGKILL)."),
        ("The node likely stopped answering.", "The node stopped answering."),
    ],
)  # fmt: skip
def test_what_only_adds_may_go_or_come(clause: str, claim: str) -> None:
    """A time, a describing word, a second object, a hedge."""
    assert held(clause, claim)


@pytest.mark.parametrize(
    ("clause", "claim"),
    [
        ("A process killed.", "A process was killed (SIGKILL)."),
        ("The controller lost other node.", "The controller lost node-01 and no other node."),
        ("The node answered.", "The node stopped answering."),
        ("A value became NaN.", "A value became NaN or infinite."),
        ("Iteration 60 is the last.", "Iteration 60 is the last that any rank completed."),
        ("The controller on node-01 stopped.", "The controller stopped."),
        ("Its peers closed the connection.", "Its peer closed the connection."),
    ],
)
def test_a_part_that_says_more_than_the_whole_is_refused(clause: str, claim: str) -> None:
    """Who was killed did not kill, "A or B" is not A, and the last of some is not the last."""
    assert not held(clause, claim)


def test_advice_may_leave_out_parts_of_a_list_but_no_condition() -> None:
    """A list of things to look at is no order; "when ..." is one."""
    claim = "Look at learning rate, data and precision; when one rank alone sees it, test that accelerator."

    assert held("Look at learning rate and precision.", claim, advice=True)
    assert not held("Test that accelerator.", claim, advice=True)


def test_a_quote_is_its_lines_and_no_word_stands_for_it() -> None:
    """What "this" stands for may be quoted; the word that the program uses for a quote holds nothing."""
    claim = "node-01 logged this once, after iteration 60."
    quoted = "node-01 logged quoted-0 once."

    assert held(quoted, claim, lines=("eth0 state DOWN",), quotes=("state DOWN",))
    assert not held(quoted, claim, lines=("eth0 state DOWN",), quotes=("state UP",))
    assert not held(quoted, claim, lines=("eth0 state DOWN",))


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=20))
def test_any_text_is_judged(clause: str, line: str, quote: str) -> None:
    """Log lines and models write anything; what is judged twice is judged alike."""
    first = held(f"{clause} quoted-0", line, lines=(line,), quotes=(quote,))

    assert held(f"{clause} quoted-0", line, lines=(line,), quotes=(quote,)) is first
