"""Lines in which a speaker tells who it is (rules/identities.toml)."""

import re
from functools import cache

from core.phrases import patterns_of, read_rules

MAX_DIGITS = 9  # a longer number is no rank


def own_address(text: str) -> str | None:
    """The address that a raw line says is the speaker's own."""
    return _read(text, "address")


def own_rank(text: str) -> int | None:
    """The global rank that a raw line says is the speaker's own."""
    rank = _read(text, "rank")
    return int(rank) if rank is not None and len(rank) <= MAX_DIGITS else None


def _read(text: str, group: str) -> str | None:
    for pattern in _patterns(group):
        if found := pattern.search(text):
            return found[group]
    return None


@cache
def _patterns(group: str) -> tuple[re.Pattern[str], ...]:
    rules = read_rules("identities.toml")["identity"]
    patterns = [pattern for rule in rules for pattern in patterns_of(rule, "core/rules/identities.toml")]
    return tuple(re.compile(pattern, re.IGNORECASE | re.ASCII) for pattern in patterns if f"(?P<{group}>" in pattern)
