"""What to do next is one line, the same in terminal, Slack and report, and foreign text in it stays text."""

from dataclasses import replace

import pytest

from bot.outgoing.clean import cleaned
from bot.report.contract import to_contract
from bot.report.page import render_report
from bot.slack.parent_message import answer_message
from bot.state.answers import SavedAnswer, answer_of, answer_text
from bot.text.wording import next_line
from core.model import Action, Cost, Diagnosis, NextStep
from tests.support import diagnoses
from tests.support.slack_samples import answered, strings
from tests.support.terminal_text import plain_text

STEP = NextStep(Action.EVICT, "A link went down.", Cost(3.25, "A restart of 13 nodes."), "", "Check it.", ("node-01",))
LINE = "evict node-01: A link went down. Costs about 3.2 node-hours."


def fault(step: NextStep = STEP) -> Diagnosis:
    return replace(diagnoses.node_fault(), next=step)


def test_the_line_is_the_same_everywhere() -> None:
    """Once each; the page and the sheets have it as two sentences."""
    slack = "\n".join(strings(answer_message(answered(fault())).blocks))

    assert next_line(STEP) == LINE
    assert " ".join(plain_text(fault(), width=120).split()).count(LINE) == 1
    assert slack.count(LINE) == 1
    page = render_report(fault(), {}, version="1")
    assert page.count("Next: evict node-01.</b> A link went down. Costs about 3.2 node-hours.</p>") == 1


@pytest.mark.parametrize(
    ("hours", "price"), [(None, ""), (0.0, ""), (0.05, ""), (0.5, " Costs about 0.5"), (1234.5, " Costs about 1,234")]
)
def test_a_price_is_told_where_it_is_one(hours: float | None, price: str) -> None:
    """Minutes of a node are not worth a word."""
    line = next_line(replace(STEP, cost=Cost(hours, "")))
    assert line == f"evict node-01: A link went down.{price}{' node-hours.' if price else ''}"


def test_foreign_text_in_it_gives_no_orders() -> None:
    """Neither to a terminal nor to a page; and no secret leaves in it."""
    hostile = replace(STEP, because="<b>\x1b[31m api_key=sk-abcdefghijklmnopqrstuvwxyz012345", nodes=("<i>",))

    assert "\x1b" not in plain_text(fault(hostile))
    assert "<i>:" not in render_report(fault(hostile), {}, version="1")
    assert "sk-abcdefghijklmnop" not in str(cleaned(fault(hostile)).next)


def test_it_is_kept_with_the_answer_of_a_run() -> None:
    """A button that is pressed after a restart finds the same answer."""
    kept = answer_of(answer_text(SavedAnswer("f07", fault())))
    assert kept.diagnosis is not None
    assert kept.diagnosis.next == STEP


def test_without_one_nothing_is_said() -> None:
    """As for the paper's own method."""
    assert "Next " not in plain_text(diagnoses.node_fault())
    assert to_contract(diagnoses.node_fault()).next is None
