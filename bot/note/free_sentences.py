"""The model's reading: its free sentences beside the claims, shown only in a block that is marked as a guess.

Nothing here tells whether a sentence is true. A sentence is dropped, each by itself, when it names what the evidence
does not hold: a node, a rank, a number, a time, a command or a link. What is left cannot send anybody to a wrong node.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from bot.note.claim import Claims
from bot.note.plan import MAX_READING, MAX_SENTENCE
from bot.note.quotes import presentable, quotable
from bot.text.harmless import harmless

_NUMBERS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90, "dozen": 12, "hundred": 100, "thousand": 1000, "million": 1_000_000, "zwei": 2, "drei": 3, "vier": 4,
    "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "zwölf": 12, "hundert": 100, "tausend": 1000,
}  # fmt: skip
_TENS = "|".join(word for word, value in _NUMBERS.items() if 20 <= value < 100)
_ONES = "|".join(word for word, value in _NUMBERS.items() if value < 10)
_COMPOUND = re.compile(rf"(?i)\b({_TENS})[- ](one|{_ONES})\b")
_SPELLED = re.compile(rf"(?i)\b({'|'.join(_NUMBERS)})\b")
_CLOCK = re.compile(r"(?<![\d:])\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?![\d:])")
_RANKS = re.compile(r"(?i)\branks?[\s#_-]*((?:\d{1,6}(?:\s*(?:,|and|or|to|&|-|\u2013)\s*)?)+)")
_STEPS = re.compile(r"(?i)\b(?:iterations?|iters?|steps?)[\s#]*(\d[\d,]*)")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w]|\.\d)")
_COUNTED = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)\s*(%|[^\W\d_]+)")
_SECONDS = {
    "ms": 0.001, "millisecond": 0.001, "milliseconds": 0.001, "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0,
    "seconds": 1.0, "sekunden": 1.0, "min": 60.0, "mins": 60.0, "minute": 60.0, "minutes": 60.0, "h": 3600.0,
    "hour": 3600.0, "hours": 3600.0, "minuten": 60.0, "stunden": 3600.0,
}  # fmt: skip
_COUNTABLE = re.compile(
    r"(?i)(node|rank|machine|host|gpu|server|process|worker|job|time|line|heartbeat|retr|attempt|error)"
)
_SAME = {"machine": "node", "host": "node", "server": "node"}
_TOKEN = re.compile(r"[\w./:@%+=#-]+")
_EDGES = ".,;:!?'\u2019-"
_HYPHENATED_NAME = re.compile(
    r"(?i)\b(?:nodes?|hosts?|machines?|servers?|workers?|pods?)\s+(?:named\s+|called\s+)?([a-z]+(?:[-_.][a-z]+)+)\b"
)
# Programs whose names are no English words; one that our checks or a pattern name may be named again.
_COMMAND = re.compile(
    r"(?i)(?<![\w-])(?:sudo|rm|scontrol|sacct|scancel|squeue|srun|sbatch|kubectl|systemctl|service|dmesg|ssh|scp|curl|wget"
    r"|nvidia-smi|dcgmi|ipmitool|ethtool|mlxlink|ibstat|chmod|chown|mkfs|dd|apt|apt-get|yum|pip|conda|bash|zsh|sh|python3?"
    r"|docker|podman|reboot|poweroff|umount|modprobe|insmod|rmmod|kill|killall|pkill|iptables|ip|ifconfig|fsck|nc|perl|git"
    r"|py-spy|gdb|strace|crontab|export)(?![\w-])"
)
_ENGLISH = frozenset({"service", "kill", "export", "ip", "reboot"})  # of these, words of sentences as well


@dataclass(frozen=True, eq=False)
class KnownNames:
    """What may be named: all that stands in the claims and in the evidence behind them."""

    text: str
    names: frozenset[str]

    @cached_property
    def tokens(self) -> frozenset[str]:
        """Every word with its marks, and its parts."""
        found = {token.strip(_EDGES).casefold() for token in _TOKEN.findall(self.text)}
        parts = {part for token in found for part in re.split(r"[/:=@#]+", token) if part}
        return frozenset(found | parts | {name.casefold() for name in self.names})

    @cached_property
    def ranks(self) -> frozenset[int]:
        """Every rank that is named."""
        return frozenset(_ranks(self.text))

    @cached_property
    def steps(self) -> frozenset[str]:
        """Every iteration that is named."""
        return frozenset(_plain(number) for number in _STEPS.findall(self.text))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Every number, whatever it counts."""
        return frozenset(_plain(number) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", self.text))

    @cached_property
    def counts(self) -> frozenset[tuple[str, str]]:
        """Numbers with what they count; of "3 of 4 other nodes" both."""
        found = set()
        pattern = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)(?:\s+of\s+(\d[\d,]*))?((?:\s*[^\W\d_]+){1,3})")
        for entry, whole, words in pattern.findall(_in_digits(self.text)):
            for word in words.split():
                found |= {_amount(number, word) for number in (entry, whole) if number}
        return frozenset(found)

    @cached_property
    def clocks(self) -> frozenset[str]:
        """Every time of day."""
        return frozenset(_CLOCK.findall(self.text))


