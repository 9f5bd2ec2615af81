"""What the local Slack holds when it starts: people, groups, channels and one app, as plain values."""

from dataclasses import dataclass

SCOPES = (
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "mpim:history",
    "mpim:read",
    "usergroups:read",
    "users:read",
    "users:read.email",
)
EVENTS = ("app_home_opened", "app_mention", "message.channels", "message.groups", "message.im", "message.mpim")


@dataclass(frozen=True)
class Member:
    """A person, or the user that an app speaks as."""

    id: str
    name: str
    real_name: str
    email: str = ""
    title: str = ""
    is_bot: bool = False
    team: str = ""  # of a person of another organisation, who is here by Slack Connect: its id


@dataclass(frozen=True)
class Group:
    """A user group: a list of people with a handle."""

    id: str
    handle: str
    name: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class Channel:
    """A channel; with ``is_im`` the direct messages of two members, with ``is_mpim`` those of a few (a group DM)."""

    id: str
    name: str
    members: tuple[str, ...]
    topic: str = ""
    is_private: bool = False
    is_im: bool = False
    is_mpim: bool = False

    @property
    def is_direct(self) -> bool:
        """Whether it has no name of its own, and only its members know of it."""
        return self.is_im or self.is_mpim


@dataclass(frozen=True)
class Command:
    """A slash command of the app; ``examples`` are arguments that the page offers to try."""

    name: str
    hint: str = ""
    description: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shortcut:
    """A shortcut of the app on a message."""

    callback_id: str
    name: str


@dataclass(frozen=True)
class App:
    """The one app that is installed: who it is, what it may do, what it is told."""

    id: str = "A0FIRSTFAULT"
    name: str = "Firstfault"
    bot_user: str = "U0FIRSTFAULT"
    bot_id: str = "B0FIRSTFAULT"
    bot_token: str = "xoxb-firstfault-local"  # noqa: S105 - opens only a Slack that this program plays itself
    app_token: str = "xapp-firstfault-local"  # noqa: S105 - as above
    signing_secret: str = "firstfault-local-signing-secret"  # noqa: S105 - as above
    verification_token: str = "not-used"  # noqa: S105 - deprecated in Slack, still sent
    scopes: tuple[str, ...] = SCOPES
    events: tuple[str, ...] = EVENTS
    commands: tuple[Command, ...] = (Command("/diagnose", "JOB", "Find the first fault of a failed training job"),)
    shortcuts: tuple[Shortcut, ...] = (Shortcut("diagnose_message", "Diagnose the job in this message"),)


_BOT = App()
_PEOPLE = ("U0ALICE", "U0BOB", "U0CAROL")


@dataclass(frozen=True)
class Workspace:
    """A whole workspace; the default is the demo.

    organisation: id (E...) of the one that has installed the app, for all its workspaces; empty: this workspace has.
    """

    id: str = "T0FIRSTFAULT"
    organisation: str = ""
    name: str = "Firstfault demo"
    domain: str = "firstfault-demo"
    members: tuple[Member, ...] = (
        Member("U0ALICE", "alice", "Alice Adler", "alice@example.com", "On-call SRE"),
        Member("U0BOB", "bob", "Bob Brandt", "bob@example.com", "Trains the models"),
        Member("U0CAROL", "carol", "Carol Conti", "carol@example.com", "Network engineer"),
        Member(_BOT.bot_user, "firstfault", _BOT.name, is_bot=True),
    )
    groups: tuple[Group, ...] = (Group("S0ONCALL", "oncall", "On-call SREs", ("U0ALICE",)),)
    channels: tuple[Channel, ...] = (
        Channel("C0ALERTS", "training-alerts", (*_PEOPLE, _BOT.bot_user), "Failed training jobs, and why they failed"),
        Channel("C0GENERAL", "general", _PEOPLE, "All the rest"),
        Channel("G0ALICEBOB", "mpdm-alice--bob--firstfault-1", ("U0ALICE", "U0BOB", _BOT.bot_user), is_mpim=True),
    )
    app: App = _BOT
    lacking: tuple[str, ...] = ()  # types of blocks that this workspace does not have, such as data_visualization
