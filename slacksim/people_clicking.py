"""What people click: buttons and menus in messages and modals, Submit and Cancel."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from slacksim import modals
from slacksim.errors import LocalSlackError, Refused
from slacksim.people_acting import Outcome, People
from slacksim.slack_json import message_json, view_json
from slacksim.values import Json, View
from slacksim.view_rules import complaint, inputs
from slacksim.workspace import Member

TROUBLE = "We had some trouble connecting. Try again?"  # what Slack shows when a submission is not acknowledged


class Clicks:
    """Every click; the acting person is named by name or id."""

    def __init__(self, people: People) -> None:
        self._people = people
        self._team = people.team

    async def in_message(self, user: str, channel: str, ts: str, action: str, value: Any = None) -> Outcome:
        """A button (by its action_id or text) or a choice of a menu (by the option's value or text)."""
        people, team = self._people, self._team
        author, message = people.member(user), people.message(channel, ts)
        if message.only_for not in (None, author.id):
            raise LocalSlackError(f"{author.name} does not see this message.")
        payload = self._action(author, message.blocks, action, value)
        container: Json = {"type": "message", "message_ts": ts, "channel_id": message.channel}
        container |= {"is_ephemeral": bool(message.only_for)}
        if message.thread_ts:
            container["thread_ts"] = message.thread_ts
        payload |= {"container": container, "channel": people.named(people.place(channel))}
        payload["response_url"] = team.response_urls.issue(message.channel, author.id, ts=ts)
        payload["state"] = {"values": _state_of(message.blocks, {})}
        if not message.only_for:  # an ephemeral message is not sent along
            payload["message"] = message_json(team.state, message)
        return await self._told(author, message.channel, payload)

    async def in_modal(self, user: str, action: str, value: Any = None, values: Json | None = None) -> Outcome:
        """A button or menu inside the modal on top; ``values`` is what was entered before, by block_id."""
        author = self._people.member(user)
        view = self._top(author)
        payload = self._action(author, view.blocks, action, value, view)
        view = modals.keep_values(self._team.state, view, _state_of(view.blocks, values or {}))
        shown = view_json(self._team.state, view)
        return await self._told(
            author, "", payload | {"container": {"type": "view", "view_id": view.id}, "view": shown}
        )

    async def in_home(self, user: str, action: str, value: Any = None) -> Outcome:
        """A button or menu of the app's page; of buttons with one action_id that of this text or value."""
        author = self._people.member(user)
        view = self._team.state.homes.get(author.id)
        if view is None:
            raise LocalSlackError(f"{author.name} sees no page of the app.")
        payload = self._action(author, view.blocks, action, value)
        shown = view_json(self._team.state, view)
        return await self._told(
            author, "", payload | {"container": {"type": "view", "view_id": view.id}, "view": shown}
        )

    async def submit(self, user: str, values: Json | None = None) -> Outcome:
        """Submit the modal on top with values by block_id (or label); what is not named keeps its initial value."""
        author = self._people.member(user)
        view = self._top(author)
        entered = _all_values(view, values or {})
        wrong = {b: words for b, block in inputs(view.content).items() if (words := complaint(block, entered[b]))}
        view = modals.keep_values(self._team.state, view, _state_of(view.blocks, entered))
        if wrong:  # Slack checks these itself, before the app hears of it
            modals.show_errors(self._team.state, view, wrong)
            return Outcome(acknowledged=False, reason="incomplete", errors=wrong)
        payload = self._people.interaction("view_submission", author)
        payload |= {"view": view_json(self._team.state, view), "response_urls": []}
        payload["trigger_id"] = self._team.triggers.issue(author.id, view.id)
        outcome = await self._people.hand_over("interactive", payload)
        if not outcome.acknowledged:
            modals.show_errors(self._team.state, view, {}, TROUBLE)
            return outcome
        return self._answered(view, outcome)

    async def cancel(self, user: str) -> Outcome:
        """Close the modal; the bot asks for no word of that."""
        modals.close_view(self._team.state, self._top(self._people.member(user)))
        return Outcome(acknowledged=True)

    def _top(self, author: Member) -> View:
        view = modals.open_of(self._team.state, author.id)
        if view is None:
            raise LocalSlackError(f"{author.name} has no modal open.")
        return view

    def _action(
        self, author: Member, blocks: Sequence[Json], action: str, value: Any, view: View | None = None
    ) -> Json:
        block, element = _find(blocks, action, value)
        done = {"type": element["type"], "action_id": element["action_id"], "block_id": block["block_id"]}
        done |= {"action_ts": self._team.state.new_ts()} | _chosen(element, value)
        trigger = self._team.triggers.issue(author.id, view.id if view else None)
        return self._people.interaction("block_actions", author) | {"trigger_id": trigger, "actions": [done]}

    async def _told(self, author: Member, channel: str, payload: Json) -> Outcome:
        outcome = await self._people.hand_over("interactive", payload)
        if not outcome.acknowledged and channel:
            words = f"This button did not work: the app did not respond ({outcome.reason})."
            self._people.whisper(author.id, channel, words)
        return outcome

    def _answered(self, view: View, outcome: Outcome) -> Outcome:
        """Do what the app's answer to a submission says; one that Slack would refuse is trouble for the person."""
        state, answer = self._team.state, outcome.answer or {}
        current = state.views.get(view.id, view)
        try:
            match answer.get("response_action"):
                case None:
                    modals.close_view(state, current)
                case "update":
                    modals.update_view(state, current, answer.get("view"))
                case "errors" if _fit(answer.get("errors"), view):
                    modals.show_errors(state, current, answer["errors"])
                    return replace(outcome, errors=answer["errors"])
                case _:
                    raise Refused("invalid_response")
        except Refused as error:
            modals.show_errors(state, current, {}, TROUBLE)
            return replace(outcome, reason=error.code)
        return outcome


def _elements(blocks: Sequence[Json]) -> Iterator[tuple[Json, Json]]:
    for block in blocks:
        found = [block[place] for place in ("accessory", "element") if place in block]
        if block["type"] in ("actions", "context_actions"):
            found += block["elements"]
        yield from ((block, element) for element in found if "action_id" in element)


def _find(blocks: Sequence[Json], action: str, value: Any = None) -> tuple[Json, Json]:
    """By action_id, of several that of this value; or by text."""
    found = list(_elements(blocks))
    named = [(block, element) for block, element in found if element["action_id"] == action]
    if named and not (value is not None and named[0][1]["type"] == "button"):
        return named[0]
    for block, element in named:
        if element.get("value") == value:
            return block, element
    for block, element in found:
        if element.get("text", {}).get("text") == action:
            return block, element
    there = ", ".join(e["action_id"] + (f" ({e['text']['text']})" if "text" in e else "") for _, e in found)
    raise LocalSlackError(f"There is nothing to click named {action}.", f"There is {there or 'nothing at all'}.")


def _chosen(element: Json, value: Any) -> Json:
    """What an action says: a button's value, a menu's option."""
    kind = element["type"]
    if kind == "button":
        return {name: element[name] for name in ("text", "value", "style") if name in element}
    if kind == "feedback_buttons":
        return {"value": element["negative_button" if value == "negative" else "positive_button"]["value"]}
    if kind == "icon_button":
        return {"value": element.get("value")}
    known = {option["text"]["text"]: option["value"] for option in modals.all_options(element)}
    wanted = known.get(value, value) if isinstance(value, str) else value
    if known and isinstance(wanted, str) and wanted not in known.values():
        raise LocalSlackError(f"There is no choice {value}.", f"There are {', '.join(known)}.")
    if kind == "overflow":
        return {"selected_option": next(option for option in element["options"] if option["value"] == wanted)}
    return {name: chosen for name, chosen in modals.entered(element, wanted).items() if name != "type"}


def _state_of(blocks: Sequence[Json], values: Json) -> Json:
    """``state.values``: every input, by block and action."""
    found: Json = {}
    for block, element in _elements(blocks):
        if element["type"] in ("button", "overflow", "feedback_buttons", "icon_button"):
            continue
        value = values.get(block["block_id"], modals.initial(element))
        found.setdefault(block["block_id"], {})[element["action_id"]] = modals.entered(element, value)
    return found


def _all_values(view: View, values: Json) -> Json:
    """A value for every input: the given one, by block_id or label, or the initial one."""
    blocks = inputs(view.content)
    labels = {block["label"]["text"]: name for name, block in blocks.items()}
    given = {labels.get(name, name): value for name, value in values.items()}
    if unknown := [name for name in given if name not in blocks]:
        raise LocalSlackError(f"There is no input {unknown[0]}.", f"There are {', '.join(blocks)}.")
    return {name: given.get(name, modals.initial(block["element"])) for name, block in blocks.items()}


def _fit(errors: Any, view: View) -> bool:
    """Errors must name inputs of the view, or Slack does not show them."""
    return isinstance(errors, dict) and bool(errors) and set(errors) <= set(inputs(view.content))
