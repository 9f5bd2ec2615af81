"""What known messages mean: role, whom they blame, how strongly (rules/facts; docs/reference/facts.md)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from typing import Any

from core.failure_kinds import Kind, StopWord
from core.logs.telling_words import level
from core.model import Role, Stage
from core.phrases import BadRule, any_of, patterns_of, read_rules, refuse_unknown, rule_files, word_of, words_of
from core.system_messages import with_english

__all__ = ["Blame", "Fact", "complains", "fact_of", "in_frames", "read_fact", "word_of"]


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
    kind: str  # a core.failure_kinds.Kind
    strength: float
    says: str
    check: str
    stop: bool = False
    hardware: bool = False  # a part of the machine speaks, whatever the other machines say
    again: bool = False  # said by everybody when it starts; only to say it again is a sign
    known: bool = True  # False: nobody wrote this fact down, it was judged by level and words
    named: re.Pattern[str] | None = None
    stage: Stage = Stage.UNKNOWN  # where it happens, for a line that stands in no known stage
    ending: StopWord | None = None  # what it says of how processes are brought to an end

    @property
    def told_to_stop(self) -> bool:
        """The speaker got the order to stop, mostly SIGTERM."""
        return self.ending is StopWord.TOLD

    @property
    def asks_to_stop(self) -> bool:
        """The speaker asks other processes to stop, or kills them because they did not."""
        return self.ending in (StopWord.ASKS, StopWord.FORCES)

    @property
    def stops(self) -> bool:
        """It is how a job was stopped from outside, or what a launcher says when it is told to stop."""
        return self.stop or self.told_to_stop or self.asks_to_stop

    @property
    def forced(self) -> bool:
        """A process did not stop when it was asked to, and was killed for that."""
        return self.ending is StopWord.FORCES


_UNKNOWN_EXCEPTION = Fact(
    Role.ROOT,
    Blame.SELF,
    Kind.EXCEPTION,
    0.8,
    "the program raised an exception",
    "Read the traceback: the last frame of your own code is where to start.",
    known=False,
)
_UNKNOWN_ERROR = Fact(
    Role.ROOT, Blame.SELF, Kind.ERROR, 0.45, "a program logged an error", "Read the lines around it.", known=False
)
_UNKNOWN_WARNING = Fact(
    Role.ROOT, Blame.SELF, Kind.WARNING, 0.25, "a program logged a warning", "Read the lines around it.", known=False
)

_EXCEPTION = re.compile(
    r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Failure|Interrupt|Exit)\b|\b[A-Z]\w+(?:Error|Exception): "
)
_LEVEL_SET = re.compile(r"\b[A-Z_]+=[A-Z]+\b")  # "run with NCCL_DEBUG=INFO for details" is not said at INFO
_COMMAND_LINE = re.compile(r"(?:\s--?[a-zA-Z][\w-]+[ =][^-\s]\S*){3}")  # echoed, its options hold words like timeout
# A name and nothing but a number or a switch: a setting or a counter. Exit codes and the like are no <NUM> (core/logs).
_SETTING = re.compile(
    r"^(?!.*(?:Error|Exception)\b)[\w .()/\[\]-]{1,60}?\s?(?:[:=]|\.{3,}|(?<=timeout)) ?<NUM>\s?\w{0,7}[,;.]?$"
    r"|^(?!oomkilled|.*(?:Error|Exception)\b)[a-z][\w.-]*\s?(?:[:=]|\.{3,}) ?['\"]?"
    r"(?:true|false|none|null|yes|no|on|off|enabled|disabled)['\"]?,?$",
    re.IGNORECASE,
)
_MASK, _NO_WORD = re.compile(r"<[A-Z]+>"), re.compile(r"\W+")
_ERROR_WORDS = re.compile(
    r"\b(?:error|fatal|panic|abort(?:ed|ing)?|fail(?:ed|ure)?|cannot|unable to|crash(?:ed)?|killed|denied|refused"
    r"|corrupt\w*)\b",
    re.IGNORECASE,
)


# levels at which nobody complains, but kernels and switches report (L4: 13.6 % at INFO), and launchers what they end
_CALM = ("I", "D", "T")
_SAID_CALMLY = 0.8  # strength of what may be said so


def fact_of(template: str, *, block: bool) -> Fact | None:
    """The fact that a template stands for, or a guess from level and words; None when nothing points to a failure."""
    fact, is_echo = _fact_of(template)
    return _UNKNOWN_EXCEPTION if block and not is_echo and (fact is None or not fact.known) else fact


@lru_cache(maxsize=1 << 16)  # every step asks
def _fact_of(template: str) -> tuple[Fact | None, bool]:
    """The fact or guess of a message that is no exception, and whether it only echoes a setting or a command line."""
    if _SETTING.search(template) or _COMMAND_LINE.search(template):
        return None, True
    template = with_english(template)
    severity = level(_LEVEL_SET.sub("", template))
    for fact in _facts_in(template):
        if severity not in _CALM or fact.strength >= _SAID_CALMLY or fact.ending or fact.role is Role.BENIGN:
            return fact, False
    if _EXCEPTION.search(template):
        return _UNKNOWN_EXCEPTION, False
    if severity in "EFC" and severity:
        return _UNKNOWN_ERROR, False
    if severity == "W" or (not severity and _ERROR_WORDS.search(template)):
        return _UNKNOWN_WARNING, False
    return None, False


def telling_words(template: str) -> str:
    """The words by which a message's fact is found, in lower case and without values: "no space left".

    Of several places the last: a traceback ends with its exception. Empty where the message has no fact, or one that
    was judged by its level alone.
    """
    fact = _fact_of(template)[0]
    rule = next((rule for rule in _rules() if rule.fact is fact), None) if fact is not None and fact.known else None
    words = [found[0] for found in rule.pattern.finditer(with_english(template))] if rule is not None else []
    return _NO_WORD.sub(" ", _MASK.sub(" ", words[-1])).strip().lower() if words else ""


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
    for rule in _rules():
        for word in rule.words:  # any() with a generator takes three times as long, for ten thousands of messages
            if word in text:
                if rule.pattern.search(template):
                    yield rule.fact
                break


def in_frames(fact: Fact, frames: Iterable[str]) -> Fact:
    """The fact that an exception stands for when its traceback passes these frames: a more telling one, or the same.

    Args:
        fact: of the exception alone.
        frames: lines of the traceback, raw.
    """
    text = "\n".join(frames)
    telling = (rule for rule in _rules() if fact.kind in rule.raised_in and rule.raised_in[fact.kind].search(text))
    return next((rule.fact for rule in telling), fact)


class _Rule:
    """A fact and how it is found; its pattern is compiled when one of its words is first met."""

    def __init__(self, rule: Mapping[str, Any], where: str) -> None:
        self._patterns = patterns_of(rule, where)
        self.words = words_of(self._patterns)
        self.fact = read_fact(rule, where)
        raised: Mapping[str, str] = rule.get("raised_in", {})
        self.raised_in = {str(Kind(kind)): re.compile(frames) for kind, frames in raised.items()}

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return any_of(self._patterns)


@cache
def _rules() -> tuple[_Rule, ...]:
    return tuple(
        _Rule(rule, f"core/rules/{file}, fact {number}")
        for file in rule_files("facts")
        for number, rule in enumerate(read_rules(file)["fact"], start=1)
    )


_KEYS = frozenset(
    {"role", "blame", "kind", "strength", "says", "check", "hardware", "again", "named", "stage"}
    | {"ending", "raised_in", "said"}
)


def read_fact(rule: Mapping[str, Any], where: str) -> Fact:
    """The fact of a rule in a file; BadRule tells which word of it nobody knows."""
    refuse_unknown(rule, _KEYS, where)
    stop = rule["role"] == "stop"
    try:
        return Fact(
            role=Role.ROOT if stop else Role(rule["role"]),
            blame=Blame(rule.get("blame", Blame.NOBODY)),
            kind=Kind(rule.get("kind", Kind.NONE)),
            strength=float(rule.get("strength", 0.0)),
            says=rule.get("says", ""),
            check=rule.get("check", ""),
            stop=stop,
            hardware=rule.get("hardware", False),
            again=rule.get("again", False),
            named=re.compile(rule["named"], re.IGNORECASE) if "named" in rule else None,
            stage=Stage(rule.get("stage", Stage.UNKNOWN)),
            ending=StopWord(rule["ending"]) if "ending" in rule else None,
        )
    except ValueError as unknown:
        raise BadRule(f"{where}: {unknown}") from unknown
