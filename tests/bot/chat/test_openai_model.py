"""Endpoints that misbehave: each gives an answer all the same, or one error that says why not."""

import json
import logging
import socket
from collections.abc import Mapping
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict

from benchmarks.support.memory_cache import MemoryCache
from bot.chat.model import ChatMessage, ModelTrouble, ModelUnavailable, Usage
from bot.chat.openai_model import OpenAIModel
from core.errors import BadSettings
from tests.bot.chat.conftest import KEY, Connect
from tests.support.model_endpoint import (
    Play,
    drips,
    fails,
    hangs,
    hangs_up,
    only,
    overflows,
    says,
    sends,
)


class Finding(BaseModel):
    """What the tests ask for."""

    model_config = ConfigDict(extra="forbid")

    category: Literal["hardware", "user"]
    ids: list[str]


QUESTION = (ChatMessage("system", "Say what failed."), ChatMessage("user", "E1: link down"))
JSON = '{"category": "hardware", "ids": ["E1"]}'


def schema_asked(body: Mapping[str, Any]) -> str:
    return str(body.get("response_format", {}).get("type", "prompt"))


def trouble_of(model: OpenAIModel) -> ModelUnavailable:
    with pytest.raises(ModelUnavailable) as caught:
        model.answer(QUESTION, schema=Finding, max_tokens=50)
    return caught.value


def test_a_request_asks_for_a_strict_schema_first(connect: Connect) -> None:
    """Temperature 0, the bound on tokens, and a schema with all fields required and nothing else allowed."""
    model, endpoint = connect(says(JSON))

    reply = model.answer(QUESTION, schema=Finding, max_tokens=50)

    assert (reply.text, reply.usage) == (JSON, Usage(7, 3, 1))
    assert endpoint.heard == [
        {
            "model": "toy",
            "messages": [
                {"role": "system", "content": "Say what failed."},
                {"role": "user", "content": "E1: link down"},
            ],
            "max_tokens": 50,
            "temperature": 0,
            "response_format": {
                "type": "json_schema",
                "json_schema": {
                    "name": "Finding",
                    "strict": True,
                    "schema": {
                        "type": "object",
                        "description": "What the tests ask for.",
                        "properties": {
                            "category": {"type": "string", "enum": ["hardware", "user"]},
                            "ids": {"type": "array", "items": {"type": "string"}},
                        },
                        "required": ["category", "ids"],
                        "additionalProperties": False,
                    },
                },
            },
        }
    ]
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("understood", "rungs"),
    [
        ({"json_schema", "json_object", "prompt"}, ["json_schema"]),
        ({"json_object", "prompt"}, ["json_schema", "json_object"]),
        ({"prompt"}, ["json_schema", "json_object", "prompt"]),
    ],
)
def test_the_ladder_is_climbed_down_once(connect: Connect, understood: set[str], rungs: list[str]) -> None:
    """What the endpoint refuses is tried once; the next question starts with what worked."""
    refusal = "unknown response_format"
    model, endpoint = connect(only(lambda body: schema_asked(body) in understood, says(JSON), refusal))

    replies = [model.answer(QUESTION, schema=Finding, max_tokens=50) for _ in range(2)]

    assert [reply.text for reply in replies] == [JSON, JSON]
    assert [reply.usage.calls for reply in replies] == [len(rungs), 1]
    assert [schema_asked(body) for body in endpoint.heard] == [*rungs, rungs[-1]]


def test_without_a_schema_for_the_server_the_model_is_told(connect: Connect) -> None:
    """Below the first rung the schema stands in the first message, the only place that all chat templates have."""
    model, endpoint = connect(only(lambda body: schema_asked(body) == "prompt", says(JSON), "no"))

    model.answer(QUESTION, schema=Finding, max_tokens=50)

    first, second = endpoint.heard[-1]["messages"]
    assert first["content"].startswith("Say what failed.\n\nAnswer with one JSON object")
    assert '"enum": ["hardware", "user"]' in first["content"]
    assert second["content"] == "E1: link down"


