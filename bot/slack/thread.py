"""What the bot says in the thread below a diagnosis: evidence and note, known faults, replies, who decided what."""

import re
from collections.abc import Sequence

from bot.note.note import Note
from bot.outgoing.errors import Failure
from bot.slack import actions as act
from bot.slack.blocks import Blocks, Message, actions, button, context, feedback, menu, says, section
from bot.slack.brief import vouched
from bot.slack.budget import Part, fit
from bot.slack.notes import note_parts, told_by
from bot.slack.parent_message import asked
from bot.slack.sections import (
    MOST,
    beside_the_verdict,
    evidence,
    left_out,
    lines_button,
    more_lines,
    nothing_similar,
    small_print,
    with_button,
)
from bot.slack.text import code, fallback, literal, person, prose
from bot.state.drafts import Decision, Verdict
from bot.state.runs import Run
from bot.state.threads import ThreadQuestion
from bot.text import wording
from bot.text.known_fault import KnownFault
from bot.text.wording import counted
from core.model import Diagnosis, Evidence, Role, Scope

MAX_REPLY_LINES, MAX_REPLY_LINE = 5, 600  # lines of a reply (bot.ask), characters of one
MAX_WORDS = 1_000  # of a fault's cause or fix
MAX_TELLING = 200  # characters in a notification
MAX_CITED = 3  # buttons below a reply
_SAID = (("This was it", "yes"), ("This was not it", "no"), ("Take back what I said", "back"))
_CITED = re.compile(r"\b([ENI][1-9][0-9]{0,3})\b")


def details_message(
    run: Run, diagnosis: Diagnosis, note: Note | None, known: Sequence[KnownFault], version: str
) -> Message:
    """What the parent message had no room for: suspects, checks, note, evidence, what was read; two thumbs below."""
    parts = [
        *beside_the_verdict(diagnosis),
        *(note_parts(note, diagnosis, known=known) if diagnosis.scope is not Scope.NONE else ()),
        *evidence(diagnosis, run.id, said_above=told_by(note, diagnosis)),
        *more_lines(diagnosis, run.id, with_button(diagnosis)),
        *nothing_similar(diagnosis, known),
        *small_print(diagnosis),
    ]
    thumbs = feedback(act.USEFUL, *(str(act.UsefulClick(run.id, answer)) for answer in ("yes", "no")))
    tail = [Part(thumbs), Part(context(f"{asked(run, version)} · Ask here, without a mention"))]
    fitted = fit([*parts, *tail], most=MOST)
    *shown, last, least = fitted.parts
    blocks = [block for part in shown for block in part.blocks]
    missing = context(left_out(dict(fitted.dropped)))
    events = counted(sum(event.role is not Role.BENIGN for event in diagnosis.events), "piece") + " of evidence"
    return Message(
        fallback(f"{diagnosis.job}: {events}, what was read, what to check.", MAX_TELLING),
        (*blocks, *missing, *last.blocks, *least.blocks),
    )


def faults_message(run: str, known: Sequence[KnownFault]) -> Message:
    """Known faults like this one in full: why they fit, cause, fix, jobs they were seen in."""
    notice = f"{counted(len(known), 'known fault')} like this" if known else "Nothing similar is known."
    parts = [Part(section("*Known faults like this*" if known else notice))]
    parts += [Part(_fault(run, fault), 90 - number, "known fault") for number, fault in enumerate(known)]
    fitted = fit(parts)
    left = "".join(f"{counted(number, 'more ' + kind)}: the report has all." for kind, number in fitted.dropped.items())
    return Message(notice, (*(block for part in fitted.parts for block in part.blocks), *context(left)))


def reply_message(question: ThreadQuestion, diagnosis: Diagnosis | None, *, named: bool = False) -> Message:
    """The reply to a question, with buttons for the raw lines of the evidence that it cites.

    Args:
        named: say whose question it was, for a thread in which several people ask.
    """
    lines = [line for line in question.reply.splitlines() if line.strip()][:MAX_REPLY_LINES] or ["Not in the logs."]
    every: tuple[Evidence, ...] = (*diagnosis.events, *diagnosis.nodes, *diagnosis.iterations) if diagnosis else ()
    cited = set(_CITED.findall(question.reply))
    found = [evidence for evidence in every if evidence.id in cited and evidence.lines]
    # an action id may stand only once in a row of buttons, so each has a section of its own
    opener = lines_button(found[0], question.run) if len(found) == 1 else None
    shown = [prose(line, MAX_REPLY_LINE) for line in lines]
    if named and question.user:
        shown[0] = f"{person(question.user)}: {shown[0]}"
    blocks = section(*shown, accessory=opener, expand=True)
    if len(found) > 1:
        for evidence in found[:MAX_CITED]:
            blocks += section(
                f"*{evidence.id}* {prose(evidence.because, 120)}", accessory=lines_button(evidence, question.run)
            )
    return Message(fallback(lines[0], MAX_TELLING), blocks)


