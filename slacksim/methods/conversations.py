"""conversations.*: channels, and what was said there."""

from slacksim import events
from slacksim.errors import Refused
from slacksim.limits import TIER_3
from slacksim.methods.method import Method, page_of, truth
from slacksim.slack_json import channel_json, message_json
from slacksim.team import Team
from slacksim.values import Json, Message
from slacksim.workspace import Channel


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


_READ = ("channels:read", "groups:read", "im:read", "mpim:read")
_HISTORY = ("channels:history", "groups:history", "im:history", "mpim:history")
METHODS = {
    "conversations.info": Method(info, _READ, TIER_3),
    "conversations.history": Method(history, _HISTORY, TIER_3),
    "conversations.replies": Method(replies, _HISTORY, TIER_3),
}
