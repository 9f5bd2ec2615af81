"""What people do in the workspace: write, mention, edit, run commands and shortcuts, react, open the app's home."""

import re
from dataclasses import dataclass, field, replace
from typing import Any

from slacksim import events
from slacksim.errors import LocalSlackError, NotAcknowledged, Refused
from slacksim.respond import show_answer
from slacksim.short_lived import ResponseUrl
from slacksim.slack_json import message_json
from slacksim.state import member_of
from slacksim.team import Team
from slacksim.values import Json, Message, Reaction
from slacksim.workspace import Channel, Member

PROGRAM = "B0ALERTS"
SLACKBOT = Member("USLACKBOT", "slackbot", "Slackbot", is_bot=True)
_MENTION = re.compile(r"(?<![\w@])@([a-z0-9._-]*[a-z0-9])|&lt;@(U[A-Z0-9]+)&gt;")
_CHANNEL = re.compile(r"(?<![\w&])#([a-z0-9_-]+)")


@dataclass(frozen=True)
class Outcome:
    """What came of a person's act: whether the app acknowledged it, what it answered, how long it took."""

    acknowledged: bool
    answer: Any = None
    reason: str = ""
    seconds: float = 0.0
    errors: dict[str, str] = field(default_factory=dict)


class People:
    """Every act that is not a click; the acting person is named by name or id."""

    def __init__(self, team: Team) -> None:
        self.team = team

    async def say(self, user: str, channel: str, text: str, thread_ts: str | None = None) -> Message:
        """A message, or a reply in a thread; ``@name`` mentions."""
        team, author, place = self.team, self.member(user), self.place(channel)
        if author.id not in place.members:
            raise LocalSlackError(f"{author.name} is not in {place.name}.", "Add the person to the channel first.")
        if not text.strip():
            raise LocalSlackError("There is nothing to send.")
        typed = self._typed(text)
        root = team.root(place.id, thread_ts)
        message = team.post(Message(place.id, team.state.new_ts(), author.id, typed, thread_ts=root))
        app = team.app
        if f"<@{app.bot_user}>" in typed and app.bot_user not in place.members:
            bot = self.member(app.bot_user).name
            self.whisper(author.id, place.id, f"You mentioned @{bot}, but it is not in this channel: `/invite @{bot}`")
        return message

    async def post_by_program(self, channel: str, text: str, attachments: tuple[Json, ...]) -> Message:
        """What an incoming webhook posts, such as Alertmanager's."""
        place, team = self.place(channel), self.team
        post = Message(place.id, team.state.new_ts(), SLACKBOT.id, text, program=PROGRAM, attachments=attachments)
        return team.post(post)

    async def edit(self, user: str, channel: str, ts: str, text: str) -> Message:
        """Other words for an own message."""
        author, before = self.member(user), self.message(channel, ts)
        if before.user != author.id:
            raise LocalSlackError(f"{author.name} cannot edit a message of {before.user}.")
        after = replace(before, text=self._typed(text), edited_ts=self.team.state.new_ts(), edited_by=author.id)
        return self.team.edit(before, after)

    async def delete(self, user: str, channel: str, ts: str) -> None:
        """Take an own message away."""
        author, message = self.member(user), self.message(channel, ts)
        if message.user != author.id:
            raise LocalSlackError(f"{author.name} cannot delete a message of {message.user}.")
        self.team.delete(message)

    async def react(self, user: str, channel: str, ts: str, name: str) -> None:
        """Put an emoji below a message; a second time takes it away. The app does not subscribe to these."""
        author, message = self.member(user), self.message(channel, ts)
        before = {reaction.name: reaction.users for reaction in message.reactions}
        mine = author.id in before.get(name, ())
        users = tuple(u for u in before.get(name, ()) if u != author.id) + (() if mine else (author.id,))
        after = before | {name: users}
        self.team.state.put(replace(message, reactions=tuple(Reaction(n, u) for n, u in after.items() if u)))

    async def command(self, user: str, channel: str, text: str) -> Outcome:
        """A line that starts with a slash."""
        author, place = self.member(user), self.place(channel)
        name, _, rest = text.strip().partition(" ")
        if name == "/invite":
            return self._invite(author, place, rest.strip())
        if name not in (command.name for command in self.team.app.commands):
            self.whisper(author.id, place.id, f"`{name}` is not a valid command.")
            return Outcome(acknowledged=False, reason="unknown_command")
        url = self.team.response_urls.issue(place.id, author.id)
        payload = self._command(author, place, name, rest.strip()) | {"response_url": url}
        outcome = await self.hand_over("slash_commands", payload)
        if not outcome.acknowledged:
            self.whisper(author.id, place.id, f"`{name}` failed because the app did not respond ({outcome.reason}).")
        elif isinstance(outcome.answer, dict) and (outcome.answer.get("text") or outcome.answer.get("blocks")):
            self._show(author, place, outcome.answer)
        return outcome

    async def shortcut(self, user: str, callback_id: str, channel: str, ts: str) -> Outcome:
        """A shortcut on a message."""
        author = self.member(user)
        known = {shortcut.callback_id: shortcut for shortcut in self.team.app.shortcuts}
        if callback_id not in known:
            raise LocalSlackError(f"There is no such shortcut {callback_id}.", f"There are {', '.join(known)}.")
        payload = self.interaction("message_action", author)
        payload |= {"callback_id": callback_id, "trigger_id": self.team.triggers.issue(author.id)}
        payload["action_ts"] = self.team.state.new_ts()
        message = self.message(channel, ts)
        payload |= {"message": message_json(self.team.state, message), "message_ts": ts}
        payload |= {"channel": self.named(self.place(channel))}
        payload["response_url"] = self.team.response_urls.issue(message.channel, author.id, ts=ts)
        return await self.hand_over("interactive", payload)

    async def open_home(self, user: str, tab: str = "home") -> None:
        """Open the app's page, or its messages."""
        self.team.tell(events.of_home(self.team.state, self.member(user).id, tab))

    async def hand_over(self, kind: str, payload: Json) -> Outcome:
        """A delivery for which a person waits."""
        started = self.team.state.clock()
        try:
            answer = await self.team.delivery.once(kind, payload)
        except NotAcknowledged as error:
            return Outcome(acknowledged=False, reason=error.reason, seconds=self.team.state.clock() - started)
        return Outcome(acknowledged=True, answer=answer, seconds=self.team.state.clock() - started)

    def interaction(self, kind: str, author: Member) -> Json:
        """What all interactions have in common."""
        workspace = self.team.state.workspace
        person = {"id": author.id, "username": author.name, "name": author.name}
        person["team_id"] = author.team or workspace.id
        return {
            "type": kind,
            "token": self.team.app.verification_token,
            "api_app_id": self.team.app.id,
            "team": None if workspace.organisation else {"id": workspace.id, "domain": workspace.domain},
            "user": person,
            "enterprise": {"id": workspace.organisation} if workspace.organisation else None,
            "is_enterprise_install": bool(workspace.organisation),
        }

    def whisper(self, user: str, channel: str, text: str) -> None:
        """A word of Slack itself to one person."""
        ts = self.team.state.new_ts()
        self.team.state.put(Message(channel, ts, SLACKBOT.id, text, only_for=user))

    def member(self, name: str) -> Member:
        """A person by name or id."""
        return member_of(self.team.state.workspace, name)

    def place(self, name: str) -> Channel:
        """A channel by name or id, or the direct messages that hold the app."""
        return self.team.state.snapshot().channel(name)

    def message(self, channel: str, ts: str) -> Message:
        """A message by its place."""
        return self.team.state.snapshot().message(channel, ts)

    def named(self, channel: Channel) -> Json:
        """A channel as interactions name it."""
        return {"id": channel.id, "name": "directmessage" if channel.is_im else channel.name}

    def _command(self, author: Member, place: Channel, name: str, text: str) -> Json:
        workspace, app = self.team.state.workspace, self.team.app
        return {
            "token": app.verification_token,
            "team_id": author.team or workspace.id,
            "team_domain": workspace.domain,
            "channel_id": place.id,
            "channel_name": self.named(place)["name"],
            "user_id": author.id,
            "user_name": author.name,
            "command": name,
            "text": text,
            "api_app_id": app.id,
            "is_enterprise_install": str(bool(workspace.organisation)).lower(),
            "trigger_id": self.team.triggers.issue(author.id),
        }

    def _show(self, author: Member, place: Channel, answer: Json) -> None:
        try:
            show_answer(self.team, ResponseUrl(place.id, author.id, 0.0), answer)
        except Refused as error:
            self.whisper(author.id, place.id, f"The app's answer was refused: {error.code}.")

    def _invite(self, author: Member, place: Channel, name: str) -> Outcome:
        invited = self.member(name)
        if invited.id not in place.members:
            self.team.state.join(place, (invited.id,))
        self.whisper(author.id, place.id, f"<@{invited.id}> is in this channel now.")
        return Outcome(acknowledged=True)

    def _typed(self, text: str) -> str:
        """Text as Slack's own client sends it: escaped, with ids for mentions and channels."""
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        by_name = {member.name: member.id for member in self.team.state.workspace.members}
        channels = {c.name: c.id for c in self.team.state.channels.values() if not c.is_direct}

        def mention(found: re.Match[str]) -> str:
            user = by_name.get(found[1] or "") or (found[2] if found[2] in by_name.values() else None)
            return f"<@{user}>" if user else found[0]

        text = _MENTION.sub(mention, text)
        return _CHANNEL.sub(lambda m: f"<#{channels[m[1]]}|{m[1]}>" if m[1] in channels else m[0], text)
