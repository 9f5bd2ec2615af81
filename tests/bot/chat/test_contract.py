"""What every ChatModel promises: the same tests for the real client and for the fake of the tests."""

from typing import Protocol

import pytest
from pydantic import BaseModel

from bot.chat.model import ChatMessage, ChatModel, ModelTrouble, ModelUnavailable, Usage
from tests.bot.chat.conftest import Connect
from tests.support.model_endpoint import fails, says
from tests.support.scripted_model import ScriptedModel


class Finding(BaseModel):
    """What the tests ask for."""

    ids: list[str]


class Build(Protocol):
    """Make a model that will answer this."""

    def __call__(self, *answers: str | None) -> ChatModel: ...


QUESTION = [ChatMessage("user", "What failed?")]


@pytest.fixture(params=["real", "fake"])
def build(request: pytest.FixtureRequest, connect: Connect) -> Build:
    """A model with a script; None is a failure."""

    def real(*answers: str | None) -> ChatModel:
        return connect(*(fails(503) if answer is None else says(answer) for answer in answers))[0]

    def fake(*answers: str | None) -> ChatModel:
        return ScriptedModel(*(ModelUnavailable("down") if answer is None else answer for answer in answers))

    return real if request.param == "real" else fake


def test_a_model_has_a_name(build: Build) -> None:
    """People are told who wrote a draft."""
    assert build("{}").name in ("toy", "scripted")


def test_an_answer_comes_with_what_it_cost(build: Build) -> None:
    """Text and usage; at least one call was made."""
    reply = build('{"ids": ["E1", "E2"]}').answer(QUESTION, schema=Finding, max_tokens=50)

    assert reply.text == '{"ids": ["E1", "E2"]}'
    assert (reply.usage.calls, reply.usage.completion_tokens) == (1, 3)


def test_with_a_schema_there_is_one_object_as_the_model_gave_it(build: Build) -> None:
    """Fences and thoughts are gone; values are not checked."""
    model = build('<think>{}</think>```json\n{"ids": "none", "more": 1}\n```')

    assert model.answer(QUESTION, schema=Finding, max_tokens=50).text == '{"ids": "none", "more": 1}'


def test_no_object_is_an_error(build: Build) -> None:
    """Words in place of JSON are refused."""
    with pytest.raises(ModelUnavailable) as caught:
        build("The link.").answer(QUESTION, schema=Finding, max_tokens=50)

    assert caught.value.kind is ModelTrouble.NO_JSON
    assert caught.value.usage.completion_tokens > 0


def test_after_a_failure_a_model_can_be_asked_again(build: Build) -> None:
    """One failed call does not break the next one."""
    model = build(None, "{}")

    with pytest.raises(ModelUnavailable):
        model.answer(QUESTION, schema=Finding, max_tokens=50)
    assert model.answer(QUESTION, schema=Finding, max_tokens=50).text == "{}"


def test_the_fake_remembers_what_it_was_asked() -> None:
    """A test can look at every prompt; a script that has ended is an error, not an answer."""
    model = ScriptedModel("{}")

    model.answer(QUESTION, schema=Finding, max_tokens=50)
    with pytest.raises(ModelUnavailable, match="script"):
        model.answer([*QUESTION, ChatMessage("assistant", "{}")], schema=Finding, max_tokens=50)

    assert model.asked == [tuple(QUESTION), (*QUESTION, ChatMessage("assistant", "{}"))]


def test_the_fake_keeps_to_the_bound() -> None:
    """An answer that is longer than asked for is cut off, and cut off is no answer."""
    with pytest.raises(ModelUnavailable) as caught:
        ScriptedModel("one two three").answer(QUESTION, schema=Finding, max_tokens=2)

    assert caught.value.kind is ModelTrouble.CUT_OFF


def test_usage_adds_up() -> None:
    """Of a draft and its repair, the sum is told."""
    assert Usage(1, 2, 1) + Usage(10, 20, 2) == Usage(11, 22, 3)
