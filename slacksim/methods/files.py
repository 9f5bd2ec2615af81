"""files.*: upload in three steps, as files_upload_v2 does it."""

import mimetypes
import secrets
from dataclasses import replace
from typing import Any

from slacksim.errors import Refused
from slacksim.limits import TIER_4
from slacksim.methods.method import Method, number
from slacksim.slack_json import file_json
from slacksim.team import Team
from slacksim.values import File, Json
from slacksim.workspace import Channel


def get_upload_url(team: Team, args: Json) -> Json:
    """Where to send the bytes of a new file."""
    name, size = str(args.get("filename") or ""), number(args, "length", 0)
    if not name or size < 1:
        raise Refused("invalid_arguments")
    file = File(
        id=team.state.new_id("F"),
        name=name.replace("/", "_"),
        title=name,
        size=size,
        user=team.app.bot_user,
        created=int(team.state.clock()),
        key=secrets.token_urlsafe(18),
        mimetype=mimetypes.guess_type(name)[0] or "application/octet-stream",
        alt_text=str(args.get("alt_txt") or ""),
    )
    team.state.files[file.id] = file
    return {"upload_url": f"{team.state.base_url}/upload/{file.id}", "file_id": file.id}


def complete_upload(team: Team, args: Json) -> Json:
    """Show the files in a channel or thread, or keep them for blocks that name them."""
    files = [_uploaded(team, wanted) for wanted in args.get("files") or ()]
    if not files:
        raise Refused("invalid_arguments")
    channels = [team.own_channel({"channel": name}) for name in _channels(args)]
    for channel in channels:
        files = _share(team, channel, files, args)
    for file in files:
        team.state.files[file.id] = file
    team.state.changed()
    return {"files": [file_json(team.state, file) for file in files]}


def _channels(args: Json) -> list[str]:
    several = args.get("channels") or ""
    names = [args.get("channel_id"), *(several if isinstance(several, list) else str(several).split(","))]
    return [name for name in names if name]


def _uploaded(team: Team, wanted: Any) -> File:
    file = team.state.files.get(str(wanted.get("id"))) if isinstance(wanted, dict) else None
    if file is None or file.data is None:
        raise Refused("file_not_found")
    if len(file.data) != file.size:
        raise Refused("file_update_failed")
    return replace(file, title=wanted.get("title") or file.name)


def _share(team: Team, channel: Channel, files: list[File], args: Json) -> list[File]:
    call = {
        "text": args.get("initial_comment") or " ",
        "blocks": args.get("blocks"),
        "thread_ts": args.get("thread_ts"),
    }
    message = team.of_app(channel.id, call)
    message = replace(message, text=args.get("initial_comment") or "", files=tuple(file.id for file in files))
    files = [replace(file, shares=(*file.shares, (channel.id, message.ts))) for file in files]
    for file in files:
        team.state.files[file.id] = file
    team.post(message)
    return files


METHODS = {
    "files.getUploadURLExternal": Method(get_upload_url, ("files:write",), TIER_4),
    "files.completeUploadExternal": Method(complete_upload, ("files:write",), TIER_4),
}
