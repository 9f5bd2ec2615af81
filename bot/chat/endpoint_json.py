"""JSON to and from an endpoint: the schema that it is asked for, and what it sent, read with patience."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from bot.chat.model import Usage

# Reasoning parsers of vLLM, SGLang and others put the answer, or all of it, into one of the latter two.
_PLACES = ("content", "reasoning_content", "reasoning")

_UNCOUNTED = Usage()


@dataclass(frozen=True, slots=True)
class EndpointAnswer:
    """An answer; ``finish``: why it ended, empty where the endpoint does not say so.

    text: what was said. aside: what was said where thoughts belong; it counts only when there is no text.
    complaint: an error that the endpoint sent in place of an answer.
    """

    text: str = ""
    aside: str = ""
    finish: str = ""
    refusal: str = ""
    usage: Usage = _UNCOUNTED
    complaint: str = ""


def read_answer(raw: object) -> EndpointAnswer | None:
    """A completion; None when it is none."""
    if not isinstance(raw, Mapping):
        return None
    complaint = raw.get("error")
    if complaint:
        return EndpointAnswer(complaint=_complaint(complaint))
    choices, usage = raw.get("choices"), read_usage(raw.get("usage"))
    if not isinstance(choices, list):
        return None
    if not choices:
        return EndpointAnswer(usage=usage)
    first = choices[0] if isinstance(choices[0], Mapping) else {}
    message = first.get("message")
    if not isinstance(message, Mapping):
        message = {"content": first.get("text")}  # the older completions protocol
    content, *asides = (_text(message.get(place)) for place in _PLACES)
    return EndpointAnswer(
        text=content,
        aside=next(filter(None, asides), ""),
        finish=_text(first.get("finish_reason")),
        refusal=_text(message.get("refusal")),
        usage=usage,
    )


def read_usage(raw: object) -> Usage:
    """The tokens of an answer; 0 for what is not told."""
    counts: Mapping[str, Any] = raw if isinstance(raw, Mapping) else {}
    prompt, completion = (counts.get(key) for key in ("prompt_tokens", "completion_tokens"))
    return Usage(
        prompt if isinstance(prompt, int) and prompt > 0 else 0,
        completion if isinstance(completion, int) and completion > 0 else 0,
    )


def _complaint(raw: object) -> str:
    words = raw.get("message") if isinstance(raw, Mapping) else raw
    return _text(words) or "an error without words"


def _text(raw: object) -> str:
    """A text, or the texts of a list of parts."""
    if isinstance(raw, list):
        return "".join(_text(part.get("text")) for part in raw if isinstance(part, Mapping))
    return raw if isinstance(raw, str) else ""


# What OpenAI's strict mode, vLLM, llama.cpp and Ollama have in common; the caller's validation holds the rest.
_TAKEN = ("type", "description", "enum", "pattern", "minItems", "maxItems")
MAX_DEPTH = 8  # of nesting; ours have two levels, and a model that holds itself has no flat form


def strict_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Every field required, nothing else allowed, no defaults, no titles, no references."""
    whole = model.model_json_schema()
    return _flat(whole, whole.get("$defs", {}), MAX_DEPTH)


def _flat(part: Mapping[str, Any], named: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if depth == 0:
        raise ValueError("a schema that holds itself has no flat form")
    if "$ref" in part:
        part = {**named[part["$ref"].removeprefix("#/$defs/")], **{k: v for k, v in part.items() if k != "$ref"}}
    flat: dict[str, Any] = {key: part[key] for key in _TAKEN if key in part}
    if "const" in part:
        flat["enum"] = [part["const"]]
    if "anyOf" in part:
        flat["anyOf"] = [_flat(choice, named, depth - 1) for choice in part["anyOf"]]
    if "items" in part:
        flat["items"] = _flat(part["items"], named, depth - 1)
    if part.get("type") == "object":
        fields = part.get("properties", {})
        flat["properties"] = {name: _flat(field, named, depth - 1) for name, field in fields.items()}
        flat["required"] = list(fields)
        flat["additionalProperties"] = False
    return flat
