"""Runs, notes, known faults and answers of every kind for the tests of what the bot says in Slack."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from bot.note.note import Author, Note
from bot.note.write import write_note
from bot.outgoing.errors import Failure
from bot.slack.archive import Form, first_form
from bot.slack.parent_message import AnswerContent, ProgressStep
from bot.state.answers import ToldFact
from bot.state.drafts import Decision, Verdict
from bot.state.runs import Run, Task, Trigger
from bot.state.small_values import Status
from bot.text.known_fault import KnownFault
from core.model import Confidence, Coverage, Diagnosis, Scope, Skipped
from tests.support import diagnoses
from tests.support.hard_diagnoses import HOSTILE_LINE

_DATE = re.compile(r"<!date\^\d+\^\{date_short_pretty\}(?: at \{time\})?\|([\d: -]+(?:UTC)?)>")
AT = datetime(2026, 11, 21, 4, 11, 30, tzinfo=UTC)
EVIL = (
    "<!channel> <@U0ADA> <https://evil.example|ok> @here *b* _i_ `c` :fire: http://evil.example \u202e"
    + HOSTILE_LINE[:400]
)


def run(status: Status = Status.DONE, job: str = "f07") -> Run:
    return Run("r-7f3k2q", job, "T0", "C0", "U0ALICE", AT, Trigger.COMMAND, status, finished_at=AT)


def team_fault() -> KnownFault:
    return KnownFault(
        id="P1", pattern="network-link-down", version=2, title="A node's network link goes down for good",
        category="hardware", subtype="network",
        cause="The transceiver of the node's uplink fails; its peers wait until their time-out.",
        fix="Drain the node, reseat or replace the cable and transceiver, check the switch port, then restart the job.",
        exact=True, agrees=True, score=1.0,
        because="All events of its signature are in this job (E1, E2), on node-01.", events=("E1", "E2"),
        confirmed_by="ada", confirmed_at="2026-11-20T16:02:11Z", jobs=("f03", "1437111"),
    )  # fmt: skip


def seed_fault() -> KnownFault:
    return KnownFault(
        id="P2", pattern="gloo-peer-timeout", version=1, title="A peer stops answering and gloo times out",
        category="hardware", subtype="", cause="One rank hangs or loses its network.",
        fix="Find the rank that said nothing; restart without its node.", exact=False, agrees=True, score=0.71,
        because="It shares E4 with this job.", events=("E4",), sources=("https://example.org/gloo",), seed=True,
    )  # fmt: skip


def evil_fault() -> KnownFault:
    return replace(
        team_fault(),
        title=EVIL,
        cause=EVIL * 3,
        fix=EVIL * 3,
        because=EVIL,
        confirmed_by=EVIL,
        subtype=EVIL,
        jobs=(EVIL,),
        agrees=False,
    )


KNOWN = (team_fault(), seed_fault())
GUESSED = "The transceiver may be broken rather than the cable."


def code_note(diagnosis: Diagnosis) -> Note:
    return write_note(diagnosis)


def model_note(diagnosis: Diagnosis, model: str = "Qwen/Qwen3-32B") -> Note:
    """What a model might have planned: the same sentences, under its name, and its guesses."""
    fields = {"author": Author.MODEL, "model": model, "reading": (GUESSED, "Its peers only waited.")}
    return write_note(diagnosis).model_copy(update=fields)


def stopped() -> Diagnosis:
    """Somebody cancelled the job: nothing of it is at fault."""
    return Diagnosis(
        "1437555", "firstfault", Scope.NONE, Confidence.SUPPORTED,
        "Not a fault: the job was stopped from outside (scancel) during training, after iteration 812",
        why=("The scheduler says CANCELLED by user 1002.",),
        coverage=Coverage(9, 90_412, 9_000_000, 8, 8, (), 2, baseline_jobs=3),
        facts={"status": "CANCELLED"},
    )  # fmt: skip


ALL = {**diagnoses.ALL, "stopped": stopped}
STEPS = (
    ProgressStep("looking for successful jobs", 12, 12),
    ProgressStep("reading s01", 25, 25),
    ProgressStep("reading f07", 12, 37),
)


def answered(diagnosis: Diagnosis, **more: object) -> AnswerContent:
    """A finished answer as it is most often."""
    whole = AnswerContent(
        run(job=diagnosis.job), "0.5.0", diagnosis=diagnosis, known=KNOWN, note=model_note(diagnosis), revision=1
    )
    return replace(whole, **more)  # type: ignore[arg-type]  # fields of Shown


def edited(diagnosis: Diagnosis) -> Form:
    return replace(
        first_form(diagnosis, None), fix="Cable reseated.\nPort swp1 swapped.", confirmation="It runs again since 05:10"
    )


def history_facts(foreign: str = "llama") -> tuple[ToldFact, ...]:
    """A history as a child tells it."""
    return (
        ToldFact("", f"{foreign}: 64.5% of the time was productive (ETTR), in 12 attempts."),
        ToldFact("Time", "productive 60 h (64.5%), down 20 h (21.5%), stalled 9.0 h (9.7%); 93 h in all"),
        ToldFact("Cost", f"3 x {foreign} (12 h); 1 x a link went down (2.1 h)"),
        ToldFact("Repeats", f"{foreign}: named 3 times in 28 days (link 3); by chance 1.2e-05"),
        ToldFact("Changed", f"b against a: {foreign} 1e-4 to 1e-2"),
    )


@cache
def states() -> Mapping[str, AnswerContent]:
    """The message of one job in every state that it can have."""
    fault = diagnoses.node_fault()
    waiting, running = (
        AnswerContent(run(Status.QUEUED), "0.5.0", place=3),
        AnswerContent(run(Status.RUNNING), "0.5.0", steps=STEPS),
    )
    late = replace(
        fault,
        skipped=(*fault.skipped, Skipped("deadline", "Stopped after 900 s: what would have come later is missing.")),
    )
    approved = Decision("r-7f3k2q", 1, Verdict.APPROVED, "U0ADA", AT, pattern="network-link-down-2")
    rejected = Decision(
        "r-7f3k2q", 1, Verdict.REJECTED, "U0ADA", AT, reason="The link was down for maintenance <!here>."
    )
    broken = Failure(
        "Job f07 could not be read: the bucket does not answer.",
        "Try again in a minute.",
        "SourceUnavailable",
        "e-4k2m9x",
    )
    lineage = replace(run(job="llama 7b"), task=Task.HISTORY)
    return {
        "queued": waiting,
        "running": running,
        "history": AnswerContent(lineage, "0.5.0", history=history_facts()),
        "history_running": AnswerContent(replace(lineage, status=Status.RUNNING), "0.5.0", steps=STEPS),
        "history_hostile": AnswerContent(lineage, "0.5.0", history=history_facts(EVIL)),
        "history_failed": AnswerContent(replace(lineage, status=Status.FAILED, failure=broken), "0.5.0"),
        "known_at_once": replace(running, known=(team_fault(),)),
        "evidence": answered(fault, run=run(Status.RUNNING), note=None, revision=0),
        "done": answered(fault),
        "done_by_code": answered(fault, note=code_note(fault), known=()),
        "edited": answered(fault, form=edited(fault), edited_by="U0BOB", revision=2),
        "approved": answered(fault, decision=approved),
        "archiving": answered(fault, decision=replace(approved, pattern="")),
        "rejected": answered(fault, decision=rejected),
        "cancelled": replace(running, run=replace(run(Status.CANCELLED), cancel_by="U0BOB"), steps=()),
        "failed": replace(running, run=replace(run(Status.FAILED), failure=broken), steps=()),
        "expired": answered(late, run=run(Status.EXPIRED), note=None, revision=0),
    }


DRESSES = ("plain", "code", "model", "evil")


def every_name() -> tuple[str, ...]:
    """Names of every state, and of every kind of diagnosis in every dress; each is made when it is asked for."""
    return (*states(), *(f"{name}-{dress}" for name in ALL for dress in DRESSES))


@cache
def every_shown(name: str) -> AnswerContent:
    """What one of these names stands for."""
    if name in states():
        return states()[name]
    kind, _, dress = name.rpartition("-")
    diagnosis = ALL[kind]()
    known: tuple[KnownFault, ...] = () if dress == "plain" else KNOWN
    note = None
    if dress == "evil":
        known = (evil_fault(), evil_fault(), seed_fault())
    if dress == "code":
        note = code_note(diagnosis)
    elif dress != "plain":
        note = model_note(diagnosis, EVIL) if dress == "model" else model_note(diagnosis)
    return answered(diagnosis, known=known, note=note, revision=int(note is not None))


def entities(text: str) -> set[str]:
    """What Slack would take for a mention or a link; dates of ours ping nobody and lead nowhere."""
    return {one for one in re.findall(r"<[^>]*>?", text) if not _DATE.fullmatch(one)}


def as_read(text: str) -> str:
    """The text with dates as a client without Slack's clock shows them."""
    return _DATE.sub(r"\1", text)


def strings(value: Any) -> Iterator[str]:
    """Every text of a message, ids and types as well."""
    if isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)
    elif isinstance(value, str):
        yield value
