"""A local Slack for the demo, the end-to-end tests and the screenshots; on loopback only, without any account."""

from slacksim.driver import Slack, User, start
from slacksim.errors import LocalSlackError, NotSeen
from slacksim.limits import Limits, Timing
from slacksim.people_acting import Outcome
from slacksim.state import Snapshot
from slacksim.values import File, Message, View
from slacksim.workspace import App, Channel, Command, Group, Member, Shortcut, Workspace

__all__ = [
    "App",
    "Channel",
    "Command",
    "File",
    "Group",
    "Limits",
    "LocalSlackError",
    "Member",
    "Message",
    "NotSeen",
    "Outcome",
    "Shortcut",
    "Slack",
    "Snapshot",
    "Timing",
    "User",
    "View",
    "Workspace",
    "start",
]
