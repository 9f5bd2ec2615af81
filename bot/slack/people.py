"""Who may approve: users, e-mail addresses and user groups of the settings, everywhere or in one channel."""

import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackClientError

KEPT = 60.0  # seconds that Slack's word is believed: whoever leaves the group may approve for a minute more
_LOG = logging.getLogger(__name__)
_IN_CHANNEL = re.compile(r"(?P<channel>[CG][A-Z0-9]{2,20}):(?P<who>.{1,200})")


@dataclass(frozen=True, slots=True)
class Approvers:
    """The list of the settings, taken apart; an empty one means nobody.

    users: ids; emails: lower case; groups: ids or handles, without @. channels: who may in one channel only, by its id.
    """

    users: frozenset[str] = frozenset()
    emails: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    channels: Mapping[str, "Approvers"] = field(default_factory=dict)

    def of_channel(self, channel: str) -> "Approvers":
        """Who may decide about what was asked in this channel."""
        in_channel = self.channels.get(channel, Approvers())
        return Approvers(
            self.users | in_channel.users, self.emails | in_channel.emails, self.groups | in_channel.groups
        )

    def __bool__(self) -> bool:
        return bool(self.users or self.emails or self.groups or any(self.channels.values()))

    def __str__(self) -> str:
        groups = (f"@{name}" for name in sorted(self.groups))
        return ", ".join((*(f"<@{user}>" for user in sorted(self.users)), *sorted(self.emails), *groups))


def read_approvers(entries: Sequence[str]) -> Approvers:
    """Users (U0123ABCD), addresses (ada@example.org) and groups (@sre-oncall or S0123ABCD).

    With a channel before it (C0123ABCD:@train-oncall) an entry counts there only.
    """
    words, inside = [], dict[str, list[str]]()
    for word in (entry.strip() for entry in entries if entry.strip()):
        if found := _IN_CHANNEL.fullmatch(word):
            inside.setdefault(found["channel"], []).append(found["who"])
        else:
            words.append(word)
    emails = frozenset(word.lower() for word in words if "@" in word[1:])
    groups = frozenset(word.removeprefix("@") for word in words if word not in emails and word[0] in "@S")
    return Approvers(
        frozenset(word for word in words if word[0] in "UW" and "@" not in word),
        emails,
        groups - {email.removeprefix("@") for email in emails},
        {channel: read_approvers(names) for channel, names in inside.items()},
    )


class SlackAnswers:
    """What Slack has answered, believed for a minute."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[float, Any]] = {}

    def once(self, key: str, ask: Callable[[], Any]) -> Any:
        """The answer, at most a minute old; None when Slack gives none, which is asked again the next time."""
        kept = self._kept.get(key)
        if kept is not None and self._clock() - kept[0] < KEPT:
            return kept[1]
        try:
            answer = ask()
        except (SlackClientError, OSError, KeyError) as trouble:
            _LOG.warning("Slack does not tell of %s: %s", key, trouble)
            return None
        self._kept[key] = self._clock(), answer
        return answer


class People:
    """What Slack says of people, asked once a minute."""

    def __init__(self, client: WebClient, approvers: Approvers, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.approvers = approvers
        self._client = client
        self._answers = SlackAnswers(clock)

    def may_approve(self, user: str, channel: str) -> bool:
        """Whether this user is on the list of this channel; when Slack does not tell, only who is named by id."""
        approvers = self.approvers.of_channel(channel)
        if user in approvers.users:
            return True
        if approvers.emails and str(self._profile(user).get("email") or "").lower() in approvers.emails:
            return True
        return any(user in self._members(group) for group in sorted(approvers.groups))

    def listed(self, channel: str) -> str:
        """The list of this channel as people know it: a group that is listed by its id by its handle."""
        approvers = self.approvers.of_channel(channel)
        if not approvers.groups:
            return str(approvers)
        handles = {str(group.get("id")): str(group.get("handle")) for group in self._groups()}
        return str(replace(approvers, groups=frozenset(handles.get(group, group) for group in approvers.groups)))

    def name(self, user: str) -> str:
        """The name that people know the user by; the id when Slack does not tell."""
        profile = self._profile(user)
        return str(profile.get("display_name") or profile.get("real_name") or user)

    def _profile(self, user: str) -> dict[str, Any]:
        found = self._answers.once(f"user {user}", lambda: self._client.users_info(user=user)["user"]["profile"])
        return found if isinstance(found, dict) else {}

    def _members(self, group: str) -> frozenset[str]:
        ids = [str(entry["id"]) for entry in self._groups() if group in (entry.get("id"), entry.get("handle"))]
        return frozenset(user for group in ids for user in self._users(group))

    def _groups(self) -> Sequence[Mapping[str, Any]]:
        return self._answers.once("groups", lambda: self._client.usergroups_list()["usergroups"]) or ()

    def _users(self, group: str) -> list[str]:
        return (
            self._answers.once(f"group {group}", lambda: self._client.usergroups_users_list(usergroup=group)["users"])
            or []
        )
