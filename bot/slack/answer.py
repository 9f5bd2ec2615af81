"""The parent message of a diagnosis, one function for all its states: waiting, running, answered, decided, failed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot import wording
from bot.known import KnownFault
from bot.note.note import Note
from bot.slack import actions as act
from bot.slack.blocks import MAX_NOTIFICATION, Message, actions, button, context, headline, section
from bot.slack.budget import Part, fit
from bot.slack.forms import Form
from bot.slack.notes import note_parts, told_by
from bot.slack.sections import (
    MOST,
    evidence,
    known_fault,
    known_faults,
    left_out,
    more_lines,
    similar_faults,
    small_print,
    verdict,
)
from bot.slack.text import code, fallback, literal, moment, person, prose
from bot.state.drafts import Decision, Verdict
from bot.state.runs import Run
from bot.state.values import Status
from core.model import Diagnosis, Scope

MAX_STEPS = 6


@dataclass(frozen=True, slots=True)
class Step:
    """How far a step is, the newest last."""

    name: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """All that the message is made of; the same values give the same message.

    place: in the queue. steps: in the order in which they began. diagnosis, known, note: as far as there is an answer.
    revision: of the draft, 0 while there is none. form, edited_by: what a person made of the note.
    """

    run: Run
    version: str
    place: int = 0
    steps: tuple[Step, ...] = ()
    elapsed: timedelta | None = None
    diagnosis: Diagnosis | None = None
    known: tuple[KnownFault, ...] = ()
    note: Note | None = None
    revision: int = 0
    form: Form | None = None
    edited_by: str = ""
    decision: Decision | None = None


def answer_message(shown: Shown) -> Message:
    """The message as it is now."""
    first = _first_line(shown)
    parts = [Part(headline(first)), *_outcome(shown), *_body(shown)]
    tail = [*_buttons(shown), *_footer(shown)]
    fitted = fit([*parts, *tail], most=MOST)
    blocks = [block for part in fitted.parts[: len(fitted.parts) - _length(tail)] for block in part.blocks]
    ending = [block for part in tail for block in part.blocks]
    rest = context(left_out(dict(fitted.dropped)))
    return Message(fallback(first, MAX_NOTIFICATION), (*blocks, *rest, *ending))


def _length(parts: Sequence[Part]) -> int:
    return sum(bool(part.blocks) for part in parts)


# --- the first line: it stands alone in a notification ------------------------------------------------------------


def _first_line(shown: Shown) -> str:
    run, job = shown.run, literal(shown.run.job, 80)
    if run.status is Status.CANCELLED:
        return f"{job}: the diagnosis was cancelled"
    if run.status is Status.FAILED:
        message = run.failure.message if run.failure else "no reason is known"
        return f"{job}: no diagnosis. {literal(message, 240)}"
    if shown.diagnosis:
        return wording.first_line(shown.diagnosis)
    if shown.known:
        best = shown.known[0]
        told = "matches public facts, not confirmed by your team" if best.seed else "known fault"
        return f"{job}: {told}: {literal(best.title, 200)}"
    if run.status is Status.QUEUED:
        return f"{job}: waiting, {wording.place(shown.place)}" if shown.place else f"{job}: waiting"
    return f"{job}: the diagnosis is running"


# --- what became of it, right below -------------------------------------------------------------------------------


def _outcome(shown: Shown) -> Iterator[Part]:
    run = shown.run
    if run.status is Status.CANCELLED:
        yield Part(section(f"*Cancelled* by {person(run.cancel_by)}." if run.cancel_by else "*Cancelled*."))
    if run.status is Status.FAILED and run.failure:
        found = f"{code(run.failure.reference, 40)} finds it in the bot's log." if run.failure.reference else ""
        yield Part(section(prose(run.failure.hint, 400), found))
    if run.status is Status.EXPIRED:
        yield Part(section("*This is a part of the answer*: the deadline came before the rest."))
    if shown.decision:
        yield Part(_decided(shown, shown.decision))


def _decided(shown: Shown, decision: Decision) -> tuple[dict[str, object], ...]:
    about = act.about(shown.run.id, decision.revision)
    who = f"by {person(decision.by)}, {moment(decision.at)}"
    if decision.verdict is Verdict.REJECTED:
        undo = button("Undo", act.UNDO, about, spoken="Take the rejection back")
        return section(f"*Rejected* {who}", prose(decision.reason, 400), accessory=undo, expand=True)
    if not decision.pattern:
        return section(f"*Approved* {who}. It is being archived.")
    undo = button("Undo", act.UNDO, about, spoken="Take the approval back")
    became = "Added to fault pattern" if decision.joins else "Fault pattern"
    return section(f"*Approved* {who}. {became} {code(decision.pattern, 80)}", accessory=undo, expand=True)


# --- what was found -----------------------------------------------------------------------------------------------


def _body(shown: Shown) -> Iterator[Part]:
    if shown.diagnosis is None:
        yield from (Part(section(*known_fault(fault), expand=True)) for fault in shown.known[:1])
        yield from _more_known(shown.known[1:])
        yield Part(section(*_steps(shown)))
        return
    diagnosis, run = shown.diagnosis, shown.run
    yield from verdict(diagnosis)
    if diagnosis.scope is not Scope.NONE:  # what did not fail has no cause, and is like no fault
        yield from known_faults(shown.known)
        yield from _note(shown)
    yield from evidence(diagnosis, run.id, told=told_by(None if shown.form else shown.note, diagnosis))
    yield from more_lines(diagnosis, run.id, _with_button(diagnosis))
    yield from similar_faults(diagnosis, shown.known)
    yield from small_print(diagnosis)


def _more_known(known: Sequence[KnownFault]) -> Iterator[Part]:
    yield from (Part(section(*known_fault(fault)), 80 - at, "known fault") for at, fault in enumerate(known))


def _note(shown: Shown) -> Iterator[Part]:
    if shown.note or shown.form:
        above = [fault for fault in shown.known if fault.known][: MOST["known fault"]]
        yield from note_parts(shown.note, shown.diagnosis, form=shown.form, edited_by=shown.edited_by, known=above)
    elif shown.run.status.active:
        yield Part(section("*Note* It is being written from the evidence below."))


def _with_button(diagnosis: Diagnosis) -> list[str]:
    """Ids of the events that the message shows itself."""
    return [event.id for event in diagnosis.events if event.role != "benign"][: MOST["event"]]


def _steps(shown: Shown) -> list[str]:
    """What is done, and what is being done with its counts."""
    if shown.run.status is Status.QUEUED:
        return []
    told = [prose(wording.step(step.name, step.done, step.total), 160) for step in shown.steps[-MAX_STEPS:]]
    *before, now = told or ["starting"]
    seconds = f", {shown.elapsed.total_seconds():,.0f} s so far" if shown.elapsed else ""
    waiting = ["The whole signature is in this job; the diagnosis goes on."] if shown.known else []
    return [*waiting, *(f"✓ {step}" for step in before), f"▸ {now}{seconds}"] if shown.run.status.active else []


# --- what can be done, and by whom it was asked -------------------------------------------------------------------


def _buttons(shown: Shown) -> Iterator[Part]:
    run = shown.run
    about = act.about(run.id, run.revision)
    if run.status.active:
        yield Part(actions(button("Cancel", act.CANCEL, about)))
        return
    again = button("Run again", act.AGAIN, about)
    if run.status is not Status.DONE or shown.decision or not shown.revision or not _has_fault(shown.diagnosis):
        yield Part(actions(again))
        return
    draft = act.about(run.id, shown.revision)
    knows = shown.diagnosis is not None and shown.diagnosis.scope is not Scope.UNKNOWN
    approve = button("Approve and archive", act.APPROVE, draft, style="primary") if knows else None
    edit, reject = button("Edit draft", act.EDIT, draft), button("Reject", act.REJECT, draft)
    yield Part(actions(approve, edit, reject, again))


def _has_fault(diagnosis: Diagnosis | None) -> bool:
    return diagnosis is not None and diagnosis.scope is not Scope.NONE


def _footer(shown: Shown) -> Iterator[Part]:
    run = shown.run
    asked = f"asked by {person(run.asked_by)}, {moment(run.asked_at)}"
    invitation = " · Ask in the thread" if shown.diagnosis else ""
    yield Part(context(f"Run {code(run.id, 40)} · {asked} · Firstfault {prose(shown.version, 40)}{invitation}"))
