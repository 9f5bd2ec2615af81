"""auth.test, api.test, apps.connections.open, reactions.* and assistant.threads.*."""

from dataclasses import replace

from slacksim import events
from slacksim.errors import Refused
from slacksim.limits import SPECIAL, TIER_2, TIER_3
from slacksim.methods.method import Method
from slacksim.team import Team
from slacksim.values import Json, Reaction, Status

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


def api_test(_team: Team, args: Json) -> Json:
    """Whether anybody is there; an ``error`` comes back as one."""
    if args.get("error"):
        raise Refused(str(args["error"]), args=args)
    return {"args": args}


def open_connection(team: Team, _args: Json) -> Json:
    """The address of a new websocket."""
    return {"url": team.sockets.new_url()}


def add_reaction(team: Team, args: Json) -> Json:
    """An emoji below a message."""
    message, name, bot = team.message(args, "timestamp"), _emoji(args), team.app.bot_user
    before = {reaction.name: reaction.users for reaction in message.reactions}
    if bot in before.get(name, ()):
        raise Refused("already_reacted")
    after = before | {name: (*before.get(name, ()), bot)}
    team.state.put(replace(message, reactions=tuple(Reaction(n, users) for n, users in after.items())))
    team.tell(events.of_reaction(team.state, message, bot, name))
    return {}


def remove_reaction(team: Team, args: Json) -> Json:
    """Take an own emoji away."""
    message, name, bot = team.message(args, "timestamp"), _emoji(args), team.app.bot_user
    if not any(bot in reaction.users and reaction.name == name for reaction in message.reactions):
        raise Refused("no_reaction")
    left = {r.name: tuple(u for u in r.users if u != bot or r.name != name) for r in message.reactions}
    team.state.put(replace(message, reactions=tuple(Reaction(n, users) for n, users in left.items() if users)))
    return {}


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


def set_title(team: Team, args: Json) -> Json:
    """The title of an assistant's thread: checked, not shown."""
    team.own_channel(args, "channel_id")
    return {} if args.get("title") else _refuse()


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


def _emoji(args: Json) -> str:
    name = str(args.get("name") or "").strip(":")
    if not name:
        raise Refused("no_item_specified")
    return name


_REACT = ("reactions:write",)
METHODS = {
    "api.test": Method(api_test, (), SPECIAL, token="none"),  # noqa: S106 - needs no token
    "auth.test": Method(auth_test, (), SPECIAL),
    "apps.connections.open": Method(open_connection, (), TIER_3, token="app"),  # noqa: S106 - a kind of token
    "reactions.add": Method(add_reaction, _REACT, TIER_3),
    "reactions.remove": Method(remove_reaction, _REACT, TIER_2),
    "assistant.threads.setStatus": Method(set_status, ("chat:write", "assistant:write"), SPECIAL),
    "assistant.threads.setTitle": Method(set_title, ("assistant:write",), TIER_3),
    "assistant.threads.setSuggestedPrompts": Method(set_suggested_prompts, ("assistant:write",), TIER_3),
}
