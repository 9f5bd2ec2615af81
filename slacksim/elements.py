"""What stands inside blocks: texts, buttons, selects and inputs, with the limits of Slack's Block Kit reference."""

from collections.abc import Iterator
from typing import Any

from slacksim.schema import (
    Check,
    Shape,
    any_of,
    boolean,
    both,
    choice,
    different,
    items,
    problem,
    shape,
    string,
    typed,
    whole,
)

# Every number below is from the reference pages of Block Kit (docs.slack.dev/reference/block-kit).
ID = string(255)
BUTTON_TEXT, BUTTON_VALUE, URL = 75, 2000, 3000  # .../block-elements/button-element
# .../composition-objects/option-object, and placeholders of selects.
OPTION_TEXT, OPTION_VALUE, PLACEHOLDER = 75, 150, 150
# .../select-menu-element, option-group-object, overflow-menu-element, checkboxes-element.
OPTIONS_OF_SELECT, OPTIONS_OF_GROUP, OPTIONS_OF_OVERFLOW, OPTIONS_OF_BOXES = 100, 100, 5, 10
INPUT_TEXT = 3000  # .../block-elements/plain-text-input-element
_NEVER = string(1_000_000, 0)  # so many that no input reaches it: the page has no limit for it


def plain(most: int) -> Check:
    """Plain text only."""
    return typed({"plain_text": shape({"type": _NEVER, "text": string(most)}, {"emoji": boolean})})


def text(most: int) -> Check:
    """Plain text or mrkdwn."""
    return typed(
        {
            "plain_text": shape({"type": _NEVER, "text": string(most)}, {"emoji": boolean}),
            "mrkdwn": shape({"type": _NEVER, "text": string(most)}, {"verbatim": boolean}),
        }
    )


CONFIRM = shape(
    {"title": plain(100), "text": text(300), "confirm": plain(30), "deny": plain(30)},
    {"style": choice("primary", "danger")},
)


def _option(url: int = 0) -> Check:
    may = {"description": text(OPTION_TEXT)} | ({"url": string(url)} if url else {})
    return shape({"text": text(OPTION_TEXT), "value": string(OPTION_VALUE)}, may)


def options(most: int, least: int = 1, url: int = 0) -> Check:
    """Choices of a select, overflow menu, checkboxes or radio buttons; no value twice."""
    return both(items(_option(url), most, least), different("value", what="value"))


_OPTION_GROUP = shape({"label": plain(OPTION_TEXT), "options": options(OPTIONS_OF_GROUP)})


def _initial_is_an_option(value: Any, at: str) -> Iterator[str]:
    known = [option for group in value.get("option_groups") or () for option in group.get("options") or ()]
    known += value.get("options") or ()
    chosen = [value["initial_option"]] if "initial_option" in value else value.get("initial_options") or ()
    for option in chosen:
        if option not in known:
            yield problem("initial option must be exactly one of the options", at)


def _element(must: dict[str, Check], may: dict[str, Check], *rules: Check, inputs: bool = False) -> Shape:
    focus: dict[str, Check] = {"focus_on_load": boolean} if inputs else {}
    return shape({"type": _NEVER, **must}, {"action_id": ID, "confirm": CONFIRM, **focus, **may}, *rules)


def _select(must: dict[str, Check], may: dict[str, Check], *rules: Check) -> Shape:
    return _element(must, {"placeholder": plain(PLACEHOLDER), **may}, *rules, inputs=True)


def _typed_text(must: dict[str, Check] | None = None, may: dict[str, Check] | None = None) -> Shape:
    more: dict[str, Check] = {"dispatch_action_config": shape({}, {"trigger_actions_on": items(_NEVER, 2)})}
    may = {"initial_value": string(INPUT_TEXT, 0), "placeholder": plain(PLACEHOLDER), **more, **(may or {})}
    return _element(must or {}, may, inputs=True)


_OPTION_LISTS: dict[str, Check] = {
    "options": options(OPTIONS_OF_SELECT),
    "option_groups": items(_OPTION_GROUP, OPTIONS_OF_SELECT),
}
_BOXES = {"options": options(OPTIONS_OF_BOXES)}
_FEEDBACK = shape(
    {"text": plain(BUTTON_TEXT), "value": string(BUTTON_VALUE)}, {"accessibility_label": string(BUTTON_TEXT)}
)
SLACK_FILE = shape({}, {"id": ID, "url": string(URL)}, any_of("id", "url"))

