"""Files what was decided: into the fault library, the state, the audit and the thread; after a crash as well."""

from dataclasses import asdict, dataclass
from typing import Any

from bot.library.filing import LibraryAction, OpenLibrary, file_note, keep_answer, pattern_to_join, take_back
from bot.outgoing.clean import cleaned
from bot.slack.actions import FaultClick
from bot.slack.archive import form_of, pattern_from
from bot.slack.blocks import Message
from bot.slack.forms import Form
from bot.slack.health import Metrics
from bot.slack.people import People
from bot.slack.posting import Posting
from bot.slack.run_messages import DRAFTED_BY, RunMessages
from bot.slack.thread import decided_message, undone_message, unfiled_message
from bot.state.drafts import Decision, Draft, Verdict
from bot.state.inbox import Once
from bot.state.runs import Run
from bot.state.state import State
from bot.state.values import moment_of
from core.errors import FirstfaultError
from core.model import Diagnosis
from faultlib.answers import Answers
from faultlib.answers import Verdict as Fit
from faultlib.pattern import Entry


@dataclass(frozen=True, slots=True)
class ReviewedDraft:
    """What is decided about: a run, its diagnosis, and a draft of its note with its revision.

    edited: a person wrote it. matched: ids of the team's patterns whose whole signature is in the job. guesses: what a
    model thinks, unchecked, which nobody archives unless an approver takes it over.
    """

    run: Run
    diagnosis: Diagnosis
    form: Form
    revision: int
    edited: bool = False
    matched: frozenset[str] = frozenset()
    guesses: tuple[str, ...] = ()


