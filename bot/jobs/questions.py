"""Carrying out one follow-up question: a child replies from what was diagnosed, and whoever asked is told."""

from datetime import timedelta

from bot.jobs.child_process import ChildProcess
from bot.jobs.leases import Held, Why
from bot.jobs.messages import Ask, Refused, Replied, Turn
from bot.jobs.work_context import Means, died, logged, too_late
from bot.state.leases import Leases
from bot.state.threads import Question
from bot.state.values import Failure, Status

TASK = "ask"
_WHAT = "The reply"


class Questions:
    """The work on follow-up questions."""

    task = TASK

    def __init__(self, means: Means) -> None:
        self._means = means

    @property
    def leases(self) -> Leases:
        """Those of questions."""
        return self._means.state.threads.leases

    def carry_out(self, held: Held) -> None:
        """From a claimed question to one that was told."""
        state, limits = self._means.state, self._means.limits
        held.deadline = state.clock() + timedelta(seconds=limits.question_seconds)
        question = self._now(held)
        answer = state.runs.answer(question.run)
        if answer is None:
            failure = Failure("There is no answer yet that could be asked about.", "Ask again when it is there.")
            self._conclude(question, held, Status.FAILED, failure)
            return
        order = Ask(question.text, answer, self._before(question))
        with self._means.child(held, TASK, order) as process:
            ending = self._listen(held, process)
        self._end(question, held, ending, process)

    def tell(self, held: Held) -> None:
        """Say what became of a concluded question."""
        question = self._now(held)
        listener = self._means.listener
        if question.status is Status.DONE:
            self._means.tell(held, lambda: listener.replied(question))
        else:
            failure = question.failure or Failure("The reply was lost.", "Ask again.")
            self._means.tell(held, lambda: listener.not_replied(question, failure))

    def _before(self, question: Question) -> tuple[Turn, ...]:
        """What was asked and answered before it in the same thread."""
        threads = self._means.state.threads
        everything = threads.conversation(question.team, question.channel, question.thread_ts)
        return tuple(
            Turn(earlier.user, earlier.text, earlier.reply)
            for earlier in everything
            if earlier.reply and earlier.ts < question.ts
        )

    def _listen(self, held: Held, process: ChildProcess) -> Replied | Failure | None:
        ending: Replied | Failure | None = None
        for message in process.messages():
            match message:
                case Replied():
                    ending = message
                case Refused(failure, trace):
                    ending = logged(held, failure, trace)
                case _:
                    pass  # progress of a reply is shown to nobody
        return ending

    def _end(self, question: Question, held: Held, ending: Replied | Failure | None, process: ChildProcess) -> None:
        if held.why is Why.LOST:
            return
        if isinstance(ending, Replied):
            self._means.state.threads.save_reply(held.id, self._means.owner, ending.text)
            self._conclude(question, held, Status.DONE)
        elif isinstance(ending, Failure):
            self._conclude(question, held, Status.FAILED, ending)
        elif held.why is Why.STOPPED:
            self.leases.hand_back(held.id, self._means.owner, counted=False)
        elif held.why is Why.DEADLINE:
            self._conclude(question, held, Status.FAILED, too_late(_WHAT, self._means.limits.question_seconds))
        else:
            failure = died(held, process, _WHAT)
            if not self._means.forgive(held, TASK, question.attempts, process):
                self._conclude(question, held, Status.FAILED, failure)

    def _conclude(self, question: Question, held: Held, status: Status, failure: Failure | None = None) -> None:
        if self._means.conclude(held, TASK, status, failure, asked_at=question.asked_at):
            self.tell(held)

    def _now(self, held: Held) -> Question:
        question = self._means.state.threads.question(held.id)
        if question is None:
            raise LookupError(f"question {held.id} is gone from the state")
        return question
