"""What kind of value a question wants, and whether an answer holds one: "when" wants a clock, "who" a name."""

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import cache

from bot.ask.question import Question
from bot.ask.subject import Subject
from bot.ask.word_lists import word_lists


class Wanted(StrEnum):
    """The kind of value."""

    WHEN = "when"  # a time of day
    HOW_LONG = "how long"
    HOW_MANY = "how many"
    WHO = "who"  # a node or a rank
    FILE = "which file"
    WHAT_NAME = "what name"  # of a setting, an argument, a module
    PROCESS = "which process"  # its number


_ASKS = {
    Wanted.HOW_LONG: re.compile(
        r"\bhow long\b|\bhow much (?:longer|(?:more )?time)\b|\bhow many (?:seconds|minutes|hours)\b"
        r"|\bt(?:ake|akes|ook) (?:so |very |too )?long\b"
    ),
    Wanted.WHEN: re.compile(
        r"\bwhen (?:did|was|were|has|had|is|does|exactly)\b|\bwhat time\b|\bsince when\b|\bwhen$|\band when\b"
    ),
    Wanted.HOW_MANY: re.compile(r"\bhow (?:many|much|big|large|high|far|often)\b|\bwhat (?:number|value)\b"),
    Wanted.PROCESS: re.compile(r"\bpids?\b|\bprocess (?:id|number)\b"),
    Wanted.FILE: re.compile(
        r"\b(?:which|what|whose|name of(?: the)?|the name)\s(?:\w{1,20}\s){0,2}"
        r"(?:file|path|shard|folder|director\w{0,3}|dataset)s?\b"
    ),
    Wanted.WHAT_NAME: re.compile(
        r"\b(?:which|what|name of(?: the)?|the name)\s(?:\w{1,20}\s){0,2}"
        r"(?:module|package|argument|arg|flag|key|setting|option|variable|param\w{0,5})s?\b"
    ),
    Wanted.WHO: re.compile(
        r"\b(?:who(?:.?s)?|whose|whom)\b|\b(?:which|what|whose)\s(?:\w{1,20}\s){0,2}"
        r"(?:ranks?|nodes?|hosts?|machines?|box|boxes|servers?|workers?|pods?|process\w{0,2}|gpus?|stages?)\b"
    ),
}
# The place of a quoted line, which holds numbers and names of its own
_PLACE = re.compile(r" \([^()]{1,200}:[0-9]{1,9}\)$")
_HOLDS = {
    Wanted.PROCESS: re.compile(r"\bpid\W{0,2}[0-9]|\bprocess [0-9]", re.IGNORECASE),
    Wanted.WHEN: re.compile(r"\b[0-2]?[0-9]:[0-5][0-9]|\b[Ff]rom iteration [0-9]"),
    Wanted.HOW_LONG: re.compile(r"\b[0-9][0-9.,]{0,12} ?(?:[mun\u00b5]?s|sec|seconds?|min|minutes?|h|hours?|days?)\b"),
    Wanted.HOW_MANY: re.compile(
        r"(?<![A-Z0-9:.])[0-9][0-9.,]{0,15}(?![0-9]?:[0-9])|\b(?:once|none|no|all)\b", re.IGNORECASE
    ),
    Wanted.FILE: re.compile(
        r"(?<![\w./])/[\w.\[\]-]{1,60}/(?![\w./\[\]-]{0,200}\.(?:py|so|cpp|cc|cu|h)\b)[\w.\[]"
        r"|\b[\w-]{1,60}\.(?:jsonl?|parquet|tar|bin|idx|npy|txt|csv|h5|pt|ya?ml)\b"
    ),
    Wanted.WHAT_NAME: re.compile(r"--[a-z]|[\"'“][\w.-]{2,60}[\"'”]|\b\w{1,40}_\w{1,40}\b"),
}
# Chats leave the verb out: "network broken?", "so gpu7 died?"
_YES_NO = re.compile(
    r"(?:^|[,;:?.!-] |\b(?:so|and|but|or|then) )"
    r"(?:is|are|was|were|did|do|does|can|could|should|would|will|has|have|had)\b"
    r"|\b(?:right|correct|true|or not|yes or no)\??$"
    r"|^(?!(?:where|which|what|who|why|how|when)\b).{0,200}\b(?:broken|dead|down|faulty|guilty|flaky|full|stuck)$|\bso\b.{1,40}\b(?:died|crashed|failed)$"
)
_DATA = re.compile(
    r"\b(?:which|what)\s(?:\w{1,20}\s){0,2}(?:data|image|input|audio|video|text|parquet|training|sample)\s?files?\b"
    r"|\b(?:which|what)\s(?:shard|dataset|sample)s?\b"
)


