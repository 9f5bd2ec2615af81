"""Report and plot of an answer that was given: a child draws them when nobody waits for its slot any more."""

from dataclasses import replace

from bot.jobs.child_process import ChildProcess
from bot.jobs.lease_keeper import EndReason, Lease
from bot.jobs.messages import Draw
from bot.jobs.work_context import Work, there
from bot.outgoing.errors import Failure
from bot.state.answers import SavedAnswer
from bot.state.drawings import Drawing
from bot.state.small_values import Status


class Pictures(Work):
    """The work on drawings. What cannot be drawn is in our log: who asked has the answer."""

    task = "draw"

    def carry_out(self, lease: Lease) -> None:
        """From a claimed drawing to one that was shown."""
        state, drawing = self._context.state, self._now(lease)
        lease.deadline = state.clock() + self._context.limits.run_time
        answer = state.runs.answer(drawing.run)
        if answer is None:
            self._conclude(lease, Status.FAILED, Failure("There is no answer to draw.", ""))
            return
        order = Draw(answer, str(self._context.files.home(drawing.run)), self._context.version)
        with self._context.child(lease, self.task, order, drawing.run) as process:
            ending = self.last_word(lease, process)
        self._end(drawing, lease, answer, ending, process)

    def tell(self, lease: Lease) -> None:
        """Show what was drawn."""
        state, listener = self._context.state, self._context.listener
        run = state.runs.get(self._now(lease).run)
        answer = run and state.runs.answer(run.id)

        def show() -> None:
            if run and answer:  # also without pictures: other programs wait for the answer
                listener.drawn(run, answer)

        self._context.tell(lease, show)

    def _end(
        self,
        drawing: Drawing,
        lease: Lease,
        answer: SavedAnswer,
        ending: SavedAnswer | str | Failure | None,
        process: ChildProcess,
    ) -> None:
        if lease.why is EndReason.LOST:
            return
        if isinstance(ending, SavedAnswer):
            files = replace(
                answer, report=ending.report, sheets=ending.sheets, plot=ending.plot, plot_text=ending.plot_text
            )
            self._context.state.runs.add_pictures(drawing.run, files)
            self._conclude(lease, Status.DONE)
            return
        seconds = self._context.limits.run_seconds
        failure = ending if isinstance(ending, Failure) else None
        if failure := failure or self.failed(lease, process, "The report", drawing.attempts, seconds):
            self._conclude(lease, Status.FAILED, failure)

    def _conclude(self, lease: Lease, status: Status, failure: Failure | None = None) -> None:
        state = self._context.state
        run = state.runs.get(self._now(lease).run)
        self.conclude(lease, status, failure, asked_at=run.asked_at if run else state.clock())

    def _now(self, lease: Lease) -> Drawing:
        return there(self._context.state.drawings.get(lease.id), lease)
