"""Report and plot of an answer that was given: a child draws them when nobody waits for its slot any more."""

from dataclasses import replace

from bot.jobs.lease_keeper import Lease
from bot.jobs.messages import Draw
from bot.jobs.work_context import ChildTask, Work, there
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
        run, answer = state.runs.get(drawing.run), state.runs.answer(drawing.run)
        asked_at = run.asked_at if run else state.clock()
        if answer is None:
            failure = Failure("There is no answer to draw.", "")
            self.conclude(lease, Status.FAILED, failure, asked_at=asked_at)
            return

        def keep(drawn: SavedAnswer) -> None:
            files = {name: getattr(drawn, name) for name in ("report", "sheets", "plot", "plot_text")}
            state.runs.add_pictures(drawing.run, replace(answer, **files))

        order = Draw(answer, str(self._context.files.home(drawing.run)), self._context.version)
        about = ChildTask("The report", drawing.attempts, self._context.limits.run_seconds, asked_at)
        self.run_child(lease, order, keep, about, drawing.run)

    def tell(self, lease: Lease) -> None:
        """Show what was drawn."""
        state, listener = self._context.state, self._context.listener
        run = state.runs.get(self._now(lease).run)
        answer = run and state.runs.answer(run.id)

        def show() -> None:
            if run and answer:  # also without pictures: other programs wait for the answer
                listener.drawn(run, answer)

        self.tell_at_last(lease, show)

    def _now(self, lease: Lease) -> Drawing:
        return there(self._context.state.drawings.get(lease.id), lease)