def failure_message(failure: Failure) -> Message:
    """Why there is no answer or no reply."""
    return Message(fallback(failure.message, MAX_TELLING), section(*failure_lines(failure)))


def failure_lines(failure: Failure) -> list[str]:
    """What happened, what to try, what finds it in our log."""
    found = f"{code(failure.reference, 40)} finds it in the bot's log." if failure.reference else ""
    return [prose(failure.message, 600), prose(failure.hint, 400), found]


def report_comment(diagnosis: Diagnosis) -> str:
    """What stands above the uploaded report and plot, as mrkdwn."""
    events = counted(len(diagnosis.events), "event")
    return f"The full report of {code(diagnosis.job, 80)}: {events} with their raw lines, plots, and what was read."


def history_comment(name: str) -> str:
    """The same of the history of a run of training."""
    return f"The history of {code(name, 80)} as a page: where the time went, causes, failures, and every attempt."


def decided_message(decision: Decision, title: str = "") -> Message:
    """Somebody approved or rejected; ``title``: of the note, which the pattern has as well when it is its own."""
    if decision.verdict is Verdict.REJECTED:
        reason = f": {prose(decision.reason, MAX_WORDS)}" if decision.reason else "."
        return says(f"Rejected by {person(decision.by)}{reason}", "The note was rejected.")
    if decision.joins:
        sentence = f"Approved by {person(decision.by)}: this job is added to fault pattern {code(decision.joins, 80)}."
        return says(sentence, "The job was added to a fault pattern.")
    sentence = f" as {code(decision.pattern, 80)}" if decision.pattern else ""
    named = f": {prose(title, 200)}" if title else "."
    later = "The next job that fails this way is answered at once."
    how = f"How it was confirmed: {prose(decision.reason, MAX_WORDS)}" if decision.reason else ""
    message = says(
        f"Approved by {person(decision.by)} and archived{sentence}{named}", "The note was approved.", later, how
    )
    return Message(message.text, (*message.blocks, *_ask_how(decision)))


def _ask_how(decision: Decision) -> Blocks:
    """For whoever closed the window that asked."""
    if not decision.unexplained:
        return ()
    return actions(button("How was it confirmed?", act.EXPLAIN, str(act.DraftClick(decision.run, decision.revision))))


def undone_message(decision: Decision, by: str, *, kept: bool = False) -> Message:
    """Somebody took a decision back; ``kept``: its pattern stands by another decision."""
    deed = "approval" if decision.verdict is Verdict.APPROVED else "rejection"
    sentence = f"The {deed} by {person(decision.by)} was taken back by {person(by)}."
    named = f"Fault pattern {code(decision.pattern, 80)}"
    became = f"{named} stays in use." if kept else f"{named} is retired."
    return says(sentence, f"The {deed} was taken back.", became if decision.pattern else "")


def unfiled_message(decision: Decision) -> Message:
    """An approval could not be archived, and nobody was waiting for it any more."""
    sentence = f"The approval by {person(decision.by)} did not get into the fault library, so it does not stand."
    return says(sentence, "An approval does not stand.", "Approve the note again; if that fails too, the bot says why.")


def _fault(run: str, fault: KnownFault) -> Blocks:
    seen = f"_Seen in {prose(wording.names(fault.jobs, 6), 300)}_" if fault.jobs else ""
    buttons = [(words, str(act.FaultClick(run, fault.pattern, answer))) for words, answer in _SAID]
    described = section(
        f"*{fault.id}* {prose(fault.title, 200)} ({wording.likeness(fault)})",
        f"{vouched(fault, capital=True)}. {prose(fault.because, 400)}",
        f"*Cause* {prose(fault.cause, MAX_WORDS)}",
        f"*Fix* {prose(fault.fix, MAX_WORDS)}",
        seen,
        f"Pattern {code(fault.pattern, 80)}, version {fault.version:,}{_kind(fault)}",
        expand=True,
    )
    return described + actions(menu("Was it this?", act.FITS, buttons))  # beside the text it would halve a phone's line


def _kind(fault: KnownFault) -> str:
    return "".join(
        f", {prose(text, 120)}" for text in (fault.category, fault.subtype) if literal(text, 120) not in ("", "unknown")
    )
