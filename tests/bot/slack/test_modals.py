"""Forms and the window of raw lines: valid for any job, and what comes back is checked."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.report.citations import citations
from bot.slack import actions, modals
from bot.slack.archive import Form, first_form
from bot.slack.modals import FieldErrors
from core.logs.context import Excerpt
from core.model import Line
from faultlib.draft import MAX_TITLE
from faultlib.pattern import Category, Pattern
from slacksim.modals import entered, initial
from slacksim.view_rules import accepted_view, inputs
from tests.support import diagnoses
from tests.support.slack_samples import ALL, EVIL, code_note, model_note

GOLDEN = Path(__file__).parent / "golden"


def submitted(view: dict[str, Any], **values: Any) -> dict[str, Any]:
    """The form as Slack sends it back, with some fields changed."""
    state = {
        name: {block["element"]["action_id"]: entered(block["element"], values.get(name, initial(block["element"])))}
        for name, block in inputs(view).items()
    }
    return {**view, "state": {"values": state}}


def edit(name: str = "node_fault") -> tuple[dict[str, Any], Form]:
    diagnosis = ALL[name]()
    form = first_form(diagnosis, code_note(diagnosis))
    return modals.edit_modal("r-7f3k2q", 1, diagnosis, form), form


@pytest.mark.parametrize("name", ALL)
def test_slack_takes_the_form_of_every_diagnosis(name: str) -> None:
    """Whatever was diagnosed, the form opens, and submitting it unchanged gives what was shown."""
    view, form = edit(name)

    accepted_view(view, "modal")
    assert modals.read_edit(submitted(view, fix="Known."), ALL[name]()) == replace(form, fix="Known.")


def test_a_guess_is_archived_only_when_the_approver_ticks_it() -> None:
    """Then it is in the root cause, as the approver's words; no box is ticked before."""
    diagnosis = ALL["node_fault"]()
    form, guesses = first_form(diagnosis, code_note(diagnosis)), ("The cable of node-01 is old.", "It was the switch.")
    view = modals.edit_modal("r-7f3k2q", 1, diagnosis, form, guesses)
    ticked = submitted(view, fix="Known.", guesses=["1"])

    accepted_view(view, "modal")
    untouched = modals.read_edit(submitted(view, fix="Known."), diagnosis, guesses)
    taken = modals.read_edit(ticked, diagnosis, guesses)

    assert untouched == replace(form, fix="Known.")
    assert taken == replace(form, fix="Known.", cause=f"{form.cause} The cable of a node is old.")


@pytest.mark.parametrize("name", ALL)
def test_the_form_fits_a_pattern(name: str) -> None:
    """What the form lets through is within the limits of the fault library."""
    diagnosis = ALL[name]()
    form = first_form(diagnosis, model_note(diagnosis, EVIL))
    read = modals.read_edit(
        submitted(edit(name)[0], title="t" * MAX_TITLE, cause="c" * 3000, fix="f" * 3000), diagnosis
    )

    assert isinstance(read, Form)
    for filled in (replace(form, fix=form.fix or "f"), read):
        Pattern(
            id="x",
            title=filled.title,
            category=filled.category,
            cause=filled.cause,
            fix=filled.fix,
            confirmation=filled.confirmation,
        )


def test_the_direct_traces_are_ticked() -> None:
    """What gives the fault away is proposed, not what a launcher says of it; a person may tick others."""
    view, form = edit()
    boxes = inputs(view)[modals.EVENTS]["element"]

    assert form.events == ("E1", "E3")
    assert [option["value"] for option in boxes["initial_options"]] == ["E1", "E3"]
    assert [option["value"] for option in boxes["options"]] == ["E1", "E2", "E3", "E4", "E5"]


def test_names_of_the_job_stay_out_of_the_form() -> None:
    """What is proposed can be true of another job too."""
    form = edit()[1]

    assert "node-01" not in form.title + form.cause
    assert "f07" not in form.title + form.cause


def test_a_person_overrules_the_draft() -> None:
    """Every field comes back as it was entered; line breaks stay, control bytes do not."""
    view, _ = edit()
    read = modals.read_edit(
        submitted(
            view,
            title=" A link\u202e fails ",
            category="platform",
            cause="one\n\x1b[31mtwo",
            fix="x",
            confirmation="",
            events=["E4"],
        ),
        diagnoses.node_fault(),
    )

    assert read == Form("A link fails", Category.PLATFORM, "one\ntwo", "x", "", ("E4",))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", " "),
        ("title", "t" * 999),
        ("cause", ""),
        ("cause", "\u200b"),
        ("fix", None),
        ("fix", "f" * 9_999),
        ("category", "nobody"),
    ],
)
def test_what_cannot_be_taken_is_told_beside_the_field(field: str, value: Any) -> None:
    """A field that is empty, too long or made up gets its error inline; the others none."""
    read = modals.read_edit(submitted(edit()[0], **{"fix": "x", field: value}), diagnoses.node_fault())

    assert isinstance(read, FieldErrors)
    assert set(read.fields) == {field}
    assert read.response() == {"response_action": "errors", "errors": dict(read.fields)}


