"""What programs print: patterns, each with the program, the source that says so, and a real line (rules/README.md).

Patterns are searched for in ten thousands of templates, so each is looked for only where a word of it stands.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

_RULES = "core.rules"
_SAID = frozenset({"program", "source", "lines"})


class BadRule(ValueError):
    """A rule file holds something that no code understands."""


@dataclass(frozen=True, slots=True)
class Worded:
    """One expression for several patterns; case is ignored. Searched only in texts with a word of one of them."""

    words: tuple[str, ...]
    pattern: re.Pattern[str]

    def found_in(self, text: str, lower: str) -> bool:
        """Whether a pattern stands in a text, which is given in lower case too: many are asked for the same text."""
        for word in self.words:  # any() with a generator takes three times as long
            if word in lower:
                return self.pattern.search(text) is not None
        return False


def worded(patterns: Sequence[str]) -> Worded:
    """The expression for these patterns."""
    return Worded(words_of(patterns), any_of(patterns))


def read_rules(name: str) -> dict[str, Any]:
    """The rules of one file below ``core/rules``."""
    return tomllib.loads(files(_RULES).joinpath(name).read_text(encoding="utf-8"))


def rule_files(folder: str) -> list[str]:
    """The rule files of a folder below ``core/rules`` in their order, which is that of their numbers."""
    found: Iterable[Traversable] = files(_RULES).joinpath(folder).iterdir()
    return sorted(f"{folder}/{file.name}" for file in found if file.name.endswith(".toml"))


def patterns_of(rule: Mapping[str, Any], where: str) -> list[str]:
    """The patterns of a rule, without where they come from."""
    for source in rule["said"]:
        refuse_unknown(source, _SAID, where)
    return [match for source in rule["said"] for match, _ in source["lines"]]


def patterns_in(name: str, key: str) -> list[str]:
    """The patterns of all rules under a key of one file below ``core/rules``."""
    return [pattern for rule in read_rules(name)[key] for pattern in patterns_of(rule, f"core/rules/{name}")]


def refuse_unknown(rule: Mapping[str, Any], known: frozenset[str], where: str) -> None:
    """Refuse a rule with a key that nobody reads: BadRule."""
    if unknown := sorted(rule.keys() - known):
        raise BadRule(f"{where}: unknown key {unknown[0]!r}")


def any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    """One expression for all; case is ignored."""
    # ASCII: else case is ignored in ways that lower() does not follow
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE | re.ASCII)


def words_of(patterns: Iterable[str]) -> tuple[str, ...]:
    """One of these stands, in lower case, wherever one of the patterns is found."""
    words = sorted({word_of(pattern) for pattern in patterns}, key=lambda word: (len(word), word))
    return tuple(word for at, word in enumerate(words) if not any(short in word for short in words[:at]))


# What a pattern holds besides plain characters: classes, escapes of one, repeats, and places.
_PIECE = re.compile(r"\[\^?\]?[^\]]{0,256}\]|\\[bBdDwWsS]|\\(.)|([?*]|\{[^}]{0,16}\})|([.+^$])|(.)", re.DOTALL)


def word_of(pattern: str) -> str:
    """The longest text that stands wherever a pattern is found, in lower case; of a choice nothing stands for sure."""
    runs, depth = [""], 0
    for escaped, maybe, _, plain in (match.groups("") for match in _PIECE.finditer(pattern)):
        depth += {"(": 1, ")": -1}.get(plain, 0)
        if plain == "|" and not depth:
            return ""
        if maybe and not depth:
            runs[-1] = runs[-1][:-1]  # the character before may be missing
        if depth or (plain in ("(", ")", "") and not escaped):
            runs.append("")
        else:
            runs[-1] += escaped or plain
    return max(runs, key=len).lower()
