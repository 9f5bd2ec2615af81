"""Approve, edit, reject, undo: checked on the click and again when a form is submitted, once, and in the audit."""

import logging
from dataclasses import asdict, dataclass

from bot.health import Metrics
from bot.note.clean import cleaned
from bot.slack import replies
from bot.slack.actions import About
from bot.slack.archive import OpenLibrary, archive, form_of, pattern_from, withdraw
from bot.slack.blocks import Message
from bot.slack.forms import Form
from bot.slack.people import People
from bot.slack.posting import Posting
from bot.slack.telling import Telling
from bot.slack.thread import decided_message, undone_message
from bot.state.drafts import Decision, Verdict
from bot.state.errors import StaleRevision
from bot.state.runs import Run
from bot.state.state import State
from core.errors import FirstfaultError
from core.model import Diagnosis

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Case:
    """What is decided about: a run, its diagnosis, and the newest draft with its revision."""

    run: Run
    diagnosis: Diagnosis
    form: Form
    revision: int


class Deciding:
    """What approvers do; each answers with what the clicker alone is told, or with None."""

    def __init__(
        self,
        state: State,
        telling: Telling,
        posting: Posting,
        people: People,
        open_library: OpenLibrary,
        *,
        metrics: Metrics | None = None,
    ) -> None:
        self._metrics = metrics or Metrics()
        self._state = state
        self._telling = telling
        self._posting = posting
        self._people = people
        self._open_library = open_library

    def barred(self, user: str) -> Message | None:
        """Why this user may not decide; None when the user may."""
        if not self._people.approvers:
            return replies.no_approvers_reply()
        if not self._people.may_approve(user):
            return replies.not_approver_reply(str(self._people.approvers))
        return None

    def case(self, run_id: str) -> Case | None:
        """The run with what was found and drafted; None when the state does not hold it any more."""
        run, answer = self._state.runs.get(run_id), self._state.runs.answer(run_id)
        draft = self._state.drafts.current(run_id)
        if run is None or answer is None or answer.diagnosis is None or draft is None:
            return None
        return Case(run, cleaned(answer.diagnosis), form_of(draft.note), draft.revision)

    def standing(self, run_id: str) -> Message | None:
        """That somebody has decided already."""
        decision = self._state.drafts.decision(run_id)
        return replies.decided_reply(decision) if decision else None

    def approve(self, about: About, user: str, *, edited: Form | None = None) -> Message | None:
        """Archive the note as a fault pattern, as it stands or as it was edited."""
        if (barred := self.barred(user)) is not None:
            return barred
        case = self.case(about.run)
        if case is None:
            return replies.gone_reply()
        try:
            seen = self._save(case, about, user, edited)
            decision = self._state.drafts.decide(about.run, Verdict.APPROVED, by=user, seen=seen)
        except StaleRevision as stale:
            return replies.stale_reply(stale)
        if not decision.new:
            return replies.decided_reply(decision)
        form = edited or case.form
        try:
            entry = archive(
                self._open_library,
                case.run,
                pattern_from(form, case.diagnosis),
                who=self._people.name(user),
                why=f"approved in Slack by {user}",
            )
        except FirstfaultError as trouble:
            self._state.drafts.undo(about.run, by=user)
            self._telling.show(about.run)  # an edit is kept, and the buttons must be about it
            _LOG.error("%s: not archived: %s", about.run, trouble.message, extra={"run": about.run})
            return replies.refused_reply(trouble)
        with self._state.together():
            self._state.drafts.archived(about.run, entry.id)
            self._note(case.run, user, "approved", seen, {"pattern": entry.id, "version": entry.version})
        self._tell(case.run, self._state.drafts.decision(about.run) or decision, form.title)
        return None

    def reject(self, about: About, user: str, reason: str) -> Message | None:
        """Keep the note out of the library, and keep the reason."""
        if (barred := self.barred(user)) is not None:
            return barred
        case = self.case(about.run)
        if case is None:
            return replies.gone_reply()
        try:
            with self._state.together():
                decision = self._state.drafts.decide(
                    about.run, Verdict.REJECTED, by=user, seen=about.revision, reason=reason
                )
                if decision.new:
                    self._note(case.run, user, "rejected", about.revision, {"reason": reason})
        except StaleRevision as stale:
            return replies.stale_reply(stale)
        if not decision.new:
            return replies.decided_reply(decision)
        self._tell(case.run, decision)
        return None

    def undo(self, about: About, user: str) -> Message | None:
        """Take a decision back; the pattern that it made is retired."""
        if (barred := self.barred(user)) is not None:
            return barred
        run, standing = self._state.runs.get(about.run), self._state.drafts.decision(about.run)
        if run is None or standing is None:
            return replies.nothing_to_undo_reply()
        if standing.pattern:
            try:
                why = f"undone in Slack by {user}"
                withdraw(self._open_library, standing.pattern, who=self._people.name(user), why=why)
            except FirstfaultError as trouble:
                return replies.refused_reply(trouble)
        with self._state.together():
            undone = self._state.drafts.undo(about.run, by=user)
            if undone is not None:
                self._note(run, user, "undone", undone.revision, {"pattern": undone.pattern})
        if undone is None:
            return replies.nothing_to_undo_reply()
        self._telling.show(run.id)
        self._posting.once(
            run, f"undone {undone.at.isoformat()}", undone_message(undone, user), thread=run.thread_ts or run.message_ts
        )
        return None

    def _save(self, case: Case, about: About, user: str, edited: Form | None) -> int:
        """The revision that is decided on; an edit is a new one."""
        if edited is None or edited == case.form:
            return about.revision
        with self._state.together():
            if (standing := self._state.drafts.decision(about.run)) is not None:
                return standing.revision
            draft = self._state.drafts.save(about.run, asdict(edited), by=user, seen=about.revision)
            self._note(case.run, user, "edited", draft.revision, {})
        return draft.revision

    def _tell(self, run: Run, decision: Decision, title: str = "") -> None:
        self._telling.show(run.id)
        kind = f"{decision.verdict} {decision.at.isoformat()}"
        self._posting.once(run, kind, decided_message(decision, title), thread=run.thread_ts or run.message_ts)

    def _note(self, run: Run, user: str, what: str, revision: int, details: dict[str, object]) -> None:
        self._metrics.decided(what)
        self._state.audit.add(
            run.team, user, what=what, target=run.id, revision=revision, details={"job": run.job, **details}
        )
