"""Carrying out one follow-up question: a child replies from what was diagnosed, and whoever asked is told."""

from datetime import timedelta

from bot.jobs.child_process import ChildProcess
from bot.jobs.leases import EndReason, Lease
from bot.jobs.messages import Ask, EarlierTurn, FailureMessage, ReplyMessage
from bot.jobs.work_context import WorkContext, died, logged, too_late
from bot.outgoing.errors import Failure
from bot.state.leases import Leases
from bot.state.threads import ThreadQuestion
from bot.state.values import Status

TASK = "ask"
_WHAT = "The reply"


class Questions:
    """The work on follow-up questions."""

    task = TASK

    def __init__(self, context: WorkContext) -> None:
        self._context = context

    @property
    def leases(self) -> Leases:
        """Those of questions."""
        return self._context.state.threads.leases

    def carry_out(self, held: Lease) -> None:
        """From a claimed question to one that was told."""
        state, limits = self._context.state, self._context.limits
        held.deadline = state.clock() + timedelta(seconds=limits.question_seconds)
        question = self._now(held)
        answer = state.runs.answer(question.run)
        if answer is None:
            failure = Failure("There is no answer yet that could be asked about.", "Ask again when it is there.")
            self._conclude(question, held, Status.FAILED, failure)
            return
        order = Ask(question.text, answer, self._before(question))
        with self._context.child(held, TASK, order) as process:
            ending = self._listen(held, process)
        self._end(question, held, ending, process)

    def tell(self, held: Lease) -> None:
        """Say what became of a concluded question."""
        question = self._now(held)
        listener = self._context.listener
        if question.status is Status.DONE:
            self._context.tell(held, lambda: listener.replied(question))
        else:
            failure = question.failure or Failure("The reply was lost.", "Ask again.")
            self._context.tell(held, lambda: listener.not_replied(question, failure))

    def _before(self, question: ThreadQuestion) -> tuple[EarlierTurn, ...]:
        """What was asked and answered before it in the same thread."""
        threads = self._context.state.threads
        everything = threads.conversation(question.team, question.channel, question.thread_ts)
        return tuple(
            EarlierTurn(earlier.user, earlier.text, earlier.reply)
            for earlier in everything
            if earlier.reply and earlier.ts < question.ts
        )

    def _listen(self, held: Lease, process: ChildProcess) -> ReplyMessage | Failure | None:
        ending: ReplyMessage | Failure | None = None
        for message in process.messages():
            match message:
                case ReplyMessage():
                    ending = message
                case FailureMessage(failure, trace, audience):
                    ending = logged(held, failure, trace, audience)
                case _:
                    pass  # progress of a reply is shown to nobody
        return ending

    def _end(
        self, question: ThreadQuestion, held: Lease, ending: ReplyMessage | Failure | None, process: ChildProcess
    ) -> None:
        if held.why is EndReason.LOST:
            return
        if isinstance(ending, ReplyMessage):
            self._context.state.threads.save_reply(held.id, self._context.owner, ending.text)
            self._conclude(question, held, Status.DONE)
        elif isinstance(ending, Failure):
            self._conclude(question, held, Status.FAILED, ending)
        elif held.why is EndReason.STOPPED:
            self.leases.hand_back(held.id, self._context.owner, counted=False)
        elif held.why is EndReason.DEADLINE:
            self._conclude(question, held, Status.FAILED, too_late(_WHAT, self._context.limits.question_seconds))
        else:
            failure = died(held, process, _WHAT)
            if not self._context.forgive(held, TASK, question.attempts, process):
                self._conclude(question, held, Status.FAILED, failure)

    def _conclude(self, question: ThreadQuestion, held: Lease, status: Status, failure: Failure | None = None) -> None:
        if self._context.conclude(held, TASK, status, failure, asked_at=question.asked_at):
            self.tell(held)

    def _now(self, held: Lease) -> ThreadQuestion:
        question = self._context.state.threads.question(held.id)
        if question is None:
            raise LookupError(f"question {held.id} is gone from the state")
        return question