def kept(sentences: Sequence[str], claims: Claims) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The sentences that name nothing else than the evidence and do not repeat it; why each other one was dropped."""
    if not sentences:  # of thousands of nodes the names alone take seconds
        return (), ()
    evidence = KnownNames(claims.text, claims.names())
    texts: list[str] = []
    dropped: list[str] = []
    for sentence in sentences[:MAX_READING]:
        text = " ".join(sentence.split())
        if reason := next(_strange(text, evidence), ""):
            dropped.append(reason)
        elif text in claims.text:
            dropped.append("it only repeats a claim, which is no guess")
        elif text not in texts:
            texts.append(text)
    return tuple(texts), tuple(dropped)


def _strange(text: str, evidence: KnownNames) -> Iterator[str]:
    """What a sentence names that the evidence does not hold."""
    if not 0 < len(text) <= MAX_SENTENCE or harmless(text) != text:
        yield "it is empty, too long or does not print"
        return
    if any(character.isalpha() and not _latin(character) for character in text):
        yield "its names and numbers are in letters that nothing compares"
    if not presentable(text) or not quotable(text):
        yield "it holds markup, a link, a mention, a command or an order"
    if any(match[0].casefold() not in evidence.tokens for match in _COMMAND.finditer(text) if _is_command(match[0])):
        yield "it names a command that no check names"
    yield from _strange_names(text, evidence)
    yield from _strange_numbers(_in_digits(text), evidence)


def _strange_names(text: str, evidence: KnownNames) -> Iterator[str]:
    for token in _TOKEN.findall(text):
        word = token.strip(_EDGES).removesuffix("'s")
        odd = any(character.isdigit() for character in word) or re.search(r"\w[_/=@]\w|^--?\w|^/", token)
        counted = re.fullmatch(r"[\d.,:]+(?:%|ms|s|h|min|x|st|nd|rd|th)?(?:[-\u2013]\d+)?", word)
        if odd and not counted and not _RANK_TOKEN.fullmatch(word) and word.casefold() not in evidence.tokens:
            yield f"{word[:40]} is not in the evidence"
    for name in _HYPHENATED_NAME.findall(text):
        if name.casefold() not in evidence.tokens:
            yield f"no node {name[:40]} is known"


_RANK_TOKEN = re.compile(r"(?i)ranks?[-_]?\d+")


def _strange_numbers(text: str, evidence: KnownNames) -> Iterator[str]:
    for moment in _CLOCK.findall(text):
        if not any(known.startswith(moment) for known in evidence.clocks):
            yield f"nothing happened at {moment}"
    text = _CLOCK.sub(" ", text)
    yield from (f"no rank {rank} is named" for rank in _ranks(text) if rank not in evidence.ranks)
    steps = (number for number in _STEPS.findall(text) if _plain(number) not in evidence.steps)
    yield from (f"no iteration {number} is named" for number in steps)
    yield from _strange_amounts(_STEPS.sub(" ", _RANKS.sub(" ", text)), evidence)


def _strange_amounts(text: str, evidence: KnownNames) -> Iterator[str]:
    for number, word in _COUNTED.findall(text):
        if _is_counted(word) and _amount(number, word) not in evidence.counts:
            yield f"{number} {word[:20]} is not in the evidence"
    for number in _NUMBER.findall(_COUNTED.sub(lambda m: " " if _is_counted(m[2]) else f" {m[1]} ", text)):
        if _plain(number) not in evidence.numbers:
            yield f"{number} is not in the evidence"


def _is_counted(word: str) -> bool:
    return word.casefold() in _SECONDS or bool(_COUNTABLE.match(word))


def _amount(number: str, word: str) -> tuple[str, str]:
    """A number with its unit or its noun, so that 25000ms and 25 seconds are one."""
    factor = _SECONDS.get(word.casefold())
    if factor is not None:
        return f"{float(number.replace(',', '')) * factor:g}", "s"
    match = _COUNTABLE.match(word)
    noun = match[1].casefold() if match else word.casefold()
    return _plain(number), _SAME.get(noun, noun)


def _is_command(word: str) -> bool:
    """Whether a word can only be a command."""
    return word.casefold() not in _ENGLISH


def _ranks(text: str) -> Iterator[int]:
    for numbers in _RANKS.findall(text):
        for first, last in re.findall(r"(\d+)(?:\s*(?:-|\u2013|to)\s*(\d+))?", numbers):
            ends = int(first), int(last or first)
            yield from range(ends[0], min(ends[1], ends[0] + 10_000) + 1) if ends[1] >= ends[0] else ends


def _in_digits(text: str) -> str:
    """Numbers in words as digits: "seven" is 7, "twenty-one" 21."""
    text = _COMPOUND.sub(lambda m: str(_NUMBERS[m[1].lower()] + _NUMBERS.get(m[2].lower(), 1)), text)
    return _SPELLED.sub(lambda m: str(_NUMBERS[m[1].lower()]), text)


def _plain(number: str) -> str:
    """A number without separators and without zeros that say nothing."""
    return f"{float(number.replace(',', '')):g}" if "." in number else number.replace(",", "").lstrip("0") or "0"


def _latin(character: str) -> bool:
    return unicodedata.name(character, "").startswith(("LATIN", "GREEK", "MICRO"))