@pytest.mark.parametrize("ignored", ["It was the link.", '{"reason": "link"}', "<think>For ever", "", None])
def test_a_schema_that_is_ignored_in_silence_is_asked_for_in_words(connect: Connect, ignored: str | None) -> None:
    """A server that takes the schema and does not hold the model to it is noticed by its answer."""
    model, endpoint = connect(says(ignored), says(JSON))

    reply = model.answer(QUESTION, schema=Finding, max_tokens=50)

    assert (reply.text, reply.usage) == (JSON, Usage(14, 6, 2))
    assert [schema_asked(body) for body in endpoint.heard] == ["json_schema", "json_object"]


def test_a_new_process_starts_where_the_last_one_was(connect: Connect) -> None:
    """What an endpoint understands is remembered for a day, for this endpoint and model."""
    cache = MemoryCache()
    model, endpoint = connect(only(lambda body: schema_asked(body) == "prompt", says(JSON), "no"), cache=cache)
    model.answer(QUESTION, schema=Finding, max_tokens=50)
    again = OpenAIModel("toy", endpoint.url, cache=cache)
    other = OpenAIModel("toy-2", endpoint.url, cache=cache)

    calls = [it.answer(QUESTION, schema=Finding, max_tokens=50).usage.calls for it in (again, other)]
    again.close()
    other.close()

    assert calls == [1, 3]


@pytest.mark.parametrize(
    ("complaint", "refused"),
    [
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens"),
        ("Unsupported value: 'temperature' does not support 0 with this model.", "temperature"),
    ],
)
def test_parameters_that_reasoning_models_refuse_are_left_out(connect: Connect, complaint: str, refused: str) -> None:
    """The schema stays; only the parameter of the complaint goes, and stays away."""
    model, endpoint = connect(only(lambda body: refused not in body, says(JSON), complaint))

    for _ in range(2):
        assert model.answer(QUESTION, schema=Finding, max_tokens=50).text == JSON

    assert [schema_asked(body) for body in endpoint.heard] == ["json_schema"] * 3
    assert {"max_tokens", "max_completion_tokens"} & set(endpoint.heard[-1])


@pytest.mark.parametrize(
    "play",
    [
        says(f"Sure, here it is:\n```json\n{JSON}\n```\nAnything else?"),
        says(f'<think>Perhaps {{"category": "user"}}?</think>\n{JSON}'),
        says(f'I think of {{"a": 1}}.</think>{JSON}'),
        says(None, reasoning_content=JSON),
        says("", reasoning=f"Well. {JSON}"),
        says([{"type": "text", "text": JSON}]),
        says(JSON, finish=None),
        sends(json.dumps({"choices": [{"message": {"content": JSON}}]}), kind="text/plain"),
        sends(json.dumps({"choices": [{"text": JSON}], "usage": None})),
    ],
)
def test_the_json_is_found_wherever_the_server_put_it(connect: Connect, play: Play) -> None:
    """Fences, thoughts, reasoning fields, lists of parts, wrong content types, missing fields."""
    model, endpoint = connect(play)

    assert model.answer(QUESTION, schema=Finding, max_tokens=50).text == JSON
    assert len(endpoint.heard) == 1


