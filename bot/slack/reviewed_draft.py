"""A draft under review: all that an approver decides about, as the state has it."""

from dataclasses import dataclass

from bot.outgoing.clean import cleaned
from bot.slack.archive import form_of, pattern_from
from bot.slack.archive_form import Form
from bot.slack.run_messages import DRAFTED_BY
from bot.state.runs import Run
from bot.state.state import State
from core.model import Diagnosis
from faultlib.pattern import Pattern


@dataclass(frozen=True, slots=True)
class ReviewedDraft:
    """A run, its diagnosis, and a draft of its note with its revision.

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

    def pattern(self) -> Pattern:
        """The fault pattern that the draft would be."""
        return pattern_from(self.form, self.diagnosis)


def load_draft(state: State, run_id: str, revision: int | None = None) -> ReviewedDraft | None:
    """The run with this draft, else with the newest; None when the state does not hold it any more.

    Reading and cleaning a diagnosis takes the longest of a decision, so whoever has a draft hands it on.
    """
    run, answer = state.runs.get(run_id), state.runs.answer(run_id)
    if revision is None:
        draft = state.drafts.current(run_id)
    else:
        draft = next((draft for draft in state.drafts.revisions(run_id) if draft.revision == revision), None)
    if run is None or answer is None or answer.diagnosis is None or draft is None:
        return None
    matched = frozenset(fault.pattern for fault in answer.known if fault.known and fault.agrees and not fault.seed)
    guesses = answer.note.reading if answer.note else ()
    return ReviewedDraft(
        run, cleaned(answer.diagnosis), form_of(draft.note), draft.revision, draft.by != DRAFTED_BY, matched, guesses
    )