class Clerk:
    """What happens to a decision once it is made; ``metrics`` counts deeds."""

    def __init__(
        self,
        state: State,
        run_messages: RunMessages,
        posting: Posting,
        people: People,
        open_library: OpenLibrary,
        *,
        metrics: Metrics | None = None,
    ) -> None:
        self._metrics = metrics or Metrics()
        self._state = state
        self._run_messages = run_messages
        self._posting = posting
        self._people = people
        self._open_library = open_library

    def case(self, run_id: str, revision: int | None = None) -> ReviewedDraft | None:
        """The run with this draft, else with the newest; None when the state does not hold it any more."""
        run, answer = self._state.runs.get(run_id), self._state.runs.answer(run_id)
        draft = self._draft(run_id, revision)
        if run is None or answer is None or answer.diagnosis is None or draft is None:
            return None
        matched = frozenset(fault.pattern for fault in answer.known if fault.known and fault.agrees and not fault.seed)
        edited = draft.by != DRAFTED_BY
        guesses = answer.note.reading if answer.note else ()
        return ReviewedDraft(
            run, cleaned(answer.diagnosis), form_of(draft.note), draft.revision, edited, matched, guesses
        )

    def standing(self, run_id: str) -> Decision | None:
        """The decision that stands; one whose filing died, or is under way, is filed first.

        Raises:
            FirstfaultError: it cannot be filed; then it does not stand any more.
        """
        decision = self._state.drafts.decision(run_id)
        if decision is None or not decision.pending:
            return decision
        self.file(decision)
        return self._state.drafts.decision(run_id)

    def finish(self, decision: Decision) -> None:
        """File what somebody approved before the bot died; where that cannot be done, the thread says so.

        Raises:
            FirstfaultError: for our log.
        """
        try:
            self.file(decision)
        except FirstfaultError:
            if (run := self._state.runs.get(decision.run)) is not None:
                self._say(run, f"unfiled {decision.at.isoformat()}", unfiled_message(decision))
            raise

    def file(self, decision: Decision) -> None:
        """Write the pattern of an approval.

        Raises:
            FirstfaultError: the library does not take it; then nothing is approved.
        """
        case = self.case(decision.run, decision.revision)
        if case is None:
            self._drop(decision)
            return
        words = pattern_from(case.form, case.diagnosis)
        action = self._action(case.run, decision.by, "approved")
        try:
            entry = file_note(self._open_library, action, words, edited=case.edited, joins=decision.joins)
        except FirstfaultError:
            self._drop(decision)
            self._run_messages.show(decision.run)  # an edit is kept, and the buttons must be about it
            raise
        with self._state.together():
            if self._state.drafts.archived(decision.run, entry.id):
                what = "merged" if decision.joins else "approved"
                self.note(case.run, decision.by, what, decision.revision, pattern=entry.id, version=entry.version)
        self.tell(case.run, case.form.title)

    def pattern_to_join(self, case: ReviewedDraft) -> Entry | None:
        """The team's pattern that the note may belong to; None for a note of a new kind."""
        words = pattern_from(case.form, case.diagnosis)
        return pattern_to_join(self._open_library, words, job=case.run.job, matched=case.matched)

    def judge(self, run: Run, fits: FaultClick, user: str) -> tuple[Fit, Answers]:
        """Keep what somebody says of a known fault, and what all have said of it by now."""
        verdict = Fit.WITHDRAWN if fits.right is None else Fit.RIGHT if fits.right else Fit.WRONG
        new, now = keep_answer(self._open_library, fits.pattern, self._action(run, user, "judged"), verdict)
        if new:
            details = {"job": run.job, "pattern": fits.pattern, "said": str(verdict)}
            self._state.audit.add(run.team, user, what="judged", target=run.id, details=details)
        return verdict, now

    def undo(self, run: Run, user: str, once: Once) -> bool:
        """Take a decision back, and out of the library; False when there is none, or somebody was faster."""
        which = once("which", lambda: _time_of(self._state.drafts.decision(run.id)))
        standing = self.standing(run.id)
        if standing is not None and standing.pattern and _time_of(standing) == which:
            shared = self._state.drafts.is_shared(run.id, standing.pattern)
            take_back(self._open_library, standing.pattern, self._action(run, user, "undone"), shared=shared)
        found = once("undo", lambda: self._undone(run, user, which))
        if not found:
            return False
        undone = Decision(**{**found, "verdict": Verdict(found["verdict"]), "at": moment_of(found["at"])})
        self._run_messages.show(run.id)
        kept = bool(undone.joins or self._state.drafts.is_shared(run.id, undone.pattern))
        self._say(run, f"undone {undone.at.isoformat()}", undone_message(undone, user, kept=kept))
        return True

    def _undone(self, run: Run, user: str, which: str) -> dict[str, Any]:
        """What the decision of that time was, which does not stand any more; empty when another one stands."""
        if not which or _time_of(self._state.drafts.decision(run.id)) != which:
            return {}
        undone = self._state.drafts.undo(run.id, by=user)
        if undone is None:
            return {}
        self.note(run, user, "undone", undone.revision, pattern=undone.pattern)
        return {**asdict(undone), "at": undone.at.isoformat()}

    def tell(self, run: Run, title: str = "") -> None:
        """Show what was decided, in the message and once in its thread."""
        self._run_messages.show(run.id)
        decision = self._state.drafts.decision(run.id)
        if decision is not None:
            self._say(run, f"{decision.verdict} {decision.at.isoformat()}", decided_message(decision, title))

    def note(self, run: Run, user: str, what: str, revision: int, **details: object) -> None:
        """Count a deed, and write it into the audit."""
        self._metrics.decided(what)
        self._state.audit.add(
            run.team, user, what=what, target=run.id, revision=revision, details={"job": run.job, **details}
        )

    def _say(self, run: Run, kind: str, message: Message) -> None:
        self._posting.once(run, kind, message, thread=run.thread_ts or run.message_ts)

    def _action(self, run: Run, user: str, what: str) -> LibraryAction:
        return LibraryAction(run.job, run.id, self._people.name(user), f"{what} in Slack by {user}")

    def _draft(self, run_id: str, revision: int | None) -> Draft | None:
        if revision is None:
            return self._state.drafts.current(run_id)
        return next((draft for draft in self._state.drafts.revisions(run_id) if draft.revision == revision), None)

    def _drop(self, decision: Decision) -> None:
        """It does not stand; unless somebody else has filed it meanwhile."""
        with self._state.together():
            standing = self._state.drafts.decision(decision.run)
            if standing is not None and standing.pending:
                self._state.drafts.undo(decision.run, by=decision.by)


def _time_of(decision: Decision | None) -> str:
    """By which a decision is known among those about the same run."""
    return decision.at.isoformat() if decision is not None else ""
