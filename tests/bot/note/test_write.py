"""The story of a note: one draft, one repair, and what is told of a model that fails."""

import json
from collections.abc import Sequence

import pytest
from bot.note.draft import BrokenDraft, Draft, read_draft
from pydantic import BaseModel

from bot.chat.model import Message, ModelUnavailable, OnText, Reply, ScriptedModel, Usage
from bot.note.note import Author, Note, plain
from bot.note.write import write_note
from tests.bot import diagnoses
from tests.bot.note.faults import killed, seed_fault
from tests.bot.note.truths import TRUE, said

TRUTH = TRUE["link, in other words"][2]
LIE = {**TRUTH, "headline": said("node-77 caught fire.", "E1")}


def test_without_a_model_code_writes_the_note() -> None:
    """Everything works without a model; the note says who wrote it."""
    note = write_note(diagnoses.node_fault())

    assert (note.author, note.model, note.unavailable, note.refused) == (Author.CODE, "", "", ())


def test_a_true_draft_costs_one_call() -> None:
    """No repair is asked for when nothing was refused."""
    model = ScriptedModel(json.dumps(TRUTH), name="small")

    note = write_note(diagnoses.node_fault(), (), model)

    assert (note.author, note.model, note.usage.calls, len(model.asked)) == (Author.MODEL, "small", 1, 1)


def test_the_repair_is_told_what_was_refused() -> None:
    """Once, with the reasons, after its own answer."""
    model = ScriptedModel(json.dumps(LIE), json.dumps(TRUTH))

    note = write_note(diagnoses.node_fault(), (), model)

    question, answer, repair = model.asked[1]
    assert (question.role, answer.role, repair.role) == ("user", "assistant", "user")
    assert "node-77 caught fire" in repair.text
    assert (note.author, note.usage.calls) == (Author.REPAIRED, 2)


def test_there_is_one_repair_and_no_more() -> None:
    """A model that insists costs two calls."""
    model = ScriptedModel(*[json.dumps(LIE)] * 3)

    note = write_note(diagnoses.node_fault(), (), model)

    assert (note.author, len(model.asked)) == (Author.CODE, 2)
    assert note.refused


def test_the_model_sees_redacted_evidence_only() -> None:
    """No secret of a log is in what is sent."""
    model = ScriptedModel(json.dumps(TRUTH))

    write_note(killed(), (), model, redact_addresses=True)

    sent = model.asked[0][0].text
    assert "10.77.0.13" not in sent
    assert "[address-1]" in sent
    assert "[E1] event, root" in sent


@pytest.mark.parametrize("script", [(), (json.dumps(LIE),)])
def test_a_model_that_does_not_answer_is_told_of(script: tuple[str, ...]) -> None:
    """At the first question or at the repair: the note is there, with the reason."""
    note = write_note(diagnoses.node_fault(), (), ScriptedModel(*script, ModelUnavailable("It is down.")))

    assert (note.author, note.unavailable) == (Author.CODE, "It is down.")
    assert note.headline.text == diagnoses.node_fault().headline


def test_what_a_failed_call_cost_is_counted() -> None:
    """Tokens are paid for with or without an answer."""
    trouble = ModelUnavailable("Cut off.", usage=Usage(100, 20, 1))

    note = write_note(diagnoses.node_fault(), (), ScriptedModel(json.dumps(LIE), trouble))

    assert note.usage.calls == 2
    assert note.usage.completion_tokens > 20


def test_the_answer_is_streamed() -> None:
    """Whoever waits sees that something comes."""
    heard: list[str] = []

    write_note(diagnoses.node_fault(), (), ScriptedModel(json.dumps(TRUTH)), on_text=heard.append)

    assert "".join(heard)


def test_the_category_is_never_the_models() -> None:
    """It follows from the evidence, or from a pattern that matches."""
    blamed = {**TRUE["Xid with a seed pattern"][2], "category": "user"}

    note = write_note(diagnoses.huge(), (seed_fault(),), ScriptedModel(json.dumps(blamed)))

    assert (note.author, note.category.value) == (Author.MODEL, "hardware")


def test_a_note_can_be_stored() -> None:
    """As JSON, and back."""
    note = write_note(diagnoses.node_fault(), (), ScriptedModel(json.dumps(LIE), json.dumps(TRUTH)))

    assert Note.model_validate_json(note.model_dump_json()) == note
    assert plain(note)[0].startswith("The network link of node-01")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "JSON"),
        ("[]", "object"),
        ("x" * 30_000, "30,000 characters"),
        (json.dumps({**TRUTH, "more": 1}), "more: Extra"),
        (json.dumps({**TRUTH, "headline": said("x" * 401, "E1")}), "headline.text"),
        (json.dumps({**TRUTH, "happened": [said("x", "E1")] * 7}), "happened"),
        (json.dumps({**TRUTH, "cause": {"text": "x"}}), "cause.cites"),
        (json.dumps({**TRUTH, "cause": {"text": 1, "cites": []}}), "cause.text"),
    ],
)
def test_a_broken_draft_says_what_is_wrong(text: str, reason: str) -> None:
    """In words that the model can act on, and bounded."""
    with pytest.raises(BrokenDraft) as broken:
        read_draft(text)

    assert reason in str(broken.value)
    assert len(str(broken.value)) < 2_000


def test_every_field_is_asked_for() -> None:
    """Strict schemas have no defaults and no extra fields."""
    schema = Draft.model_json_schema()

    assert schema["required"] == list(Draft.model_fields)
    assert schema["additionalProperties"] is False


class Chatterbox:
    """A model that answers whatever it is given, for as long as it is asked."""

    name = "chatterbox"

    def answer(
        self,
        messages: Sequence[Message],
        *,
        schema: type[BaseModel] | None = None,  # noqa: ARG002 as the protocol has it
        max_tokens: int,  # noqa: ARG002
        on_text: OnText | None = None,  # noqa: ARG002
    ) -> Reply:
        return Reply(json.dumps({**LIE, "cause": said("y" * 400, "E1")}), Usage(calls=len(messages)))


def test_what_is_kept_of_refusals_is_bounded() -> None:
    """A note stays small, whatever the model said."""
    note = write_note(diagnoses.node_fault(), (), Chatterbox())

    assert len(note.model_dump_json()) < 20_000
