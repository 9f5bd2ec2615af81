"""conversations.*: channels, who is in them, and what was said."""

from slacksim import events
from slacksim.errors import Refused
from slacksim.limits import TIER_2, TIER_3, TIER_4
from slacksim.methods.method import Method, page_of, truth
from slacksim.slack_json import channel_json, message_json
from slacksim.team import Team
from slacksim.values import Json, Message
from slacksim.workspace import Channel


def list_(team: Team, args: Json) -> Json:
    """Channels of the wanted types."""
    types = str(args.get("types") or "public_channel").split(",")
    found = [channel for channel in team.state.channels.values() if _type(channel) in types]
    return page_of([channel_json(team.state, channel) for channel in found], args, "channels")


def info(team: Team, args: Json) -> Json:
    """One channel."""
    return {"channel": channel_json(team.state, team.channel(args))}


def history(team: Team, args: Json) -> Json:
    """Messages that are no replies, newest first."""
    channel = _readable(team, args)
    found = [m for m in _of(team, channel, args) if not m.is_reply]
    return page_of([message_json(team.state, message) for message in reversed(found)], args, "messages")


def replies(team: Team, args: Json) -> Json:
    """A message and its replies, oldest first."""
    channel = _readable(team, args)
    root = team.root(channel.id, str(args.get("ts")))
    found = [message for message in _of(team, channel, args) if root in (message.ts, message.thread_ts)]
    return page_of([message_json(team.state, message) for message in found], args, "messages")


def join(team: Team, args: Json) -> Json:
    """The app enters a public channel."""
    channel = team.channel(args)
    if channel.is_direct or channel.is_private:
        raise Refused("method_not_supported_for_channel_type")
    if team.app.bot_user in channel.members:
        return {"channel": channel_json(team.state, channel), "warning": "already_in_channel"}
    return {"channel": channel_json(team.state, _enter(team, channel, (team.app.bot_user,)))}


def open_(team: Team, args: Json) -> Json:
    """The direct messages with a person."""
    users = [user for user in str(args.get("users") or "").split(",") if user]
    if len(users) != 1:
        raise Refused("not_enough_users" if not users else "method_not_supported_for_channel_type")
    if all(member.id != users[0] for member in team.state.workspace.members):
        raise Refused("user_not_found")
    return {"channel": channel_json(team.state, team.state.direct(users[0]))}


def members(team: Team, args: Json) -> Json:
    """Who is in a channel."""
    page = page_of([{"id": user} for user in team.channel(args).members], args, "members")
    return page | {"members": [user["id"] for user in page["members"]]}


def invite(team: Team, args: Json) -> Json:
    """Take people into a channel that the app is in."""
    channel = team.own_channel(args)
    users = tuple(user for user in str(args.get("users") or "").split(",") if user)
    known = {member.id for member in team.state.workspace.members}
    if not users or not set(users) <= known:
        raise Refused("user_not_found")
    if set(users) <= set(channel.members):
        raise Refused("already_in_channel")
    return {"channel": channel_json(team.state, _enter(team, channel, users))}


def _enter(team: Team, channel: Channel, users: tuple[str, ...]) -> Channel:
    new = [user for user in users if user not in channel.members]
    channel = team.state.join(channel, new)
    for user in new:
        team.tell(events.of_joining(team.state, channel, user))
    return channel


def _readable(team: Team, args: Json) -> Channel:
    """A channel whose history the app may read: the scope depends on the kind of channel."""
    channel = team.own_channel(args)
    needed = events.SCOPE_OF_EVENT[events.family(channel)]
    if needed not in team.app.scopes:
        raise Refused("missing_scope", needed=needed, provided=",".join(team.app.scopes))
    return channel


def _of(team: Team, channel: Channel, args: Json) -> list[Message]:
    oldest, latest = args.get("oldest"), args.get("latest")
    inclusive = truth(args, "inclusive")
    found = [m for m in team.state.messages.values() if m.channel == channel.id and not m.only_for]
    if oldest:
        found = [m for m in found if float(m.ts) > float(oldest) or (inclusive and m.ts == oldest)]
    if latest:
        found = [m for m in found if float(m.ts) < float(latest) or (inclusive and m.ts == latest)]
    return found


def _type(channel: Channel) -> str:
    if channel.is_direct:
        return "im" if channel.is_im else "mpim"
    return "private_channel" if channel.is_private else "public_channel"


_READ = ("channels:read", "groups:read", "im:read", "mpim:read")
_HISTORY = ("channels:history", "groups:history", "im:history", "mpim:history")
METHODS = {
    "conversations.list": Method(list_, _READ, TIER_2),
    "conversations.info": Method(info, _READ, TIER_3),
    "conversations.history": Method(history, _HISTORY, TIER_3),
    "conversations.replies": Method(replies, _HISTORY, TIER_3),
    "conversations.join": Method(join, ("channels:join",), TIER_3),
    "conversations.open": Method(open_, ("im:write",), TIER_3),
    "conversations.members": Method(members, _READ, TIER_4),
    "conversations.invite": Method(invite, ("channels:manage",), TIER_3),
}
