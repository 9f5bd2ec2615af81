"""The worker's listener in Slack: one parent message a run, edited in place; the details in its thread."""

import logging
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from slack_sdk.errors import SlackClientError

from bot.note.note import Note
from bot.outgoing.errors import Failure
from bot.slack.archive import DRAFTED_BY, Form, drafted_form, form_of
from bot.slack.blocks import Message
from bot.slack.charts import chart_message
from bot.slack.health import Metrics
from bot.slack.parent_message import AnswerContent, ProgressStep, answer_message
from bot.slack.posting import BlocksRefused, MayNotPost, Posting
from bot.slack.thread import (
    details_message,
    failure_message,
    faults_message,
    history_comment,
    reply_message,
    report_comment,
)
from bot.slack.webhook import Webhook
from bot.state.answers import SavedAnswer
from bot.state.errors import StaleRevision
from bot.state.runs import Run
from bot.state.small_values import Status
from bot.state.state import State
from bot.state.threads import ThreadQuestion
from core.errors import FirstfaultError
from core.model import Diagnosis

EDIT_EVERY = 3.0  # seconds; chat.update may come 50 times a minute
PARENT, DETAILS, REPORT, FAULTS, CHARTS = "parent", "details", "report", "faults", "charts"
MAX_MOVED = 5  # messages that say their new place when a run is over: each costs an edit, and Slack allows 50 a minute
_UNSAFE = re.compile(r"[^\w.-]")
_LOG = logging.getLogger(__name__)


