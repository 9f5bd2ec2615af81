"""The running workspace: its state and the ways to change it that the app is told of."""

from collections.abc import Iterable
from dataclasses import dataclass

from slacksim import events
from slacksim.blocks import accepted
from slacksim.delivery import Delivery
from slacksim.errors import Refused
from slacksim.short_lived import ResponseUrls, Triggers
from slacksim.socket_mode import SocketMode
from slacksim.state import State
from slacksim.values import Json, Message
from slacksim.workspace import App, Channel

MESSAGE_TEXT = 40_000  # docs.slack.dev/reference/methods/chat.postMessage: longer text is refused
UPDATE_TEXT = 4000  # docs.slack.dev/reference/methods/chat.update: msg_too_long


@dataclass(frozen=True)
class Team:
    """What methods and people share."""

    state: State
    delivery: Delivery
    sockets: SocketMode
    triggers: Triggers
    response_urls: ResponseUrls

    @property
    def app(self) -> App:
        """The one app."""
        return self.state.workspace.app

    def post(self, message: Message) -> Message:
        """Add a message; a word of the app ends the status below its thread."""
        self.state.put(message)
        if message.by_app:
            self.state.statuses.pop((message.channel, message.thread_ts or ""), None)
        if not message.only_for:
            self.tell(events.of_message(self.state, message))
        return message

    def edit(self, before: Message, after: Message) -> Message:
        """Change a message."""
        self.state.put(after)
        if not after.only_for:
            self.tell(events.of_edit(self.state, before, after))
        return after

    def delete(self, message: Message) -> None:
        """Take a message away."""
        if not message.only_for:
            self.tell(tuple(events.of_deletion(self.state, message)))
        self.state.messages.pop((message.channel, message.ts), None)
        self.state.changed()

    def tell(self, found: Iterable[Json]) -> None:
        """Send events to the app."""
        for event in tuple(found):
            self.delivery.event(events.callback(self.state, event))

    def of_app(self, channel: str, args: Json, *, only_for: str | None = None) -> Message:
        """A message of the app as it would be posted, checked: the channel by its id, the rest from a call."""
        text, blocks = str(args.get("text") or ""), args.get("blocks")
        if len(text) > MESSAGE_TEXT:
            raise Refused("msg_too_long")
        if not (text or blocks):
            raise Refused("no_text")
        return Message(
            channel=channel,
            ts=self.state.new_ts(),
            user=self.app.bot_user,
            text=text,
            blocks=accepted(blocks, self.state.new_id, lacking=self.state.workspace.lacking) if blocks else (),
            thread_ts=self.root(channel, args.get("thread_ts")),
            by_app=True,
            only_for=only_for,
            metadata=args.get("metadata"),
        )

    def root(self, channel: str, ts: str | None) -> str | None:
        """The parent of a thread, also when a reply is named."""
        if not ts:
            return None
        message = self.state.message(channel, ts)
        if message is None:
            raise Refused("thread_not_found")
        return message.thread_ts or message.ts

    def channel(self, args: Json, name: str = "channel") -> Channel:
        """The channel that a call names."""
        if not args.get(name):
            raise Refused(
                "invalid_arguments", response_metadata={"messages": [f"[ERROR] missing required field: {name}"]}
            )
        return self.state.place(str(args[name]))

    def own_channel(self, args: Json, name: str = "channel") -> Channel:
        """The channel that a call names, if the app is in it."""
        channel = self.channel(args, name)
        if self.app.bot_user not in channel.members:
            raise Refused("not_in_channel")
        return channel

    def message(self, args: Json, name: str = "ts") -> Message:
        """The message that a call names, in a channel that the app is in."""
        found = self.state.message(self.own_channel(args).id, str(args.get(name)))
        if found is None:
            raise Refused("message_not_found")
        return found
