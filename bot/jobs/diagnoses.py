"""Carrying out one run: a child diagnoses, the answer is kept as it grows, and whoever asked is told."""

from dataclasses import dataclass, replace
from datetime import timedelta

from bot.jobs.child_process import ChildProcess
from bot.jobs.leases import Held, Why
from bot.jobs.messages import Diagnose, Progress, Refused, Told
from bot.jobs.work_context import Means, died, logged, shareable, too_late
from bot.state.answers import SavedAnswer
from bot.state.leases import Leases
from bot.state.runs import Run
from bot.state.values import Failure, Status
from core.model import Confidence, Diagnosis, Scope, Skipped

TASK = "diagnose"


@dataclass(frozen=True, slots=True)
class _Heard:
    """What a child said: its last answer, whether that is complete, or why there is none."""

    answer: SavedAnswer | None
    complete: bool = False
    failure: Failure | None = None


class Diagnoses:
    """The work on runs."""

    task = TASK

    def __init__(self, means: Means) -> None:
        self._means = means

    @property
    def leases(self) -> Leases:
        """Those of runs."""
        return self._means.state.runs.leases

    def carry_out(self, held: Held) -> None:
        """From a claimed run to one that was told."""
        run = self._begin(held)
        if run.cancel_by:
            held.end(Why.CANCELLED)  # its worker died before it could
            self._conclude(run, held, Status.CANCELLED)
            return
        order = Diagnose(run.job, str(self._means.files.home(run.id)), self._means.version)
        with self._means.child(held, TASK, order) as process:
            heard = self._listen(run, held, process)
        self._end(run, held, heard, process)

    def tell(self, held: Held) -> None:
        """Say how a concluded run ended."""
        run = self._now(held)
        answer = self._means.state.runs.answer(run.id)
        listener = self._means.listener
        if run.status is Status.CANCELLED:
            self._means.tell(held, lambda: listener.cancelled(run))
        elif run.status in (Status.DONE, Status.EXPIRED) and answer is not None:
            self._means.tell(held, lambda: listener.answered(run, answer, final=True))
        else:
            failure = run.failure or Failure("The answer was lost.", "Ask again.")
            self._means.tell(held, lambda: listener.failed(run, failure))

    def _begin(self, held: Held) -> Run:
        state = self._means.state
        state.runs.set_deadline(held.id, state.clock() + timedelta(seconds=self._means.limits.run_seconds))
        run = self._now(held)
        held.deadline = run.deadline
        return run

    def _listen(self, run: Run, held: Held, process: ChildProcess) -> _Heard:
        """Pass on what the child says; a child of an earlier attempt may have left an answer."""
        means = self._means
        heard = _Heard(means.state.runs.answer(run.id))
        for message in process.messages():
            match message:
                case Progress(step, done, total):
                    means.mention(held, lambda: means.listener.progress(run, step, done, total))
                case Told(told, final):
                    heard = self._kept(run, held, shareable(held, told, final=final), final=final)
                case Refused(failure, trace):
                    heard = _Heard(heard.answer, failure=logged(held, failure, trace))
        return heard

    def _kept(self, run: Run, held: Held, answer: SavedAnswer, *, final: bool) -> _Heard:
        """Store the answer as far as it is known, and show it unless more is to come at once."""
        if not self._means.state.runs.save_answer(run.id, self._means.owner, answer):
            held.end(Why.LOST)
        elif not final:
            self._means.mention(held, lambda: self._means.listener.answered(run, answer, final=False))
        return _Heard(answer, complete=final)

    def _end(self, run: Run, held: Held, heard: _Heard, process: ChildProcess) -> None:
        """What it comes to, in the order of what counts most."""
        what = f"The diagnosis of {run.job}"
        if held.why is Why.LOST:
            return
        if heard.complete:
            self._conclude(run, held, Status.DONE)
        elif held.why is Why.CANCELLED:
            self._conclude(run, held, Status.CANCELLED)
        elif heard.failure:
            self._conclude(run, held, Status.FAILED, heard.failure)
        elif held.why is Why.STOPPED:
            self.leases.hand_back(held.id, self._means.owner, counted=False)
        elif held.why is Why.DEADLINE:
            self._expire(run, held, heard.answer, what)
        else:
            failure = died(held, process, what)
            if not self._means.forgive(held, TASK, run.attempts, process):
                self._conclude(run, held, Status.FAILED, failure)

    def _expire(self, run: Run, held: Held, answer: SavedAnswer | None, what: str) -> None:
        """At the deadline a part of the answer is better than none, and says that it is one."""
        seconds = self._means.limits.run_seconds
        if answer is None:
            self._conclude(run, held, Status.FAILED, too_late(what, seconds))
            return
        skipped = Skipped("deadline", f"Stopped after {seconds:,.0f} s: what would have come later is missing.")
        found = answer.diagnosis or _not_judged(answer.job)
        diagnosis = replace(found, skipped=(*found.skipped, skipped))
        self._means.state.runs.save_answer(held.id, self._means.owner, replace(answer, diagnosis=diagnosis))
        self._conclude(run, held, Status.EXPIRED)

    def _conclude(self, run: Run, held: Held, status: Status, failure: Failure | None = None) -> None:
        if self._means.conclude(held, TASK, status, failure, asked_at=run.asked_at):
            self.tell(held)

    def _now(self, held: Held) -> Run:
        run = self._means.state.runs.get(held.id)
        if run is None:
            raise LookupError(f"run {held.id} is gone from the state")
        return run


def _not_judged(job: str) -> Diagnosis:
    """What stands beside known faults when there was no time for more."""
    headline = f"{job}: known faults match; the deadline came before the logs were judged"
    return Diagnosis(job, "firstfault", Scope.UNKNOWN, Confidence.WEAK, headline)
