"""Buttons and forms: who may, what it is about as the state has it now, and forms within Slack's three seconds."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from http.client import HTTPException
from typing import Any

from slack_bolt.context.respond import Respond
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.slack import actions as act
from bot.slack import private_replies
from bot.slack.archive import ReviewedDraft
from bot.slack.blocks import Message
from bot.slack.boundary import attempt, to_person, whispering
from bot.slack.client import error_of
from bot.slack.commands import ParsedCommand, Verb
from bot.slack.listener_context import ListenerContext
from bot.slack.modals import (
    FieldErrors,
    edit_modal,
    explain_modal,
    lines_modal,
    message_modal,
    read_edit,
    read_explain,
    read_reject,
    reject_modal,
    wait_modal,
)
from bot.slack.raw_lines import find_evidence, read_citations
from bot.state.inbox import Once
from bot.state.runs import RunRequest, Trigger

Payload = Mapping[str, Any]
Do = Callable[[object, Payload, Once], Message | None]
DoForm = Callable[[act.DraftClick, Payload, Once], Message | None]
Look = Callable[[object, str], dict[str, Any]]
# The right to open a window ends after three seconds, and with its first use, which a bot may not have outlived.
_TOO_LATE = frozenset({"expired_trigger_id", "trigger_expired", "exchanged_trigger_id", "trigger_exchanged"})


class ClickListener:
    """Buttons and forms. A button tells ids only; what is true of them is read from the state."""

    def __init__(self, context: ListenerContext) -> None:
        self._context = context
        requests, approvals = context.requests, context.approvals
        self._clicks: Mapping[str, Do] = {
            act.CANCEL: lambda value, body, once: requests.cancel(act.DraftClick.read(value).run, body["user"], once),
            act.AGAIN: lambda value, body, once: requests.again(act.DraftClick.read(value).run, body["user"], once),
            act.DIAGNOSE: self._diagnose,
            act.ANYWAY: partial(self._diagnose, forced=True),  # a job that has not failed
            act.WATCH: lambda value, body, once: requests.serve(
                ParsedCommand(Verb.WATCH, str(value)), _wish(value, body), once
            ),
            act.UNWATCH: self._unwatch,
            act.APPROVE: self._approve,
            act.APPROVE_NEW: partial(self._approve, joins=""),  # although a pattern is nearly the same
            act.JOIN: self._join,
            act.UNDO: lambda value, body, once: approvals.undo(act.DraftClick.read(value), body["user"], once),
            act.USEFUL: self._useful,
            # Whether a known fault was it; the last word of a person counts, so that twice is once.
            act.FITS: lambda value, body, _once: approvals.judge(act.FaultClick.read(value), body["user"]),
        }
        self._windows: Mapping[str, tuple[str, str, Look]] = {
            act.EDIT: ("Edit the note", act.EDIT_FORM, self._edit_view),
            act.REJECT: ("Reject the note", act.REJECT_FORM, self._reject_view),
            act.EXPLAIN: ("How was it confirmed?", act.EXPLAIN_FORM, self._explain_view),
            act.LINES: ("Raw lines", act.LINES_FORM, self._lines_view),
            act.MORE_LINES: ("Raw lines", act.LINES_FORM, self._lines_view),
        }

        self._forms: Mapping[str, DoForm] = {
            act.EDIT_FORM: self._edited,
            act.REJECT_FORM: lambda click, body, once: approvals.reject(
                click, body["user"], str(read_reject(body["view"])), once
            ),
            act.EXPLAIN_FORM: lambda click, body, once: approvals.explain(
                click, body["user"], str(read_explain(body["view"])), once
            ),
        }

    def click(self, body: Payload, once: Once) -> None:
        """A button or a choice that does something."""
        name, value = body["action"]["action_id"], body["action"]["value"]
        attempt(
            lambda: self._clicks[name](value, body, once), to_person(self._context.client, body), patient=once.patient
        )
        if name in (act.APPROVE_NEW, act.JOIN):
            self._remove(body)

    def opening(self, body: Payload, once: Once) -> None:  # noqa: ARG002 whoever comes too late opens nothing
        """A button that opens a window: at once, and filled then."""
        title, form, look = self._windows[body["action"]["action_id"]]
        value, user = body["action"]["value"], body["user"]

        def fill() -> Message | None:
            try:
                waiting = wait_modal(title, form, str(value))
                opened = self._context.client.views_open(trigger_id=body["trigger_id"], view=waiting)["view"]
            except SlackApiError as error:
                if error_of(error) not in _TOO_LATE:
                    raise
                return private_replies.TOO_LATE
            self._context.client.views_update(view_id=opened["id"], hash=opened["hash"], view=look(value, user))
            return None

        attempt(fill, to_person(self._context.client, body))

    def form(self, body: Payload, once: Once) -> None:
        """A form against which there was no objection: the edited note is archived, or the reason is kept."""
        view, user = body["view"], body["user"]
        click = act.DraftClick.read(view.get("private_metadata"))
        run = self._context.state.runs.get(click.run)
        channel, thread = (run.channel, run.thread_ts or run.message_ts) if run else ("", "")
        do = self._forms[view["callback_id"]]
        tell = whispering(self._context.client, channel, user, thread)
        attempt(lambda: do(click, body, once), tell, patient=once.patient)

    # --- what a click does ---

    def _diagnose(self, value: object, body: Payload, once: Once, *, forced: bool = False) -> Message | None:
        return self._context.requests.diagnose(_wish(value, body), once, forced=forced)

    def _unwatch(self, value: object, body: Payload, once: Once) -> Message | None:
        """End a watch, wherever it was asked for."""
        watch = self._context.state.watches.get(str(value))
        if watch is None or watch.team != body["team"]:
            return private_replies.GONE
        request = RunRequest(watch.job, watch.team, watch.channel, body["user"], Trigger.COMMAND)
        return self._context.requests.serve(ParsedCommand(Verb.UNWATCH, watch.job), request, once)

    def _approve(self, value: object, body: Payload, once: Once, *, joins: str | None = None) -> Message | None:
        """Archive it, and ask how it was confirmed: where no window can be opened any more the thread has a button."""
        click = act.DraftClick.read(value)
        refused = self._context.approvals.approve(click, body["user"], once, joins=joins)
        if refused is None and self._context.approvals.unexplained(click.run, body["user"]):
            self._ask_how(click, body)
        return refused

    def _ask_how(self, click: act.DraftClick, body: Payload) -> None:
        run = self._context.state.runs.get(click.run)
        with suppress(SlackClientError, OSError, KeyError):  # the last: no right to open a window came with it
            view = explain_modal(click.run, click.revision, run.job if run else "")
            self._context.client.views_open(trigger_id=body["trigger_id"], view=view)

    def _join(self, value: object, body: Payload, once: Once) -> Message | None:
        """Add the job to a pattern that there is."""
        click = act.JoinClick.read(value)
        return self._context.approvals.approve(click, body["user"], once, joins=click.pattern)

    def _useful(self, value: object, body: Payload, _once: Once) -> Message | None:
        """One of the two thumbs; the last one of a person counts."""
        click = act.UsefulClick.read(value)
        self._context.state.feedback.give(click.run, body["user"], useful=click.useful == "yes")
        return private_replies.THANKS

    def _edited(self, click: act.DraftClick, body: Payload, once: Once) -> Message | None:
        draft = self._context.approvals.draft(click.run)
        form = read_edit(body["view"], draft.diagnosis, draft.guesses) if draft else None
        if form is None or isinstance(form, FieldErrors):
            return private_replies.GONE  # it was there a moment ago
        return self._context.approvals.approve(click, body["user"], once, edited=form, draft=draft)

    # --- views ---

    def _edit_view(self, value: object, user: str) -> dict[str, Any]:
        click, title = act.DraftClick.read(value), "Edit the note"
        draft = self._undecided(click, user, title)
        if not isinstance(draft, ReviewedDraft):
            return draft
        if draft.revision != click.revision:
            return message_modal(title, "The note was changed meanwhile.", "The message has the new one.")
        return edit_modal(click.run, click.revision, draft.diagnosis, draft.form, draft.guesses)

    def _reject_view(self, value: object, user: str) -> dict[str, Any]:
        click = act.DraftClick.read(value)
        draft = self._undecided(click, user, "Reject the note")
        if not isinstance(draft, ReviewedDraft):
            return draft
        return reject_modal(click.run, click.revision, draft.run.job)

    def _explain_view(self, value: object, user: str) -> dict[str, Any]:
        click, title = act.DraftClick.read(value), "How was it confirmed?"
        if (barred := self._context.approvals.barred(user, click.run)) is not None:
            return message_modal(title, barred.text)
        draft = self._context.approvals.draft(click.run)
        if draft is None:
            return message_modal(title, private_replies.GONE.text)
        if not self._context.approvals.unexplained(click.run, user):
            decided = self._context.approvals.decided(click.run) or private_replies.TAKEN_BACK
            return message_modal(title, decided.text, "Only who approved it says how, and once.")
        return explain_modal(click.run, click.revision, draft.run.job)

    def _lines_view(self, value: object, _user: str) -> dict[str, Any]:
        click = act.LinesClick.read(value)
        answer = self._context.state.runs.answer(click.run)
        diagnosis = answer.diagnosis if answer else None
        evidence = find_evidence(diagnosis, click.evidence) if diagnosis else None
        if diagnosis is None or evidence is None:
            return message_modal("Raw lines", private_replies.GONE.text)
        return lines_modal(click.run, evidence, read_citations(diagnosis, evidence, self._context.open_jobs))

    def _undecided(self, click: act.DraftClick, user: str, title: str) -> ReviewedDraft | dict[str, Any]:
        """The draft that this user may decide about; or a window that says why not."""
        approvals = self._context.approvals
        message = approvals.barred(user, click.run) or approvals.decided(click.run)
        draft = None if message else approvals.draft(click.run)
        return draft or message_modal(title, (message or private_replies.GONE).text)

    def _remove(self, body: Payload) -> None:
        """The private question whose answer was clicked; that it cannot be removed costs nothing."""
        client = self._context.client
        with suppress(SlackClientError, OSError, HTTPException, ValueError):  # the last: there is no address
            Respond(response_url=body.get("response_url"), proxy=client.proxy, ssl=client.ssl)(delete_original=True)


def _wish(job: object, body: Payload) -> RunRequest:
    """What somebody wants who clicks at a job."""
    return RunRequest(str(job), body["team"], body["channel"], body["user"], Trigger.COMMAND)
