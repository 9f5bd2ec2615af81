"""Slack Connect: people of other organisations are not answered, and read nothing, unless the settings allow it."""

import time
from collections.abc import Callable

from slack_bolt.authorization import AuthorizeResult
from slack_sdk import WebClient

from bot.slack.people import SlackAnswers

DIRECT = "D"  # how the id of direct messages with one person begins


def whole_organisation(identity: AuthorizeResult) -> str:
    """The id of the organisation that has installed the bot for all its workspaces; empty: one workspace has."""
    whole = identity.enterprise_id is not None and identity.team_id == identity.enterprise_id
    return str(identity.enterprise_id) if whole else ""


class Organisation:
    """Whoever installed the bot, a workspace or a whole organisation, and those that are allowed."""

    def __init__(
        self,
        client: WebClient,
        identity: AuthorizeResult,
        allowed: frozenset[str] = frozenset(),
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """allowed: ids of other workspaces (T...) or organisations (E...)."""
        self._client = client
        self._ours = allowed | {found for found in (identity.team_id, identity.enterprise_id) if found}
        self._answers = SlackAnswers(clock)

    def is_stranger(self, user: str, team: str = "") -> bool:
        """Whether a person is of another organisation; team: their own as the request tells it, empty if it does not.

        Where Slack does not say whose a person is, what the request says counts.
        """
        if team in self._ours:
            return False
        found = self._answers.once(f"user {user}", lambda: self._client.users_info(user=user)["user"])
        if found is None:
            return bool(team)
        theirs = {found.get("team_id"), (found.get("enterprise_user") or {}).get("enterprise_id")}
        return not theirs & self._ours

    def is_shared(self, channel: str) -> bool:
        """Whether people of an organisation that is not allowed read a channel; False where Slack does not tell."""
        if channel.startswith(DIRECT):
            return False
        found = self._answers.once(
            f"channel {channel}", lambda: self._client.conversations_info(channel=channel)["channel"]
        )
        if found is None or not found.get("is_ext_shared"):
            return False
        teams = {*(found.get("shared_team_ids") or ()), *(found.get("connected_team_ids") or ())}
        return not teams or not teams <= self._ours
