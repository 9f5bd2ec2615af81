"""auth.test, apps.connections.open and assistant.threads.*."""

from slacksim.errors import Refused
from slacksim.limits import SPECIAL, TIER_3
from slacksim.methods.method import Method
from slacksim.team import Team
from slacksim.values import Json, Status

LOADING_MESSAGES, PROMPTS = 10, 4  # docs.slack.dev/reference/methods/assistant.threads.setStatus, setSuggestedPrompts


def auth_test(team: Team, _args: Json) -> Json:
    """Who the token belongs to."""
    workspace, app = team.state.workspace, team.app
    user = next(member.name for member in workspace.members if member.id == app.bot_user)
    organisation = {"enterprise_id": workspace.organisation} if workspace.organisation else {}
    return {
        "url": f"https://{workspace.domain}.slack.com/",
        "team": workspace.name,
        "team_id": workspace.id,
        "user": user,
        "user_id": app.bot_user,
        "bot_id": app.bot_id,
        "is_enterprise_install": bool(organisation),
        **organisation,
    }


def open_connection(team: Team, _args: Json) -> Json:
    """The address of a new websocket."""
    return {"url": team.sockets.new_url()}


def set_status(team: Team, args: Json) -> Json:
    """What the app is doing, below a thread; an empty text or the next message ends it."""
    channel = team.own_channel(args, "channel_id")
    thread_ts = team.root(channel.id, str(args.get("thread_ts") or ""))
    if thread_ts is None or "status" not in args or len(args.get("loading_messages") or ()) > LOADING_MESSAGES:
        raise Refused("invalid_arguments")
    team.state.statuses.pop((channel.id, thread_ts), None)
    if args["status"]:
        team.state.statuses[channel.id, thread_ts] = Status(channel.id, thread_ts, str(args["status"]))
    team.state.changed()
    return {}


def set_suggested_prompts(team: Team, args: Json) -> Json:
    """What a person may ask in the app's messages."""
    channel = team.own_channel(args, "channel_id")
    prompts = args.get("prompts")
    fine = (
        isinstance(prompts, list)
        and 1 <= len(prompts) <= PROMPTS
        and all(isinstance(prompt, dict) and prompt.get("title") and prompt.get("message") for prompt in prompts)
    )
    if not fine:
        return _refuse()
    team.state.prompts[channel.id] = tuple(prompts or ())
    team.state.changed()
    return {}


def _refuse() -> Json:
    raise Refused("invalid_arguments")


METHODS = {
    "auth.test": Method(auth_test, (), SPECIAL),
    "apps.connections.open": Method(open_connection, (), TIER_3, token="app"),  # noqa: S106 - a kind of token
    "assistant.threads.setStatus": Method(set_status, ("chat:write", "assistant:write"), SPECIAL),
    "assistant.threads.setSuggestedPrompts": Method(set_suggested_prompts, ("assistant:write",), TIER_3),
}
