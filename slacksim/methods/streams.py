"""chat.startStream, appendStream, stopStream: an answer that grows in a thread."""

from dataclasses import replace
from typing import Any

from slacksim.blocks import MARKDOWN_TEXT, accepted
from slacksim.errors import Refused
from slacksim.limits import TIER_2, TIER_4
from slacksim.methods.method import Method
from slacksim.slack_json import message_json
from slacksim.team import Team
from slacksim.values import Json, Message


def start(team: Team, args: Json) -> Json:
    """A new message in a thread, empty or with a beginning."""
    channel = team.own_channel(args)
    if not args.get("thread_ts"):
        raise Refused("invalid_thread_ts")
    thread_ts = team.root(channel.id, args["thread_ts"])
    for name in ("recipient_user_id", "recipient_team_id"):
        if not channel.is_im and not args.get(name):
            raise Refused(f"missing_{name}")
    ts = team.state.new_ts()
    message = Message(channel.id, ts, team.app.bot_user, thread_ts=thread_ts, by_app=True, streaming=True)
    team.post(_grown(team, message, args))
    return {"channel": channel.id, "ts": ts}


def append(team: Team, args: Json) -> Json:
    """chat.appendStream: more text of a message that is streamed."""
    message = team.state.put(_grown(team, _streaming(team, args), args))
    return {"channel": message.channel, "ts": message.ts}


def stop(team: Team, args: Json) -> Json:
    """The rest of it, and blocks below; from now on it is a message like any other."""
    before = _streaming(team, args)
    after = replace(_grown(team, before, args), streaming=False)
    if args.get("blocks"):
        after = replace(after, blocks=(*after.blocks, *accepted(args["blocks"], team.state.new_id)))
    team.edit(before, after)
    return {"channel": after.channel, "ts": after.ts, "message": message_json(team.state, after)}


def _streaming(team: Team, args: Json) -> Message:
    message = team.message(args)
    if not message.streaming:
        raise Refused("message_not_in_streaming_state")
    return message


def _grown(team: Team, message: Message, args: Json) -> Message:
    if args.get("markdown_text"):
        message = _more_text(message, args["markdown_text"])
    for chunk in args.get("chunks") or ():
        message = _with_chunk(team, message, chunk)
    return message


def _with_chunk(team: Team, message: Message, chunk: Any) -> Message:
    match chunk:
        case {"type": "markdown_text", "text": str(text)}:
            return _more_text(message, text)
        case {"type": "task_update", "id": str(task), "title": str(), "status": str()}:
            return replace(message, tasks=(*(other for other in message.tasks if other["id"] != task), chunk))
        case {"type": "plan_update", "title": str()}:
            return message
        case {"type": "blocks", "blocks": blocks}:
            return replace(message, blocks=(*message.blocks, *accepted(blocks, team.state.new_id)))
    raise Refused("invalid_chunks")


def _more_text(message: Message, text: str) -> Message:
    if len(text) > MARKDOWN_TEXT:
        raise Refused("msg_too_long")
    whole = message.text + text
    others = tuple(block for block in message.blocks if block["block_id"] != f"stream-{message.ts}")
    block = {"type": "markdown", "block_id": f"stream-{message.ts}", "text": whole}
    return replace(message, text=whole, blocks=(block, *others))


METHODS = {
    "chat.startStream": Method(start, ("chat:write",), TIER_2),
    "chat.appendStream": Method(append, ("chat:write",), TIER_4),
    "chat.stopStream": Method(stop, ("chat:write",), TIER_2),
}
