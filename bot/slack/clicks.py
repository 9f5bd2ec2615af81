"""Buttons and forms: who may, what it is about as the state has it now, and forms within Slack's three seconds."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPException
from typing import Any

from slack_sdk.errors import SlackClientError

from bot.outgoing.clean import cleaned
from bot.slack import actions as act
from bot.slack import replies
from bot.slack.blocks import Message
from bot.slack.boundary import Tell, attempt, responding, whispering
from bot.slack.modals import (
    Errors,
    edit_modal,
    lines_modal,
    message_modal,
    read_edit,
    read_reject,
    reject_modal,
    wait_modal,
)
from bot.slack.parts import Parts
from bot.slack.raw_lines import find_evidence, read_citations
from bot.state.runs import Asking, Trigger

Payload = Mapping[str, Any]


class Clicks:
    """Buttons and forms. A button tells ids only; what is true of them is read from the state."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def cancel(self, ack: Callable[[], None], action: Payload, body: Payload, respond: Callable[..., None]) -> None:
        """End a run."""
        ack()
        self._clicked(
            lambda value, user: self._parts.desk.cancel(act.read_about(value).run, user), action, body, respond
        )

    def again(self, ack: Callable[[], None], action: Payload, body: Payload, respond: Callable[..., None]) -> None:
        """Diagnose the job of a run anew."""
        ack()
        self._clicked(
            lambda value, user: self._parts.desk.again(act.read_about(value).run, user), action, body, respond
        )

    def diagnose(self, ack: Callable[[], None], action: Payload, body: Payload, respond: Callable[..., None]) -> None:
        """A job of a list."""
        ack()
        team, channel = body["team"]["id"], body["channel"]["id"]
        self._clicked(
            lambda value, user: self._parts.desk.diagnose(
                Asking(str(value), team, channel, user, Trigger.COMMAND)
            ),
            action, body, respond,
        )  # fmt: skip

    def approve(self, ack: Callable[[], None], action: Payload, body: Payload, respond: Callable[..., None]) -> None:
        """Archive the note as it stands."""
        ack()
        self._clicked(
            lambda value, user: self._parts.deciding.approve(act.read_about(value), user), action, body, respond
        )

    def approve_new(
        self, ack: Callable[[], None], action: Payload, body: Payload, respond: Callable[..., None]
    ) -> None:
        """A pattern of its own, although there is one that is nearly the same."""
        ack()
        self._clicked(
            lambda value, user: self._parts.deciding.approve(act.read_about(value), user, joins=""),
            action, body, respond,
        )  # fmt: skip
        self._remove(respond)

    def join(self, ack: Callable[[], None], action: Payload, body: Payload, respond: Callable[..., None]) -> None:
        """Add the job to a pattern that there is."""
        ack()

        def add(value: object, user: str) -> Message | None:
            wanted = act.read_joining(value)
            return self._parts.deciding.approve(wanted.about, user, joins=wanted.pattern)

        self._clicked(add, action, body, respond)
        self._remove(respond)

    def undo(self, ack: Callable[[], None], action: Payload, body: Payload, respond: Callable[..., None]) -> None:
        """Take a decision back."""
        ack()
        self._clicked(lambda value, user: self._parts.deciding.undo(act.read_about(value), user), action, body, respond)

    def useful(self, ack: Callable[[], None], action: Payload, body: Payload, respond: Callable[..., None]) -> None:
        """One of the two thumbs."""
        ack()

        def count(value: object, user: str) -> Message:
            voice = act.read_voice(value)
            self._parts.state.feedback.give(voice.run, user, useful=voice.useful)
            return replies.thanks_reply()

        self._clicked(count, action, body, respond)

    def edit(self, ack: Callable[[], None], action: Payload, body: Payload, respond: Callable[..., None]) -> None:
        """The form; opened at once, because a trigger lives for three seconds, and filled then."""
        ack()
        self._form("Edit the note", act.EDIT_FORM, self._edit_view, action, body, respond)

    def reject(self, ack: Callable[[], None], action: Payload, body: Payload, respond: Callable[..., None]) -> None:
        """Ask why."""
        ack()
        self._form("Reject the note", act.REJECT_FORM, self._reject_view, action, body, respond)

    def lines(self, ack: Callable[[], None], action: Payload, body: Payload, respond: Callable[..., None]) -> None:
        """The raw lines of one piece of evidence."""
        ack()
        self._form("Raw lines", act.LINES_FORM, self._lines_view, action, body, respond)

    def edited(self, ack: Callable[..., None], view: Payload, body: Payload) -> None:
        """The edited note is approved and archived."""
        about, user = act.read_about(view.get("private_metadata")), body["user"]["id"]
        case = self._parts.deciding.case(about.run)
        form = read_edit(view, case.diagnosis) if case else None
        if isinstance(form, Errors):
            ack(form.response())
            return
        if case is None or case.revision != about.revision:
            ack(response_action="update", view=message_modal("Edit the note", "The note was changed meanwhile.",
                                                             "Close this and edit it again."))  # fmt: skip
            return
        ack()
        self._submitted(about, user, lambda: self._parts.deciding.approve(about, user, edited=form))

    def rejected(self, ack: Callable[..., None], view: Payload, body: Payload) -> None:
        """The reason is kept."""
        about, user, reason = act.read_about(view.get("private_metadata")), body["user"]["id"], read_reject(view)
        if isinstance(reason, Errors):
            ack(reason.response())
            return
        ack()
        self._submitted(about, user, lambda: self._parts.deciding.reject(about, user, reason))

    # --- views ---

    def _edit_view(self, value: object, user: str) -> dict[str, Any]:
        about = act.read_about(value)
        if (barred := self._barred(about.run, user, "Edit the note")) is not None:
            return barred
        case = self._parts.deciding.case(about.run)
        if case is None:
            return message_modal("Edit the note", replies.gone_reply().text)
        if case.revision != about.revision:
            return message_modal("Edit the note", "The note was changed meanwhile.", "The message has the new one.")
        return edit_modal(about.run, about.revision, case.diagnosis, case.form)

    def _reject_view(self, value: object, user: str) -> dict[str, Any]:
        about = act.read_about(value)
        if (barred := self._barred(about.run, user, "Reject the note")) is not None:
            return barred
        case = self._parts.deciding.case(about.run)
        if case is None:
            return message_modal("Reject the note", replies.gone_reply().text)
        return reject_modal(about.run, about.revision, case.run.job)

    def _lines_view(self, value: object, _user: str) -> dict[str, Any]:
        wanted = act.read_lines_of(value)
        answer = self._parts.state.runs.answer(wanted.run)
        one = find_evidence(cleaned(answer.diagnosis), wanted.evidence) if answer and answer.diagnosis else None
        if answer is None or answer.diagnosis is None or one is None:
            return message_modal("Raw lines", replies.gone_reply().text)
        return lines_modal(wanted.run, one, read_citations(answer.diagnosis, one, self._parts.open_jobs))

    def _barred(self, run: str, user: str, title: str) -> dict[str, Any] | None:
        message = self._parts.deciding.barred(user) or self._parts.deciding.standing(run)
        return message_modal(title, message.text) if message else None

    # --- common to all ---

    def _clicked(
        self, do: Callable[[object, str], Message | None], action: Payload, body: Payload, respond: Callable[..., None]
    ) -> None:
        user, value = body["user"]["id"], act.value_of(action)
        attempt(lambda: do(value, user), self._private(body, respond))

    def _form(
        self,
        title: str,
        form: str,
        view: Callable[[object, str], dict[str, Any]],
        action: Payload,
        body: Payload,
        respond: Callable[..., None],
    ) -> None:
        user, value = body["user"]["id"], act.value_of(action)

        def fill() -> None:
            waiting = wait_modal(title, form, str(value))
            opened = self._parts.client.views_open(trigger_id=body["trigger_id"], view=waiting)["view"]
            self._parts.client.views_update(view_id=opened["id"], hash=opened["hash"], view=view(value, user))

        attempt(fill, self._private(body, respond))

    def _remove(self, respond: Callable[..., None]) -> None:
        """The private question whose answer was clicked; that it cannot be removed costs nothing."""
        with suppress(SlackClientError, OSError, HTTPException):
            respond(delete_original=True)

    def _private(self, body: Payload, respond: Callable[..., None]) -> Tell:
        return responding(respond, whispering(self._parts.client, body["channel"]["id"], body["user"]["id"]))

    def _submitted(self, about: act.About, user: str, work: Callable[[], Message | None]) -> None:
        run = self._parts.state.runs.get(about.run)
        channel, thread = (run.channel, run.thread_ts or run.message_ts) if run else ("", "")
        attempt(work, whispering(self._parts.client, channel, user, thread))
