"""What is said in the thread: valid for any text, short, cited, and harmless."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot.note.note import GUESS, Note
from bot.outgoing.errors import Failure
from bot.slack import actions, thread
from bot.slack.blocks import MAX_JSON, Message, json_size
from bot.state.drafts import Decision, Verdict
from bot.state.small_values import Status
from bot.state.threads import ThreadQuestion
from bot.text.known_fault import KnownFault
from slacksim.blocks import problems_of_message
from tests.support import diagnoses
from tests.support.slack_samples import (
    ALL,
    AT,
    EVIL,
    KNOWN,
    as_read,
    code_note,
    entities,
    evil_fault,
    model_note,
    run,
    seed_fault,
    strings,
)

GOLDEN = Path(__file__).parent / "golden"
FAULT = diagnoses.node_fault()
REPLY = "node-01 lost its link at 03:59:44 [E1].\nAll other ranks waited for it [E4]."


def question(reply: str) -> ThreadQuestion:
    return ThreadQuestion("q-1", "r-7f3k2q", "T0", "C0", "1.0", "1.1", "U0BOB", "why?", AT, Status.DONE, reply)


def decision(verdict: Verdict = Verdict.APPROVED, **more: Any) -> Decision:
    return replace(Decision("r-7f3k2q", 1, verdict, "U0ADA", AT, pattern="network-link-down-2"), **more)


def hostile_details(name: str, *known: KnownFault) -> Message:
    return thread.details_message(run(), ALL[name](), model_note(ALL[name](), EVIL), known, EVIL)


def hostile_reply(name: str) -> Message:
    return thread.reply_message(question("\n".join([EVIL, "[E1] [N1] [I1]"] * 9)), ALL[name]())


def refused_note() -> Note:
    return code_note(FAULT).model_copy(update={"unavailable": EVIL, "refused": (EVIL,) * 9})


# Made when a test asks for them: all of them take seconds, and whoever runs one test would wait for them.
MESSAGES: dict[str, Callable[[], Message]] = {
    "details": lambda: thread.details_message(run(), FAULT, model_note(FAULT), KNOWN, "0.5.0"),
    "details-code": lambda: thread.details_message(run(), FAULT, code_note(FAULT), (), "0.5.0"),
    "faults": lambda: thread.faults_message("r-7f3k2q", KNOWN),
    "nothing": lambda: thread.faults_message("r-7f3k2q", ()),
    "reply": lambda: thread.reply_message(question(REPLY), FAULT),
    "not_in_the_logs": lambda: thread.reply_message(question("not in the logs"), FAULT),
    "no_reply": lambda: thread.failure_message(
        Failure("The reply took longer than 120 s.", "Ask again.", "Deadline", "e-1")
    ),
    "approved": lambda: thread.decided_message(decision(), "A node's network link goes down for good"),
    "rejected": lambda: thread.decided_message(decision(Verdict.REJECTED, pattern="", reason="Maintenance")),
    "undone": lambda: thread.undone_message(decision(), "U0BOB"),
}
HOSTILE: dict[str, Callable[[], Message]] = {
    **{f"hostile-details-{name}": partial(hostile_details, name, evil_fault(), seed_fault()) for name in ALL},
    **{f"hostile-details-{name}-plain": partial(hostile_details, name) for name in ALL},
    **{f"hostile-reply-{name}": partial(hostile_reply, name) for name in ALL},
    "hostile-refused": lambda: thread.details_message(run(), FAULT, refused_note(), (), "0.5.0"),
    "hostile-faults": lambda: thread.faults_message("r-7f3k2q", (evil_fault(),) * 9),
    "hostile-reply-empty": lambda: thread.reply_message(question(""), None),
    "hostile-no-reply": lambda: thread.failure_message(Failure(EVIL * 9, EVIL * 9, EVIL, EVIL)),
    "hostile-decided": lambda: thread.decided_message(decision(by=EVIL, pattern=EVIL), EVIL),
    "hostile-rejected": lambda: thread.decided_message(decision(Verdict.REJECTED, by=EVIL, reason=EVIL * 9)),
    "hostile-undone": lambda: thread.undone_message(decision(by=EVIL), EVIL),
}


@pytest.mark.parametrize("name", [*MESSAGES, *HOSTILE])
def test_slack_takes_every_reply(name: str) -> None:
    """Any text in a reply, a note or a reason gives a valid message that pings nobody but who acted."""
    message = {**MESSAGES, **HOSTILE}[name]()

    assert problems_of_message(list(message.blocks)) == ()
    assert json_size(message.blocks) <= MAX_JSON
    assert message.text
    for text in (message.text, *strings(list(message.blocks))):
        assert entities(text) <= {"<@U0BOB>", "<@U0ADA>", "<@U0ALICE>"}


@pytest.mark.parametrize("name", MESSAGES)
def test_replies_look_as_recorded(name: str, golden: Callable[[Path, str], None]) -> None:
    """What stands in the thread, as a reviewer reads it in the diff."""
    message = MESSAGES[name]()
    golden(GOLDEN / f"thread-{name}.json", json.dumps(message.arguments(), indent=1, ensure_ascii=False) + "\n")


def test_a_reply_has_five_lines_and_opens_what_it_cites() -> None:
    """Follow-ups are short, and each cited piece of evidence leads to its raw lines."""
    long = thread.reply_message(question("\n".join(f"line {number}" for number in range(9))), None)
    cited = thread.reply_message(question(REPLY), diagnoses.node_fault())

    assert long.blocks[0]["text"]["text"].count("\n") == 4
    opened = [block["accessory"]["value"] for block in cited.blocks if "accessory" in block]
    assert opened == [str(actions.LinesClick("r-7f3k2q", "E1")), str(actions.LinesClick("r-7f3k2q", "E4"))]


def test_the_thread_holds_what_the_message_has_no_room_for() -> None:
    """Evidence, note, checks, guesses, who asked; nobody reads how many sentences of a model were dropped."""
    fault = diagnoses.node_fault()
    note = model_note(fault).model_copy(update={"refused": ("headline: it names node-07",)})
    shown = "\n".join(strings(list(thread.details_message(run(), fault, note, (), "0.5.0").blocks)))

    assert all(f"*{event.id}*" in shown for event in fault.events[:4])
    assert all(check in shown for check in fault.checks[:3])
    assert "in the order of Qwen/Qwen3-32B" in shown
    assert all(guess in shown for guess in (GUESS, *note.reading))
    assert "asked by <@U0ALICE>" in shown
    assert "headline:" not in shown
    assert "node-07" not in shown


def test_unconfirmed_faults_are_labelled() -> None:
    """Public facts never look like what the team has confirmed."""
    shown = list(strings(list(thread.faults_message("r-7f3k2q", KNOWN).blocks)))

    assert any("_Confirmed by ada_, 2026-11-20" in as_read(text) for text in shown)
    assert any("From public facts, not confirmed by your team" in text for text in shown)


def test_the_comment_of_the_report_names_the_job() -> None:
    """Above the uploaded report stands what it is, also for a job id that is an attack."""
    assert "`f07`" in thread.report_comment(diagnoses.node_fault())
    assert "<" not in thread.report_comment(replace(diagnoses.node_fault(), job="<!channel>"))
