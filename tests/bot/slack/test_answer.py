"""The parent message of a diagnosis, in all its states and for every kind of answer."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.library.session import STEP
from bot.slack import actions
from bot.slack.blocks import MAX_JSON, MAX_TEXT, Message, json_size, without_blocks
from bot.slack.brief import MAX_LINES
from bot.slack.parent_message import AnswerContent, answer_message, lines_of
from bot.slack.sections import LIBRARY_STEP
from bot.slack.thread import details_message
from bot.state.small_values import Status
from core.model import Line, Role, Skipped
from slacksim.blocks import problems_of_message
from tests.support import diagnoses
from tests.support.slack_samples import (
    GUESSED,
    KNOWN,
    answered,
    as_read,
    code_note,
    entities,
    every_name,
    every_shown,
    run,
    states,
    strings,
)

GOLDEN = Path(__file__).parent / "golden"


def texts(shown: AnswerContent) -> str:
    return "\n".join(strings(answer_message(shown).blocks))


def details(shown: AnswerContent) -> Message:
    """What stands in the thread below the message."""
    assert shown.diagnosis is not None
    return details_message(shown.run, shown.diagnosis, shown.note, shown.known, shown.version)


def below(shown: AnswerContent) -> str:
    return "\n".join(strings(details(shown).blocks))


def clickable(shown: AnswerContent) -> list[str]:
    elements = [
        element
        for block in answer_message(shown).blocks
        for element in (*block.get("elements", ()), *([block["accessory"]] if "accessory" in block else ()))
    ]
    return [element["action_id"] for element in elements if "action_id" in element]


@pytest.mark.parametrize("name", every_name())
def test_slack_takes_every_message(name: str) -> None:
    """Every state of every kind of answer, the hostile and the huge ones too, is within Slack's limits."""
    message = answer_message(every_shown(name))

    assert problems_of_message(list(message.blocks)) == ()
    assert json_size(message.blocks) <= MAX_JSON
    assert 0 < len(message.text) <= MAX_TEXT
    assert len(without_blocks(message)) <= MAX_TEXT


@pytest.mark.parametrize("name", every_name())
def test_nobody_is_pinged_by_foreign_text(name: str) -> None:
    """The only brackets in a message are mentions of people who asked or decided."""
    message = answer_message(every_shown(name))
    marked = [
        found["text"]["text"]
        for found in message.blocks
        if found["type"] == "section" and found["text"]["type"] == "mrkdwn"
    ]
    marked += [
        element["text"] for block in message.blocks if block["type"] == "context" for element in block["elements"]
    ]

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
    """A phone shows where to look, without markup."""
    message = answer_message(states()["done"])
    first = "f07: Look at node-01 first: its network link went down during training, at iteration 60"

    assert message.text.startswith(f"{first}. Confidence: established.")
    assert message.blocks[0]["elements"][0]["elements"][0] == {"type": "text", "text": first, "style": {"bold": True}}


@pytest.mark.parametrize("name", every_name())
def test_a_parent_message_has_eight_lines_at_most(name: str) -> None:
    """41: whatever was found and whoever decided; each line is short enough for a phone."""
    message = answer_message(every_shown(name))

    assert lines_of(message.blocks) <= MAX_LINES
    assert all(
        len(line) <= 1_300 for block in message.blocks for line in block.get("text", {}).get("text", "").split("\n")
    )


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
    offered = set(clickable(states()[name]))

    assert offered == allowed


@pytest.mark.parametrize("name", ["inconclusive", "succeeded", "running", "no_logs"])
def test_what_has_no_known_cause_cannot_be_approved_with_one_click(name: str) -> None:
    """What is not conclusive enters the library only when a person has written the cause; a success never does."""
    offered = clickable(answered(diagnoses.ALL[name]()))

    assert actions.APPROVE not in offered
    assert (actions.EDIT in offered) == (name in {"inconclusive", "no_logs"})


def test_who_approves_symptoms_alone_is_asked_first() -> None:
    """Many causes kill a process: what was archived of it would be told of any of them."""
    fault = diagnoses.node_fault()
    killed = replace(fault.events[0], template="failed (exitcode: -9) local_rank: <num> (pid: <num>)")
    symptoms = replace(fault, events=(killed,), headline="", next=None)

    assert "Symptoms only" not in json.dumps(answer_message(answered(fault)).blocks)
    assert "Symptoms only" in json.dumps(answer_message(answered(symptoms)).blocks)


