"""Answers to what a person did: in the acknowledgement of a command, or later through a response URL."""

from dataclasses import replace

from slacksim.errors import Refused
from slacksim.short_lived import ResponseUrl
from slacksim.team import Team
from slacksim.values import Json, Message


def show_answer(team: Team, place: ResponseUrl, answer: Json) -> Message | None:
    """Show it to the person alone, or to the channel; or change or delete the message that the person acted on.

    Raises:
        Refused: no text, too long, or blocks that Slack does not take.
    """
    original = team.state.messages.get((place.channel, place.ts or ""))
    if answer.get("delete_original"):
        if original:
            team.delete(original)
        return None
    in_channel = answer.get("response_type") == "in_channel"
    message = team.of_app(place.channel, answer, only_for=None if in_channel else place.user)
    if answer.get("replace_original"):
        if original is None:
            raise Refused("message_not_found")
        after = replace(original, text=message.text, blocks=message.blocks, edited_ts=message.ts)
        return team.edit(original, replace(after, edited_by=team.app.bot_user))
    return team.post(message)
