"""What the page shows to one person, as JSON: no more than this person would see in Slack."""

from urllib.parse import quote

from slacksim.modals import open_of
from slacksim.people_acting import SLACKBOT
from slacksim.slack_json import file_json, message_json, view_json
from slacksim.state import State
from slacksim.values import File, Json, Message, View
from slacksim.workspace import Channel, Member


def page_state(state: State, me: Member) -> Json:
    """What the page shows now, as JSON."""
    state.direct(me.id)
    channels = [channel for channel in state.channels.values() if _sees(channel, me)]
    seen = {channel.id for channel in channels}
    messages = [m for m in state.messages.values() if m.channel in seen and m.only_for in (None, me.id)]
    files = {file for message in messages for file in message.files} | _files_in_blocks(messages)
    modal = open_of(state, me.id)
    app = state.workspace.app
    return {
        "version": state.version,
        "workspace": {"name": state.workspace.name, "base": state.base_url},
        "me": me.id,
        "app": {"name": app.name, "user": app.bot_user, "connected": state.connections > 0},
        "members": [_member(member) for member in (*state.workspace.members, SLACKBOT)],
        "channels": [_channel(state, channel, me) for channel in channels],
        "messages": [_message(state, message) for message in messages],
        "files": {name: _file(state, state.files[name]) for name in sorted(files) if name in state.files},
        "modal": _modal(state, modal) if modal else None,
        "home": view_json(state, state.homes[me.id]) if me.id in state.homes else None,
        "prompts": {name: state.prompts[name] for name in sorted(seen & state.prompts.keys())},
        "statuses": [vars(status) for status in state.statuses.values() if status.channel in seen],
        "commands": [vars(command) for command in app.commands],
        "shortcuts": [vars(shortcut) for shortcut in app.shortcuts],
    }


def _sees(channel: Channel, me: Member) -> bool:
    return me.id in channel.members or not (channel.is_direct or channel.is_private)


def _member(member: Member) -> Json:
    return {
        "id": member.id,
        "name": member.name,
        "real_name": member.real_name,
        "title": member.title,
        "is_bot": member.is_bot,
    }


def _channel(state: State, channel: Channel, me: Member) -> Json:
    others = set(channel.members) - {me.id} or {me.id}
    named = [member.real_name for member in state.workspace.members if member.id in others]
    return {
        "id": channel.id,
        "name": ", ".join(named) if channel.is_direct else channel.name,
        "topic": channel.topic,
        "is_im": channel.is_im,
        "is_mpim": channel.is_mpim,
        "joined": me.id in channel.members,
    }


def _message(state: State, message: Message) -> Json:
    body = message_json(state, message)
    body.pop("bot_profile", None)
    body |= {"channel": message.channel, "by_app": message.by_app, "only_for": message.only_for}
    return body | {"files": list(message.files), "is_reply": message.is_reply}


def _file(state: State, file: File) -> Json:
    return file_json(state, file) | {"address": f"{state.base_url}/file/{file.key}/{quote(file.name)}"}


def _modal(state: State, view: View) -> Json:
    return view_json(state, view) | {"errors": dict(view.errors), "trouble": view.trouble}


def _files_in_blocks(messages: list[Message]) -> set[str]:
    blocks = [block for message in messages for block in message.blocks]
    things = [*blocks, *(block["accessory"] for block in blocks if "accessory" in block)]
    return {str(thing["slack_file"].get("id")) for thing in things if "slack_file" in thing}
