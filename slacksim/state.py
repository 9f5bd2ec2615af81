"""What is in the workspace now; only the server's own thread changes it, and everybody else gets a snapshot."""

import asyncio
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from slacksim.errors import LocalSlackError, NotSeen, Refused
from slacksim.values import File, Json, Message, Status, View
from slacksim.workspace import Channel, Member, Workspace

Clock = Callable[[], float]
T = TypeVar("T")


@dataclass(frozen=True)
class Snapshot:
    """Everything at one moment."""

    workspace: Workspace
    version: int
    channels: tuple[Channel, ...]
    everything: tuple[Message, ...]
    files: tuple[File, ...]
    views: tuple[View, ...]
    homes: tuple[View, ...]
    statuses: tuple[Status, ...]
    connections: int

    def channel(self, name: str) -> Channel:
        """A channel by name (with or without ``#``) or id."""
        for channel in self.channels:
            if name.removeprefix("#") in (channel.id, channel.name):
                return channel
        raise LocalSlackError(f"There is no channel {name}.", f"There are {_names(self.channels)}.")

    def messages(self, channel: str) -> tuple[Message, ...]:
        """All messages of a channel that everybody sees, replies as well, oldest first."""
        place = self.channel(channel).id
        return tuple(message for message in self.everything if message.channel == place and not message.only_for)

    def message(self, channel: str, ts: str) -> Message:
        """One message, ephemeral ones as well."""
        for message in self.everything:
            if (message.channel, message.ts) == (self.channel(channel).id, ts):
                return message
        raise LocalSlackError(f"There is no message {ts} in {channel}.")

    def find(self, channel: str, words: str) -> Message | None:
        """The newest message of a channel that holds these words anywhere."""
        return next((m for m in reversed(self.messages(channel)) if words in m.all_text), None)

    def thread(self, parent: Message) -> tuple[Message, ...]:
        """The replies below a message, oldest first."""
        root = parent.thread_ts or parent.ts
        return tuple(m for m in self.messages(parent.channel) if m.thread_ts == root and m.is_reply)

    def ephemerals(self, user: str) -> tuple[Message, ...]:
        """What only this person sees, oldest first."""
        who = self.member(user).id
        return tuple(message for message in self.everything if message.only_for == who)

    def modal(self, user: str) -> View | None:
        """The modal on top, if this person has one open."""
        mine = [view for view in self.views if view.user == self.member(user).id]
        return mine[-1] if mine else None

    def file(self, file_id: str) -> File:
        """One file by its id."""
        for file in self.files:
            if file.id == file_id:
                return file
        raise LocalSlackError(f"There is no file {file_id}.")

    def member(self, name: str) -> Member:
        """A member by name or id."""
        return member_of(self.workspace, name)

    def described(self) -> str:
        """A page of text: what a person would see, for error messages."""
        lines = [f"{self.connections} connections"]
        for channel in self.channels:
            lines.append(f"#{channel.name}")
            lines += [f"  {_short(m)}" for m in self.everything if m.channel == channel.id][-12:]
        lines += [f"modal of {view.user}: {view.title} {dict(view.errors) or ''}" for view in self.views]
        return "\n".join(lines)


