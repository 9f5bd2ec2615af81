"""views.*: modals and the app's home page."""

from slacksim.errors import Refused
from slacksim.limits import TIER_4
from slacksim.methods.method import Method
from slacksim.modals import find_view, open_view, publish_home, update_view
from slacksim.slack_json import view_json
from slacksim.team import Team
from slacksim.values import Json
from slacksim.view_rules import accepted_view


def open_(team: Team, args: Json) -> Json:
    """A modal for the person whose trigger_id this is; a bad view does not use the trigger up."""
    accepted_view(args.get("view"), "modal")
    trigger = team.triggers.use(args.get("trigger_id"))
    return {"view": view_json(team.state, open_view(team.state, trigger.user, args["view"]))}


def update(team: Team, args: Json) -> Json:
    """Other content for an open modal."""
    view = update_view(team.state, find_view(team.state, args), args.get("view"), args.get("hash"))
    return {"view": view_json(team.state, view)}


def publish(team: Team, args: Json) -> Json:
    """The app's home page for one person."""
    if all(member.id != args.get("user_id") for member in team.state.workspace.members):
        raise Refused("invalid_arguments")
    view = publish_home(team.state, str(args["user_id"]), args.get("view"), args.get("hash"))
    return {"view": view_json(team.state, view)}


METHODS = {
    "views.open": Method(open_, (), TIER_4),
    "views.update": Method(update, (), TIER_4),
    "views.publish": Method(publish, (), TIER_4),
}