# A clause that only tells the moment: "how much was free when it blew up"
MOMENT = re.compile(
    r"^(.{0,60}\b(?:what|which|how (?:much|many|big|large|high|low|hot|full|far|often|fast)"
    r"|wie ?viel\w{0,2}|welche\w{0,2}|wie (?:hoch|viel|voll|heiß))\b"
    r".{6,120}?) (?:(?:right|just|shortly|kurz) )?"
    r"(?:when|while|once|before|after|until|bevor|nachdem|als|bis) (?!.{0,12}[0-9]).{2,80}$",
    re.IGNORECASE,
)


_TERSE_MOMENT = re.compile(  # "loss before it died"
    r"^((?:[\w/%-]{1,30} ){0,3}[\w/%-]{1,30}) (?:(?:right|just|shortly) )?(?:before|when|until|after) "
    r"(?:it|the job|that|this|we|everything)\b.{2,40}$",
    re.IGNORECASE,
)


def moment_of(text: str) -> str:
    """The clause of a question that only tells the moment; empty where there is none."""
    match = MOMENT.match(text) or _TERSE_MOMENT.match(text)
    return text[match.end(1) :] if match else ""


# "what learning rate was it running with", "what was the learning rate": the noun that an answer has to speak of
_HEAD = re.compile(
    r"\b(?:which|what) ((?!(?:is|are|was|were|did|does|do|has|have|had|the|a|an|it|we"
    r"|else|about|of|to|should|can|could|would|will|happened)\b)\w{2,30}"
    r"(?: \w{2,30}){0,2}?)"
    r"(?: (?:is|are|was|were|did|does|do|has|have|had|will|can|could|should|of|at|on|in|for|from|during|it|we)\b|$)"
    r"|\b(?:what is|what was|what are|what were|what's) (?:the|our|my) "
    r"(\w{2,30}(?: \w{2,30}){0,2}?)(?: (?:of|at|on|in|for|from|during|it|we|used|here)\b|$)"
)


def head_of(question: Question) -> tuple[str, ...]:
    """The words of the noun behind "what" or "which"; none where it has none."""
    match = _HEAD.search(question.asked.plain)
    return tuple((match[1] or match[2]).split()) if match else ()


def asks(question: Question, way: str) -> bool:
    """Whether a question is put in a way that words.toml knows, ``[ways]``."""
    return way_of(way).search(f"{question.text.casefold()}\n{question.plain}".replace("\u2019", "'")) is not None


def way_of(way: str) -> re.Pattern[str]:
    """The expression of a way of asking."""
    return _ways()[way]


@cache
def _ways() -> dict[str, re.Pattern[str]]:
    ways = word_lists("words")["ways"]
    return {name: re.compile(way) for name, way in ways.items()}


def asks_if_cause(question: Question) -> bool:
    """Whether it asks if a message, quoted or named by its words, is what failed."""
    if question.ids or not asks(question, "is_it"):
        return False
    return bool(question.quoted) or (asks(question, "blames") and asks(question, "messages"))


def wanted(question: Question) -> tuple[Wanted, ...]:
    """The kinds of value that a question asks for, in the order of their words; often none."""
    plain = question.asked.plain
    found = [(match.start(), kind) for kind, asks in _ASKS.items() if (match := asks.search(plain))]
    return tuple(kind for _, kind in sorted(found))


def wants_data(question: Question) -> bool:
    """Whether it asks for a file of data by name."""
    return _DATA.search(f"{question.text.casefold()}\n{question.plain}") is not None


def yes_or_no(question: Question) -> bool:
    """Whether a yes, a no or "unknown" would answer it."""
    texts = (question.asked.plain, question.asked.text.casefold())
    return not wanted(question) and any(_YES_NO.search(text.strip("?!. ")) for text in texts)


def holds(subject: Subject, kind: Wanted, lines: Sequence[str]) -> bool:
    """Whether lines of an answer hold a value of that kind."""
    text = "\n".join(_PLACE.sub("", line) for line in lines)
    if kind is not Wanted.WHO:
        return _HOLDS[kind].search(text) is not None
    return re.search(r"\branks? [0-9]", text, re.IGNORECASE) is not None or any(
        node in text for node in subject.parsed.nodes
    )
