"""users.* and usergroups.*: who is there."""

from slacksim.errors import Refused
from slacksim.limits import TIER_2, TIER_3, TIER_4
from slacksim.methods.method import Method, truth
from slacksim.slack_json import group_json, user_json
from slacksim.team import Team
from slacksim.values import Json


def info(team: Team, args: Json) -> Json:
    """One person."""
    for member in team.state.workspace.members:
        if member.id == args.get("user"):
            return {"user": user_json(team.state, member)}
    raise Refused("user_not_found")


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


METHODS = {
    "users.info": Method(info, ("users:read",), TIER_4),
    "users.lookupByEmail": Method(lookup_by_email, ("users:read.email",), TIER_3),
    "usergroups.list": Method(groups, ("usergroups:read",), TIER_2),
    "usergroups.users.list": Method(users_of_group, ("usergroups:read",), TIER_2),
}
