"""Carrying out one follow-up question: a child replies from what was diagnosed, and whoever asked is told."""

from datetime import timedelta

from bot.jobs.lease_keeper import Lease
from bot.jobs.messages import Ask, EarlierTurn
from bot.jobs.work_context import ChildTask, Work, there
from bot.outgoing.errors import Failure
from bot.state.small_values import Status
from bot.state.threads import ThreadQuestion


class Questions(Work):
    """The work on follow-up questions."""

    task = "ask"

    def carry_out(self, lease: Lease) -> None:
        """From a claimed question to one that was told."""
        state, limits = self._context.state, self._context.limits
        lease.deadline = state.clock() + timedelta(seconds=limits.question_seconds)
        question = self._now(lease)
        answer = state.runs.answer(question.run)
        if answer is None:
            failure = Failure("There is no answer yet that could be asked about.", "Ask again when it is there.")
            self.conclude(lease, Status.FAILED, failure, asked_at=question.asked_at)
            return
        order = Ask(question.text, answer, self._before(question))
        about = ChildTask("The reply", question.attempts, limits.question_seconds, question.asked_at)
        self.run_child(
            lease, order, lambda reply: state.threads.save_reply(lease.id, self._context.owner, reply), about
        )

    def tell(self, lease: Lease) -> None:
        """Say what became of a concluded question."""
        question = self._now(lease)
        listener = self._context.listener
        if question.status is Status.DONE:
            self.tell_at_last(lease, lambda: listener.replied(question))
        else:
            failure = question.failure or Failure("The reply was lost.", "Ask again.")
            self.tell_at_last(lease, lambda: listener.not_replied(question, failure))

    def _before(self, question: ThreadQuestion) -> tuple[EarlierTurn, ...]:
        """What was asked and answered before it in the same thread."""
        threads = self._context.state.threads
        everything = threads.conversation(question.team, question.channel, question.thread_ts)
        return tuple(
            EarlierTurn(earlier.user, earlier.text, earlier.reply)
            for earlier in everything
            if earlier.reply and earlier.ts < question.ts
        )

    def _now(self, lease: Lease) -> ThreadQuestion:
        return there(self._context.state.threads.question(lease.id), lease)
