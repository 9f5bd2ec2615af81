"""The parts of the model client, each by itself: extraction, schema, dialect, gate, and what a server sent."""

import json
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, StringConstraints

from benchmarks.support.memory_cache import MemoryCache
from bot.chat.dialect import FORGET_AFTER_SECONDS, Dialect, DialectMemory, JsonMode
from bot.chat.endpoint_json import EndpointAnswer, read_answer, read_usage, strict_schema
from bot.chat.extract import json_object
from bot.chat.model import Usage

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(st.dictionaries(st.text(max_size=5), st.floats(allow_nan=False) | st.text(max_size=8), max_size=4))
def test_an_object_is_found_in_whatever_stands_around_it(values: dict[str, float | str]) -> None:
    """Bare, fenced, in prose or after a thought: the same object, to the byte."""
    text = json.dumps(values)

    for around in ("%s", " \n%s\n", "```json\n%s\n```", "So:\n%s\nDone. {", "<think>Hm {</think>%s", "Hm.</think>%s"):
        assert json_object(around.replace("%s", text)) == text


@given(st.text(alphabet='{}[]":,a1<think>/ `\n', max_size=60))
def test_any_text_has_an_object_or_none(text: str) -> None:
    """What is called an object is one, and stands in the text."""
    found = json_object(text)
    assert found is None or (isinstance(json.loads(found), dict) and found in text)


def test_a_value_may_quote_a_tag() -> None:
    """Log text inside of JSON is not taken for a thought."""
    text = '{"line": "<think> tag in a log", "ids": []}'
    assert json_object(text) == text


def test_a_thought_is_no_answer() -> None:
    """However much the model tried out while it was thinking."""
    assert json_object('<think>{"ids": ["E1", "E2"], "sure": false}?</think>{"ids": []}') == '{"ids": []}'


def test_an_object_behind_a_hundred_braces_is_not_looked_for() -> None:
    """The work on a hostile answer has a bound."""
    assert json_object("{ " * 99 + '{"a": 1}') == '{"a": 1}'
    assert json_object("{ " * 100 + '{"a": 1}') is None


@pytest.mark.parametrize("text", ["{" * 100_000, '{"a":' * 100_000, "{} " * 100_000])
def test_hostile_braces_cost_little(text: str) -> None:
    """Neither the depth nor the number of braces stops us."""
    assert json_object(text) in (None, "{}")


class Part(BaseModel):
    """A part."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=9)] = "x"


class Colour(StrEnum):
    """A colour."""

    RED = "red"


class Whole(BaseModel):
    """A whole."""

    parts: tuple[Part, ...] = Field(default=(), max_length=3)
    colour: Colour = Colour.RED
    kind: Literal["one"] = "one"
    note: str | None = Field(default=None, description="if any")
    id: Annotated[str, StringConstraints(pattern=r"^E\d+$")] = "E1"


class Endless(BaseModel):
    """Holds itself."""

    more: list["Endless"]


def test_a_schema_is_flat_and_strict() -> None:
    """No references, defaults or titles; all fields required, no other allowed."""
    part = {
        "type": "object",
        "description": "A part.",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    }

    assert strict_schema(Whole) == {
        "type": "object",
        "description": "A whole.",
        "properties": {
            "parts": {"type": "array", "maxItems": 3, "items": part},
            "colour": {"type": "string", "description": "A colour.", "enum": ["red"]},
            "kind": {"type": "string", "enum": ["one"]},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "if any"},
            "id": {"type": "string", "pattern": r"^E\d+$"},
        },
        "required": ["parts", "colour", "kind", "note", "id"],
        "additionalProperties": False,
    }


def test_a_schema_that_holds_itself_is_refused() -> None:
    """It would not end."""
    with pytest.raises(ValueError, match="holds itself"):
        strict_schema(Endless)


@given(st.text(max_size=30))
def test_every_complaint_comes_to_an_end(complaint: str) -> None:
    """Each step is simpler than the one before, whatever the endpoint complains about."""
    for words in (complaint, "use max_completion_tokens, temperature"):
        dialect: Dialect | None = Dialect()
        seen = set()
        while dialect is not None:
            assert dialect not in seen
            seen.add(dialect)
            dialect = dialect.after(words)
        assert len(seen) <= 5


def test_what_was_learned_is_forgotten_after_a_day() -> None:
    """A server that was updated gets its chance again; another version's notes count as none."""
    cache, now = MemoryCache(), [1_000.0]
    simple = Dialect(rung=JsonMode.PROMPT, temperature=False)

    def remember() -> DialectMemory:
        return DialectMemory("http://one/v1", "toy", cache=cache, clock=lambda: now[0])

    remember().learn(simple)
    assert remember().recall() == simple
    now[0] += FORGET_AFTER_SECONDS
    assert remember().recall() == Dialect()
    for damaged in (b"", b"[]", b"\xff", b'{"at": 1}', b'{"at": "x", "rung": "prompt"}', b'{"at": 1e5, "rung": 1}'):
        cache.put(next(iter(cache._kept)), damaged)
        assert remember().recall() == Dialect()


@given(JSON, st.sampled_from(["choices", "error", "usage", "message", "content", "finish_reason"]))
def test_whatever_a_server_sends_can_be_read(raw: Any, key: str) -> None:
    """No shape of JSON is a crash."""
    message = {"message": raw, "finish_reason": raw}
    for shape in (raw, {key: raw}, {"choices": [raw]}, {"choices": [message]}, {"choices": [{"message": {key: raw}}]}):
        assert isinstance(read_answer(shape), EndpointAnswer | None)


@pytest.mark.parametrize("counts", [None, [], {"prompt_tokens": -1, "completion_tokens": "3"}, {"prompt_tokens": 1.5}])
def test_tokens_that_make_no_sense_count_as_none(counts: object) -> None:
    """A sum of costs is never made of texts or negative numbers."""
    assert read_usage(counts) == Usage()