@pytest.mark.parametrize(
    "payload", [{}, {"state": None}, {"state": {"values": {"title": {"value": 7}}}}, {"state": {"values": []}}]
)
def test_a_payload_of_another_shape_is_no_crash(payload: dict[str, Any]) -> None:
    """Whatever is sent, the answer is a list of what is missing."""
    assert isinstance(modals.read_edit(payload, diagnoses.node_fault()), FieldErrors)
    assert isinstance(modals.read_reject(payload), FieldErrors)


def test_events_that_the_form_did_not_offer_are_left_out() -> None:
    """A made-up event never gets into a signature."""
    view = submitted(edit()[0], fix="x")
    view["state"]["values"]["events"]["value"]["selected_options"] = [
        {"value": "E1"},
        {"value": "E99"},
        {"value": "E6"},
        7,
    ]

    read = modals.read_edit(view, diagnoses.node_fault())

    assert isinstance(read, Form)
    assert read.events == ("E1",)


def test_a_rejection_needs_a_reason() -> None:
    """Without a reason the form stays open; with one it comes back clean."""
    view = modals.reject_modal("r-7f3k2q", 1, EVIL)
    accepted_view(view, "modal")

    assert isinstance(modals.read_reject(submitted(view, reason="  ")), FieldErrors)
    assert (
        modals.read_reject(submitted(view, reason=" It was \x00maintenance "))
        == "It was \N{REPLACEMENT CHARACTER}maintenance"
    )


def test_forms_carry_ids_only() -> None:
    """What a form is about is read from the state again; it carries run and revision."""
    assert actions.DraftClick.read(edit()[0]["private_metadata"]) == actions.DraftClick("r-7f3k2q", 1)
    assert actions.DraftClick.read(modals.reject_modal("r-7f3k2q", 2, "f07")["private_metadata"]).revision == 2


def lines_view(name: str = "node_fault") -> dict[str, Any]:
    event = ALL[name]().events[0]
    excerpts = {
        (line.file, line.line): Excerpt(
            line.file,
            line.line,
            (*(Line(line.file, at, f"{at} {EVIL}") for at in range(max(1, line.line - 8), line.line)), line),
        )
        for line in event.lines
    }
    return modals.lines_modal("r-7f3k2q", event, citations(event, excerpts, set()))


@pytest.mark.parametrize("name", [name for name, make in ALL.items() if make().events])
def test_slack_takes_raw_lines_of_any_kind(name: str) -> None:
    """Raw lines open in context, whatever they hold."""
    accepted_view(lines_view(name), "modal")


def test_raw_lines_are_shown_as_they_are() -> None:
    """Literal text, the cited line marked, with its file and number."""
    view = lines_view()
    text = json.dumps(view, ensure_ascii=False)

    assert "▶ 7  [2026-11-21T03:59:44.976000] 3: eth0: <NO-CARRIER" in text
    assert "`logs/node-01/ip-monitor.log` line 7" in text
    assert {block["type"] for block in view["blocks"]} <= {"section", "rich_text", "context"}


def test_many_raw_lines_are_cut() -> None:
    """An event of many files still opens; what is cut is told."""
    lines = tuple(Line(f"logs/{number}.log", 20, "x") for number in range(8))
    event = replace(diagnoses.node_fault().events[0], lines=lines)
    excerpts = {
        (line.file, 20): Excerpt(line.file, 20, tuple(Line(line.file, at, "y" * 2_000) for at in range(1, 60)))
        for line in lines
    }

    view = modals.lines_modal("r-7f3k2q", event, citations(event, excerpts, set()))

    accepted_view(view, "modal")
    assert "More lines are in the report in the thread." in json.dumps(view)


def test_lines_that_are_gone_are_told() -> None:
    """When the logs are not there any more, the window says so."""
    view = modals.lines_modal("r-7f3k2q", diagnoses.node_fault().events[0], ())

    accepted_view(view, "modal")
    assert "cannot be read any more" in json.dumps(view)


def test_a_modal_is_open_before_it_is_filled() -> None:
    """Something valid can be opened within three seconds, and a refusal can take its place."""
    accepted_view(
        modals.wait_modal("Raw lines", actions.LINES_FORM, str(actions.LinesClick("r-7f3k2q", "E1"))), "modal"
    )
    accepted_view(modals.message_modal("Too late " + EVIL, EVIL * 9), "modal")


@pytest.mark.parametrize(
    ("name", "view"),
    [("edit", edit()[0]), ("reject", modals.reject_modal("r-7f3k2q", 1, "f07")), ("lines", lines_view())],
)
def test_modals_look_as_recorded(name: str, view: dict[str, Any], golden: Callable[[Path, str], None]) -> None:
    """What a person sees, as a reviewer reads it in the diff."""
    golden(GOLDEN / f"modal-{name}.json", json.dumps(view, indent=1, ensure_ascii=False) + "\n")
