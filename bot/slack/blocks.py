"""Block Kit by small builders that keep Slack's limits and leave out what is empty: one empty text spoils it all."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.slack.text import ELLIPSIS, NO_LINKS, clip, escape, literal, prose

Block = dict[str, Any]
Blocks = tuple[Block, ...]

# docs.slack.dev/reference/block-kit, except MAX_JSON.
MAX_BLOCKS, MAX_VIEW_BLOCKS = 50, 100
MAX_SECTION, MAX_CONTEXT, MAX_RICH = 3000, 10, 3000
MAX_BUTTON, MAX_OPTION, MAX_OPTIONS, MAX_BOXES = 75, 75, 100, 10
MAX_LABEL, MAX_TITLE, MAX_INPUT, MAX_PLACEHOLDER = 2000, 24, 3000, 150
MAX_JSON = 12_000  # Slack takes about 13,000 (msg_blocks_too_long); measured there, not documented
MAX_TEXT = 3_900  # chat.update refuses 4,000 (msg_too_long); the rest is room for a mark that it was cut
MAX_NOTIFICATION = 380  # a headline of 300 with its job; a phone shows less


@dataclass(frozen=True, slots=True)
class Message:
    """A message as chat.postMessage and chat.update take it; ``text`` is what a notification shows."""

    text: str
    blocks: Blocks

    def arguments(self) -> dict[str, Any]:
        """For chat.update, with the blocks as a list."""
        return {"text": self.text, "blocks": list(self.blocks)}

    def to_post(self) -> dict[str, Any]:
        """For chat.postMessage: without previews of what log lines link to."""
        return {**self.arguments(), **NO_LINKS}


def says(text: str, notice: str = "", *more: str) -> Message:
    """A message of a few lines; ``notice``: what a notification says of it, where that is less than the first."""
    return Message(notice or text, section(text, *more))


def headline(text: str) -> Blocks:
    """The first line: bold, and literal whatever it holds."""
    shown = literal(text, MAX_RICH)
    bold = {"type": "text", "text": shown, "style": {"bold": True}}
    return _rich({"type": "rich_text_section", "elements": [bold]}) if shown else ()


def section(*lines: str, accessory: Block | None = None, expand: bool = False) -> Blocks:
    """Lines of mrkdwn, with a button or menu beside them; ``expand`` where "see more" would hide the point."""
    text = clip("\n".join(line for line in lines if line.strip()), MAX_SECTION)
    if not text.strip():
        return ()
    block: Block = {"type": "section", "text": mrkdwn(text)}
    if expand:
        block["expand"] = True
    if accessory:
        block["accessory"] = accessory
    return (block,)


def context(*lines: str) -> Blocks:
    """A block of small grey lines."""
    elements = [mrkdwn(clip(line, MAX_SECTION)) for line in lines if line.strip()][:MAX_CONTEXT]
    return ({"type": "context", "elements": elements},) if elements else ()


def actions(*elements: Block | None) -> Blocks:
    """A row of buttons and menus."""
    shown = [element for element in elements if element]
    return ({"type": "actions", "elements": shown},) if shown else ()


def divider() -> Blocks:
    """A block that draws a line."""
    return ({"type": "divider"},)


def preformatted(lines: Iterable[str]) -> Blocks:
    """Lines of logs as they are, in as many blocks as they need; literal whatever they hold."""
    blocks: list[Block] = []
    page: list[str] = []
    for line in (*lines, None):
        if line is None or len("\n".join((*page, line))) > MAX_RICH:
            if page:
                text = {"type": "text", "text": "\n".join(page)}
                blocks += _rich({"type": "rich_text_preformatted", "elements": [text]})
            page = []
        if line is not None:
            page.append(literal_line(line))
    return tuple(blocks)


def literal_line(line: str) -> str:
    """A line that is never empty and never longer than a block."""
    return line[:MAX_RICH] or " "


def feedback(action: str, yes: str, no: str) -> Blocks:
    """A block with a thumb up and a thumb down."""
    thumbs = {
        "type": "feedback_buttons",
        "action_id": action,
        "positive_button": {"text": plain("Useful"), "value": yes, "accessibility_label": "This answer was useful"},
        "negative_button": {"text": plain("Not useful"), "value": no, "accessibility_label": "It was not useful"},
    }
    return ({"type": "context_actions", "elements": [thumbs]},)


def button(
    label: str, action: str, value: str, *, style: str = "", spoken: str = "", confirm: Block | None = None
) -> Block:
    """A button; ``spoken`` is what a screen reader says instead of the label; ``confirm``: what is asked first."""
    more = {"style": style, "accessibility_label": clip(spoken, MAX_BUTTON), "confirm": confirm}
    return {**_button(label, action), "value": value, **{name: found for name, found in more.items() if found}}


def link_button(label: str, action: str, address: str, *, spoken: str = "") -> Block:
    """A button that opens an address; Slack tells of the click as of any other, and nothing is done then."""
    more = {"accessibility_label": clip(spoken, MAX_BUTTON)} if spoken else {}
    return {**_button(label, action), "url": address, **more}


def _button(label: str, action: str) -> Block:
    return {"type": "button", "action_id": action, "text": plain(clip(label, MAX_BUTTON))}


def ask_first(title: str, text: str, yes: str, no: str) -> Block:
    """What is asked before a click counts; titles of 100 characters, 300 of text, 30 of each answer."""
    return {"title": plain(title), "text": plain(text), "confirm": plain(yes), "deny": plain(no)}


def menu(placeholder: str, action: str, options: Sequence[tuple[str, str]], *, chosen: str = "") -> Block | None:
    """A menu of (text, value); nothing when there is nothing to choose."""
    shown = [option(text, value) for text, value in options][:MAX_OPTIONS]
    if not shown:
        return None
    block: Block = {
        "type": "static_select",
        "action_id": action,
        "placeholder": plain(clip(placeholder, MAX_PLACEHOLDER)),
        "options": shown,
    }
    initial = [entry for entry in shown if entry["value"] == chosen]
    return block | {"initial_option": initial[0]} if initial else block


def boxes(action: str, options: Sequence[tuple[str, str]], *, ticked: Sequence[str] = ()) -> Block | None:
    """Checkboxes of (text, value); nothing when there is nothing to tick."""
    shown = [option(text, value) for text, value in options][:MAX_BOXES]
    if not shown:
        return None
    block: Block = {"type": "checkboxes", "action_id": action, "options": shown}
    initial = [entry for entry in shown if entry["value"] in ticked]
    return block | {"initial_options": initial} if initial else block


def writing(action: str, *, value: str = "", limit: int, multiline: bool = True, placeholder: str = "") -> Block:
    """A field to write in."""
    block: Block = {"type": "plain_text_input", "action_id": action, "max_length": limit, "multiline": multiline}
    if value:
        block["initial_value"] = clip(value, limit)
    if placeholder:
        block["placeholder"] = plain(clip(placeholder, MAX_PLACEHOLDER))
    return block


def field(name: str, label: str, element: Block | None, *, hint: str = "", optional: bool = False) -> Blocks:
    """An input of a form; ``name`` is its block id, by which errors are told."""
    if element is None:
        return ()
    block: Block = {"type": "input", "block_id": name, "label": plain(clip(label, MAX_LABEL)), "element": element}
    if hint:
        block["hint"] = plain(clip(hint, MAX_LABEL))
    if optional:
        block["optional"] = True
    return (block,)


def modal(title: str, blocks: Blocks, *, form: str, about: str = "", submit: str = "", close: str = "Close") -> Block:
    """A modal; ``form`` is its callback id, ``about`` the ids that it is about."""
    view: Block = {
        "type": "modal",
        "callback_id": form,
        "title": plain(clip(title, MAX_TITLE)),
        "close": plain(clip(close, MAX_TITLE)),
        "blocks": list(blocks[:MAX_VIEW_BLOCKS]),
    }
    if about:
        view["private_metadata"] = about
    if submit:
        view["submit"] = plain(clip(submit, MAX_TITLE))
    return view


def option(text: str, value: str) -> Block:
    """One choice of a menu or of boxes."""
    return {"text": plain(clip(text, MAX_OPTION)), "value": value}


def mrkdwn(text: str) -> Block:
    """Text with markup of ours; verbatim: Slack makes no links of its own."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def plain(text: str) -> Block:
    """Text without markup; no ``:name:`` becomes a picture."""
    return {"type": "plain_text", "text": text or ELLIPSIS, "emoji": False}


def json_size(blocks: Sequence[Block]) -> int:
    """How many characters of JSON the blocks have."""
    return len(json.dumps(list(blocks), ensure_ascii=False, separators=(",", ":")))


def without_blocks(message: Message) -> str:
    """The whole message as one text, for when Slack refuses the blocks; what was literal stays so."""
    lines = [line for block in message.blocks for line in _lines(block)]
    return clip("\n".join(lines) or message.text, MAX_TEXT)


def _lines(block: Mapping[str, Any]) -> list[str]:
    """What a person can read of a block; buttons lead nowhere there."""
    if block["type"] == "section":
        return [block["text"]["text"]]
    if block["type"] == "context":
        return [element["text"] for element in block["elements"]]
    if block["type"] == "rich_text":
        return [_code_or_bold(part) for part in block["elements"]]
    return []


def _code_or_bold(part: Mapping[str, Any]) -> str:
    text = "".join(piece["text"] for piece in part["elements"])
    if part["type"] == "rich_text_preformatted":
        return "```" + escape(text.replace("`", "'")) + "```"
    return prose(text, MAX_RICH)


def _rich(part: Block) -> Blocks:
    return ({"type": "rich_text", "elements": [part]},)
