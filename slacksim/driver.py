"""The local Slack as tests and the demo hold it: addresses, people to act as, and conditions to wait for."""

import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from slacksim.faults import Faults
from slacksim.journal import Journal
from slacksim.limits import Limits, Timing
from slacksim.people_acting import Outcome
from slacksim.server import Server
from slacksim.socket_mode import Reason
from slacksim.state import Clock, Snapshot
from slacksim.values import Json, Message, View
from slacksim.workspace import Workspace

T = TypeVar("T")
PATIENCE = 60.0  # seconds that a test waits for a condition; only one that fails waits so long


class Slack:
    """A running local Slack."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.workspace: Workspace = server.state.workspace
        self.journal: Journal = server.journal
        self.faults: Faults = server.faults
        self._seen: dict[str, frozenset[str]] = {}  # person to the hashes of the modals that were open at the last act

    @property
    def api_url(self) -> str:
        """For WebClient(base_url=...)."""
        return f"{self._server.state.base_url}/api/"

    @property
    def page_url(self) -> str:
        """For a browser; who knows it can act as anybody."""
        return f"{self._server.state.base_url}/p/{self._server.secret}/"

    def user(self, name: str) -> "User":
        """A person to act as, by name or id."""
        return User(self, self._server, self.snapshot().member(name).id)

    def reload(self) -> None:
        """Everybody reloads Slack: modals are closed, and what only one person saw is gone."""
        self._server.call(self._server.state.reload)

    def act(self, user_id: str, deed: Coroutine[Any, Any, T]) -> T:
        """Have a person do something, and remember which modals that person had before."""
        self._seen[user_id] = frozenset(view.hash for view in self.snapshot().views if view.user == user_id)
        return self._server.run(deed)

    def is_new(self, view: View) -> bool:
        """Whether a modal was opened, or filled anew, since its person did something for the last time."""
        return view.hash not in self._seen.get(view.user, ())

    def snapshot(self) -> Snapshot:
        """The state of the local Slack now."""
        return self._server.call(self._server.state.snapshot)

    def wait_for(self, condition: Callable[[Snapshot], T | None], seconds: float = PATIENCE, what: str = "") -> T:
        """Wait until a condition on a snapshot holds, and return what it found.

        Raises:
            NotSeen: it did not hold in time; the message tells what was there.
        """
        return self._server.run(self._server.state.wait_for(condition, seconds, what))

    def wait_for_message(self, channel: str, words: str, seconds: float = PATIENCE) -> Message:
        """Wait until a message of the channel, or of a thread in it, holds these words."""
        return self.wait_for(lambda now: now.find(channel, words), seconds, f"{words!r} in {channel}")

    def post_by_program(self, channel: str, text: str, attachments: tuple[Json, ...] = ()) -> Message:
        """What another program posts by an incoming webhook."""
        return self._server.run(self._server.people.post_by_program(channel, text, attachments))

    def wait_for_connection(self, seconds: float = PATIENCE, number: int = 1) -> None:
        """Wait until so many websockets of the app are open."""
        self.wait_for(lambda now: now.connections >= number, seconds, "the app's connection")

    def use_http(self, url: str) -> None:
        """Deliver by signed HTTP to this address instead of Socket Mode; does Slack's handshake first."""
        self._server.run(self._server.use_http(url))

    def is_delivering(self) -> bool:
        """Whether an event is on its way, or will be sent again."""
        return self._server.call(self._server.team.delivery.is_busy)

    def disconnect(self, reason: Reason = "refresh_requested") -> None:
        """Ask the app to open other websockets, as Slack does every few hours."""
        self._server.run(self._server.team.sockets.disconnect(reason))

    def drop_sockets(self, *, hard: bool = True) -> None:
        """End the websockets: hard like a broken line, or with a close frame."""
        self._server.run(self._server.team.sockets.drop(hard=hard))

    def mute_sockets(self) -> None:
        """The websockets of now stay open, but nothing comes through any more."""
        self._server.call(self._server.team.sockets.mute)

    def close(self) -> None:
        """End the server."""
        self._server.stop()


