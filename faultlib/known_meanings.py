"""What the rules know of the meanings that traits tell: whose they are, and in how many wordings each is known."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from core.failure_kinds import Kind
from core.phrases import patterns_of, read_rules, rule_files
from faultlib.traits import plain


@cache
def of_machines() -> frozenset[str]:
    """Meanings of a part that broke; all others are of what people wrote, chose or gave to the program."""
    return _meanings(lambda fact: bool(fact.get("hardware")))


@cache
def named_stops() -> frozenset[str]:
    """Meanings of stops that have one cause each: a time limit, a machine that was taken away."""
    return _meanings(lambda fact: fact.get("kind") in (Kind.TIME_LIMIT, Kind.PREEMPTION))


@cache
def wordings() -> Mapping[str, int]:
    """In how many wordings each meaning is known."""
    counts: Counter[str] = Counter()
    for file in rule_files("facts"):
        for rule in read_rules(file)["fact"]:
            counts[plain(rule.get("says", ""))] += len(patterns_of(rule, file))
    return counts


def _meanings(is_meant: Callable[[Mapping[str, Any]], bool]) -> frozenset[str]:
    """Meanings of some facts, as traits tell them."""
    facts = (fact for file in rule_files("facts") for fact in read_rules(file)["fact"])
    return frozenset(plain(fact["says"]) for fact in facts if fact.get("says") and is_meant(fact))
