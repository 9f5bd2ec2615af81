"""Modals and home pages as Slack accepts them, and what a person's input must be like before it is sent."""

import json
import re
from collections.abc import Iterator
from typing import Any

from slacksim.blocks import problems_of_view_blocks
from slacksim.elements import plain
from slacksim.errors import Refused
from slacksim.schema import Check, boolean, problem, shape, string
from slacksim.values import Json

TITLE = 24  # docs.slack.dev/reference/views/modal-views: title, submit and close
PRIVATE_METADATA = 3000  # as above
VIEW_JSON = 250_000  # as above: view_too_large
TOO_SHORT = "Please enter at least {} characters."
TOO_LONG = "Please enter at most {} characters."
MISSING = "Please complete this required field."

_TYPE = string(255)  # as ID of elements.py: longer than any type's name


def _anything(_value: Any, _at: str) -> Iterator[str]:
    """Blocks are checked with limits of their own."""
    return iter(())


_COMMON: dict[str, Check] = {
    "private_metadata": string(PRIVATE_METADATA, 0),
    "callback_id": string(255, 0),
    "external_id": string(255, 0),
    "clear_on_close": boolean,
    "notify_on_close": boolean,
    "submit_disabled": boolean,
}
_MODAL = shape(
    {"type": _TYPE, "title": plain(TITLE), "blocks": _anything},
    {"submit": plain(TITLE), "close": plain(TITLE), **_COMMON},
)
_HOME = shape({"type": _TYPE, "blocks": _anything}, _COMMON)


def accepted_view(view: Any, *kinds: str) -> Json:
    """A view that was checked.

    Raises:
        Refused: invalid_arguments with a line for each problem, or view_too_large.
    """
    if not isinstance(view, dict) or view.get("type") not in kinds:
        raise Refused.for_problems("invalid_arguments", (problem(f"must be a view of type {kinds[0]}", "/view"),))
    found = [*(_MODAL if view["type"] == "modal" else _HOME)(view, "/view")]
    found += problems_of_view_blocks(view.get("blocks"))
    if not found and view["type"] == "modal" and "submit" not in view and inputs_of(view["blocks"]):
        found.append(problem("missing required field: submit; a modal with inputs needs it", "/view"))
    if found:
        raise Refused.for_problems("invalid_arguments", tuple(found))
    if len(json.dumps(view)) > VIEW_JSON:
        raise Refused("view_too_large")
    return view


def inputs(view: Json) -> dict[str, Json]:
    """The input blocks of a view by their ids."""
    return {block["block_id"]: block for block in inputs_of(view["blocks"])}


def inputs_of(blocks: list[Json]) -> list[Json]:
    """The input blocks among others."""
    return [block for block in blocks if block["type"] == "input"]


def complaint(block: Json, value: Any) -> str:
    """What Slack itself says about a value before it is sent to the app; empty when it is fine."""
    element = block["element"]
    if value is None or value in ("", []):
        return "" if block.get("optional") else MISSING
    if isinstance(value, str) and len(value) < element.get("min_length", 0):
        return TOO_SHORT.format(element["min_length"])
    if isinstance(value, str) and len(value) > element.get("max_length", 3000):
        return TOO_LONG.format(element.get("max_length", 3000))
    if element["type"] == "number_input" and not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", str(value)):
        return "Please enter a number."
    return ""