class RunMessages:
    """Shows runs and questions in Slack; what it says is always made from the state."""

    def __init__(
        self,
        posting: Posting,
        state: State,
        *,
        version: str,
        metrics: Metrics | None = None,
        webhook: Webhook | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._metrics = metrics or Metrics()
        self._webhook = webhook
        self._posting = posting
        self._state = state
        self._version = version
        self._clock = clock
        self._steps: dict[str, dict[str, ProgressStep]] = {}
        self._edited: dict[str, float] = {}
        self._has_charts = True  # until Slack has refused one: this workspace then has none while we live

    # --- what the worker tells ---

    def progress(self, run: Run, step: str, done: int, total: int) -> None:
        """Steps with real counts: the first is shown at once, then one edit in three seconds at most."""
        first = run.id not in self._steps
        self._steps.setdefault(run.id, {})[step] = ProgressStep(step, done, total)
        if first or self._clock() - self._edited.get(run.id, 0.0) >= EDIT_EVERY:
            self.show(run.id)

    def answered(self, run: Run, answer: SavedAnswer, *, final: bool) -> None:
        """The evidence before the note; with the note, buttons and the details in the thread."""
        if final and answer.diagnosis is not None and self._state.drafts.current(run.id) is None:
            self._save_draft(run, drafted_form(answer.diagnosis, answer.note, answer.known))
            self._count(answer.note)
        ts = self.show(run.id)
        if final and ts:
            self._in_thread(run, answer, ts)
        if final:
            self._over(run)

    def drawn(self, run: Run, answer: SavedAnswer) -> None:
        """Plot and report, below the answer; nothing where there is nothing to see. Then other programs are told."""
        self._show_files(run, answer)
        if self._webhook:
            self._webhook.deliver(run, answer)

    def failed(self, run: Run, failure: Failure) -> None:  # noqa: ARG002 the run holds it
        """Edit the message of a failed run: why there is no answer."""
        self.show(run.id)
        self._over(run)

    def cancelled(self, run: Run) -> None:
        """Edit the message of a cancelled run: who cancelled it."""
        self.show(run.id)
        self._over(run)

    def replied(self, question: ThreadQuestion) -> None:
        """The reply, in the thread."""
        run = self._state.runs.get(question.run)
        answer = self._state.runs.answer(question.run)
        if run is not None:
            thread = self._state.threads.conversation(question.team, question.channel, question.thread_ts)
            several = len({asked.user for asked in thread}) > 1
            found = answer.diagnosis if answer else None
            self._reply(run, question, reply_message(question, found, named=several))

    def not_replied(self, question: ThreadQuestion, failure: Failure) -> None:
        """Why there is no reply, in the thread."""
        run = self._state.runs.get(question.run)
        if run is not None:
            self._reply(run, question, failure_message(failure))

    # --- the parent message ---

    def show(self, run_id: str) -> str:
        """Post or edit the parent message as the state has it now; its ts, empty where the bot may not write."""
        run = self._state.runs.get(run_id)
        if run is None:
            return ""
        if run.cancel_by and not run.message_ts and not self._state.posts.begun(run_id, PARENT):
            return ""  # it was ended before anybody saw it: where the bot may not write, nothing is said later either
        self._edited[run_id] = self._clock()
        ts, new = run.message_ts, False
        if not ts:
            try:
                ts, new = self._post(run)
            except MayNotPost as trouble:
                _LOG.warning("%s: %s", run.id, trouble.message, extra={"run": run.id})
                return ""
        now = self._state.runs.get(run_id) or run  # Slack may have taken its time: what is true by now is said
        if not new or now.revision > run.revision:
            self._posting.edit(now, ts, answer_message(self.shown(now)))
        return ts

    def shown(self, run: Run) -> AnswerContent:
        """All that the message is made of, from the state."""
        answer = self._state.runs.answer(run.id) or SavedAnswer(run.job, None)
        draft = self._state.drafts.current(run.id)
        edited = draft is not None and draft.by != DRAFTED_BY
        return AnswerContent(
            run=run,
            version=self._version,
            place=self._state.runs.place(run.id),
            steps=tuple(self._steps.get(run.id, {}).values()),
            elapsed=self._state.clock() - run.started_at if run.status.active and run.started_at else None,
            diagnosis=answer.diagnosis,
            known=answer.known,
            note=answer.note,
            history=answer.history,
            revision=draft.revision if draft else 0,
            form=form_of(draft.note) if draft and edited else None,
            edited_by=draft.by if draft and edited else "",
            decision=self._state.drafts.decision(run.id),
        )

    # --- details ---

    def _reply(self, run: Run, question: ThreadQuestion, message: Message) -> None:
        """In the place of the message that said that it was heard, where there is one."""
        ts, new = self._posting.once(run, f"reply {question.ts}", message, thread=question.thread_ts)
        if not new:
            self._posting.edit(run, ts, message)

    def _post(self, run: Run) -> tuple[str, bool]:
        """The ts of the parent message, and whether it was posted now."""
        ts, new = self._posting.once(run, PARENT, answer_message(self.shown(run)), thread=run.thread_ts)
        with self._state.together():
            self._state.runs.set_message(run.id, ts)
            self._state.threads.own(run.team, run.channel, run.thread_ts or ts, run.id)
        return ts, new

    def _save_draft(self, run: Run, form: Form) -> None:
        with suppress(StaleRevision):  # another replica was faster
            self._state.drafts.save(run.id, asdict(form), by=DRAFTED_BY, seen=0)

    def _count(self, note: Note | None) -> None:
        if note is not None:
            usage = note.usage
            self._metrics.noted(note.author, usage.calls, usage.prompt_tokens, usage.completion_tokens)

    def _in_thread(self, run: Run, answer: SavedAnswer, ts: str) -> None:
        thread = run.thread_ts or ts
        if answer.diagnosis is None:
            return
        details = details_message(run, answer.diagnosis, answer.note, answer.known, self._version)
        self._posting.once(run, DETAILS, details, thread=thread)
        if answer.known:
            self._posting.once(run, FAULTS, faults_message(run.id, answer.known), thread=thread)

    def _show_files(self, run: Run, answer: SavedAnswer) -> None:
        thread, diagnosis = run.thread_ts or run.message_ts, answer.diagnosis
        worth = bool(answer.history) or (diagnosis is not None and bool(diagnosis.events or diagnosis.nodes))
        if not (thread and worth):  # a report of nothing is noise
            return
        name = _UNSAFE.sub("_", run.job)  # that of a run of training may hold anything
        plot, report = f"{run.job}: plot", f"{run.job}: {'report' if diagnosis else 'history'}"
        charted = bool(answer.plot) and diagnosis is not None and self._chart(run, diagnosis, answer.plot_text, thread)
        sheets = f"{run.job}: report, phone"  # where Slack shows a page as its code; a short title is not cut there
        files = [
            {"file": path, "filename": f"{name}{Path(path).suffix}", "title": title, "alt_txt": words}
            for path, title, words in (
                ("" if charted else answer.plot, plot, answer.plot_text or plot),
                (answer.sheets, sheets, sheets),
                (answer.report, report, report),
            )
            if path and Path(path).is_file()
        ]
        if files:
            comment = report_comment(diagnosis) if diagnosis else history_comment(run.job)
            self._posting.upload(run, REPORT, thread, files, comment)

    def _chart(self, run: Run, diagnosis: Diagnosis, words: str, thread: str) -> bool:
        """Whether Slack's own charts stand in the thread, in place of the picture."""
        message = chart_message(diagnosis, words) if self._has_charts else None
        if message is None:
            return False
        try:
            self._posting.once_or_never(run, CHARTS, message, thread=thread)
        except BlocksRefused as trouble:
            _LOG.info("%s: the picture stands for charts: %s", run.id, trouble.message, extra={"run": run.id})
            self._has_charts = False
        return self._has_charts

    def _over(self, run: Run) -> None:
        """Whoever waits has come one place further; that this cannot be shown costs nothing but that."""
        self._steps.pop(run.id, None)
        self._edited.pop(run.id, None)
        waiting = [
            queued
            for queued in self._state.runs.active(run.team)
            if queued.status is Status.QUEUED and queued.message_ts
        ]
        end = self._clock() + EDIT_EVERY
        for queued in waiting[:MAX_MOVED]:
            if self._clock() > end:
                return
            try:
                self.show(queued.id)
            except (FirstfaultError, SlackClientError, OSError) as trouble:
                _LOG.warning(
                    "%s: its place is not shown: %s", queued.id, type(trouble).__name__, extra={"run": queued.id}
                )
