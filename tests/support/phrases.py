"""The phrases of the rule packs with where each comes from, which the program itself does not ask for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Phrase:
    """A pattern, who prints it, where that is known from, and a real line in which it is found."""

    match: str
    program: str
    source: str
    line: str


def phrases_of(rule: Mapping[str, Any]) -> list[Phrase]:
    """All phrases of a rule, in their order."""
    return [
        Phrase(match, source["program"], source["source"], line)
        for source in rule.get("said", ())
        for match, line in source["lines"]
    ]
