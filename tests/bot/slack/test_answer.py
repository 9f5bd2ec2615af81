"""The parent message of a diagnosis, in all its states and for every kind of answer."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.shelf import STEP
from bot.slack import actions
from bot.slack.answer import Shown, answer_message
from bot.slack.blocks import MAX_JSON, MAX_TEXT, json_size, without_blocks
from bot.slack.sections import LIBRARY_STEP
from bot.state.values import Status
from core.model import Line, Role, Skipped
from slacksim.blocks import problems_of_message
from tests.bot import diagnoses
from tests.bot.slack.samples import (
    GUESSED,
    KNOWN,
    answered,
    as_read,
    code_note,
    entities,
    every_shown,
    run,
    states,
    strings,
)

GOLDEN = Path(__file__).parent / "golden"
EVERY = dict(every_shown())


def texts(shown: Shown) -> str:
    return "\n".join(strings(answer_message(shown).blocks))


def clickable(shown: Shown) -> list[str]:
    elements = [
        element
        for block in answer_message(shown).blocks
        for element in (*block.get("elements", ()), *([block["accessory"]] if "accessory" in block else ()))
    ]
    return [element["action_id"] for element in elements if "action_id" in element]


@pytest.mark.parametrize("name", EVERY)
def test_slack_takes_every_message(name: str) -> None:
    """Every state of every kind of answer, the hostile and the huge ones too, is within Slack's limits."""
    message = answer_message(EVERY[name])

    assert problems_of_message(list(message.blocks)) == ()
    assert json_size(message.blocks) <= MAX_JSON
    assert 0 < len(message.text) <= MAX_TEXT
    assert len(without_blocks(message)) <= MAX_TEXT


@pytest.mark.parametrize("name", EVERY)
def test_nobody_is_pinged_by_foreign_text(name: str) -> None:
    """The only brackets in a message are mentions of people who asked or decided."""
    message = answer_message(EVERY[name])
    marked = [
        found["text"]["text"]
        for found in message.blocks
        if found["type"] == "section" and found["text"]["type"] == "mrkdwn"
    ]
    marked += [one["text"] for block in message.blocks if block["type"] == "context" for one in block["elements"]]

    for text in (*marked, message.text):
        assert entities(text) <= {"<@U0ALICE>", "<@U0BOB>", "<@U0ADA>"}
    assert all(block["text"]["verbatim"] for block in message.blocks if block["type"] == "section")


@pytest.mark.parametrize("name", states())
def test_states_look_as_recorded(name: str, golden: Callable[[Path, str], None]) -> None:
    """One message, edited in place: each state as a reviewer reads it in the diff."""
    message = answer_message(states()[name])
    golden(GOLDEN / f"{name}.json", json.dumps(message.arguments(), indent=1, ensure_ascii=False) + "\n")


@pytest.mark.parametrize("name", diagnoses.ALL)
def test_answers_look_as_recorded(name: str, golden: Callable[[Path, str], None]) -> None:
    """Each kind of answer as it stands in the channel."""
    diagnosis = diagnoses.ALL[name]()
    message = answer_message(answered(diagnosis, note=code_note(diagnosis), known=()))
    golden(GOLDEN / f"answer-{name}.json", json.dumps(message.arguments(), indent=1, ensure_ascii=False) + "\n")


def test_the_first_line_stands_alone() -> None:
    """A phone shows where to look, without markup, from the notification text."""
    message = answer_message(states()["done"])

    assert message.text == "f07: Look at node-01 first: its network link went down during training, at iteration 60"
    assert message.blocks[0]["elements"][0]["elements"][0] == {
        "type": "text",
        "text": message.text,
        "style": {"bold": True},
    }


def test_steps_have_real_counts_and_time_only_when_given() -> None:
    """Running says what is being read and how far; no time is made up."""
    shown = texts(states()["running"])

    assert "reading f07, 12 of 37" in shown
    assert " s so far" not in shown
    assert clickable(states()["running"]) == [actions.CANCEL]


def test_the_queue_is_told() -> None:
    """Who waits is told the place."""
    assert answer_message(states()["queued"]).text == "f07: waiting, place 3 in the queue"