@pytest.mark.parametrize(
    ("play", "kind", "words"),
    [
        (says("The li", finish="length"), ModelTrouble.CUT_OFF, "cut off at 50 tokens"),
        (says(None, refusal="I cannot help."), ModelTrouble.REFUSED, "I cannot help."),
        (says("", finish="content_filter"), ModelTrouble.REFUSED, "declined"),
        (fails(401, f"Incorrect API key provided: {KEY}"), ModelTrouble.WRONG_KEY, "does not accept the key"),
        (fails(403, f"{KEY} may not"), ModelTrouble.WRONG_KEY, "does not accept the key"),
        (fails(404, "The model `toy` does not exist"), ModelTrouble.NOT_FOUND, "does not exist"),
        (fails(429, f"Too fast, {KEY}"), ModelTrouble.RATE_LIMITED, "Too fast, ***"),
        (
            fails(400, "This model's maximum context length is 10 tokens"),
            ModelTrouble.REJECTED,
            "maximum context length",
        ),
        (fails(413), ModelTrouble.REJECTED, "HTTP 413"),
        (fails(503, "loading"), ModelTrouble.BROKEN, "HTTP 503"),
        (sends("<html><h1>Sign in</h1></html>", kind="text/html"), ModelTrouble.BROKEN, "no chat endpoint"),
        (sends("<html>Bad gateway</html>", status=502, kind="text/html"), ModelTrouble.BROKEN, "HTTP 502"),
        (sends("data: {}\n\ndata: [DONE]\n\n", kind="text/event-stream"), ModelTrouble.BROKEN, "no chat endpoint"),
        (sends("[" * 100_000), ModelTrouble.BROKEN, "no chat endpoint"),
        (sends("[]"), ModelTrouble.BROKEN, "no chat endpoint"),
        (sends('{"choices": null}'), ModelTrouble.BROKEN, "no chat endpoint"),
        (hangs_up, ModelTrouble.UNREACHABLE, "does not answer"),
        (overflows, ModelTrouble.BROKEN, "more than 8 MB"),
    ],
)
def test_each_trouble_is_told_by_its_kind(connect: Connect, play: Play, kind: ModelTrouble, words: str) -> None:
    """One error, with the host and the model, without the key, and with what it cost."""
    model, _ = connect(play)

    trouble = trouble_of(model)

    assert trouble.kind is kind
    assert words in trouble.message
    assert trouble.message.startswith(f"The language model toy at {model.host} ")
    assert KEY not in trouble.message + trouble.hint
    assert trouble.usage.calls == 1


def test_a_prompt_that_is_too_long_is_not_sent_again(connect: Connect) -> None:
    """No rung of the ladder makes it shorter."""
    model, endpoint = connect(fails(400, "This model's maximum context length is 10 tokens"))

    with pytest.raises(ModelUnavailable, match="context length"):
        model.answer(QUESTION, schema=Finding, max_tokens=50)
    assert len(endpoint.heard) == 1


def test_what_an_endpoint_says_is_made_harmless(connect: Connect) -> None:
    """An error is one short line, whatever the server put into it."""
    model, _ = connect(fails(404, "\x1b[2J<!channel>\n" + "x" * 100_000))

    message = trouble_of(model).message

    assert message.isprintable()
    assert len(message) < 400


@pytest.mark.parametrize("play", [hangs, drips])
def test_an_endpoint_that_never_ends_is_left(connect: Connect, play: Play) -> None:
    """Neither silence nor a byte now and then holds us longer than the time-out."""
    model, endpoint = connect(play, timeout=1, retries=2)

    trouble = trouble_of(model)

    assert (trouble.kind, "1 s" in trouble.message) == (ModelTrouble.TIMED_OUT, True)
    assert len(endpoint.heard) == 1


def test_the_time_out_is_the_one_that_was_asked_for() -> None:
    """Five seconds too, which the HTTP client takes for its own default."""
    model = OpenAIModel("toy", "http://localhost:1/v1", timeout=5)

    assert (model._client.timeout, model._client.max_retries) == (model._client._client.timeout, 2)
    model.close()


def test_a_redirection_is_followed(connect: Connect) -> None:
    """An endpoint that has moved behind a proxy still answers."""
    moved = sends("", status=307, location="/v1/chat/completions")
    model, endpoint = connect(moved, says(JSON))

    assert model.answer(QUESTION, schema=Finding, max_tokens=5).text == JSON
    assert len(endpoint.heard) == 2