class State:
    """The one place that changes: values by their keys, a clock, counters, and who waits for a change."""

    def __init__(self, workspace: Workspace, clock: Clock) -> None:
        self.workspace = workspace
        self.clock = clock
        self.channels: dict[str, Channel] = {channel.id: channel for channel in workspace.channels}
        self.messages: dict[tuple[str, str], Message] = {}
        self.files: dict[str, File] = {}
        self.views: dict[str, View] = {}
        self.homes: dict[str, View] = {}
        self.prompts: dict[str, tuple[Json, ...]] = {}  # by channel, what the app suggests to ask
        self.statuses: dict[tuple[str, str], Status] = {}
        self.connections = 0
        self.base_url = ""  # known once the server listens
        self.version = 0
        self._second = 0
        self._ids = itertools.count(1)
        self._stamps = itertools.count(1)
        self._waiting: set[asyncio.Event] = set()

    def new_id(self, prefix: str) -> str:
        """The next id: counted, so that the same story has the same ids."""
        return f"{prefix}{next(self._ids):09d}"

    def new_ts(self) -> str:
        """The next timestamp: the clock's second and a counter, so it only ever grows."""
        self._second = max(self._second, int(self.clock()))
        return f"{self._second}.{next(self._stamps):06d}"

    def put(self, message: Message) -> Message:
        """Add a message, or take this version of it."""
        self.messages[message.channel, message.ts] = message
        self.changed()
        return message

    def message(self, channel: str, ts: str) -> Message | None:
        """A message that everybody in the channel sees."""
        found = self.messages.get((channel, ts))
        return found if found and not found.only_for else None

    def join(self, channel: Channel, users: Iterable[str]) -> Channel:
        """Add members to a channel."""
        members = tuple(dict.fromkeys((*channel.members, *users)))
        self.channels[channel.id] = replace(channel, members=members)
        self.changed()
        return self.channels[channel.id]

    def direct(self, user: str) -> Channel:
        """The direct messages of a person and the app, opened when there are none yet."""
        bot = self.workspace.app.bot_user
        for channel in self.channels.values():
            if channel.is_im and set(channel.members) == {user, bot}:
                return channel
        name = member_of(self.workspace, user).name
        channel = Channel(self.new_id("D"), f"dm-{name}", (user, bot), is_im=True)
        self.channels[channel.id] = channel
        self.changed()
        return channel

    def place(self, name: str) -> Channel:
        """A channel as the Web API names it: an id, ``#name`` or the id of a person."""
        if any(member.id == name for member in self.workspace.members):
            return self.direct(name)
        for channel in self.channels.values():
            if channel.id == name or (not channel.is_direct and name == f"#{channel.name}"):
                return channel
        raise Refused("channel_not_found")

    def snapshot(self) -> Snapshot:
        """All of it at this moment; cheap, because the values never change."""
        return Snapshot(
            workspace=self.workspace,
            version=self.version,
            channels=tuple(self.channels.values()),
            everything=tuple(self.messages.values()),
            files=tuple(self.files.values()),
            views=tuple(self.views.values()),
            homes=tuple(self.homes.values()),
            statuses=tuple(self.statuses.values()),
            connections=self.connections,
        )

    def reload(self) -> None:
        """Forget what no client of Slack has any more when it is loaded anew: modals and ephemeral messages."""
        self.views.clear()
        self.messages = {place: message for place, message in self.messages.items() if not message.only_for}
        self.changed()

    def changed(self) -> None:
        """Wake everybody who waits for a change."""
        self.version += 1
        for event in self._waiting:
            event.set()

    async def wait_for(self, condition: Callable[[Snapshot], T | None], seconds: float, what: str = "") -> T:
        """Wait until a condition on a snapshot holds; no polling, it is asked after every change."""
        event = asyncio.Event()
        self._waiting.add(event)
        try:
            async with asyncio.timeout(seconds):
                while True:
                    if found := condition(self.snapshot()):
                        return found
                    await event.wait()
                    event.clear()
        except TimeoutError as error:
            seen = self.snapshot().described()
            raise NotSeen(f"Not seen in {seconds:g} s: {what or 'the condition'}.", f"There was:\n{seen}") from error
        finally:
            self._waiting.discard(event)


def member_of(workspace: Workspace, name: str) -> Member:
    """A member by name (with or without ``@``) or id."""
    for member in workspace.members:
        if name.removeprefix("@") in (member.id, member.name):
            return member
    raise LocalSlackError(f"There is no member {name}.", f"There are {_names(workspace.members)}.")


def _names(things: Iterable[Channel | Member]) -> str:
    return ", ".join(thing.name for thing in things)


def _short(message: Message) -> str:
    marks = f"{'  ' * message.is_reply}{message.ts} {message.user}{f' to {message.only_for}' * bool(message.only_for)}"
    return f"{marks}: {' '.join(message.all_text.split())[:160]}"