def test_a_known_fault_is_told_before_the_analysis_is_done() -> None:
    """Title, who confirmed it and when, and the fix come at once."""
    shown = texts(states()["known_at_once"])

    assert "_Confirmed by ada_, 2026-11-20" in as_read(shown)
    assert "*Fix* Drain the node" in shown


def test_a_seed_is_never_called_confirmed() -> None:
    """Public facts are labelled as such, in the notification too."""
    seed = replace(KNOWN[1], exact=True)
    at_once = answer_message(replace(states()["running"], known=(seed,)))

    assert "not confirmed by your team" in at_once.text
    assert "onfirmed by" not in without_blocks(at_once).replace("not confirmed by your team", "")


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("done", {actions.APPROVE, actions.EDIT, actions.REJECT, actions.AGAIN}),
        ("edited", {actions.APPROVE, actions.EDIT, actions.REJECT, actions.AGAIN}),
        ("evidence", {actions.CANCEL}),
        ("approved", {actions.UNDO, actions.AGAIN}),
        ("archiving", {actions.AGAIN}),
        ("rejected", {actions.UNDO, actions.AGAIN}),
        ("expired", {actions.AGAIN}),
        ("failed", {actions.AGAIN}),
        ("cancelled", {actions.AGAIN}),
        ("queued", {actions.CANCEL}),
    ],
)
def test_each_state_offers_what_can_be_done(name: str, allowed: set[str]) -> None:
    """Nothing can be approved twice, before it is complete, or after it was decided."""
    offered = set(clickable(states()[name])) - {actions.LINES, actions.MORE_LINES}

    assert offered == allowed


@pytest.mark.parametrize("name", ["inconclusive", "succeeded", "running", "no_logs"])
def test_what_has_no_known_cause_cannot_be_approved_with_one_click(name: str) -> None:
    """What is not conclusive enters the library only when a person has written the cause; a success never does."""
    offered = clickable(answered(diagnoses.ALL[name]()))

    assert actions.APPROVE not in offered
    assert (actions.EDIT in offered) == (name in {"inconclusive", "no_logs"})


def test_buttons_carry_ids_only() -> None:
    """Run and revision, or run and evidence: no text that could be trusted later."""
    values = [value for block in answer_message(states()["done"]).blocks for value in _values(block)]

    assert len(values) >= 8
    assert all(re.fullmatch(r"r-7f3k2q:(?:\d+|[ENI]\d+)", value) for value in values)


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from ([value["value"]] if "value" in value else [])
        for item in value.values():
            yield from _values(item)
    elif isinstance(value, list):
        for item in value:
            yield from _values(item)


def test_every_evidence_with_lines_can_be_opened() -> None:
    """Beside the event or from the menu, each piece of evidence leads to its raw lines."""
    diagnosis = diagnoses.huge()
    values = [value for block in answer_message(answered(diagnosis)).blocks for value in _values(block)]
    opened = {value.partition(":")[2] for value in values}

    assert {one.id for one in (*diagnosis.events, *diagnosis.nodes, *diagnosis.iterations) if one.lines} <= opened


def test_what_is_left_out_is_counted() -> None:
    """A message with no room for all events says how many are missing and where they are."""
    assert "Not shown here: 9 more events. The report in the thread has all." in texts(answered(diagnoses.huge()))


def test_any_number_of_long_events_fits() -> None:
    """A job whose every sentence is long and full of brackets still gives a message, with the verdict in it."""
    fault = diagnoses.node_fault()
    line = Line("logs/x.log", 1, "<" * 3_000)
    event = replace(fault.events[0], because="<&> " * 500, lines=(line,), nodes=("<" * 90,))
    events = tuple(replace(event, id=f"E{number}") for number in range(1, 60))
    wide = replace(fault, events=events, checks=("<" * 900,) * 9, why=("<" * 900,) * 9, headline="<" * 400)

    message = answer_message(answered(wide, note=code_note(fault)))

    assert problems_of_message(list(message.blocks)) == ()
    assert json_size(message.blocks) <= MAX_JSON
    assert "Not shown here" in "\n".join(strings(message.blocks))


