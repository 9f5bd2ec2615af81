"""chat.*: messages of the app."""

from dataclasses import replace

from slacksim.blocks import accepted
from slacksim.errors import Refused
from slacksim.limits import SPECIAL, TIER_4, UPDATES
from slacksim.methods.method import Method
from slacksim.slack_json import message_json
from slacksim.team import UPDATE_TEXT, Team
from slacksim.values import Json


def post_message(team: Team, args: Json) -> Json:
    """A new message, or a reply with ``thread_ts``."""
    channel = team.own_channel(args)
    message = team.post(team.of_app(channel.id, args))
    return {"channel": channel.id, "ts": message.ts, "message": message_json(team.state, message)}


def update(team: Team, args: Json) -> Json:
    """Other content for an own message; text without blocks deletes the blocks, as Slack does."""
    before = team.message(args)
    if not before.by_app:
        raise Refused("cant_update_message")
    if not {"text", "blocks"} & args.keys():
        raise Refused("no_text")
    text, blocks = str(args.get("text") or ""), args.get("blocks")
    if len(text) > UPDATE_TEXT:
        raise Refused("msg_too_long")
    after = replace(
        before,
        text=text if "text" in args else before.text,
        blocks=accepted(blocks, team.state.new_id, lacking=team.state.workspace.lacking) if blocks else (),
        metadata=args.get("metadata") or before.metadata,
        edited_ts=team.state.new_ts(),
        edited_by=team.app.bot_user,
    )
    if not (after.text or after.blocks or after.files):
        raise Refused("no_text")
    team.edit(before, after)
    shown = message_json(team.state, after)
    return {"channel": after.channel, "ts": after.ts, "text": after.text, "message": shown}


def post_ephemeral(team: Team, args: Json) -> Json:
    """A message that one person sees."""
    channel = team.own_channel(args)
    if args.get("user") not in channel.members:
        raise Refused("user_not_in_channel")
    return {"message_ts": team.post(team.of_app(channel.id, args, only_for=args["user"])).ts}


def get_permalink(team: Team, args: Json) -> Json:
    """The address of a message; of a reply it names the thread, as Slack's does."""
    channel = team.channel(args)
    message = team.state.message(channel.id, str(args.get("message_ts")))
    if message is None:
        raise Refused("message_not_found")
    link = f"{team.state.base_url}/archives/{channel.id}/p{message.ts.replace('.', '')}"
    if message.is_reply:
        link += f"?thread_ts={message.thread_ts}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


_WRITE = ("chat:write",)
METHODS = {
    "chat.postMessage": Method(post_message, _WRITE),
    "chat.update": Method(update, _WRITE, UPDATES),
    "chat.postEphemeral": Method(post_ephemeral, _WRITE, TIER_4),
    "chat.getPermalink": Method(get_permalink, (), SPECIAL),
}
