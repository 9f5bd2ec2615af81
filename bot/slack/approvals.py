"""Approve, edit, reject, undo: checked on the click and again when a form is submitted, once, and in the audit."""

from dataclasses import asdict

from bot.slack import replies
from bot.slack.actions import DraftClick, FaultClick
from bot.slack.blocks import Message
from bot.slack.clerk import Clerk, ReviewedDraft
from bot.slack.forms import Form
from bot.slack.people import People
from bot.slack.run_messages import RunMessages
from bot.state.drafts import Verdict
from bot.state.errors import OutOfDate, StaleRevision
from bot.state.inbox import Once
from bot.state.state import State
from core.errors import FirstfaultError


class Approvals:
    """What approvers do; each answers with what the clicker alone is told, or with None."""

    def __init__(self, state: State, run_messages: RunMessages, people: People, clerk: Clerk) -> None:
        self._state = state
        self._run_messages = run_messages
        self._people = people
        self._clerk = clerk

    def barred(self, user: str) -> Message | None:
        """Why this user may not decide; None when the user may."""
        if not self._people.approvers:
            return replies.no_approvers_reply()
        if not self._people.may_approve(user):
            return replies.not_approver_reply(self._people.listed())
        return None

    def case(self, run_id: str) -> ReviewedDraft | None:
        """The run with what was found and drafted; None when the state does not hold it any more."""
        return self._clerk.case(run_id)

    def standing(self, run_id: str) -> Message | None:
        """That somebody has decided already."""
        decision = self._clerk.standing(run_id)
        return replies.decided_reply(decision) if decision else None

    def approve(
        self, about: DraftClick, user: str, once: Once, *, edited: Form | None = None, joins: str | None = None
    ) -> Message | None:
        """Archive the note as it stands or as it was edited; where the team knows its kind, ask first.

        Args:
            joins: the answer to that: id of the pattern that the job is added to, empty for a pattern of its own.
        """
        if (barred := self.barred(user)) is not None:
            return barred
        case = self.case(about.run)
        if case is None:
            return replies.gone_reply()
        try:
            seen = once("save", lambda: self._save(case, about, user, edited))
            if joins is None and (offer := self._offer(about.run, seen, shown=about.revision)) is not None:
                return offer
            new = once("decide", lambda: self._approved(about.run, user, seen, joins or ""))
        except StaleRevision as stale:
            return replies.stale_reply(stale)
        if not new:
            return self.standing(about.run)
        decision = self._state.drafts.decision(about.run)
        if decision is None:  # its filing failed, and the bot died before it could say so
            raise OutOfDate("The approval does not stand.", "Look at the message, and decide again.")
        if decision.pending:
            self._clerk.file(decision)
        else:
            self._clerk.tell(case.run, case.form.title)
        return None

    def reject(self, about: DraftClick, user: str, reason: str, once: Once) -> Message | None:
        """Keep the note out of the library, and keep the reason."""
        if (barred := self.barred(user)) is not None:
            return barred
        case = self.case(about.run)
        if case is None:
            return replies.gone_reply()
        try:
            new = once("decide", lambda: self._rejected(case, about, user, reason))
        except StaleRevision as stale:
            return replies.stale_reply(stale)
        if not new:
            return self.standing(about.run)
        self._clerk.tell(case.run)
        return None

    def undo(self, about: DraftClick, user: str, once: Once) -> Message | None:
        """Take a decision back; a pattern that it made is retired, one that it added the job to stays."""
        if (barred := self.barred(user)) is not None:
            return barred
        run = self._state.runs.get(about.run)
        if run is None or not self._clerk.undo(run, user, once):
            return replies.nothing_to_undo_reply()
        return None

    def judge(self, fits: FaultClick, user: str) -> Message:
        """Keep what somebody says of a known fault that was shown; anybody may, for no words are archived."""
        run, answer = self._state.runs.get(fits.run), self._state.runs.answer(fits.run)
        shown = {fault.pattern: fault for fault in answer.known} if answer else {}
        if run is None or fits.pattern not in shown:
            return replies.gone_reply()
        verdict, now = self._clerk.judge(run, fits, user)
        return replies.judged_reply(shown[fits.pattern], verdict, now)

    def _approved(self, run_id: str, user: str, seen: int, joins: str) -> bool:
        """Whether it is this approval that stands."""
        return self._state.drafts.decide(run_id, Verdict.APPROVED, by=user, seen=seen, joins=joins).new

    def _rejected(self, case: ReviewedDraft, about: DraftClick, user: str, reason: str) -> bool:
        """Whether it is this rejection that stands."""
        decision = self._state.drafts.decide(about.run, Verdict.REJECTED, by=user, seen=about.revision, reason=reason)
        if decision.new:
            self._clerk.note(case.run, user, "rejected", about.revision, reason=reason)
        return decision.new

    def _offer(self, run_id: str, seen: int, *, shown: int) -> Message | None:
        """The question whether the job is added to a pattern of the team; None for a note of a new kind."""
        case = self._clerk.case(run_id)
        if case is None or case.revision != seen or self._state.drafts.decision(run_id):
            return None  # the decision will be refused
        try:
            near = self._clerk.pattern_to_join(case)
        except FirstfaultError:
            self._run_messages.show(run_id)  # an edit is kept, and the buttons must be about it
            raise
        if near is not None and seen != shown:
            self._run_messages.show(run_id)
        return replies.join_reply(case.run, seen, near) if near else None

    def _save(self, case: ReviewedDraft, about: DraftClick, user: str, edited: Form | None) -> int:
        """The revision that is decided on; an edit is a new one."""
        if edited is None or edited == case.form:
            return about.revision
        if (standing := self._state.drafts.decision(about.run)) is not None:
            return standing.revision
        draft = self._state.drafts.save(about.run, asdict(edited), by=user, seen=about.revision)
        self._clerk.note(case.run, user, "edited", draft.revision)
        return draft.revision