class User:
    """A person; channels are named as people do (``#training-alerts``) or by id."""

    def __init__(self, slack: Slack, server: Server, user_id: str) -> None:
        self._slack = slack
        self._server = server
        self.id = user_id
        self._home = slack.workspace.channels[0].id

    def command(self, text: str, channel: str = "") -> Outcome:
        """``/diagnose f02``; returns when the app has acknowledged, or three seconds later."""
        return self._slack.act(self.id, self._server.people.command(self.id, channel or self._home, text))

    def say(self, text: str, channel: str = "") -> Message:
        """A message; ``@name`` mentions."""
        return self._slack.act(self.id, self._server.people.say(self.id, channel or self._home, text))

    def reply(self, message: Message, text: str) -> Message:
        """A reply in the thread of a message."""
        return self._slack.act(self.id, self._server.people.say(self.id, message.channel, text, message.ts))

    def direct(self, text: str) -> Message:
        """A direct message to the app."""
        return self.say(text, self.direct_channel)

    @property
    def direct_channel(self) -> str:
        """The id of the direct messages with the app."""
        return self._server.call(lambda: self._server.state.direct(self.id)).id

    def edit(self, message: Message, text: str) -> Message:
        """Other words for an own message."""
        return self._slack.act(self.id, self._server.people.edit(self.id, message.channel, message.ts, text))

    def delete(self, message: Message) -> None:
        """Take an own message away."""
        self._slack.act(self.id, self._server.people.delete(self.id, message.channel, message.ts))

    def react(self, message: Message, name: str) -> None:
        """An emoji below a message."""
        self._slack.act(self.id, self._server.people.react(self.id, message.channel, message.ts, name))

    def shortcut(self, callback_id: str, message: Message) -> Outcome:
        """A shortcut on a message."""
        told = self._server.people.shortcut(self.id, callback_id, message.channel, message.ts)
        return self._slack.act(self.id, told)

    def click(self, message: Message, action: str, value: Any = None) -> Outcome:
        """A button by its action_id or text, or a menu's choice by value or text; dialogs are confirmed."""
        return self._slack.act(
            self.id, self._server.clicks.in_message(self.id, message.channel, message.ts, action, value)
        )

    def click_in_modal(self, action: str, value: Any = None, values: dict[str, Any] | None = None) -> Outcome:
        """The same in the modal on top."""
        return self._slack.act(self.id, self._server.clicks.in_modal(self.id, action, value, values))

    def click_in_home(self, action: str, value: Any = None) -> Outcome:
        """The same in the app's page."""
        return self._slack.act(self.id, self._server.clicks.in_home(self.id, action, value))

    def submit(self, values: dict[str, Any] | None = None) -> Outcome:
        """Submit the modal on top; values by block_id or label, errors in the outcome and in the modal."""
        return self._slack.act(self.id, self._server.clicks.submit(self.id, values))

    def cancel(self) -> Outcome:
        """Close the modal on top."""
        return self._slack.act(self.id, self._server.clicks.cancel(self.id))

    def open_home(self, tab: str = "home") -> None:
        """Open the app's page, or its messages."""
        self._slack.act(self.id, self._server.people.open_home(self.id, tab))

    def modal(self) -> View | None:
        """The modal on top."""
        return self._slack.snapshot().modal(self.id)

    def wait_for_modal(self, words: str = "", seconds: float = PATIENCE) -> View:
        """Wait until a modal that holds these words came of what this person did last."""

        def found(now: Snapshot) -> View | None:
            view = now.modal(self.id)
            return view if view and words in view.all_text and self._slack.is_new(view) else None

        return self._slack.wait_for(found, seconds, f"a modal with {words!r}")

    def wait_for_ephemeral(self, words: str, seconds: float = PATIENCE) -> Message:
        """Wait until something that only this person sees holds these words."""

        def found(now: Snapshot) -> Message | None:
            return next((m for m in reversed(now.ephemerals(self.id)) if words in m.all_text), None)

        return self._slack.wait_for(found, seconds, f"{words!r} for {self.id} alone")


@contextmanager
def start(
    workspace: Workspace | None = None,
    *,
    port: int = 0,
    limits: Limits | None = None,
    timing: Timing | None = None,
    clock: Clock = time.time,
) -> Iterator[Slack]:
    """Run a local Slack in a thread of its own; port 0 takes any free one."""
    server = Server(workspace or Workspace(), limits or Limits(), timing or Timing(), clock)
    server.start(port)
    try:
        yield Slack(server)
    finally:
        server.stop()
