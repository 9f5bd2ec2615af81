"""What can go wrong: a call that Slack would refuse, and wrong use of the local Slack itself.

Refused          an answer of the Web API: {"ok": false, "error": ...}
NotAcknowledged  the app did not answer a command, an interaction or an event in time
LocalSlackError  the person (or test) asked for what is not there
└── NotSeen      a condition did not come true in time; tells what was there instead
"""

from typing import Any


class Refused(Exception):
    """The Web API says no: a code that Slack documents, and what goes with it."""

    def __init__(self, code: str, **more: Any) -> None:
        super().__init__(code)
        self.code = code
        self.more = more

    @classmethod
    def for_problems(cls, code: str, problems: tuple[str, ...]) -> "Refused":
        """A refusal of blocks or of a view, with a line for each problem."""
        lines = list(problems)
        return cls(code, errors=lines, response_metadata={"messages": [f"[ERROR] {line}" for line in lines]})

    def answer(self) -> dict[str, Any]:
        """The body of the answer."""
        return {"ok": False, "error": self.code, **self.more}


class NotAcknowledged(Exception):
    """No acknowledgement: the reason in Slack's words for ``retry_reason``."""

    def __init__(self, reason: str, *, may_retry: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.may_retry = may_retry


class LocalSlackError(Exception):
    """What was asked for does not exist here, and what exists instead."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message} {hint}".strip())
        self.message = message
        self.hint = hint


class NotSeen(LocalSlackError):
    """A condition did not come true in time."""
