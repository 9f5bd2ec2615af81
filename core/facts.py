"""What known messages mean: role, whom they blame, how strongly (rules/facts.toml; docs/facts.md)."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files as package_files

from core.logs.telling import level
from core.model import Role, Stage


class Blame(StrEnum):
    """Whom a message points to."""

    SELF = "self"  # the speaker
    NAMED = "named"  # whom its raw text names
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Fact:
    """The meaning of a kind of message. ``stop``: the job was ended from outside, which is no fault."""

    role: Role
    blame: Blame
    kind: str
    strength: float
    says: str
    check: str
    stop: bool = False
    hardware: bool = False  # a part of the machine speaks, whatever the other machines say
    again: bool = False  # said by everybody when it starts; only to say it again is a sign
    known: bool = True  # False: nobody wrote this fact down, it was judged by level and words
    named: re.Pattern[str] | None = None
    stage: Stage = Stage.UNKNOWN  # where it happens, for a line that stands in no known stage


_UNKNOWN_EXCEPTION = Fact(
    Role.ROOT,
    Blame.SELF,
    "exception",
    0.8,
    "the program raised an exception",
    "Read the traceback: the last frame of your own code is where to start.",
    known=False,
)
_UNKNOWN_ERROR = Fact(
    Role.ROOT, Blame.SELF, "error", 0.45, "a program logged an error", "Read the lines around it.", known=False
)
_UNKNOWN_WARNING = Fact(
    Role.ROOT, Blame.SELF, "warning", 0.25, "a program logged a warning", "Read the lines around it.", known=False
)

_EXCEPTION = re.compile(
    r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Failure|Interrupt|Exit)\b|\b[A-Z]\w+(?:Error|Exception): "
)
_COMMAND_LINE = re.compile(r"(?:\s--?[a-zA-Z][\w-]+[ =][^-\s]\S*){3}")  # echoed, its options hold words like timeout
# A name and nothing but a number or a switch: a setting or a counter. Exit codes and the like are no <NUM> (core/logs).
_SETTING = re.compile(
    r"^(?!.*(?:Error|Exception)\b)[\w .()/\[\]-]{1,60}?\s?(?:[:=]|\.{3,}|(?<=timeout)) ?<NUM>\s?\w{0,7}[,;.]?$"
    r"|^(?!oomkilled)[a-z][\w.-]*\s?(?:[:=]|\.{3,}) ?['\"]?"
    r"(?:true|false|none|null|yes|no|on|off|enabled|disabled)['\"]?,?$",
    re.IGNORECASE,
)
_ERROR_WORDS = re.compile(
    r"\b(?:error|fatal|panic|abort(?:ed|ing)?|fail(?:ed|ure)?|cannot|unable to|crash(?:ed)?|killed|denied|refused"
    r"|corrupt\w*)\b",
    re.IGNORECASE,
)


_CALM = ("I", "D", "T")  # levels at which nobody complains, but kernels and switches report (L4: 13.6 % at INFO)
_SAID_CALMLY = 0.8  # strength of what may be said so


@lru_cache(maxsize=1 << 16)  # every step asks
def fact_of(template: str, *, block: bool) -> Fact | None:
    """The fact that a template stands for, or a guess from level and words; None when nothing points to a failure."""
    if _SETTING.search(template) or _COMMAND_LINE.search(template):
        return None
    severity = level(template)
    for fact in _facts_in(template):
        if severity not in _CALM or fact.strength >= _SAID_CALMLY or fact.role is Role.BENIGN:
            return fact
    if block or _EXCEPTION.search(template):
        return _UNKNOWN_EXCEPTION
    if severity in "EFC" and severity:
        return _UNKNOWN_ERROR
    if severity == "W" or (not severity and _ERROR_WORDS.search(template)):
        return _UNKNOWN_WARNING
    return None


def complains(template: str) -> bool:
    """Whether a line tells of something that goes wrong; a warning without a word of failure does not."""
    fact = fact_of(template, block=False)
    return (
        fact is not None
        and not fact.again
        and (fact is not _UNKNOWN_WARNING or _ERROR_WORDS.search(template) is not None)
    )


def _facts_in(template: str) -> Iterator[Fact]:
    """Facts with a pattern that is found, in their order; only where a word of a pattern stands is it searched."""
    text = template.lower()
    for words, pattern, fact in _facts():
        for word in words:  # any() with a generator takes three times as long, for ten thousands of messages
            if word in text:
                if pattern.search(template):
                    yield fact
                break


@cache
def _facts() -> tuple[tuple[tuple[str, ...], re.Pattern[str], Fact], ...]:
    rules = tomllib.loads(package_files("core.rules").joinpath("facts.toml").read_text())
    return tuple((_words(rule["pattern"]), _any(rule["pattern"]), _fact(rule)) for rule in rules["fact"])


def _any(patterns: list[str]) -> re.Pattern[str]:
    # ASCII: else case is ignored in ways that lower() does not follow
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE | re.ASCII)


def _words(patterns: list[str]) -> tuple[str, ...]:
    """One of these stands, in lower case, wherever one of the patterns is found."""
    words = sorted({word_of(pattern) for pattern in patterns}, key=len)
    return tuple(word for at, word in enumerate(words) if not any(short in word for short in words[:at]))


# What a pattern holds besides plain characters: classes, escapes of one, repeats, and places.
_PIECE = re.compile(r"\[\^?\]?[^\]]*\]|\\[bBdDwWsS]|\\(.)|([?*]|\{[^}]*\})|([.+^$])|(.)", re.DOTALL)


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


def _fact(rule: dict[str, object]) -> Fact:
    stop = rule["role"] == "stop"
    return Fact(
        role=Role.ROOT if stop else Role(str(rule["role"])),
        blame=Blame(str(rule.get("blame", "nobody"))),
        kind=str(rule.get("kind", "")),
        strength=float(str(rule.get("strength", 0.0))),
        says=str(rule.get("says", "")),
        check=str(rule.get("check", "")),
        stop=stop,
        hardware=bool(rule.get("hardware", False)),
        again=bool(rule.get("again", False)),
        named=re.compile(str(rule["named"]), re.IGNORECASE) if "named" in rule else None,
        stage=Stage(str(rule.get("stage", Stage.UNKNOWN))),
    )
