"""The JSON schema of a pydantic model in the flat, strict form that every endpoint with structured answers takes."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

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
