"""What one person is told privately: help, lists, and why something cannot be done and what to do instead."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.outgoing.errors import public_failure, whole_failure
from bot.slack import actions as act
from bot.slack.blocks import Blocks, Message, actions, button, menu, says, section
from bot.slack.text import code, day, fallback, link, literal, moment, person, prose
from bot.slack.thread import MAX_TELLING, failure_lines
from bot.state.drafts import Decision, Verdict
from bot.state.errors import StaleRevision
from bot.state.runs import Run, Task
from bot.state.small_values import Status
from bot.text import wording
from bot.text.known_fault import KnownFault
from core.errors import FirstfaultError, JobNotFound
from faultlib.answers import Answers
from faultlib.answers import Verdict as Fit
from faultlib.pattern import Entry
from sources.job_ids import is_job_id

BOT_NAME = "Firstfault"  # as the manifest has it
MAX_JOBS, MAX_RUNS, MAX_NAMED = 25, 10, 8  # of a menu and of lists; longer ones are not read
_ASK = f"`{act.COMMAND} JOB` finds the first fault of a failed job."
_HELP = (
    f"`{act.COMMAND} JOB` diagnoses a job here, such as `{act.COMMAND} 1437825`",
    f"`{act.COMMAND} history RUN` tells where the time of a run of training went, over all its attempts",
    f"`{act.COMMAND} list` shows the latest diagnoses of this channel",
    f"`{act.COMMAND} watch JOB` follows a running job and posts here when it goes silent or fails",
    f"`{act.COMMAND} unwatch JOB` ends that",
    f"`{act.COMMAND} follow` tells this channel of each job that fails; `follow list` shows who is, `unfollow` ends it",
    f"`{act.COMMAND} status` shows what waits, what runs and what is watched",
    f"`{act.COMMAND} cancel JOB` ends a diagnosis that waits or runs",
    f"`{act.COMMAND} help` shows this",
)
_MORE = (
    "In a thread, where commands do not work: mention me with `diagnose JOB`, or use the shortcut on a message.",
    "Below an answer just ask, without a mention: I read the evidence and the raw lines again.",
)
_BECAME = {
    Status.QUEUED: "waits",
    Status.RUNNING: "runs",
    Status.DONE: "answered",
    Status.FAILED: "failed",
    Status.CANCELLED: "cancelled",
    Status.EXPIRED: "answered in part",
}


# --- what is the same whoever asks ----------------------------------------------------------------------------------

HELP = Message("How to ask Firstfault", section("*Ask*", *_HELP) + section(*_MORE))
WHICH_RUN = says(  # the history of nothing
    f"Which run? `{act.COMMAND} history RUN` takes what `run` in job.json is, or one of its jobs.", "Which run?"
)
NO_APPROVERS = says(
    "Nobody may approve yet: the list of approvers is empty. Whoever runs Firstfault sets `FIRSTFAULT_APPROVERS`.",
    "Nobody may approve yet.",
)
NOTHING_TO_UNDO = says("There is nothing to undo: the decision was taken back before.", "There is nothing to undo.")
TAKEN_BACK = says("The approval was taken back meanwhile.", "The approval was taken back.")
STRANGER = says(  # to somebody of another organisation in a channel of Slack Connect
    "You are of another organisation, and I answer only people of the one that installed me. Whoever runs me may"
    " allow yours: `FIRSTFAULT_ALLOWED_TEAMS`.",
    "I do not answer people of another organisation.",
)
SHARED_CHANNEL = says(
    "People of another organisation read this channel, so I post nothing of a job here. Ask me in another channel"
    " or directly; whoever runs me may allow theirs: `FIRSTFAULT_ALLOWED_TEAMS`.",
    "This channel is shared with another organisation.",
)
# The run or its evidence is not in the state any more.
GONE = says(f"I do not know this diagnosis any more. {_ASK}", "I do not know this diagnosis any more.")
# A window could not be opened in the seconds that Slack gives, or the bot died while it was opened.
TOO_LATE = says("I was interrupted. Close that window, if there is one, and click again.", "I was interrupted.")
THANKS = says("Thank you, noted.")

# --- what is about a job, a person or a decision --------------------------------------------------------------------


def usage_reply(failed_jobs: Sequence[str] = (), *, typed: str = "") -> Message:
    """No known job was named: why it was not understood, how to, and the latest failed jobs to pick from."""
    why = f"I found no command and no job that I know in what begins with {code(typed, 40)}." if typed else ""
    return Message("Which job?", (*section(why, "Which job? " + _ASK), *_pick(failed_jobs)))


def refused_reply(error: FirstfaultError, failed_jobs: Sequence[str] = (), *, nearest: Sequence[str] = ()) -> Message:
    """A bad id, an unknown job, a job without logs: what happened, and what somebody in Slack can try.

    Args:
        nearest: ids that may have been meant, the likest first; a click diagnoses them.
    """
    body = public_failure(whole_failure(error), error.audience)
    likely = [job for job in nearest if is_job_id(job)] if isinstance(error, JobNotFound) else []
    offers = [
        block
        for job in likely
        for block in section(f"Did you mean {code(job, 128)}?", accessory=button(f"Diagnose {job}", act.DIAGNOSE, job))
    ]
    shown = replace(body, hint="") if likely else body
    return Message(fallback(body.message, MAX_TELLING), (*section(*failure_lines(shown)), *offers, *_pick(failed_jobs)))


def not_failed_reply(job: str, *, runs: bool) -> Message:
    """A job that succeeded or still runs: nobody else needs to read that."""
    anyway = button("Diagnose anyway", act.ANYWAY, job)
    if runs:
        body = f"{code(job, 128)} is still running. I can tell this channel when it goes silent or fails."
        watch = button("Watch it", act.WATCH, job, style="primary")
        return Message(fallback(f"{job} is still running.", MAX_TELLING), section(body) + actions(watch, anyway))
    body = f"{code(job, 128)} completed: there is nothing to diagnose."
    return Message(fallback(f"{job} completed: nothing to diagnose.", MAX_TELLING), section(body) + actions(anyway))


def not_in_channel_reply(job: str = "", *, verb: str = "") -> Message:
    """The bot may not write where it was asked; ``verb``: what was asked for, where it was no diagnosis."""
    words = " ".join(filter(None, (act.COMMAND, verb, literal(job, 128) if is_job_id(job) else "")))
    again = f" Then ask again: `{words}`" if words != act.COMMAND else " Then ask again."
    return says(f"I am not in this channel. Invite me with `/invite @{BOT_NAME}`.{again}", "I am not in this channel.")


def already_reply(run: Run, address: str) -> Message:
    """The job is being diagnosed here already."""
    where = link(address, "Here it is") or "It is in this channel"
    doing = "being diagnosed" if run.task is Task.DIAGNOSE else "being told of"
    body = f"{code(run.job, 128)} is {doing}: asked by {person(run.asked_by)}. {where}."
    return Message(fallback(f"{run.job} is {doing} already.", MAX_TELLING), section(body))


def answered_reply(run: Run, address: str) -> Message:
    """The job was diagnosed here before; it can be done again."""
    when = f", {moment(run.finished_at)}" if run.finished_at else ""
    where = link(address, "Here is the answer") or "The answer is in this channel"
    body = f"{code(run.job, 128)} was diagnosed before, for {person(run.asked_by)}{when}. {where}."
    again = actions(button("Run again", act.AGAIN, str(act.DraftClick(run.id, run.revision))))
    return Message(fallback(f"{run.job} was diagnosed before.", MAX_TELLING), section(body) + again)


def list_reply(runs: Sequence[Run], addresses: Mapping[str, str] | None = None) -> Message:
    """The latest diagnoses, newest first; ``addresses``: links to their messages, by run."""
    lines = [run_line(run, (addresses or {}).get(run.id, "")) for run in runs[:MAX_RUNS]]
    if not lines:
        return says(f"Nothing was diagnosed here yet. {_ASK}", "Nothing was diagnosed here yet.")
    more = f"and {wording.counted(len(runs) - MAX_RUNS, 'older one')}" if len(runs) > MAX_RUNS else ""
    return Message("The latest diagnoses", section("*The latest diagnoses*", *lines, more))


def status_reply(runs: Sequence[Run], places: Mapping[str, int]) -> Message:
    """What waits and what runs; ``places``: in the queue, by run."""
    if not runs:
        return says("Nothing waits and nothing runs.")
    lines = []
    for run in runs[:MAX_RUNS]:
        place = places.get(run.id, 0)
        lines.append(run_line(run, "") + (f", {wording.place(place)}" if place else ""))
    more = f"and {wording.counted(len(runs) - MAX_RUNS, 'more run')}" if len(runs) > MAX_RUNS else ""
    return Message(f"{wording.counted(len(runs), 'diagnosis', 'diagnoses')} under way", section(*lines, more))


def cancelled_reply(run: Run) -> Message:
    """It was cancelled, or it was over before."""
    if run.status is Status.CANCELLED or run.cancel_by:
        return says(f"The diagnosis of {code(run.job, 128)} is cancelled.", "Cancelled.")
    return says(f"The diagnosis of {code(run.job, 128)} was over before: {_BECAME[run.status]}.", "It was over before.")


def nothing_to_cancel_reply(job: str) -> Message:
    """No diagnosis of that job waits or runs here."""
    named = f" of {code(job, 128)}" if job.strip() else ""
    return says(f"No diagnosis{named} waits or runs in this channel.", "There is nothing to cancel.")


def not_yours_reply(run: Run) -> Message:
    """Only who asked, or an approver, may cancel."""
    return says(f"{person(run.asked_by)} asked for it: they or an approver may cancel it.", "You cannot cancel this.")


def not_approver_reply(approvers: str = "") -> Message:
    """The person is not on the list of the channel; ``approvers``: ids, addresses and groups with ", " between them."""
    named = [word.removeprefix("<@").removesuffix(">") for word in approvers.split(", ") if word.strip()]
    shown = ", ".join(person(word) for word in named[:MAX_NAMED])
    who = f" On it: {shown}{', and more' if len(named) > MAX_NAMED else ''}." if named else ""
    body = f"You are not on the list of people who may approve, edit or reject.{who}"
    return says(body, "You are not an approver.")


def decided_reply(decision: Decision) -> Message:
    """The reply to who decides about a note that somebody else has decided about."""
    deed = "approved" if decision.verdict is Verdict.APPROVED else "rejected"
    body = f" as {code(decision.pattern, 80)}" if decision.pattern else ""
    return says(f"{person(decision.by)} has {deed} it{body}, {moment(decision.at)}.", f"It was {deed} already.")


def join_reply(run: Run, revision: int, near: Entry) -> Message:
    """The team may know this fault: is the job one more of it?"""
    step, pattern = near.confirmed, near.pattern
    who = f", confirmed by {prose(step.who, 60)}, {day(step.at)}" if step else ""
    jobs = [sighting.job for sighting in near.sightings if sighting.job != run.job]
    seen = f", seen in {prose(wording.names(jobs, 3), 120)}" if jobs else ""
    body = f"Your team may know this fault: {prose(pattern.title, 200)} ({code(near.id, 80)}{who}{seen})."
    join = button(
        f"Add this job to {near.id}", act.JOIN, str(act.JoinClick(run.id, revision, near.id)), style="primary"
    )
    anew = button("Archive as new", act.APPROVE_NEW, str(act.DraftClick(run.id, revision)))
    return Message("Your team may know this fault.", section(body) + actions(join, anew))


def stale_reply(stale: StaleRevision) -> Message:
    """What was clicked is not what is there now."""
    newer = f"revision {stale.revision:,} by {person(stale.by)}, {moment(stale.at)}"
    return says(f"The note has changed: {newer}. Read it and decide again.", "The note has changed meanwhile.")


def judged_reply(fault: KnownFault, verdict: Fit, now: Answers) -> Message:
    """Somebody said whether a known fault was it."""
    text = {
        Fit.RIGHT: f"Noted: {fault.id} was it.",
        Fit.WRONG: f"Noted: {fault.id} was not it.",
        Fit.WITHDRAWN: f"Taken back what you said of {fault.id}.",
    }[verdict]
    return says(f"{text} So far {now.right:,} right, {now.wrong:,} wrong; the next answers count it.", text)


def _pick(jobs: Sequence[str]) -> Blocks:
    """The latest failed jobs as a menu; names that cannot be ids are not offered."""
    choices = [(job, job) for job in dict.fromkeys(jobs) if is_job_id(job)][:MAX_JOBS]
    return actions(menu("Recent failed jobs", act.DIAGNOSE, choices))


def run_line(run: Run, address: str) -> str:
    """One run in a list, with who asked for it, where anybody is named."""
    where = link(address, run.job) if address else ""
    history = "" if run.task is Task.DIAGNOSE else "history of "
    by = f", {person(run.asked_by)}" if run.asked_by else ""
    return f"• {history}{where or code(run.job, 128)} {_BECAME[run.status]}, {moment(run.asked_at)}{by}"
