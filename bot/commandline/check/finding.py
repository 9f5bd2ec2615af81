"""What a check has found: a state, what it is about, and a line that says what to do."""

from dataclasses import dataclass
from enum import StrEnum

from bot.text.harmless import harmless
from core.errors import FirstfaultError

_STATE, _NAME = 9, 16  # columns: the longest state and the longest name ("language model"), and two spaces
_MAX = 600  # characters of a line; ids and addresses in it are foreign


class CheckState(StrEnum):
    """Whether what is checked works."""

    OK = "OK"
    MISSING = "missing"  # configured, and does not work
    OFF = "off"  # not configured


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One line of ``firstfault check``."""

    state: CheckState
    name: str
    says: str

    def __str__(self) -> str:
        return f"{self.state:<{_STATE}}{self.name:<{_NAME}}{harmless(self.says, _MAX)}"


def ok(name: str, says: str) -> CheckResult:
    """A line for what works; ``says``: with what."""
    return CheckResult(CheckState.OK, name, says)


def off(name: str, says: str) -> CheckResult:
    """A line for what is not configured; ``says``: the setting that would."""
    return CheckResult(CheckState.OFF, name, says)


def missing(name: str, trouble: FirstfaultError | str) -> CheckResult:
    """A line for what is configured and does not work: why, and what to do."""
    sentence = trouble if isinstance(trouble, str) else " ".join(filter(None, (trouble.message, trouble.hint)))
    return CheckResult(CheckState.MISSING, name, sentence)
