"""Block Kit: what Slack takes and what it refuses, limit by limit."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slacksim.blocks import accepted, problems_of_message
from slacksim.errors import Refused
from slacksim.view_rules import accepted_view
from tests.support import toy_bot

Json = dict[str, Any]


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def section(text: Any = "x", **more: Any) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


def actions(*elements: Json) -> Json:
    return {"type": "actions", "elements": list(elements)}


def button(text: str = "Go", **more: Any) -> Json:
    return {"type": "button", "action_id": "go", "text": plain(text), **more}


def options(number: int) -> list[Json]:
    return [{"text": plain(f"o{n}"), "value": f"v{n}"} for n in range(number)]


def table(rows: int = 1, columns: int = 1, text: str = "x") -> Json:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": text}] * columns] * rows}


def fields(number: int, text: str = "x") -> Json:
    return {"type": "section", "fields": [{"type": "mrkdwn", "text": text}] * number}


def context(number: int) -> Json:
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": "x"}] * number}


def select(**more: Any) -> Json:
    return {"type": "static_select", "action_id": "s", **more}


def view(**more: Any) -> Json:
    return {"type": "modal", "title": plain("T"), "blocks": [section()], **more}


def text_input(**more: Any) -> Json:
    element = {"type": "plain_text_input", "action_id": "v", **more}
    return {"type": "input", "block_id": "b", "label": plain("L"), "element": element}


GOOD = [
    [section("x" * 3000)],
    [fields(10, "x" * 2000)],
    [{"type": "header", "text": plain("x" * 150)}],
    [context(10)],
    [actions(*[button(action_id=f"a{n}") for n in range(25)])],
    [actions(button("x" * 75, value="x" * 2000, style="danger"))],
    [actions({"type": "overflow", "action_id": "o", "options": options(5)})],
    [actions(select(options=options(100)))],
    [table(100, 20)],
    [{"type": "markdown", "text": "x" * 12_000}],
    [{"type": "divider"}] * 50,
    [{"type": "image", "image_url": "https://example.com/x.png", "alt_text": "a plot"}],
    [{"type": "image", "slack_file": {"id": "F1"}, "alt_text": "a plot"}],
    [section(accessory=button())],
    [],
]
BAD = [
    ([section("")], "must be more than 0 characters", "/blocks/0/text/text"),
    ([section(None)], "must provide a string", "/blocks/0/text/text"),
    ([{"type": "section", "text": None}], "must provide an object", "/blocks/0/text"),
    ([section("x" * 3001)], "must be less than 3001 characters", "/blocks/0/text/text"),
    ([{"type": "section"}], "missing required field: text or fields", "/blocks/0"),
    ([fields(11)], "no more than 10 items allowed", "/blocks/0/fields"),
    ([fields(1, "x" * 2001)], "must be less than 2001 characters", "/blocks/0/fields/0/text"),
    ([{"type": "header", "text": plain("x" * 151)}], "must be less than 151 characters", "/blocks/0/text/text"),
    ([{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}], "unsupported type: mrkdwn", "/blocks/0/text/type"),
    ([context(11)], "no more than 10 items allowed", "/blocks/0/elements"),
    ([context(0)], "no fewer than 1 items allowed", "/blocks/0/elements"),
    ([actions(*[button(action_id=f"a{n}") for n in range(26)])], "no more than 25", "/blocks/0/elements"),
    ([actions(button(), button())], "`action_id` go already exists", "/blocks/0/elements/1"),
    ([actions(button("x" * 76))], "must be less than 76 characters", "/blocks/0/elements/0/text/text"),
    ([actions(button(value="x" * 2001))], "must be less than 2001", "/blocks/0/elements/0/value"),
    ([actions(button(value=""))], "must be more than 0", "/blocks/0/elements/0/value"),
    ([actions(button(style="green"))], "must be one of", "/blocks/0/elements/0/style"),
    ([actions(button(colour="green"))], "invalid additional property: colour", "/blocks/0/elements/0"),
    ([actions({"type": "overflow", "action_id": "o", "options": options(6)})], "no more than 5", "/elements/0/options"),
    ([actions(select())], "missing required field: options or option_groups", "/blocks/0/elements/0"),
    ([actions(select(options=options(2), initial_option=options(3)[2]))], "exactly one of", "/blocks/0/elements/0"),
    ([actions(select(options=options(1) * 2))], "`value` v0 already exists", "/elements/0/options/1"),
    ([table(101)], "no more than 100 items allowed", "/blocks/0/rows"),
    ([table(1, 21)], "no more than 20 items allowed", "/blocks/0/rows/0"),
    ([table(text="")], "must be more than 0 characters", "/blocks/0/rows/0/0/text"),
    ([table(6, 1, "x" * 2000)], "a table must be less than 10001 characters", "/blocks/0/rows"),
    ([{"type": "table", "rows": [*table()["rows"], *table(1, 2)["rows"]]}], "same number of cells", "/blocks/0/rows"),
    ([table(), table()], "only_one_table_allowed", "/blocks"),
    ([{"type": "markdown", "text": "x" * 7000}] * 2, "must be less than 12001", "/blocks"),
    ([{"type": "divider"}] * 51, "no more than 50 items allowed", "/blocks"),
    ([section(block_id="b"), section(block_id="b")], "`block_id` b already exists", "/blocks/1"),
    ([{"type": "image", "image_url": "https://example.com/x.png"}], "missing required field: alt_text", "/blocks/0"),
    ([{"type": "image", "alt_text": "x"}], "missing required field: image_url or slack_file", "/blocks/0"),
    ([{"type": "marquee"}], "unsupported type: marquee", "/blocks/0/type"),
    ([{"text": "x"}], "missing required field: type", "/blocks/0"),
    (["text"], "must provide an object", "/blocks/0"),
    ({"type": "divider"}, "must provide an array", "/blocks"),
]


@pytest.mark.parametrize("blocks", [*GOOD, toy_bot.progress("f02"), toy_bot.answer("f02", "U0ALICE")])
def test_blocks_at_their_limits_are_taken(blocks: list[Json]) -> None:
    """What Slack takes is not refused, up to the last character."""
    assert problems_of_message(blocks) == ()


@pytest.mark.parametrize(("blocks", "words", "place"), BAD)
def test_blocks_beyond_their_limits_are_refused(blocks: Any, words: str, place: str) -> None:
    """What Slack refuses is refused, in its words and with the place of the mistake."""
    found = problems_of_message(blocks)

    assert any(words in problem and f"{place}]" in problem for problem in found), found


@pytest.mark.parametrize(
    "good",
    [
        view(),
        view(blocks=[{"type": "divider"}] * 100),
        view(title=plain("x" * 24), close=plain("x" * 24), submit=plain("x" * 24)),
        view(private_metadata="x" * 3000),
        view(blocks=[text_input(max_length=3000)], submit=plain("Go")),
        toy_bot.modal("[]"),
    ],
)
def test_views_at_their_limits_are_taken(good: Json) -> None:
    """A modal may be as large as Slack allows."""
    assert accepted_view(good, "modal") == good


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (view(blocks=[{"type": "divider"}] * 101), "no more than 100 items allowed"),
        (view(title=plain("x" * 25)), "must be less than 25 characters [json-pointer:/view/title/text]"),
        (view(submit=plain("x" * 25)), "must be less than 25 characters [json-pointer:/view/submit/text]"),
        (view(close=plain("x" * 25)), "must be less than 25 characters [json-pointer:/view/close/text]"),
        (view(title=plain("")), "must be more than 0 characters"),
        (view(private_metadata="x" * 3001), "must be less than 3001 characters"),
        (view(blocks=[text_input()]), "missing required field: submit"),
        (view(blocks=[table()]), "unsupported type: table"),
        (view(blocks=[{"type": "markdown", "text": "x"}]), "unsupported type: markdown"),
        (view(blocks=[section("")]), "[json-pointer:/view/blocks/0/text/text]"),
        ({"type": "home", "blocks": []}, "must be a view of type modal"),
        (None, "must be a view of type modal"),
    ],
)
def test_views_beyond_their_limits_are_refused(bad: Any, words: str) -> None:
    """A modal that Slack would refuse is refused, with the reason in the metadata of the answer."""
    with pytest.raises(Refused) as refused:
        accepted_view(bad, "modal")

    assert refused.value.code == "invalid_arguments"
    assert any(words in line for line in refused.value.answer()["response_metadata"]["messages"])


NAMES = st.sampled_from(
    ["type", "text", "elements", "element", "fields", "rows", "options", "option_groups", "initial_option", "accessory"]
)
WORDS = st.sampled_from(["section", "actions", "input", "table", "static_select", "rich_text", "plain_text", "button"])
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(ANY_JSON, max_size=3) | ANY_JSON)
def test_no_json_breaks_the_check(blocks: Any) -> None:
    """Whatever a bot sends is either taken and stored, or refused with reasons."""
    found = problems_of_message(blocks)

    if found:
        assert all("[json-pointer:/blocks" in line for line in found)
        with pytest.raises(Refused):
            accepted(blocks, lambda prefix: prefix)
    else:
        assert len(accepted(blocks, lambda prefix: prefix)) == len(blocks)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(["type", "title", "blocks", "submit"]), ANY_JSON) | ANY_JSON)
def test_no_json_breaks_the_check_of_views(content: Any) -> None:
    """A view is refused or taken, never a broken server."""
    try:
        taken = accepted_view(content, "modal", "home")
    except Refused as refused:
        assert refused.code == "invalid_arguments"  # noqa: PT017 - either outcome is right, and each has its check
    else:
        assert taken["type"] in ("modal", "home")
