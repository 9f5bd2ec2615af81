"""What can go wrong with the state; drawn with all others in ``core.errors``."""

from datetime import datetime

from core.errors import Audience, FirstfaultError


class StateUnavailable(FirstfaultError):
    """The state file is full, locked, damaged, forbidden or of a newer version."""


class RunForgotten(FirstfaultError):
    """There is no such run, or no draft of it, any more."""

    audience = Audience.ASKER

    def __init__(self) -> None:
        super().__init__("This diagnosis is no longer kept.", "Ask for the job again.")


class StaleRevision(FirstfaultError):
    """What was looked at is not what is there now; says who changed it, and when."""

    audience = Audience.ASKER

    def __init__(self, *, seen: int, revision: int, by: str, at: datetime) -> None:
        super().__init__(
            f"Revision {seen} is out of date: {by} made revision {revision} at {at:%Y-%m-%d %H:%M} UTC.",
            "Look at the newer text and decide again.",
        )
        self.revision = revision
        self.by = by
        self.at = at


class OutOfDate(FirstfaultError):
    """What was asked about is not there yet, or is not any more what it was."""

    audience = Audience.ASKER
