"""Whether Slack takes a payload, by a schema of its own: what slacksim overlooks is found here."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it brings no types

SCHEMA = Path(__file__).with_name("block_kit.schema.json")


def violations(payload: dict[str, Any]) -> list[str]:
    """What of a message, a modal or a home is not as Slack's reference wants it."""
    kind = str(payload.get("type", "message"))
    found = [
        f"{'/'.join(map(str, error.path))}: {error.message[:200]}" for error in _validator(kind).iter_errors(payload)
    ]
    for block in payload["blocks"]:  # within one block, says the reference of action_id
        ids = [one["action_id"] for one in block.get("elements", ()) if "action_id" in one]
        found += [f"{one} stands twice" for one in sorted(set(ids)) if ids.count(one) > 1]
    return found


@cache
def _validator(kind: str) -> Draft202012Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]})
