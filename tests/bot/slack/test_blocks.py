"""Builders keep Slack's limits and leave out what is empty."""

import json

import pytest

from bot.slack import blocks
from bot.slack.budget import Part, fit
from slacksim.blocks import problems_of_message

LONG = "x" * 9_000


@pytest.mark.parametrize(
    "made",
    [
        blocks.headline(""), blocks.headline(" \n"), blocks.section(), blocks.section("", " "), blocks.context(""),
        blocks.actions(None), blocks.actions(blocks.menu("Pick", "a", [])), blocks.preformatted([]),
        blocks.field("f", "Pick", blocks.boxes("a", [])),
    ],
)  # fmt: skip
def test_what_is_empty_is_left_out(made: blocks.Blocks) -> None:
    """One empty text would make Slack refuse the whole message."""
    assert made == ()


def test_what_is_long_is_cut() -> None:
    """Text of any length gives blocks that Slack takes."""
    made = (
        *blocks.headline(LONG),
        *blocks.section(LONG, accessory=blocks.button(LONG, "a", "v", spoken=LONG)),
        *blocks.context(*([LONG] * 20)),
        *blocks.actions(blocks.menu(LONG, "m", [(LONG, f"{n}") for n in range(300)])),
        *blocks.preformatted([LONG, "", LONG]),
    )

    assert problems_of_message(list(made)) == ()


def test_raw_lines_are_never_lost_between_blocks() -> None:
    """Lines that do not fit into one block stand in the next, in their order."""
    lines = [f"{number} {'y' * 400}" for number in range(40)]

    made = blocks.preformatted(lines)

    shown = "\n".join(block["elements"][0]["elements"][0]["text"] for block in made)
    assert shown.split("\n") == lines
    assert len(made) > 1


def test_the_budget_drops_the_least_telling_and_counts_it() -> None:
    """What is worth least goes first, of equals the last; the number of each kind is told."""
    parts = [Part(blocks.section(f"{worth} {'z' * 500}"), worth, "event") for worth in (9, 5, 9, 5, 100)]

    fitted = fit(parts, characters=2_400)

    assert [part.worth for part in fitted.parts] == [9, 9, 100]
    assert fitted.dropped == {"event": 2}


def test_the_budget_limits_blocks_and_kinds() -> None:
    """A message has at most fifty blocks, and of some kinds fewer."""
    many = [Part(blocks.section("a"), 1, "event") for _ in range(80)]

    assert len(fit(many).parts) <= blocks.MAX_BLOCKS
    assert fit(many, most={"event": 4}).dropped == {"event": 76}


def test_refused_blocks_become_text() -> None:
    """When Slack refuses the blocks, all that a person could read is sent as plain text, escaped and cut."""
    message = blocks.Message(
        "f07: told",
        (*blocks.headline("f07: <!channel>"), *blocks.section("*Check*"), *blocks.preformatted(["``` <x>"])),
    )

    assert blocks.without_blocks(message) == "f07: `&lt;!channel&gt;`\n*Check*\n```''' &lt;x&gt;```"
    assert len(blocks.without_blocks(blocks.Message("t", blocks.section(LONG) * 9))) <= blocks.MAX_TEXT


def test_posting_asks_for_no_previews() -> None:
    """Nothing that a log line links to is fetched or shown by Slack."""
    sent = blocks.Message("t", blocks.section("s")).to_post()

    assert (sent["unfurl_links"], sent["unfurl_media"], sent["link_names"], sent["parse"]) == (
        False,
        False,
        False,
        "none",
    )
    assert json.dumps(sent)
