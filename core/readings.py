"""Numbers that tell of a node or a rank: error counters, and how far its collectives came (rules/counters.toml)."""

import re
from functools import cache

from core.phrases import any_of, patterns_of, read_rules

_MASK = "<NUM>"


def counters_of(text: str) -> list[tuple[str, int]]:
    """Names and values of the error counters in a raw line."""
    return [(found["name"], int(found["value"])) for found in _pattern("counter").finditer(text)]


def completed_of(text: str) -> int | None:
    """The last collective that the speaker of a raw line had completed."""
    found = _pattern("collective").search(text)
    return int(found["completed"]) if found else None


def may_count(template: str) -> bool:
    """Whether the lines of a template may hold error counters."""
    return _pattern("counter").search(template.replace(_MASK, "0")) is not None


def may_complete(template: str) -> bool:
    """Whether the lines of a template may tell of collectives."""
    return _pattern("collective").search(template.replace(_MASK, "0")) is not None


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    rules = read_rules("counters.toml")[kind]
    return any_of([pattern for rule in rules for pattern in patterns_of(rule, "core/rules/counters.toml")])
