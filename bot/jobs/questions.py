"""Carrying out one follow-up question: a child replies from what was diagnosed, and whoever asked is told."""

from datetime import timedelta

from bot.jobs.child_process import ChildProcess
from bot.jobs.lease_keeper import EndReason, Lease
from bot.jobs.messages import Ask, EarlierTurn
from bot.jobs.work_context import Work, there
from bot.outgoing.errors import Failure
from bot.state.answers import SavedAnswer
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
        with self._context.child(lease, self.task, order) as process:
            ending = self.last_word(lease, process)
        self._end(question, lease, ending, process)

    def tell(self, lease: Lease) -> None:
        """Say what became of a concluded question."""
        question = self._now(lease)
        listener = self._context.listener
        if question.status is Status.DONE:
            self._context.tell(lease, lambda: listener.replied(question))
        else:
            failure = question.failure or Failure("The reply was lost.", "Ask again.")
            self._context.tell(lease, lambda: listener.not_replied(question, failure))

    def _before(self, question: ThreadQuestion) -> tuple[EarlierTurn, ...]:
        """What was asked and answered before it in the same thread."""
        threads = self._context.state.threads
        everything = threads.conversation(question.team, question.channel, question.thread_ts)
        return tuple(
            EarlierTurn(earlier.user, earlier.text, earlier.reply)
            for earlier in everything
            if earlier.reply and earlier.ts < question.ts
        )

    def _end(
        self, question: ThreadQuestion, lease: Lease, ending: SavedAnswer | str | Failure | None, process: ChildProcess
    ) -> None:
        if lease.why is EndReason.LOST:
            return
        if isinstance(ending, str):
            self._context.state.threads.save_reply(lease.id, self._context.owner, ending)
            self.conclude(lease, Status.DONE, asked_at=question.asked_at)
            return
        seconds = self._context.limits.question_seconds
        failure = ending if isinstance(ending, Failure) else None
        if failure := failure or self.failed(lease, process, "The reply", question.attempts, seconds):
            self.conclude(lease, Status.FAILED, failure, asked_at=question.asked_at)

    def _now(self, lease: Lease) -> ThreadQuestion:
        return there(self._context.state.threads.question(lease.id), lease)
