"""Who is told of runs and questions, and who counts them: two small protocols."""

from typing import Protocol

from bot.outgoing.errors import Failure
from bot.state.answers import SavedAnswer
from bot.state.runs import Run
from bot.state.threads import ThreadQuestion


class Listener(Protocol):
    """Told from the worker's threads, one call at a time for one run.

    The last call about a run, drawing or question (``answered`` with ``final``, ``failed``, ``cancelled``, ``drawn``,
    ``replied``, ``not_replied``) comes again after a pause when it raised, and after a crash: ``State.posts`` keeps it
    from being posted twice. Other calls may raise; that is logged, and the work goes on.
    """

    def progress(self, run: Run, step: str, done: int, total: int) -> None:
        """How far a step is: at most five times a second, the newest only."""

    def answered(self, run: Run, answer: SavedAnswer, *, final: bool) -> None:
        """The answer has grown, or is complete (``run.status`` is done, or expired: then it says what is missing)."""

    def drawn(self, run: Run, answer: SavedAnswer) -> None:
        """Report and plot of an answer that was given are there, as far as they can be had (``answer.report``)."""

    def failed(self, run: Run, failure: Failure) -> None:
        """There will be no answer."""

    def cancelled(self, run: Run) -> None:
        """Somebody (``run.cancel_by``) wanted no answer."""

    def replied(self, question: ThreadQuestion) -> None:
        """The question has its ``reply``."""

    def not_replied(self, question: ThreadQuestion, failure: Failure) -> None:
        """There will be no reply."""


class Counters(Protocol):
    """Numbers for a dashboard; ``task`` is "diagnose", "draw" or "ask"."""

    def finished(self, task: str, outcome: str, seconds: float) -> None:
        """One is over: its status, and the seconds since it was asked."""

    def waiting(self, task: str, number: int) -> None:
        """So many wait for a worker now."""

    def child_died(self, task: str) -> None:
        """A child process ended without a last word."""
