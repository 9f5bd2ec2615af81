"""The app as Slack is told of it: what it may do, what it hears, its command and shortcut; nothing that is not used."""

from typing import Any

from bot.slack.actions import COMMAND, DIAGNOSE_MESSAGE

_READ = ("channels:read", "groups:read", "mpim:read")
_HISTORY = ("channels:history", "groups:history", "im:history", "mpim:history")
# Methods of the Web API that the bot calls, each with the scopes of the bot's token that it needs.
METHODS: dict[str, tuple[str, ...]] = {
    "auth.test": (),
    "chat.postMessage": ("chat:write",),
    "chat.postEphemeral": ("chat:write",),
    "chat.update": ("chat:write",),
    "chat.getPermalink": (),
    # a post whose fate is unknown after a crash is looked for; any one of the three, as the channel is
    "conversations.history": _HISTORY,
    "conversations.info": _READ,  # whether people of another organisation read a channel
    "conversations.replies": _HISTORY,
    "files.getUploadURLExternal": ("files:write",),  # files_upload_v2: report and plot
    "files.completeUploadExternal": ("files:write",),
    "views.open": (),
    "views.update": (),
    "views.publish": (),
    "users.info": ("users:read", "users:read.email"),  # approvers by e-mail, and names of who confirmed
    "usergroups.list": ("usergroups:read",),  # approvers by user group: its id by its handle
    "usergroups.users.list": ("usergroups:read",),
    "assistant.threads.setStatus": ("chat:write",),
    "assistant.threads.setSuggestedPrompts": ("assistant:write",),
}
# What the bot hears, each with the scope that it needs; empty: none.
EVENTS: dict[str, str] = {
    "app_home_opened": "",
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
}
_COMMANDS = "commands"  # slash commands and shortcuts


def scopes() -> list[str]:
    """The scopes of the bot's token: those of its methods, events and command, and no other."""
    needed = {_COMMANDS, *EVENTS.values(), *(scope for wanted in METHODS.values() for scope in wanted)}
    return sorted(needed - {""})


def manifest(*, socket_mode: bool = True, address: str = "") -> dict[str, Any]:
    """The manifest; with ``socket_mode`` off Slack sends signed requests to ``address``."""
    url = {} if socket_mode else {"url": address}
    request = {} if socket_mode else {"request_url": address}
    return {
        "display_information": {
            "name": "Firstfault",
            "description": "Finds the first fault behind a failed training job",
            "background_color": "#1d2b3a",
        },
        "features": {
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "agent_view": {"agent_description": "Say which training job failed, and ask what happened to it."},
            "bot_user": {"display_name": "Firstfault", "always_online": True},
            "slash_commands": [
                {
                    "command": COMMAND,
                    "description": "Find the first fault of a failed training job",
                    "usage_hint": "JOB, or help, list, status, cancel JOB, history RUN",
                    "should_escape": False,
                    **url,
                }
            ],
            "shortcuts": [
                {
                    "name": "Diagnose this job",
                    "type": "message",
                    "callback_id": DIAGNOSE_MESSAGE,
                    "description": "Find the first fault of the job that this message names",
                }
            ],
        },
        "oauth_config": {"scopes": {"bot": scopes()}},
        "settings": {
            "event_subscriptions": {"bot_events": sorted(EVENTS), **request},
            "interactivity": {"is_enabled": True, **request},
            # Without it the app of a whole organisation hears nothing; for that of one workspace it changes nothing.
            "org_deploy_enabled": True,
            "socket_mode_enabled": socket_mode,
            "token_rotation_enabled": False,
        },
    }
