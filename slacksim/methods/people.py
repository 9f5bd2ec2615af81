"""users.*, usergroups.*, bots.info, team.info: who is there."""

from slacksim.errors import Refused
from slacksim.limits import TIER_2, TIER_3, TIER_4
from slacksim.methods.method import Method, page_of, truth
from slacksim.slack_json import group_json, user_json
from slacksim.team import Team
from slacksim.values import Json


def info(team: Team, args: Json) -> Json:
    """One person."""
    for member in team.state.workspace.members:
        if member.id == args.get("user"):
            return {"user": user_json(team.state, member)}
    raise Refused("user_not_found")


def list_(team: Team, args: Json) -> Json:
    """All people and bots."""
    return page_of([user_json(team.state, member) for member in team.state.workspace.members], args, "members")


def lookup_by_email(team: Team, args: Json) -> Json:
    """The person with an e-mail address."""
    for member in team.state.workspace.members:
        if member.email and member.email == str(args.get("email")).lower():
            return {"user": user_json(team.state, member)}
    raise Refused("users_not_found")


def groups(team: Team, args: Json) -> Json:
    """All user groups."""
    found = [group_json(team.state, group) for group in team.state.workspace.groups]
    if not truth(args, "include_users"):
        found = [{name: value for name, value in group.items() if name != "users"} for group in found]
    return {"usergroups": found}


def users_of_group(team: Team, args: Json) -> Json:
    """The people of a user group."""
    for group in team.state.workspace.groups:
        if group.id == args.get("usergroup"):
            return {"users": list(group.members)}
    raise Refused("no_such_subteam")


def bot(team: Team, args: Json) -> Json:
    """The app as a bot."""
    if args.get("bot") not in (None, "", team.app.bot_id):
        raise Refused("bot_not_found")
    app = team.app
    return {"bot": {"id": app.bot_id, "app_id": app.id, "name": app.name, "user_id": app.bot_user, "deleted": False}}


def team_info(team: Team, _args: Json) -> Json:
    """The workspace."""
    workspace = team.state.workspace
    return {"team": {"id": workspace.id, "name": workspace.name, "domain": workspace.domain}}


METHODS = {
    "users.info": Method(info, ("users:read",), TIER_4),
    "users.list": Method(list_, ("users:read",), TIER_2),
    "users.lookupByEmail": Method(lookup_by_email, ("users:read.email",), TIER_3),
    "usergroups.list": Method(groups, ("usergroups:read",), TIER_2),
    "usergroups.users.list": Method(users_of_group, ("usergroups:read",), TIER_2),
    "bots.info": Method(bot, ("users:read",), TIER_3),
    "team.info": Method(team_info, ("team:read",), TIER_3),
}
