"""The parent message of a diagnosis, one function for all its states: waiting, running, answered, decided, failed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot.note.note import Note
from bot.slack import actions as act
from bot.slack.archive import SYMPTOMS_ONLY, Form
from bot.slack.blocks import (
    MAX_NOTIFICATION,
    Block,
    Blocks,
    Message,
    actions,
    ask_first,
    button,
    context,
    headline,
    section,
)
from bot.slack.brief import MAX_LINES, brief, gist
from bot.slack.sections import known_fault
from bot.slack.text import code, fallback, literal, moment, person, prose
from bot.state.answers import ToldFact
from bot.state.drafts import Decision, Verdict
from bot.state.runs import Run, Task, Trigger
from bot.state.small_values import Status
from bot.text import wording
from bot.text.known_fault import KnownFault
from core.model import Diagnosis, Scope
from faultlib.likely_patterns import shows_a_cause

MAX_HOW = 160  # characters of how it was confirmed; the thread has the rest
MAX_FACT = 400  # characters of a line of a history
MAX_STEPS = 4  # with headline, button and small print fewer than MAX_LINES


@dataclass(frozen=True, slots=True)
class ProgressStep:
    """How far a step is, the newest last."""

    name: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class AnswerContent:
    """All that the message is made of; the same values give the same message.

    place: in the queue. steps: in the order in which they began. diagnosis, known, note: as far as there is an answer.
    history: of a run of training, in place of these. revision: of the draft, 0 while there is none.
    form, edited_by: what a person made of the note.
    """

    run: Run
    version: str
    place: int = 0
    steps: tuple[ProgressStep, ...] = ()
    elapsed: timedelta | None = None
    diagnosis: Diagnosis | None = None
    known: tuple[KnownFault, ...] = ()
    note: Note | None = None
    history: tuple[ToldFact, ...] = ()
    revision: int = 0
    form: Form | None = None
    edited_by: str = ""
    decision: Decision | None = None


def answer_message(shown: AnswerContent) -> Message:
    """The message as it is now: MAX_LINES lines at most, of which each says what no other does."""
    first = _first_line(shown)
    before, after = (*headline(first), *_outcome(shown)), (*_buttons(shown), *_footer(shown))
    room = MAX_LINES - lines_of((*before, *after))
    sentence = gist(shown.diagnosis) if _answered(shown) and shown.diagnosis else first
    return Message(fallback(sentence, MAX_NOTIFICATION), (*before, *_body(shown, room), *after))


def lines_of(blocks: Sequence[Block]) -> int:
    """How many lines a message has, as a person counts them: a row of buttons is one."""
    return sum(block["text"]["text"].count("\n") + 1 if block["type"] == "section" else 1 for block in blocks)


def _answered(shown: AnswerContent) -> bool:
    over = shown.run.status in (Status.CANCELLED, Status.FAILED)
    return not over and (shown.diagnosis is not None or bool(shown.history))


# --- the first line: it stands alone in a notification ------------------------------------------------------------


def _first_line(shown: AnswerContent) -> str:
    run, job, noun = shown.run, literal(shown.run.job, 80), shown.run.task.noun
    if run.status is Status.CANCELLED:
        return f"{job}: the {noun} was cancelled"
    if run.status is Status.FAILED:
        message = run.failure.message if run.failure else "no reason is known"
        return f"{job}: no {noun}. {literal(message, 240)}"
    if _answered(shown):
        return wording.first_line(shown.diagnosis) if shown.diagnosis else shown.history[0].says
    if shown.known:
        best = shown.known[0]
        sentence = "matches public facts, not confirmed by your team" if best.seed else "known fault"
        return f"{job}: {sentence}: {literal(best.title, 200)}"
    if run.status is Status.QUEUED:
        return f"{job}: waiting, {wording.place(shown.place)}" if shown.place else f"{job}: waiting"
    return f"{job}: the {noun} is {'running' if run.task is Task.DIAGNOSE else 'being told'}"


# --- what became of it, right below -------------------------------------------------------------------------------


def _outcome(shown: AnswerContent) -> Iterator[Block]:
    run = shown.run
    if run.status is Status.CANCELLED:
        yield from section(f"*Cancelled* by {person(run.cancel_by)}." if run.cancel_by else "*Cancelled*.")
    if run.status is Status.FAILED and run.failure:
        found = f"{code(run.failure.reference, 40)} finds it in the bot's log." if run.failure.reference else ""
        yield from section(prose(run.failure.hint, 400), found)
    if run.status is Status.EXPIRED:
        yield from section("*This is a part of the answer*: the deadline came before the rest.")
    if shown.decision:
        yield from _decided(shown, shown.decision)


def _decided(shown: AnswerContent, decision: Decision) -> Blocks:
    about = str(act.DraftClick(shown.run.id, decision.revision))
    who = f"by {person(decision.by)}, {moment(decision.at)}"
    if decision.verdict is Verdict.REJECTED:
        undo = button("Undo", act.UNDO, about, spoken="Take the rejection back")
        return section(f"*Rejected* {who}", prose(decision.reason, 400), accessory=undo, expand=True)
    if not decision.pattern:
        return section(f"*Approved* {who}. It is being archived.")
    undo = button("Undo", act.UNDO, about, spoken="Take the approval back")
    became = "Added to fault pattern" if decision.joins else "Fault pattern"
    how = prose(decision.reason, MAX_HOW)
    return section(f"*Approved* {who}. {became} {code(decision.pattern, 80)}", how, accessory=undo, expand=True)


# --- what was found -----------------------------------------------------------------------------------------------


def _body(shown: AnswerContent, room: int) -> Iterator[Block]:
    if _answered(shown) and shown.diagnosis:
        sentences = brief(shown.diagnosis, shown.known, room=room, form=shown.form, edited_by=shown.edited_by)
        yield from section(*sentences, expand=True)
    elif _answered(shown):
        facts = [f"*{fact.about}* {prose(fact.says, MAX_FACT)}" for fact in shown.history[1:]]
        yield from section(*facts[: max(0, room)], expand=True)
    elif shown.diagnosis is None:
        yield from (block for fault in shown.known[:1] for block in section(*known_fault(fault)[1:], expand=True))
        yield from section(*_steps(shown))


def _steps(shown: AnswerContent) -> list[str]:
    """What is done, and what is being done with its counts."""
    if shown.run.status is Status.QUEUED:
        return []
    sentences = [prose(wording.step(step.name, step.done, step.total), 160) for step in shown.steps[-MAX_STEPS:]]
    *before, now = sentences or ["starting"]
    seconds = f", {shown.elapsed.total_seconds():,.0f} s so far" if shown.elapsed else ""
    if shown.known:
        before = ["The whole signature is in this job; the diagnosis goes on."]
    return [*(f"✓ {step}" for step in before), f"▸ {now}{seconds}"] if shown.run.status.active else []


# --- what can be done, and by whom it was asked -------------------------------------------------------------------


def _buttons(shown: AnswerContent) -> Blocks:
    run = shown.run
    about = str(act.DraftClick(run.id, run.revision))
    if run.status.active:
        return actions(button("Cancel", act.CANCEL, about))
    again = button("Run again", act.AGAIN, about)
    if run.status is not Status.DONE or shown.decision or not shown.revision or not has_fault(shown.diagnosis):
        return actions(again)
    draft = str(act.DraftClick(run.id, shown.revision))
    approve = approve_button(run.id, shown.revision, shown.diagnosis)
    edit, reject = button("Edit draft", act.EDIT, draft), button("Reject", act.REJECT, draft)
    return actions(approve, edit, reject, again)


def approve_button(
    run_id: str,
    revision: int,
    diagnosis: Diagnosis | None,
    *,
    label: str = "Approve and archive",
    style: str = "primary",
    first: Block | None = None,
) -> Block | None:
    """The button that archives a note; None where nothing is known. What shows symptoms only is asked about.

    first: what is asked of whoever approves any other.
    """
    if diagnosis is None or diagnosis.scope is Scope.UNKNOWN:
        return None
    ask = first if shows_a_cause(diagnosis) else ask_first(*SYMPTOMS_ONLY)
    return button(label, act.APPROVE, str(act.DraftClick(run_id, revision)), style=style, confirm=ask)


def has_fault(diagnosis: Diagnosis | None) -> bool:
    """Whether there is something to archive."""
    return diagnosis is not None and diagnosis.scope is not Scope.NONE


def _footer(shown: AnswerContent) -> Blocks:
    """Who asked, as long as that is what there is to know; below a diagnosis it stands in the thread."""
    if not _answered(shown) or shown.history:
        return context(asked(shown.run, shown.version))
    return context("The note is being written; the evidence comes in the thread.") if shown.run.status.active else ()


_UNASKED = {Trigger.FOLLOW: "found in the jobs folder", Trigger.ALERT: "named by an alert"}


def asked(run: Run, version: str) -> str:
    """By which run it is known, who asked and when, and what answers."""
    by = _UNASKED.get(run.trigger) or f"asked by {person(run.asked_by)}"
    who = f"{by}, {moment(run.asked_at)}"
    return f"Run {code(run.id, 40)} · {who} · Firstfault {prose(version, 40)}"
