"""What is wrong with a submitted form, as Slack shows it inline; the words stay in it, whatever came meanwhile."""

from collections.abc import Mapping
from typing import Any

from bot.slack import actions as act
from bot.slack import private_replies
from bot.slack.archive import ReviewedDraft
from bot.slack.listener_context import ListenerContext
from bot.slack.modals import (
    HOW,
    REASON,
    TITLE,
    FieldErrors,
    changed_meanwhile,
    edit_modal,
    message_modal,
    read_edit,
    read_explain,
    read_reject,
    reject_modal,
)
from bot.state.drafts import Draft
from bot.state.inbox import Envelope

Answer = dict[str, Any]
DECIDED = "It was decided meanwhile. What you wrote stays here: undo that decision, then submit this again."
TAKEN_BACK = "The approval was taken back meanwhile. What you wrote stays here."


class Objections:
    """Asked before a form is acknowledged; None: it can be taken."""

    def __init__(self, context: ListenerContext) -> None:
        self._context = context

    def to_form(self, envelope: Envelope) -> Answer | None:
        """What Slack is answered: errors by field, or the form as it has to be now."""
        view = envelope.body["view"]
        click = act.DraftClick.read(view.get("private_metadata"))
        if view["callback_id"] == act.EXPLAIN_FORM:
            return self._to_explanation(view, click)
        draft, newest = self._context.approvals.draft(click.run), self._context.state.drafts.current(click.run)
        if view["callback_id"] == act.REJECT_FORM:
            return self._to_rejection(view, click, draft, newest)
        return self._to_edit(view, click, draft, newest)

    def _to_edit(
        self, view: Mapping[str, Any], click: act.DraftClick, draft: ReviewedDraft | None, newest: Draft | None
    ) -> Answer | None:
        form = read_edit(view, draft.diagnosis, draft.guesses) if draft else None
        if isinstance(form, FieldErrors):
            return form.response()
        if draft is None or form is None or newest is None:
            return _instead(message_modal("Edit the note", private_replies.GONE.text))
        if self._context.state.drafts.decision(click.run) is not None:
            return FieldErrors({TITLE: DECIDED}).response()
        if draft.revision != click.revision:
            above = changed_meanwhile(newest.by, draft.form, form)
            return _instead(edit_modal(click.run, draft.revision, draft.diagnosis, form, draft.guesses, above=above))
        return None

    def _to_rejection(
        self, view: Mapping[str, Any], click: act.DraftClick, draft: ReviewedDraft | None, newest: Draft | None
    ) -> Answer | None:
        reason = read_reject(view)
        if isinstance(reason, FieldErrors):
            return reason.response()
        if draft is None or newest is None:
            return _instead(message_modal("Reject the note", private_replies.GONE.text))
        if self._context.state.drafts.decision(click.run) is not None:
            return FieldErrors({REASON: DECIDED}).response()
        if draft.revision != click.revision:
            above = changed_meanwhile(newest.by, draft.form)
            return _instead(reject_modal(click.run, draft.revision, draft.run.job, reason=reason, above=above))
        return None

    def _to_explanation(self, view: Mapping[str, Any], click: act.DraftClick) -> Answer | None:
        how = read_explain(view)
        if isinstance(how, FieldErrors):
            return how.response()
        decision = self._context.state.drafts.decision(click.run)
        return FieldErrors({HOW: TAKEN_BACK}).response() if decision is None or not decision.pattern else None


def _instead(view: Mapping[str, Any]) -> Answer:
    return {"response_action": "update", "view": view}
