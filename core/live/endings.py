"""Lines that end a job: a process that dies, the launcher's report, the scheduler's word, "training finished".

One such line is no failure yet: programs print tracebacks that they survive, launchers start anew. It counts when the
job makes no progress after it for a while, which is the caller's to see (``core.live.job``).
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from core.facts import fact_of
from core.failure_kinds import Kind
from core.live.tail import Heard
from core.model import Role
from core.outcomes import Outcome, outcome_of


class EndSign(StrEnum):
    """What a line says of the end."""

    REPORT = "report"  # the launcher or the scheduler says that it failed
    VERDICT = "verdict"  # the scheduler's last word: failed
    DEATH = "death"  # a process says that it dies
    STOP = "stop"  # ended from outside
    BY_HAND = "by hand"  # ended from outside, by Ctrl-C or a closed terminal
    ANEW = "anew"  # the launcher starts the processes again
    DONE = "done"  # a process says that its work is done
    COMPLETED = "completed"  # the scheduler's last word: completed
    TROUBLE = "trouble"  # what else goes wrong; says nothing about the end
    CALM = "calm"  # anything else


_OUTCOMES = {
    Outcome.COMPLETED: EndSign.COMPLETED,
    Outcome.VERDICT: EndSign.VERDICT,
    Outcome.DONE: EndSign.DONE,
    Outcome.ANEW: EndSign.ANEW,
    Outcome.REPORT: EndSign.REPORT,
    Outcome.DEATH: EndSign.DEATH,
}
BY_HAND = Kind.INTERRUPTED
_KERNEL = re.compile(r"\bkernel:|\btainted\b")  # its reports hold "PREEMPT", the way in which it was built


@lru_cache(maxsize=1 << 14)
def sign_of(body: bytes) -> tuple[EndSign, str]:
    """What a line with this masked body says of the end, and in whose words: those of core.facts, where it has some."""
    text = body.decode("utf-8", "replace").strip()
    fact = fact_of(text, block=False)
    says = fact.says if fact is not None and fact.known else ""
    if fact is not None and fact.stop and not _KERNEL.search(text):
        return EndSign.BY_HAND if fact.kind == BY_HAND else EndSign.STOP, says
    if fact is not None and fact.role is Role.BENIGN:
        return EndSign.TROUBLE, says
    outcome = outcome_of(text)
    if outcome is not None:
        return _OUTCOMES[outcome], says
    return (EndSign.TROUBLE if fact is not None else EndSign.CALM), says


@dataclass(frozen=True, slots=True)
class Raised:
    """A top-level traceback that ended: the line of its exception."""

    heard: Heard
    says: str


class Tracebacks:
    """Follows the tracebacks of one voice. Top-level: it starts in the module, not in a function that caught it."""

    def __init__(self) -> None:
        self._inside = False
        self._top_level = False
        self._frames = 0

    def hear(self, heard: Heard) -> Raised | None:
        """The exception, at its line; None before that and elsewhere."""
        body = heard.body
        if body.startswith(_HEAD):
            self._inside, self._top_level, self._frames = True, False, 0
            return None
        if not self._inside:
            return None
        if body.startswith(b"  ") or not body or _CARET.fullmatch(body.strip()):
            if b'File "' in body:
                self._frames += 1
                self._top_level = self._top_level or (self._frames == 1 and _MODULE.search(body) is not None)
            return None
        if _BETWEEN.match(body):
            return None
        self._inside = False
        return Raised(heard, sign_of(body)[1]) if self._top_level and _EXCEPTION.match(body) else None


_HEAD = b"Traceback (most recent call last)"
_CARET = re.compile(rb"[\^~ ]+")
_MODULE = re.compile(rb"in (<module>|_run_module_as_main|<string>|_bootstrap\w*)$")
_BETWEEN = re.compile(rb"During handling of|The above exception|\[Previous line repeated")
_EXCEPTION = re.compile(rb"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?::|$)")