def test_nobody_listens() -> None:
    """A port without a server is unreachable, whatever is asked."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        model = OpenAIModel("toy", f"http://127.0.0.1:{taken.getsockname()[1]}/v1", retries=0)
        trouble = trouble_of(model)
        model.close()

    assert trouble.kind is ModelTrouble.UNREACHABLE


@pytest.mark.parametrize(
    "first", [fails(500), fails(429, retry_after_ms="1"), fails(429, retry_after="0.01"), hangs_up]
)
def test_what_may_pass_is_tried_again(connect: Connect, first: Play) -> None:
    """A failing server, a rate limit and a lost connection get another request."""
    model, endpoint = connect(first, says(JSON), retries=1)

    assert model.answer(QUESTION, schema=Finding, max_tokens=50).text == JSON
    assert len(endpoint.heard) == 2


def test_a_long_wait_is_not_waited(connect: Connect) -> None:
    """An endpoint that wants a minute is told to the person who waits, at once."""
    model, endpoint = connect(fails(429, "slow down", retry_after="60"), retries=2)

    assert trouble_of(model).kind is ModelTrouble.RATE_LIMITED
    assert len(endpoint.heard) == 1


@pytest.mark.parametrize(
    ("answer", "kind"),
    [('{"choices": [null]}', ModelTrouble.NO_JSON), ('{"error": {"message": "overloaded"}}', ModelTrouble.REJECTED)],
)
def test_what_a_simpler_request_may_mend_is_asked_thrice(connect: Connect, answer: str, kind: ModelTrouble) -> None:
    """An answer of nothing, and an error in place of one."""
    model, _ = connect(sends(answer))

    trouble = trouble_of(model)

    assert (trouble.kind, trouble.usage.calls) == (kind, 3)


def test_no_json_on_any_rung_is_an_error(connect: Connect) -> None:
    """Three tries, all counted; nothing is made up."""
    model, endpoint = connect(says("The link."))

    with pytest.raises(ModelUnavailable) as caught:
        model.answer(QUESTION, schema=Finding, max_tokens=50)

    assert (caught.value.kind, caught.value.usage) == (ModelTrouble.NO_JSON, Usage(21, 9, 3))
    assert [schema_asked(body) for body in endpoint.heard] == ["json_schema", "json_object", "prompt"]


def test_no_text_of_a_log_stops_a_request(connect: Connect) -> None:
    """Control bytes, lone surrogates and placeholders travel as they are, or escaped."""
    model, endpoint = connect(says(JSON))

    model.answer([ChatMessage("user", "\x00\x1b[2J $evidence \udcff é")], schema=Finding, max_tokens=50)

    assert endpoint.heard[0]["messages"][0]["content"] == "\x00\x1b[2J $evidence \\udcff é"


def test_a_call_leaves_one_line_in_the_log(connect: Connect, caplog: pytest.LogCaptureFixture) -> None:
    """Host, model, rung, seconds, tokens and outcome; neither the question, nor the answer, nor the key."""
    caplog.set_level(logging.DEBUG)
    model, _ = connect(fails(400, "no"), says(JSON))

    model.answer(QUESTION, schema=Finding, max_tokens=50)

    ours = [record.getMessage() for record in caplog.records if record.name.startswith("bot.")]
    assert [line.partition(" seconds")[0] for line in ours] == [
        f"model call: host={model.host} model=toy rung=json_schema",
        f"model call: host={model.host} model=toy rung=json_object",
    ]
    assert ours[0].endswith("prompt_tokens=0 completion_tokens=0 outcome=not understood")
    assert ours[1].endswith("prompt_tokens=7 completion_tokens=3 outcome=stop")
    assert not any(secret in caplog.text for secret in (KEY, "link down", "hardware"))


def test_a_url_that_is_none_is_a_bad_setting() -> None:
    """It is told before the first call."""
    for url in ("http://[::1", "http://host:port/v1"):
        with pytest.raises(BadSettings, match="URL of the language model"):
            OpenAIModel("toy", url)
