"""The one modal that a person has open (the bot stacks none): opened, updated, closed, and what was entered in it."""

from dataclasses import replace
from typing import Any

from slacksim.blocks import with_ids
from slacksim.errors import Refused
from slacksim.state import State
from slacksim.values import Json, View
from slacksim.view_rules import accepted_view

_INITIAL = {
    "initial_option": "selected_option",
    "initial_options": "selected_options",
    "initial_user": "selected_user",
    "initial_channel": "selected_channel",
    "initial_conversation": "selected_conversation",
    "initial_date": "selected_date",
    "initial_time": "selected_time",
    "initial_value": "value",
}
_CHOSEN = {
    "users_select": "selected_user",
    "channels_select": "selected_channel",
    "conversations_select": "selected_conversation",
    "datepicker": "selected_date",
    "timepicker": "selected_time",
}


def open_of(state: State, user: str) -> View | None:
    """The modal that a person has open."""
    return next((view for view in state.views.values() if view.user == user), None)


def open_view(state: State, user: str, content: Any) -> View:
    """A new one; whatever was open is gone."""
    checked = accepted_view(content, "modal")
    if before := open_of(state, user):
        state.views.pop(before.id)
    return _put(state, _new(state, user, checked))


def update_view(state: State, view: View, content: Any, known_hash: str | None = None) -> View:
    """Other content for an open modal; with a hash only if nobody was faster."""
    if known_hash and known_hash != view.hash:
        raise Refused("hash_conflict")
    checked = _with_ids(state, accepted_view(content, "modal"))
    values = {b: v for b, v in view.values.items() if any(block["block_id"] == b for block in checked["blocks"])}
    return _put(state, replace(view, content=checked, hash=_hash(state), errors={}, trouble="", values=values))


def publish_home(state: State, user: str, content: Any, known_hash: str | None = None) -> View:
    """The app's page for one person."""
    before = state.homes.get(user)
    if known_hash and before and known_hash != before.hash:
        raise Refused("hash_conflict")
    view = _new(state, user, accepted_view(content, "home"))
    state.homes[user] = view
    state.changed()
    return view


def find_view(state: State, args: Json) -> View:
    """The open modal that a call names by its id or the app's own id for it."""
    for view in state.views.values():
        if view.id == args.get("view_id") or (
            args.get("external_id") and view.content.get("external_id") == args["external_id"]
        ):
            return view
    raise Refused("not_found")


def close_view(state: State, view: View) -> None:
    """Nobody sees it any more."""
    state.views.pop(view.id, None)
    state.changed()


def show_errors(state: State, view: View, errors: dict[str, str], trouble: str = "") -> View:
    """Problems beside the inputs, or at the top of the modal."""
    return _put(state, replace(view, errors=errors, trouble=trouble))


def keep_values(state: State, view: View, values: Json) -> View:
    """What the person has entered."""
    return _put(state, replace(view, values=values))


def entered(element: Json, value: Any) -> Json:
    """The state of one input in the words of Slack; ``value`` is text, an option's value or a list of them."""
    kind = element["type"]
    if kind in ("static_select", "radio_buttons"):
        return {"type": kind, "selected_option": next((o for o in all_options(element) if o["value"] == value), None)}
    if kind in ("checkboxes", "multi_static_select"):
        chosen = [option for option in all_options(element) if option["value"] in (value or ())]
        return {"type": kind, "selected_options": chosen}
    return {"type": kind, _CHOSEN.get(kind, "value"): value}


def initial(element: Json) -> Any:
    """What stands in an input before the person touches it, as ``entered`` takes it."""
    for name in _INITIAL:
        if name in element:
            found = element[name]
            if name == "initial_options":
                return [option["value"] for option in found]
            return found["value"] if name == "initial_option" else found
    return [] if element["type"] in ("checkboxes", "multi_static_select") else None


def all_options(element: Json) -> list[Json]:
    """The options of a select, those in groups as well."""
    groups = element.get("option_groups") or ()
    return [*(element.get("options") or ()), *(option for group in groups for option in group["options"])]


def _new(state: State, user: str, content: Json) -> View:
    return View(state.new_id("V"), user, _hash(state), _with_ids(state, content))


def _with_ids(state: State, content: Json) -> Json:
    return {**content, "blocks": list(with_ids(content["blocks"], state.new_id))}


def _hash(state: State) -> str:
    return f"{int(state.clock())}.{state.new_id('h')}"


def _put(state: State, view: View) -> View:
    state.views[view.id] = view
    state.changed()
    return view