IMAGE = shape(
    {"type": _NEVER, "alt_text": string(2000)},
    {"image_url": string(URL), "slack_file": SLACK_FILE},
    any_of("image_url", "slack_file"),
)
BUTTON = _element(
    {"text": plain(BUTTON_TEXT)},
    {
        "value": string(BUTTON_VALUE),
        "url": string(URL),
        "style": choice("primary", "danger"),
        "accessibility_label": string(BUTTON_TEXT),
    },
)
OVERFLOW = _element({"options": options(OPTIONS_OF_OVERFLOW, url=URL)}, {})
CHOOSERS: dict[str, Check] = {
    "static_select": _select(
        {}, {**_OPTION_LISTS, "initial_option": _option()}, any_of("options", "option_groups"), _initial_is_an_option
    ),
    "multi_static_select": _select(
        {},
        {**_OPTION_LISTS, "initial_options": options(OPTIONS_OF_SELECT), "max_selected_items": whole(1, 100)},
        any_of("options", "option_groups"),
        _initial_is_an_option,
    ),
    "users_select": _select({}, {"initial_user": ID}),
    "channels_select": _select({}, {"initial_channel": ID}),
    "conversations_select": _select({}, {"initial_conversation": ID, "default_to_current_conversation": boolean}),
    "checkboxes": _element(_BOXES, {"initial_options": options(OPTIONS_OF_BOXES)}, _initial_is_an_option, inputs=True),
    "radio_buttons": _element(_BOXES, {"initial_option": _option()}, _initial_is_an_option, inputs=True),
    "datepicker": _select({}, {"initial_date": string(10, 10)}),
    "timepicker": _select({}, {"initial_time": string(5, 5)}),
}
WRITERS: dict[str, Check] = {
    "plain_text_input": _typed_text(
        may={"multiline": boolean, "min_length": whole(0, INPUT_TEXT), "max_length": whole(1, INPUT_TEXT)}
    ),
    "number_input": _typed_text({"is_decimal_allowed": boolean}, {"min_value": string(64), "max_value": string(64)}),
    "email_text_input": _typed_text(),
    "url_text_input": _typed_text(),
}
IN_ACTIONS = typed({"button": BUTTON, "overflow": OVERFLOW, **CHOOSERS})
IN_SECTION = typed({"button": BUTTON, "overflow": OVERFLOW, "image": IMAGE, **CHOOSERS})
IN_INPUT = typed({**CHOOSERS, **WRITERS})
IN_CONTEXT = typed({"image": IMAGE, "plain_text": plain(3000), "mrkdwn": text(3000)})
IN_CONTEXT_ACTIONS = typed(
    {
        "feedback_buttons": shape(
            {"type": _NEVER, "positive_button": _FEEDBACK, "negative_button": _FEEDBACK}, {"action_id": ID}
        ),
        "icon_button": _element({"icon": choice("trash"), "text": plain(BUTTON_TEXT)}, {"value": string(BUTTON_VALUE)}),
    }
)

_STYLE = shape({}, dict.fromkeys(("bold", "italic", "strike", "code", "underline"), boolean))
_STYLED: dict[str, Check] = {"style": _STYLE}
_RICH_PIECE = typed(
    {
        "text": shape({"type": _NEVER, "text": string(INPUT_TEXT * 10)}, _STYLED),
        "link": shape({"type": _NEVER, "url": string(URL)}, {"text": string(URL), "unsafe": boolean, **_STYLED}),
        "user": shape({"type": _NEVER, "user_id": ID}, _STYLED),
        "usergroup": shape({"type": _NEVER, "usergroup_id": ID}, _STYLED),
        "channel": shape({"type": _NEVER, "channel_id": ID}, _STYLED),
        "emoji": shape({"type": _NEVER, "name": ID}, {"unicode": ID, **_STYLED}),
        "broadcast": shape({"type": _NEVER, "range": choice("here", "channel", "everyone")}, _STYLED),
    }
)
_PIECES = items(_RICH_PIECE, 1000, 0)
_BORDER: dict[str, Check] = {"border": whole(0, 1)}
_RICH_SECTION = shape({"type": _NEVER, "elements": _PIECES})
IN_RICH_TEXT = typed(
    {
        "rich_text_section": _RICH_SECTION,
        "rich_text_preformatted": shape({"type": _NEVER, "elements": _PIECES}, {**_BORDER, "language": ID}),
        "rich_text_quote": shape({"type": _NEVER, "elements": _PIECES}, _BORDER),
        "rich_text_list": shape(
            {
                "type": _NEVER,
                "style": choice("bullet", "ordered"),
                "elements": items(typed({"rich_text_section": _RICH_SECTION}), 1000, 0),
            },
            {**_BORDER, "indent": whole(0, 8), "offset": whole(0, 10_000)},
        ),
    }
)
