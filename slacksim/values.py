"""What people and the bot make in a workspace: messages, files, modals; all of them values that never change."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]  # what a bot sent: checked by slacksim.blocks and slacksim.view_rules, never edited in place


@dataclass(frozen=True)
class Reaction:
    """An emoji below a message, and who put it there."""

    name: str
    users: tuple[str, ...]


@dataclass(frozen=True)
class Message:
    """A message; with ``only_for`` an ephemeral one, that one person sees."""

    channel: str
    ts: str
    user: str
    text: str = ""
    blocks: tuple[Json, ...] = ()
    thread_ts: str | None = None
    by_app: bool = False
    only_for: str | None = None
    edited_ts: str | None = None
    edited_by: str | None = None
    files: tuple[str, ...] = ()
    reactions: tuple[Reaction, ...] = ()
    metadata: Json | None = None
    program: str = ""  # id of another program that posted it
    attachments: tuple[Json, ...] = ()

    @property
    def is_reply(self) -> bool:
        """Whether a message is in a thread, and not its parent."""
        return self.thread_ts is not None and self.thread_ts != self.ts

    @property
    def all_text(self) -> str:
        """Everything that a person can read of it, for tests and conditions."""
        return "\n".join((self.text, *_texts(list(self.blocks))))


@dataclass(frozen=True)
class File:
    """An uploaded file; ``shares`` are (channel, ts) of the messages that show it.

    ``key`` is its address in the browser. An uploaded page can read its own address, so that holds no other secret.
    """

    id: str
    name: str
    title: str
    size: int
    user: str
    created: int
    key: str
    mimetype: str = "application/octet-stream"
    alt_text: str = ""
    data: bytes | None = None
    shares: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class View:
    """A modal that one person sees, or with kind ``home`` the app's home page for that person."""

    id: str
    user: str
    hash: str
    content: Json
    errors: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The title of the view."""
        return str(self.content.get("title", {}).get("text", ""))

    @property
    def callback_id(self) -> str:
        """The name by which the app knows the view."""
        return str(self.content.get("callback_id", ""))

    @property
    def blocks(self) -> tuple[Json, ...]:
        """The blocks that the modal or home page shows."""
        return tuple(self.content["blocks"])

    @property
    def all_text(self) -> str:
        """Everything that a person can read of it."""
        return "\n".join(_texts([self.content]))


@dataclass(frozen=True)
class Status:
    """Firstfault is reading logs ...: a line below a thread."""

    channel: str
    thread_ts: str
    text: str


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    if not isinstance(value, dict):
        return []
    own = [value[key] for key in ("text", "alt_text", "title", "details", "url") if isinstance(value.get(key), str)]
    return own + [text for key, item in value.items() if key != "confirm" for text in _texts(item)]