def test_buttons_carry_ids_only() -> None:
    """Run and revision, or run and evidence: no text that could be trusted later."""
    shown = states()["done"]
    values = [value for block in (*answer_message(shown).blocks, *details(shown).blocks) for value in _values(block)]

    assert len(values) >= 8
    assert all(re.fullmatch(r"r-7f3k2q:(?:\d+|[ENI]\d+|yes|no)", value) for value in values)


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
    values = [value for block in details(answered(diagnosis)).blocks for value in _values(block)]
    opened = {value.partition(":")[2] for value in values}

    assert {
        evidence.id for evidence in (*diagnosis.events, *diagnosis.nodes, *diagnosis.iterations) if evidence.lines
    } <= opened


def test_what_is_left_out_is_counted() -> None:
    """A message with no room for all events says how many are missing and where they are."""
    assert "Not shown here: 9 more events. The report in the thread has all." in below(answered(diagnoses.huge()))


@pytest.mark.slow
def test_any_number_of_long_events_fits() -> None:
    """A job whose every sentence is long and full of brackets still gives a message, with the verdict in it."""
    fault = diagnoses.node_fault()
    line = Line("logs/x.log", 1, "<" * 3_000)
    event = replace(fault.events[0], because="<&> " * 500, lines=(line,), nodes=("<" * 90,))
    events = tuple(replace(event, id=f"E{number}") for number in range(1, 60))
    wide = replace(fault, events=events, checks=("<" * 900,) * 9, why=("<" * 900,) * 9, headline="<" * 400)

    message = details(answered(wide, note=code_note(fault)))

    assert problems_of_message(list(answer_message(answered(wide)).blocks)) == ()
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
    assert label in below(states()[note])


def test_the_guesses_of_a_model_stand_in_a_block_that_says_so() -> None:
    """Small print below the note, under "not checked"; nowhere else."""
    holding = [block for block in details(states()["done"]).blocks if GUESSED in str(block)]

    assert [block["type"] for block in holding] == ["context"]
    assert holding[0]["elements"][0]["text"] == "*The model's guess, not checked*"
    assert GUESSED not in texts(states()["done"])


def test_each_sentence_of_the_note_cites_what_it_stands_on() -> None:
    """What happened carries ids that the thread opens."""
    assert re.search(r"\*What happened\* .* \[I1\]", below(states()["done"]))


def test_what_a_person_wrote_takes_the_place_of_the_grounds() -> None:
    """Cause and fix as they will be archived, and who wrote them."""
    shown = texts(states()["edited"])

    assert "(_edited by_ <@U0BOB>)" in shown
    assert "*Fix* Cable reseated. Port swp1 swapped." in shown


def test_nothing_similar_is_said_plainly() -> None:
    """A library that knows nothing says so; one that could not answer does not claim that there is nothing."""
    fault = diagnoses.node_fault()
    silent = replace(fault, skipped=(Skipped(STEP, "The fault library cannot be opened."),))

    assert "Nothing similar is known." in below(answered(fault, known=()))
    assert "Nothing similar is known." not in below(answered(silent, known=()))
    assert "The fault library cannot be opened." in below(answered(silent, known=()))
    assert LIBRARY_STEP == STEP


def test_gaps_and_a_weak_baseline_are_no_small_print() -> None:
    """Missing nodes and ranks stand in the message itself, few successful jobs in the thread."""
    shown = answered(diagnoses.huge())

    assert "*Missing* all logs of gpu-00-12" in texts(shown)
    assert "all logs of ranks 96-103" in texts(shown)
    assert "*Weak comparison* only 2 successful jobs" in below(shown)
    assert "Weak comparison" not in below(states()["done"])


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
    shown = below(states()["done"])

    assert "1 event looks bad but is benign: E6" in shown
    assert "*E6*" not in shown
    assert Role.BENIGN not in shown.split("*Evidence*")[1].split("benign")[0]


def test_the_same_values_give_the_same_message() -> None:
    """An edit that changes nothing can be left out."""
    assert answer_message(states()["done"]) == answer_message(states()["done"])


def test_a_run_without_anything_has_a_message() -> None:
    """Even with no step, no answer and no reason there is something to show."""
    for status in Status:
        message = answer_message(AnswerContent(run(status), "0.5.0"))
        assert problems_of_message(list(message.blocks)) == ()
        assert message.text.startswith("f07: ")


def test_nothing_is_said_twice() -> None:
    """A sentence stands in the message or below it, once."""
    done = states()["done"]
    shown = f"{texts(done)}\n{below(done)}".casefold()
    fault = diagnoses.node_fault()

    sentences = [*fault.why, *(event.because for event in fault.events)]
    sentences += [reason for suspect in fault.nodes for reason in suspect.reasons or (suspect.because,)]
    assert all(shown.count(sentence.rstrip(".").casefold()) <= 1 for sentence in sentences)
