"""Carrying out one run: a child diagnoses or tells a history; the answer is kept as it grows, whoever asked is told."""

from dataclasses import dataclass, replace

from bot.jobs.child_process import ChildProcess
from bot.jobs.lease_keeper import EndReason, Lease
from bot.jobs.messages import AnswerMessage, Diagnose, FailureMessage, ProgressMessage, TellHistory
from bot.jobs.work_context import Work, logged, mention, shareable, there, too_late
from bot.outgoing.errors import Failure
from bot.state.answers import SavedAnswer
from bot.state.runs import Run, Task
from bot.state.small_values import Status
from bot.text import wording
from core.model import Confidence, Diagnosis, Scope, Skipped


@dataclass(frozen=True, slots=True)
class _Heard:
    """What a child said: its last answer, whether that is complete, or why there is none.

    step: what it was at, in words with counts; empty before its first.
    """

    answer: SavedAnswer | None
    complete: bool = False
    failure: Failure | None = None
    step: str = ""


class Diagnoses(Work):
    """The work on runs."""

    task = "diagnose"  # as they are counted; a history is one too

    def carry_out(self, lease: Lease) -> None:
        """From a claimed run to one that was told."""
        run = self._begin(lease)
        if run.cancel_by:
            lease.end(EndReason.CANCELLED)  # its worker died before it could
            self.conclude(lease, Status.CANCELLED, asked_at=run.asked_at)
            return
        order = Diagnose(run.job) if run.task is Task.DIAGNOSE else TellHistory(run.job)
        with self._context.child(lease, run.task.value, order) as process:
            heard = self._listen(run, lease, process)
        self._end(run, lease, heard, process)

    def tell(self, lease: Lease) -> None:
        """Say how a concluded run ended."""
        run = self._now(lease)
        answer = self._context.state.runs.answer(run.id)
        listener = self._context.listener
        if run.status is Status.CANCELLED:
            self.tell_at_last(lease, lambda: listener.cancelled(run))
        elif run.status in (Status.DONE, Status.EXPIRED) and answer is not None:
            self.tell_at_last(lease, lambda: listener.answered(run, answer, final=True))
        else:
            failure = run.failure or Failure("The answer was lost.", "Ask again.")
            self.tell_at_last(lease, lambda: listener.failed(run, failure))

    def _begin(self, lease: Lease) -> Run:
        state = self._context.state
        state.runs.set_deadline(lease.id, state.clock() + self._context.limits.run_time)
        run = self._now(lease)
        lease.deadline = run.deadline
        return run

    def _listen(self, run: Run, lease: Lease, process: ChildProcess) -> _Heard:
        """Pass on what the child says; a child of an earlier attempt may have left an answer."""
        context = self._context
        heard = _Heard(context.state.runs.answer(run.id))
        for message in process.messages():
            match message:
                case ProgressMessage(step, done, total):
                    heard = replace(heard, step=wording.step(step, done, total))
                    mention(lease, lambda: context.listener.progress(run, step, done, total))
                case AnswerMessage(answer, final):
                    heard = self._kept(run, lease, shareable(lease, answer, final=final), final=final)
                case FailureMessage(failure, trace, audience):
                    heard = _Heard(heard.answer, failure=logged(lease, failure, trace, audience))
        return heard

    def _kept(self, run: Run, lease: Lease, answer: SavedAnswer, *, final: bool) -> _Heard:
        """Store the answer as far as it is known, and show it unless more is to come at once."""
        if not self._context.state.runs.save_answer(run.id, self._context.owner, answer):
            lease.end(EndReason.LOST)
        elif not final:
            mention(lease, lambda: self._context.listener.answered(run, answer, final=False))
        return _Heard(answer, complete=final)

    def _end(self, run: Run, lease: Lease, heard: _Heard, process: ChildProcess) -> None:
        """What it comes to, in the order of what counts most."""
        work = f"The {run.task.noun} of {run.job}"
        if lease.why is EndReason.LOST:
            return
        if heard.complete:
            self._context.state.drawings.add(run.id)
            self.conclude(lease, Status.DONE, asked_at=run.asked_at)
        elif lease.why is EndReason.CANCELLED:
            self.conclude(lease, Status.CANCELLED, asked_at=run.asked_at)
        elif lease.why is EndReason.DEADLINE and not heard.failure:
            self._expire(run, lease, heard, work)
        elif failure := heard.failure or self.failed(
            lease, process, work, run.attempts, self._context.limits.run_seconds
        ):
            self.conclude(lease, Status.FAILED, failure, asked_at=run.asked_at)

    def _expire(self, run: Run, lease: Lease, heard: _Heard, work: str) -> None:
        """At the deadline a part of the answer is better than none, and says that it is one."""
        seconds, answer = self._context.limits.run_seconds, heard.answer
        if answer is None:
            at = f"It was at: {heard.step}. " if heard.step else ""
            hint = f"{at}Ask again when less runs on the bot's machine, or let it have more time (FIRSTFAULT_DEADLINE)."
            self.conclude(lease, Status.FAILED, too_late(work, seconds, hint), asked_at=run.asked_at)
            return
        skipped = Skipped("deadline", f"Stopped after {seconds:,.0f} s: what would have come later is missing.")
        found = answer.diagnosis or _not_judged(answer.job)
        diagnosis = replace(found, skipped=(*found.skipped, skipped))
        self._context.state.runs.save_answer(lease.id, self._context.owner, replace(answer, diagnosis=diagnosis))
        self.conclude(lease, Status.EXPIRED, asked_at=run.asked_at)

    def _now(self, lease: Lease) -> Run:
        return there(self._context.state.runs.get(lease.id), lease)


def _not_judged(job: str) -> Diagnosis:
    """What stands beside known faults when there was no time for more."""
    headline = f"{job}: known faults match; the deadline came before the logs were judged"
    return Diagnosis(job, "firstfault", Scope.UNKNOWN, Confidence.WEAK, headline)