@pytest.mark.parametrize(
    ("note", "label"),
    [
        ("done", "Written by code from the evidence, in the order of Qwen/Qwen3-32B; not confirmed"),
        ("done_by_code", "Written by code from the evidence"),
    ],
)
def test_the_note_says_who_wrote_it(note: str, label: str) -> None:
    """Text of a model is never taken for a person's or for evidence."""
    assert label in texts(states()[note])


def test_the_guesses_of_a_model_stand_in_a_block_that_says_so() -> None:
    """Small print below the note, under "not checked"; nowhere else, and not where a person has edited the note."""
    holding = [block for block in answer_message(states()["done"]).blocks if GUESSED in str(block)]

    assert [block["type"] for block in holding] == ["context"]
    assert holding[0]["elements"][0]["text"] == "*The model's guess, not checked*"
    assert GUESSED not in texts(states()["edited"])


def test_each_sentence_of_the_note_cites_what_it_stands_on() -> None:
    """Cause and story carry ids that the message shows."""
    shown = texts(states()["done"])

    assert re.search(r"\*Cause\* .* \[E1\]", shown)
    assert re.search(r"• Iteration 60 .* \[I1\]", shown)


def test_nothing_similar_is_said_plainly() -> None:
    """A library that knows nothing says so; one that could not answer does not claim that there is nothing."""
    fault = diagnoses.node_fault()
    silent = replace(fault, skipped=(Skipped(STEP, "The fault library cannot be opened."),))

    assert "Nothing similar is known." in texts(answered(fault, known=()))
    assert "Nothing similar is known." not in texts(answered(silent, known=()))
    assert "The fault library cannot be opened." in texts(answered(silent, known=()))
    assert LIBRARY_STEP == STEP


def test_gaps_and_a_weak_baseline_are_no_small_print() -> None:
    """Missing nodes, missing ranks and few successful jobs are warnings."""
    shown = texts(answered(diagnoses.huge()))

    assert "*Missing* all logs of gpu-00-12" in shown
    assert "*Missing* all logs of ranks 96-103" in shown
    assert "*Weak comparison* only 2 successful jobs" in shown
    assert "Weak comparison" not in texts(states()["done"])


def test_a_partial_answer_says_so() -> None:
    """After the deadline the reader knows that something is missing."""
    assert "This is a part of the answer" in texts(states()["expired"])


def test_a_decision_names_person_time_and_pattern() -> None:
    """Approved: by whom, when, as which pattern; rejected: why."""
    assert "*Approved* by <@U0ADA>, 2026-11-21 04:11 UTC. Fault pattern `network-link-down-2`" in as_read(
        texts(states()["approved"])
    )
    assert "The link was down for maintenance `&lt;!here&gt;`" in texts(states()["rejected"])


def test_a_failure_gives_message_hint_and_reference() -> None:
    """What happened, what to try, and what finds it in the log."""
    shown = texts(states()["failed"])

    assert "f07: no diagnosis. Job f07 could not be read" in shown
    assert "Try again in a minute." in shown
    assert "`e-4k2m9x` finds it" in shown


def test_a_benign_event_is_no_evidence() -> None:
    """What looks bad and is not is counted, not shown."""
    shown = texts(states()["done"])

    assert "1 event looks bad but is benign: E6" in shown
    assert "*E6*" not in shown
    assert Role.BENIGN not in shown.split("*Evidence*")[1].split("benign")[0]


def test_the_same_values_give_the_same_message() -> None:
    """An edit that changes nothing can be left out."""
    assert answer_message(states()["done"]) == answer_message(states()["done"])


def test_a_run_without_anything_has_a_message() -> None:
    """Even with no step, no answer and no reason there is something to show."""
    for status in Status:
        message = answer_message(Shown(run(status), "0.5.0"))
        assert problems_of_message(list(message.blocks)) == ()
        assert message.text.startswith("f07: ")


def test_nothing_is_said_twice() -> None:
    """A sentence of the evidence that stands in the note is not repeated below it."""
    shown = texts(states()["done"])
    fault = diagnoses.node_fault()

    assert all(shown.count(event.because) <= 1 for event in fault.events)
    assert all(shown.count(suspect.because) == 1 for suspect in fault.nodes)
