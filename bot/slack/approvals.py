"""Approve, edit, reject, undo: who may, once, in the audit; what was approved is filed, after a crash as well."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from bot.library.filing import (
    LibraryAction,
    OpenLibrary,
    file_note,
    keep_answer,
    keep_confirmation,
    pattern_to_join,
    take_back,
    written_for,
)
from bot.slack import private_replies
from bot.slack.actions import DraftClick, FaultClick
from bot.slack.archive import Form, ReviewedDraft, load_draft
from bot.slack.blocks import Message
from bot.slack.health import Metrics
from bot.slack.people import People
from bot.slack.posting import Posting
from bot.slack.run_messages import RunMessages
from bot.slack.thread import decided_message, undone_message, unfiled_message
from bot.state.drafts import Decision, Verdict
from bot.state.errors import OutOfDate, StaleRevision
from bot.state.inbox import Once
from bot.state.runs import Run
from bot.state.small_values import moment_of
from bot.state.state import State
from core.errors import FirstfaultError
from faultlib.answers import Verdict as Fit

_FITS = {"yes": Fit.RIGHT, "no": Fit.WRONG, "back": Fit.WITHDRAWN}  # of a click on a known fault


@dataclass(frozen=True, slots=True)
class Approvals:
    """What people decide about notes and known faults; each click answers with what the clicker alone is told, or None.

    ``metrics`` counts decisions by kind.
    """

    state: State
    run_messages: RunMessages
    posting: Posting
    people: People
    open_library: OpenLibrary
    metrics: Metrics = field(default_factory=Metrics)

    # --- what people click ---

    def barred(self, user: str, run_id: str) -> Message | None:
        """Why this user may not decide about a run; None when the user may."""
        run = self.state.runs.get(run_id)
        channel = run.channel if run else ""
        if not self.people.approvers.of_channel(channel):
            return private_replies.NO_APPROVERS
        if not self.people.may_approve(user, channel):
            return private_replies.not_approver_reply(self.people.listed(channel))
        return None

    def draft(self, run_id: str) -> ReviewedDraft | None:
        """The run with its newest draft; None when the state does not hold it any more."""
        return load_draft(self.state, run_id)

    def decided(self, run_id: str) -> Message | None:
        """That somebody has decided already; None while nobody has."""
        decision = self._standing(run_id)
        return private_replies.decided_reply(decision) if decision else None

    def approve(
        self,
        click: DraftClick,
        user: str,
        once: Once,
        *,
        edited: Form | None = None,
        joins: str | None = None,
        draft: ReviewedDraft | None = None,
    ) -> Message | None:
        """Archive the note as it stands or as it was edited; where the team knows its kind, ask first.

        Args:
            joins: the answer to that: id of the pattern that the job is added to, empty for a pattern of its own.
            draft: the newest one, where the caller has loaded it.
        """
        if (barred := self.barred(user, click.run)) is not None:
            return barred
        newest = draft or self.draft(click.run)
        if newest is None:
            return private_replies.GONE
        try:
            seen = once("save", lambda: self._save(newest, click, user, edited))
            mine = edited is not None and seen > newest.revision
            draft = replace(newest, form=edited or newest.form, revision=seen, edited=True) if mine else newest
            if joins is None and (offer := self._offer(draft, seen, shown=click.revision)) is not None:
                return offer
            new = once("decide", lambda: self._approved(click.run, user, seen, joins or "", draft.form.confirmation))
        except StaleRevision as stale:
            return private_replies.stale_reply(stale)
        if not new:
            return self.decided(click.run)
        decision = self.state.drafts.decision(click.run)
        if decision is None:  # its filing failed, and the bot died before it could say so
            raise OutOfDate("The approval does not stand.", "Look at the message, and decide again.")
        if decision.pending:
            self._file(decision, draft)
        else:
            self._announce(draft.run, draft.form.title)
        return None

    def reject(self, click: DraftClick, user: str, reason: str, once: Once) -> Message | None:
        """Keep the note out of the library, and keep the reason."""
        if (barred := self.barred(user, click.run)) is not None:
            return barred
        draft = self.draft(click.run)
        if draft is None:
            return private_replies.GONE
        try:
            new = once("decide", lambda: self._rejected(draft.run, click, user, reason))
        except StaleRevision as stale:
            return private_replies.stale_reply(stale)
        if not new:
            return self.decided(click.run)
        self._announce(draft.run)
        return None

    def undo(self, click: DraftClick, user: str, once: Once) -> Message | None:
        """Take a decision back; a pattern that it made is retired, one that it added the job to stays."""
        if (barred := self.barred(user, click.run)) is not None:
            return barred
        run = self.state.runs.get(click.run)
        if run is None or not self._undo(run, user, once):
            return private_replies.NOTHING_TO_UNDO
        return None

    def unexplained(self, run_id: str, user: str) -> bool:
        """Whether this user made a pattern of the note and has not said how it was confirmed."""
        decision = self.state.drafts.decision(run_id)
        return decision is not None and decision.unexplained and decision.by == user

    def explain(self, click: DraftClick, user: str, how: str, once: Once) -> Message | None:
        """Keep how somebody made sure of what they approved: with the pattern, and where the approval is shown."""
        if (barred := self.barred(user, click.run)) is not None:
            return barred
        draft, decision = self.draft(click.run), self._standing(click.run)
        if draft is None or decision is None:
            return private_replies.TAKEN_BACK
        if decision.by != user or not decision.pattern:
            return private_replies.decided_reply(decision)
        keep_confirmation(self.open_library, decision.pattern, self._action(draft.run, user, "explained"), how)
        once("explain", lambda: self._explained(draft.run, decision, how))
        self._announce(draft.run, draft.form.title)
        return None

    def judge(self, click: FaultClick, user: str) -> Message:
        """Keep what somebody says of a known fault that was shown; anybody may, for no words are archived."""
        run, answer = self.state.runs.get(click.run), self.state.runs.answer(click.run)
        shown = {fault.pattern: fault for fault in answer.known} if answer else {}
        if run is None or click.pattern not in shown:
            return private_replies.GONE
        verdict = _FITS[click.answer]
        new, answers = keep_answer(self.open_library, click.pattern, self._action(run, user, "judged"), verdict)
        if new:
            details = {"job": run.job, "pattern": click.pattern, "said": str(verdict)}
            self.state.audit.add(run.team, user, what="judged", target=run.id, details=details)
        return private_replies.judged_reply(shown[click.pattern], verdict, answers)

    # --- filing ---

    def finish(self, decision: Decision) -> None:
        """File what somebody approved before the bot died; where that cannot be done, the thread says so.

        Raises:
            FirstfaultError: for our log.
        """
        try:
            self._file(decision)
        except FirstfaultError:
            if (run := self.state.runs.get(decision.run)) is not None:
                self._post(run, f"unfiled {decision.at.isoformat()}", unfiled_message(decision))
            raise

    def clear(self, decision: Decision) -> None:
        """Take out of the library what an approval left there that does not stand: it could be written, but not noted.

        Raises:
            FirstfaultError: it cannot be looked for now.
        """
        key, run = f"dropped {decision.run} {decision.at.isoformat()}", self.state.runs.get(decision.run)
        standing = self.state.drafts.decision(decision.run)
        if run is None or self.state.seen_keys.has(key) or (standing is not None and standing.pending):
            return
        action = self._action(run, decision.by, "not archived, taken out again: approved")
        pattern = written_for(self.open_library, action)
        if pattern and (standing is None or standing.pattern != pattern):
            take_back(self.open_library, pattern, action, shared=self.state.drafts.is_shared(run.id, pattern))
        self.state.seen_keys.touch(key)

    def _standing(self, run_id: str) -> Decision | None:
        """The decision that stands; one whose filing died, or is under way, is filed first.

        Raises:
            FirstfaultError: it cannot be filed; then it does not stand any more.
        """
        decision = self.state.drafts.decision(run_id)
        if decision is None or not decision.pending:
            return decision
        self._file(decision)
        return self.state.drafts.decision(run_id)

    def _file(self, decision: Decision, draft: ReviewedDraft | None = None) -> None:
        """Write the pattern of an approval; ``draft``: what was decided about, where the caller has it.

        Raises:
            FirstfaultError: the library does not take it; then nothing is approved.
        """
        if draft is None or draft.revision != decision.revision:
            draft = load_draft(self.state, decision.run, decision.revision)
        if draft is None:
            self._drop(decision)
            return
        action = self._action(draft.run, decision.by, "approved")
        try:
            entry = file_note(self.open_library, action, draft.pattern(), edited=draft.edited, joins=decision.joins)
        except FirstfaultError:
            self._drop(decision)
            self.run_messages.show(decision.run)  # an edit is kept, and the buttons must be about it
            raise
        with self.state.together():
            if self.state.drafts.archived(decision.run, entry.id):
                what = "merged" if decision.joins else "approved"
                self._audit(draft.run, decision.by, what, decision.revision, pattern=entry.id, version=entry.version)
        self._announce(draft.run, draft.form.title)

    def _drop(self, decision: Decision) -> None:
        """It does not stand; unless somebody else has filed it meanwhile."""
        with self.state.together():
            standing = self.state.drafts.decision(decision.run)
            if standing is not None and standing.pending:
                self.state.drafts.undo(decision.run, by=decision.by)

    # --- single steps: each is done once, and says what came of it as JSON ---

    def _save(self, draft: ReviewedDraft, click: DraftClick, user: str, edited: Form | None) -> int:
        """The revision that is decided on; an edit is a new one."""
        if edited is None or edited == draft.form:
            return click.revision
        if (standing := self.state.drafts.decision(click.run)) is not None:
            return standing.revision
        saved = self.state.drafts.save(click.run, asdict(edited), by=user, seen=click.revision)
        self._audit(draft.run, user, "edited", saved.revision)
        return saved.revision

    def _approved(self, run_id: str, user: str, seen: int, joins: str, how: str) -> bool:
        """Whether it is this approval that stands."""
        return self.state.drafts.decide(run_id, Verdict.APPROVED, by=user, seen=seen, reason=how, joins=joins).new

    def _rejected(self, run: Run, click: DraftClick, user: str, reason: str) -> bool:
        """Whether it is this rejection that stands."""
        decision = self.state.drafts.decide(run.id, Verdict.REJECTED, by=user, seen=click.revision, reason=reason)
        if decision.new:
            self._audit(run, user, "rejected", click.revision, reason=reason)
        return decision.new

    def _explained(self, run: Run, decision: Decision, how: str) -> None:
        if self.state.drafts.explain(run.id, how):
            self._audit(run, decision.by, "explained", decision.revision, pattern=decision.pattern, reason=how)

    def _offer(self, draft: ReviewedDraft, seen: int, *, shown: int) -> Message | None:
        """The question whether the job is added to a pattern of the team; None for a note of a new kind."""
        run_id = draft.run.id
        if draft.revision != seen or self.state.drafts.decision(run_id):
            return None  # the decision will be refused
        try:
            near = pattern_to_join(self.open_library, draft.pattern(), job=draft.run.job, matched=draft.matched)
        except FirstfaultError:
            self.run_messages.show(run_id)  # an edit is kept, and the buttons must be about it
            raise
        if near is not None and seen != shown:
            self.run_messages.show(run_id)
        return private_replies.join_reply(draft.run, seen, near) if near else None

    def _undo(self, run: Run, user: str, once: Once) -> bool:
        """Take a decision back, and out of the library; False when there is none, or somebody was faster."""
        which = once("which", lambda: _time_of(self.state.drafts.decision(run.id)))
        standing = self._standing(run.id)
        if standing is not None and standing.pattern and _time_of(standing) == which:
            shared = self.state.drafts.is_shared(run.id, standing.pattern)
            take_back(self.open_library, standing.pattern, self._action(run, user, "undone"), shared=shared)
        found = once("undo", lambda: self._undone(run, user, which))
        if not found:
            return False
        undone = Decision(**{**found, "verdict": Verdict(found["verdict"]), "at": moment_of(found["at"])})
        self.run_messages.show(run.id)
        kept = bool(undone.joins or self.state.drafts.is_shared(run.id, undone.pattern))
        self._post(run, f"undone {undone.at.isoformat()}", undone_message(undone, user, kept=kept))
        return True

    def _undone(self, run: Run, user: str, which: str) -> dict[str, Any]:
        """What the decision of that time was, which does not stand any more; empty when another one stands."""
        if not which or _time_of(self.state.drafts.decision(run.id)) != which:
            return {}
        undone = self.state.drafts.undo(run.id, by=user)
        if undone is None:
            return {}
        self._audit(run, user, "undone", undone.revision, pattern=undone.pattern)
        return {**asdict(undone), "at": undone.at.isoformat()}

    # --- what is written down and told ---

    def _announce(self, run: Run, title: str = "") -> None:
        """Show what was decided, in the message and once in its thread, where it may say more than before."""
        self.run_messages.show(run.id)
        decision, now = self.state.drafts.decision(run.id), self.state.runs.get(run.id)
        if decision is None or now is None:
            return
        message = decided_message(decision, title)
        ts, new = self._post(now, f"{decision.verdict} {decision.at.isoformat()}", message)
        if not new:
            self.posting.edit(now, ts, message)

    def _audit(self, run: Run, user: str, what: str, revision: int, **details: object) -> None:
        """Count what was done, and write it into the audit."""
        self.metrics.decided(what)
        self.state.audit.add(
            run.team, user, what=what, target=run.id, revision=revision, details={"job": run.job, **details}
        )

    def _post(self, run: Run, kind: str, message: Message) -> tuple[str, bool]:
        return self.posting.once(run, kind, message, thread=run.thread_ts or run.message_ts)

    def _action(self, run: Run, user: str, what: str) -> LibraryAction:
        return LibraryAction(run.job, run.id, self.people.name(user), f"{what} in Slack by {user}")


def _time_of(decision: Decision | None) -> str:
    """By which a decision is known among those about the same run."""
    return decision.at.isoformat() if decision is not None else ""
