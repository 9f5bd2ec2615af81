"""Slack's own charts: what they show of a diagnosis, and that Slack takes them whatever a log names."""

import math
from dataclasses import replace

from bot.slack.blocks import json_size
from bot.slack.charts import MAX_BARS, MAX_POINTS, chart_message
from core.model import Diagnosis, NodeBar, Pictures, Series
from slacksim.blocks import problems_of_message
from tests.support import diagnoses
from tests.support.slack_payloads import violations
from tests.support.slack_samples import EVIL

MAX_JSON = 12_000  # characters of the blocks of a message


def with_numbers(values: tuple[float, ...], *, name: str = "loss", nodes: int = 4) -> Diagnosis:
    bars = tuple(NodeBar(f"n{number:03}", number / nodes, None, None, 1, None) for number in range(nodes))
    series = Series(name, tuple(range(len(values))), values)
    return replace(diagnoses.node_fault(), pictures=Pictures(nodes=bars, series=(series,)))


def test_a_course_keeps_its_first_and_last_point() -> None:
    """Of a thousand iterations as many are drawn as Slack takes; what is not finite has no place on an axis."""
    message = chart_message(with_numbers((*(float(at) for at in range(1000)), math.nan)), "words")
    assert message is not None
    course = message.blocks[2]["chart"]["series"][0]["data"]

    assert len(course) == MAX_POINTS
    assert (course[0]["label"], course[-1]["label"]) == ("0", "999")


def test_slack_takes_any_names_and_numbers() -> None:
    """Hostile and equal long names, a thousand nodes, huge and tiny numbers: by slacksim and by the schema."""
    hostile = with_numbers((1e-300, 1e29), name=EVIL, nodes=1000)
    long = tuple(replace(bar, node="x" * 60 + bar.node) for bar in hostile.pictures.nodes)
    suspects = tuple(replace(hostile.nodes[0], node=EVIL, events=(EVIL,) * 9) for _ in range(99))
    for diagnosis in (hostile, replace(hostile, nodes=suspects, pictures=replace(hostile.pictures, nodes=long))):
        message = chart_message(diagnosis, EVIL)
        assert message is not None
        assert violations(message.arguments()) == []
        assert problems_of_message(list(message.blocks)) == ()
        assert json_size(message.blocks) < MAX_JSON
        assert len(message.blocks[1]["chart"]["axis_config"]["categories"]) <= MAX_BARS


def test_without_a_course_the_picture_shows_more() -> None:
    """Events over time are no chart of Slack's; one point is no course."""
    assert chart_message(with_numbers(()), "words") is None
    assert chart_message(with_numbers((1.0,)), "words") is None
