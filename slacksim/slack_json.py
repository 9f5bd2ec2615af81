"""Values as the JSON that Slack's Web API and its events show; the shapes follow docs.slack.dev/reference/objects."""

from slacksim.state import State
from slacksim.values import File, Json, Message, View
from slacksim.workspace import Channel, Group, Member


def message_json(state: State, message: Message) -> Json:
    """A message, with what its thread adds to it."""
    app = state.workspace.app
    found: Json = {"type": "message", "user": message.user, "ts": message.ts, "text": message.text}
    found["team"] = home_of(state, message.user)
    if message.by_app:
        profile = {"id": app.bot_id, "app_id": app.id, "name": app.name, "team_id": state.workspace.id}
        found |= {"bot_id": app.bot_id, "app_id": app.id, "bot_profile": profile}
    if message.program:
        found |= {"subtype": "bot_message", "bot_id": message.program, "attachments": list(message.attachments)}
    if message.blocks:
        found["blocks"] = list(message.blocks)
    if message.files:
        found["files"] = [file_json(state, state.files[file]) for file in message.files]
    if message.reactions:
        found["reactions"] = [
            {"name": r.name, "users": list(r.users), "count": len(r.users)} for r in message.reactions
        ]
    if message.edited_ts:
        found["edited"] = {"user": message.edited_by, "ts": message.edited_ts}
    if message.metadata:
        found["metadata"] = message.metadata
    return found | _thread_json(state, message)


def _thread_json(state: State, message: Message) -> Json:
    if message.is_reply:
        parent = state.message(message.channel, message.thread_ts or "")
        return {"thread_ts": message.thread_ts} | ({"parent_user_id": parent.user} if parent else {})
    replies = [
        reply
        for (channel, _), reply in state.messages.items()
        if channel == message.channel and reply.thread_ts == message.ts and reply.is_reply and not reply.only_for
    ]
    if not replies:
        return {}
    users = list(dict.fromkeys(reply.user for reply in replies))
    counts = {"reply_count": len(replies), "reply_users": users, "reply_users_count": len(users)}
    return {"thread_ts": message.ts, "latest_reply": replies[-1].ts, **counts}


def home_of(state: State, user: str) -> str:
    """The workspace of a person: another one for those who are here by Slack Connect."""
    theirs = (member.team for member in state.workspace.members if member.id == user)
    return next(theirs, "") or state.workspace.id


def channel_json(state: State, channel: Channel) -> Json:
    """A channel as the app sees it."""
    bot = state.workspace.app.bot_user
    if channel.is_im:
        other = next((user for user in channel.members if user != bot), bot)
        return {"id": channel.id, "is_im": True, "user": other, "is_archived": False, "created": 0}
    return {
        "id": channel.id,
        "name": channel.name,
        "is_channel": not (channel.is_private or channel.is_mpim),
        "is_group": channel.is_private,
        "is_im": False,
        "is_mpim": channel.is_mpim,
        "is_private": channel.is_private or channel.is_mpim,
        "is_archived": False,
        "is_general": channel.name == "general",
        "is_member": bot in channel.members,
        "num_members": len(channel.members),
        **_sharing_json(state, channel),
        "topic": {"value": channel.topic},
        "created": 0,
    }


def _sharing_json(state: State, channel: Channel) -> Json:
    teams = sorted({home_of(state, user) for user in channel.members} | {state.workspace.id})
    shared = len(teams) > 1
    return {"is_shared": shared, "is_ext_shared": shared, "shared_team_ids": teams}


def user_json(state: State, member: Member) -> Json:
    """A person; the e-mail only with the scope for it."""
    profile = {"real_name": member.real_name, "display_name": member.name, "title": member.title}
    if member.email and "users:read.email" in state.workspace.app.scopes:
        profile["email"] = member.email
    organisation = "" if member.team else state.workspace.organisation
    return {
        "id": member.id,
        "team_id": member.team or state.workspace.id,
        **({"enterprise_user": {"enterprise_id": organisation}} if organisation else {}),
        "is_stranger": bool(member.team),
        "name": member.name,
        "real_name": member.real_name,
        "deleted": False,
        "is_bot": member.is_bot,
        "tz": "Etc/UTC",
        "tz_offset": 0,
        "profile": profile,
    }


def group_json(state: State, group: Group) -> Json:
    """A user group."""
    return {
        "id": group.id,
        "team_id": state.workspace.id,
        "is_usergroup": True,
        "handle": group.handle,
        "name": group.name,
        "users": list(group.members),
        "user_count": len(group.members),
        "date_delete": 0,
    }


def file_json(state: State, file: File) -> Json:
    """A file; where it is shown under ``shares``."""
    shares: dict[str, list[Json]] = {}
    for channel, ts in file.shares:
        shares.setdefault(channel, []).append({"ts": ts})
    url = f"{state.base_url}/files-pri/{file.id}/{file.name}"
    return {
        "id": file.id,
        "name": file.name,
        "title": file.title,
        "mimetype": file.mimetype,
        "filetype": file.name.rpartition(".")[2].lower(),
        "size": file.size,
        "user": file.user,
        "created": file.created,
        "timestamp": file.created,
        "mode": "hosted",
        "url_private": url,
        "url_private_download": url,
        "permalink": f"{state.base_url}/files/{file.user}/{file.id}/{file.name}",
        "alt_txt": file.alt_text,
        "channels": list(shares),
        "shares": {"public": shares},
    }


def view_json(state: State, view: View) -> Json:
    """A modal or home page, with what the person entered so far."""
    defaults = {"private_metadata": "", "callback_id": "", "clear_on_close": False, "notify_on_close": False}
    return {
        **defaults,
        **view.content,
        "id": view.id,
        "team_id": state.workspace.id,
        "app_id": state.workspace.app.id,
        "bot_id": state.workspace.app.bot_id,
        "hash": view.hash,
        "root_view_id": view.id,
        "previous_view_id": None,
        "state": {"values": dict(view.values)},
    }
