"""How far the collectives of a rank came, as it tells (rules/collectives.toml)."""

import re
from functools import cache
from typing import NamedTuple

from core.phrases import any_of, patterns_of, read_rules

_MASK = "<NUM>"
# The group whose collectives are counted, as ProcessGroupNCCL.cpp writes it: "[PG ID 2 PG GUID 13(mesh_dp) Rank 3]",
# "[PG 0 (default_pg) Rank 2]" and "[PG 0 Rank 2]" before torch 2.5
_GROUP = re.compile(r"\[PG (?:ID \d{1,9} PG GUID )?(\w{1,64})")


class Collectives(NamedTuple):
    """How far the collectives of one process group came, as one of its ranks tells; ``group`` is "" where unnamed."""

    group: str
    enqueued: int
    completed: int


def collectives_of(text: str) -> Collectives | None:
    """The last collectives that the speaker of a raw line had begun and completed."""
    found, group = _pattern().search(text), _GROUP.search(text)
    if found is None:
        return None
    return Collectives(group[1] if group else "", int(found["enqueued"]), int(found["completed"]))


def may_complete(template: str) -> bool:
    """Whether the lines of a template may tell of collectives."""
    return _pattern().search(template.replace(_MASK, "0")) is not None


@cache
def _pattern() -> re.Pattern[str]:
    rules = read_rules("collectives.toml")["collective"]
    return any_of([pattern for rule in rules for pattern in patterns_of(rule, "core/rules/collectives.toml")])
