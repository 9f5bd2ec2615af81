"""What Slack sends, as envelopes of the inbox: of which kind, under which key, and only the fields that are used."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from bot.slack import actions as act
from bot.slack.alerts import is_alert, words_of
from bot.state.inbox import Envelope
from bot.state.small_values import to_text

Payload = Mapping[str, Any]


class EnvelopeKind(StrEnum):
    """What somebody did in Slack, as the inbox tells envelopes apart."""

    COMMAND = "command"
    SHORTCUT = "shortcut"
    CLICK = "click"
    OPENING = "opening"  # a click that opens a window, for which Slack gives three seconds
    FORM = "form"
    MENTION = "mention"
    MESSAGE = "message"
    ALERT = "alert"  # what another program has posted
    HOME = "home"  # somebody opened the app: its page, or its messages


CLICKS = frozenset(
    {
        act.CANCEL, act.AGAIN, act.DIAGNOSE, act.ANYWAY, act.WATCH, act.UNWATCH, act.APPROVE,
        act.APPROVE_NEW, act.JOIN, act.UNDO, act.USEFUL, act.FITS,
    }
)  # fmt: skip
OPENINGS = frozenset({act.EDIT, act.REJECT, act.EXPLAIN, act.LINES, act.MORE_LINES})
FORMS = frozenset({act.EDIT_FORM, act.REJECT_FORM, act.EXPLAIN_FORM})
HOME, MESSAGES = HOME_TABS = ("home", "messages")  # of the app, as Slack calls them
_DIRECT = re.compile(r"D[A-Z0-9]{1,31}", re.ASCII)  # the id of direct messages with one person
_SPEECH = (None, "thread_broadcast", "file_share")  # subtypes of messages that a person has written


def of_organisation(envelope: Envelope, organisation: str) -> Envelope:
    """The envelope as one of the organisation that has installed the bot for all its workspaces.

    Its requests name now this workspace, now that one, and clicks none: a thread would not be found again, and what
    is followed belongs to no workspace. ``home`` stays the person's own.
    """
    name = "team_id" if envelope.kind == EnvelopeKind.COMMAND else "team"
    return replace(envelope, body={**envelope.body, name: organisation})


def envelope_of(body: Payload) -> Envelope | None:
    """The envelope of a request; None for what is not for us, such as what machines say.

    Raises:
        KeyError, TypeError: Slack does not send such requests.
    """
    match body.get("type"):
        case None if body.get("command") == act.COMMAND:
            kept = _some(body, "team_id", "channel_id", "user_id", "text")
            return _by_trigger(EnvelopeKind.COMMAND, body, {**kept, "home": body["team_id"]})
        case "message_action" if body["callback_id"] == act.DIAGNOSE_MESSAGE:
            message = _some(body["message"], "ts", "thread_ts", "text")
            return _by_trigger(EnvelopeKind.SHORTCUT, body, {**_who_and_where(body), "message": message})
        case "block_actions":
            return _click(body)
        case "view_submission" if body["view"]["callback_id"] in FORMS:
            view = _some(body["view"], "callback_id", "private_metadata", "state")
            return _by_trigger(EnvelopeKind.FORM, body, {**_who_and_where(body), "view": view})
        case "event_callback":
            return _event(body)
    return None


def _click(body: Payload) -> Envelope | None:
    action = body["actions"][0]
    name = action["action_id"]
    if name not in CLICKS | OPENINGS:
        return None
    kind = EnvelopeKind.OPENING if name in OPENINGS else EnvelopeKind.CLICK
    kept = {**_who_and_where(body), **_in_home(body), "action": {"action_id": name, "value": act.value_of(action)}}
    return _by_trigger(kind, body, kept)


def _in_home(body: Payload) -> dict[str, Any]:
    """Of a click in the app's home: that it was there, and the channel where it is answered, as the view tells it."""
    view = body.get("view") or {}
    if view.get("type") != "home":
        return {}
    direct = _DIRECT.fullmatch(str(view.get("private_metadata") or ""))
    return {"in_home": True, "channel": direct[0] if direct else body["user"]["id"]}


def _event(body: Payload) -> Envelope | None:
    """A mention makes two events: one as a mention, and one as any message."""
    event = body["event"]
    if is_alert(event):
        kept = {**_some(event, "channel", "ts"), "text": words_of(event), "team": body["team_id"]}
        return Envelope(
            to_text([EnvelopeKind.ALERT, kept["team"], kept["channel"], kept["ts"]]), EnvelopeKind.ALERT, kept
        )
    if event.get("type") == "app_home_opened":
        return _home(body, event)
    kinds = {"app_mention": EnvelopeKind.MENTION, "message": EnvelopeKind.MESSAGE}
    if event.get("type") not in kinds or _by_machine(event) or not str(event.get("text") or "").strip():
        return None
    kind, team = kinds[event["type"]], body["team_id"]
    if event.get("channel_type") == "mpim" and "<@" in event["text"]:
        kind = EnvelopeKind.MENTION  # a group of people has no event for it; should both come, they are one envelope
    kept = _some(event, "channel", "channel_type", "user", "ts", "thread_ts", "text")
    kept["home"] = event.get("user_team") or event.get("team") or ""
    thread = event.get("thread_ts")  # where an answer knows what was said before it
    lane = to_text([team, event["channel"], thread]) if thread else ""
    return Envelope(to_text([kind, team, event["channel"], event["ts"]]), kind, {"team": team, **kept}, lane)


def _home(body: Payload, event: Payload) -> Envelope | None:
    if event.get("tab") not in HOME_TABS:
        return None
    kept = {"team": body["team_id"], "user": event["user"], "tab": event["tab"]}
    key = to_text([EnvelopeKind.HOME, *kept.values(), event["event_ts"]])
    return Envelope(key, EnvelopeKind.HOME, {**kept, **_some(event, "channel")})


def _by_trigger(kind: EnvelopeKind, body: Payload, kept: Payload) -> Envelope:
    """Slack gives each act of a person a trigger of its own; should one have none, the whole request is its key."""
    trigger = body.get("trigger_id") or hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    return Envelope(to_text([kind, trigger]), kind, {**_some(body, "response_url", "trigger_id"), **kept})


def _who_and_where(body: Payload) -> dict[str, Any]:
    """home: the workspace of the person, which in a shared channel may be another one than that of the message."""
    channel = body.get("channel")  # a form has none
    where = {"channel": channel["id"]} if channel else {}
    team = body.get("team") or {"id": body["user"]["team_id"]}  # an app of a whole organisation is told no team
    user = body["user"]
    return {"team": team["id"], "user": user["id"], "home": user.get("team_id") or "", **where}


def _some(fields: Payload, *names: str) -> dict[str, Any]:
    return {name: fields[name] for name in names if fields.get(name) is not None}


def _by_machine(event: Payload) -> bool:
    """Whether no person said it just now: bots, edits, deletions, joins."""
    return bool(event.get("bot_id") or event.get("hidden") or event.get("subtype") not in _SPEECH)
