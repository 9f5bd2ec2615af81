"""Block Kit as Slack accepts it: blocks one by one, and the limits that hold for a whole message."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from slacksim.elements import (
    ID,
    IN_ACTIONS,
    IN_CONTEXT,
    IN_CONTEXT_ACTIONS,
    IN_INPUT,
    IN_RICH_TEXT,
    IN_SECTION,
    SLACK_FILE,
    URL,
    plain,
    text,
)
from slacksim.errors import Refused
from slacksim.schema import Check, any_of, boolean, choice, different, items, problem, shape, string, typed, whole
from slacksim.values import Json

BLOCKS_OF_MESSAGE, BLOCKS_OF_VIEW = 50, 100  # docs.slack.dev/reference/block-kit/blocks
SECTION_TEXT, SECTION_FIELDS, FIELD_TEXT = 3000, 10, 2000  # .../blocks/section-block
HEADER_TEXT, CONTEXT_ELEMENTS, ACTION_ELEMENTS = 150, 10, 25  # .../blocks/header-block, context-block, actions-block
MARKDOWN_TEXT = 12_000  # .../blocks/markdown-block: of all such blocks of a message together
DATA_ROWS, DATA_PAGE = 101, 100  # .../blocks/data-table-block, the head among them; rows of a page
CHARTS_OF_MESSAGE, CHART_TITLE = 2, 50  # .../blocks/data-visualization-block
SERIES, SEGMENTS, POINTS, POINT_LABEL, AXIS_LABEL = 6, 6, 20, 20, 50  # as above
TABLE_ROWS, TABLE_COLUMNS, TABLE_TEXT = 100, 20, 10_000  # .../blocks/table-block; the text of the whole table
MESSAGE_JSON = (
    13_000  # undocumented msg_blocks_too_long: 13,200 to 13,300 in slackapi/bolt-js issue 2509, and some room
)
LABEL = 2000  # .../blocks/input-block

NewId = Callable[[str], str]

_TYPE = string(255)  # as ID of elements.py: longer than any type's name


def _number(value: Any, at: str) -> Iterator[str]:
    if not isinstance(value, int | float) or isinstance(value, bool):
        yield problem("must provide a number", at)


_CELL = typed(
    {
        "raw_text": shape({"type": _TYPE, "text": string(TABLE_TEXT)}),
        "raw_number": shape({"type": _TYPE, "value": _number}, {"text": string(255)}),
        "rich_text": shape({"type": _TYPE, "elements": items(IN_RICH_TEXT, 100)}, {"block_id": ID}),
    }
)
_COLUMN = shape({}, {"align": choice("left", "center", "right"), "is_wrapped": boolean})
_IMAGE_OF_BLOCK: dict[str, Check] = {"image_url": string(URL), "slack_file": SLACK_FILE, "title": plain(2000)}


def _block(must: dict[str, Check], may: dict[str, Check] | None = None, *rules: Check) -> Check:
    return shape({"type": _TYPE, **must}, {"block_id": ID, **(may or {})}, *rules)


def _rows_are_even(value: Any, at: str) -> Iterator[str]:
    rows = [row for row in value.get("rows") or () if isinstance(row, list)]
    if len({len(row) for row in rows}) > 1:
        yield problem("all rows must have the same number of cells", f"{at}/rows")
    if sum(len(cell.get("text") or "") for row in rows for cell in row if isinstance(cell, dict)) > TABLE_TEXT:
        yield problem(f"a table must be less than {TABLE_TEXT + 1} characters", f"{at}/rows")


def _head_is_plain(value: Any, at: str) -> Iterator[str]:
    if any(cell["type"] == "rich_text" for cell in value["rows"][0]):
        yield problem("rich_text is not allowed in the header row", f"{at}/rows/0")


_POINT = shape({"label": string(POINT_LABEL), "value": _number})
_SERIES = shape({"name": string(POINT_LABEL), "data": items(_POINT, POINTS)})
_AXES = shape(
    {"categories": items(string(POINT_LABEL), POINTS)}, {"x_label": string(AXIS_LABEL), "y_label": string(AXIS_LABEL)}
)


def _labels_are_categories(value: Any, at: str) -> Iterator[str]:
    categories = value["axis_config"]["categories"]
    if len(set(categories)) != len(categories):
        yield problem("categories must be unique", f"{at}/axis_config/categories")
    for number, series in enumerate(value["series"]):
        if [point["label"] for point in series["data"]] != categories:
            yield problem("labels must match the categories", f"{at}/series/{number}/data")


def _plotted() -> Check:
    must: dict[str, Check] = {"type": _TYPE, "series": items(_SERIES, SERIES), "axis_config": _AXES}
    return shape(must, {}, _labels_are_categories)


_CHART = typed(
    {
        "pie": shape({"type": _TYPE, "segments": items(_POINT, SEGMENTS)}),
        **{kind: _plotted() for kind in ("bar", "area", "line")},
    }
)


def _action_ids_differ(value: Any, at: str) -> Iterator[str]:
    return different("action_id", what="action_id")(value.get("elements"), f"{at}/elements")


IN_MESSAGES_AND_VIEWS: dict[str, Check] = {
    "actions": _block({"elements": items(IN_ACTIONS, ACTION_ELEMENTS)}, {}, _action_ids_differ),
    "context": _block({"elements": items(IN_CONTEXT, CONTEXT_ELEMENTS)}),
    "divider": _block({}),
    "header": _block({"text": plain(HEADER_TEXT)}),
    "image": _block({"alt_text": string(2000)}, _IMAGE_OF_BLOCK, any_of("image_url", "slack_file")),
    "input": _block(
        {"label": plain(LABEL), "element": IN_INPUT},
        {"hint": plain(LABEL), "optional": boolean, "dispatch_action": boolean},
    ),
    "rich_text": _block({"elements": items(IN_RICH_TEXT, 100)}),
    "section": _block(
        {},
        {
            "text": text(SECTION_TEXT),
            "fields": items(text(FIELD_TEXT), SECTION_FIELDS),
            "accessory": IN_SECTION,
            "expand": boolean,
        },
        any_of("text", "fields"),
    ),
}
IN_MESSAGES: dict[str, Check] = {
    **IN_MESSAGES_AND_VIEWS,
    "context_actions": _block({"elements": items(IN_CONTEXT_ACTIONS, 5)}),
    "markdown": _block({"text": string(MARKDOWN_TEXT)}),
    "table": _block(
        {"rows": items(items(_CELL, TABLE_COLUMNS), TABLE_ROWS)},
        {"column_settings": items(_COLUMN, TABLE_COLUMNS)},
        _rows_are_even,
    ),
    "data_table": _block(
        {"rows": items(items(_CELL, TABLE_COLUMNS), DATA_ROWS, 2), "caption": string(TABLE_TEXT)},
        {"page_size": whole(1, DATA_PAGE), "row_header_column_index": whole(0, TABLE_COLUMNS - 1)},
        _rows_are_even,
        _head_is_plain,
    ),
    "data_visualization": _block({"title": string(CHART_TITLE), "chart": _CHART}),
    "file": _block({"external_id": ID, "source": choice("remote")}),
}
_MESSAGE_BLOCKS = items(typed(IN_MESSAGES), BLOCKS_OF_MESSAGE, 0)
_VIEW_BLOCKS = items(typed(IN_MESSAGES_AND_VIEWS), BLOCKS_OF_VIEW, 0)
_IDS_DIFFER = different("block_id", what="block_id")


def problems_of_message(blocks: Any, *, lacking: Sequence[str] = ()) -> tuple[str, ...]:
    """What Slack would say about the blocks of a message; nothing when it takes them.

    Args:
        lacking: types of blocks that came to Slack, and that a workspace does not have yet.
    """
    found = [*_MESSAGE_BLOCKS(blocks, "/blocks"), *_IDS_DIFFER(blocks, "/blocks")]
    shown = [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
    kinds = [block.get("type") for block in shown]
    found += [problem(f"unsupported type: {kind}", f"/blocks/{at}") for at, kind in enumerate(kinds) if kind in lacking]
    if kinds.count("table") > 1:
        found.append(problem("only_one_table_allowed", "/blocks"))
    if kinds.count("data_visualization") > CHARTS_OF_MESSAGE:
        found.append(problem(f"no more than {CHARTS_OF_MESSAGE} data_visualization blocks allowed", "/blocks"))
    markdown = sum(len(str(block.get("text"))) for block in shown if block.get("type") == "markdown")
    if markdown > MARKDOWN_TEXT:
        found.append(problem(f"markdown blocks must be less than {MARKDOWN_TEXT + 1} characters", "/blocks"))
    return tuple(found)


def problems_of_view_blocks(blocks: Any) -> tuple[str, ...]:
    """What Slack would say about the blocks of a modal or a home page."""
    return (*_VIEW_BLOCKS(blocks, "/view/blocks"), *_IDS_DIFFER(blocks, "/view/blocks"))


def accepted(blocks: Any, new_id: NewId, *, lacking: Sequence[str] = ()) -> tuple[Json, ...]:
    """The blocks of a message as they are stored: checked, and every block with an id; lacking: as above.

    Raises:
        Refused: invalid_blocks or msg_blocks_too_long.
    """
    if found := problems_of_message(blocks, lacking=lacking):
        raise Refused.for_problems("invalid_blocks", found)
    if len(json.dumps(blocks, ensure_ascii=False, separators=(",", ":"))) > MESSAGE_JSON:
        raise Refused("msg_blocks_too_long")
    return with_ids(blocks, new_id)


def with_ids(blocks: Sequence[Json], new_id: NewId) -> tuple[Json, ...]:
    """Every block with a block_id, every element that can be clicked with an action_id, as Slack adds them."""
    return tuple(_named({"block_id": new_id("b"), **block}, new_id) for block in blocks)


def _named(block: Json, new_id: NewId) -> Json:
    for place in ("element", "accessory"):
        if place in block and block[place]["type"] != "image":
            block[place] = {"action_id": new_id("a"), **block[place]}
    if block["type"] in ("actions", "context_actions"):
        block["elements"] = [{"action_id": new_id("a"), **element} for element in block["elements"]]
    return block
