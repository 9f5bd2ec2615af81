"""Which events the app is told of, and in what form: as Slack does, including the doubles."""

from collections.abc import Iterator

from slacksim.slack_json import message_json
from slacksim.state import State
from slacksim.values import Json, Message
from slacksim.workspace import Channel

SCOPE_OF_EVENT = {
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
}


def of_message(state: State, message: Message) -> Iterator[Json]:
    """A new message; a mention in a channel makes two events with ids of their own, in direct messages only one."""
    channel = state.channels[message.channel]
    if not _hears(state, channel):
        return
    app = state.workspace.app
    body = message_json(state, message) | {"channel": channel.id, "event_ts": message.ts}
    if not message.by_app:
        body["client_msg_id"] = f"client-{message.ts}"
    if (
        f"<@{app.bot_user}>" in message.text
        and not channel.is_direct
        and not message.by_app
        and _wanted(state, "app_mention")
    ):
        yield body | {"type": "app_mention"}
    if _wanted(state, family(channel)):
        yield body | {"channel_type": _kind(channel)} | ({"subtype": "file_share"} if message.files else {})


def of_edit(state: State, before: Message, after: Message) -> Iterator[Json]:
    """An edit, by a person or by the app."""
    change = {"message": message_json(state, after), "previous_message": message_json(state, before)}
    yield from _of_change(state, after, "message_changed", change)


def of_deletion(state: State, message: Message) -> Iterator[Json]:
    """The event of a message that was deleted."""
    change = {"deleted_ts": message.ts, "previous_message": message_json(state, message)}
    yield from _of_change(state, message, "message_deleted", change)


def of_home(state: State, user: str, tab: str = "home") -> Iterator[Json]:
    """A person opens the app's page, or its messages."""
    if _wanted(state, "app_home_opened"):
        body = {"type": "app_home_opened", "user": user, "tab": tab, "channel": state.direct(user).id}
        yield body | {"event_ts": state.new_ts()}


def callback(state: State, event: Json) -> Json:
    """The outer part of an event; its id stays the same in every attempt."""
    team, app = state.workspace.id, state.workspace.app
    who = {"enterprise_id": None, "team_id": team, "user_id": app.bot_user, "is_bot": True}
    return {
        "token": app.verification_token,
        "team_id": team,
        "api_app_id": app.id,
        "type": "event_callback",
        "event_id": state.new_id("Ev"),
        "event_time": int(state.clock()),
        "event": event,
        "authorizations": [who | {"is_enterprise_install": False}],
        "is_ext_shared_channel": False,
    }


def family(channel: Channel) -> str:
    """The name under which an app subscribes to the messages of such a channel."""
    return f"message.{_kind(channel)}{'' if channel.is_direct else 's'}"


def _kind(channel: Channel) -> str:
    if channel.is_direct:
        return "im" if channel.is_im else "mpim"
    return "group" if channel.is_private else "channel"


def _hears(state: State, channel: Channel) -> bool:
    return state.workspace.app.bot_user in channel.members


def _wanted(state: State, event: str) -> bool:
    app = state.workspace.app
    scope = SCOPE_OF_EVENT.get(event)
    return event in app.events and (scope is None or scope in app.scopes)


def _of_change(state: State, message: Message, subtype: str, change: Json) -> Iterator[Json]:
    channel = state.channels[message.channel]
    if _hears(state, channel) and _wanted(state, family(channel)):
        ts = state.new_ts()
        body = {"type": "message", "subtype": subtype, "hidden": True, "channel": channel.id, "ts": ts, "event_ts": ts}
        yield body | {"channel_type": _kind(channel)} | change
