"""What a question asks about, as a line of a log may hold it: words by their stems, numbers, names, Chinese pairs."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.ask.english import EVENT, JOB, NODE, NUMBER, THING
from bot.ask.question import UNITS, Question
from bot.ask.terms import alternatives, stem_of
from bot.ask.wanted_value import Wanted, moment_of, wanted
from bot.ask.word_lists import stop_words

MAX_CONCEPTS = 12  # of a question; chosen: longer ones tell a story, and the first words of it say what it is about
SHORT = 3  # letters of a stem that must stand alone in a line: "ost" is in "ost_write" and in no "host"
_KINDS = {EVENT, JOB, NODE, NUMBER, THING, "path"}
_WORD = re.compile(r"[^\W\d_]{2,40}")
_NAME = re.compile(r"(?<![\w./:-])(?=[\w./:-]{0,60}[0-9_/])[A-Za-z_/~][\w./:-]{1,80}\w")
_NUMBER = re.compile(r"(?<![A-Za-z0-9_.:-])[0-9]{1,12}(?:[.:][0-9]{1,9}){0,3}(?![A-Za-z0-9_])")
# A word and its number: "worker 13", "gpu #2", "节点1"
_COUNTED = re.compile(r"(?<![A-Za-z])([a-z]{2,20}|[\u4e00-\u9fff]{2})[ #:=_-]{0,2}([0-9]{1,9})(?![A-Za-z0-9_.:-])")
_CHINESE = re.compile(r"[\u4e00-\u9fff]{2,40}")
# What a word of a question means only beside another: "last line", "at the end"; no line is found by it
_ASKING = frozenset(
    map(stem_of, ("final", "end", "total", "many", "much", "long", "big", "high", "low", "value", "take"))
)


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing that a question speaks of.

    pattern: finds it in the small letters of a line. words: one of these stands in each such line. like: the same for
    words that mean the same; None where there are none. extra: it may stand nowhere, as a word of another language
    beside its English one; foreign: it is such a word. plain: an English word, which may be a translation. node, rank:
    whose lines hold it, whatever they say. literal: a name, a number or a quote, which a line holds as it is typed.
    """

    pattern: re.Pattern[bytes]
    words: tuple[bytes, ...]
    like: "Concept | None" = None
    extra: bool = False
    foreign: bool = False
    plain: bool = False
    node: str = ""
    rank: int = -1
    literal: bool = False


def concepts_of(question: Question, left_out: Collection[str] = ()) -> tuple[Concept, ...]:
    """What a question asks about, in the order of its words; names first.

    Args:
        left_out: words that only say how it is asked.
    """
    found: dict[str, Concept] = {}
    for node in question.nodes:
        short = node.split(".")[0].casefold()
        found[short] = _literal(short, node=node)
    for rank in question.ranks:
        pattern = rb"rank[\]\[ _:=#\"']{0,3}%d(?![0-9])" % rank
        found[f"rank {rank}"] = Concept(re.compile(pattern, re.IGNORECASE), (b"rank",), rank=rank)
    names = {name for node in question.nodes for name in (node.casefold(), node.split(".")[0].casefold())}
    found |= {key: replace(concept, literal=True) for key, concept in _named(question) if key not in names}
    for word in _words(question, left_out):
        found.setdefault(word, _word(word))
    for run in _CHINESE.findall(question.text):
        for at in range(len(run) - 1):
            found.setdefault(run[at : at + 2], replace(_literal(run[at : at + 2]), extra=True, foreign=True))
    for word in _foreign(question):
        found.setdefault(word, replace(_word(word), extra=True, foreign=True, plain=False))
    return tuple(found.values())[:MAX_CONCEPTS]


def _named(question: Question) -> Iterator[tuple[str, Concept]]:
    """What stands in the question as it stands in a log: quotes, names with a digit, counted things, numbers."""
    text = question.text.casefold()
    for name in (*(quote.casefold() for quote in question.quoted), *_NAME.findall(text)):
        if name.upper() not in question.ids and not _is_rank(name, question):
            yield name, _literal(name)
    rest = _NAME.sub(" ", text)
    for word, number in _COUNTED.findall(rest):
        if not (word.startswith("rank") and int(number) in question.ranks):
            yield f"{word} {number}", _counted(word, number)
    for number in _NUMBER.findall(rest):
        if not (number.isdigit() and int(number) in question.ranks):
            yield number, _number(number)


def _words(question: Question, left_out: Collection[str]) -> list[str]:
    """The stems of the plain words that say what it is about."""
    moment = frozenset(_WORD.findall(moment_of(question.text).casefold()))  # "before it went nan" only tells when
    stopped = stop_words() | frozenset(left_out) | moment
    named = set(re.findall(r"[a-z]{2,40}", " ".join((*question.nodes, *question.unknown)).casefold()))
    counted = {"times"} if Wanted.HOW_MANY in wanted(question) else set()
    words = [word for word in _WORD.findall(question.plain) if word not in stopped and word not in _KINDS]
    return [stem for word in words if (stem := stem_of(word)) not in _ASKING and word not in named | counted]


def _foreign(question: Question) -> list[str]:
    """Stems of the words as they were typed, where they were turned into others: German ones, short forms."""
    words = _WORD.findall(question.text.casefold())
    plain = set(question.plain.split())
    return [stem_of(word) for word in words if word not in plain and word not in stop_words() and len(word) > SHORT]


def _is_rank(name: str, question: Question) -> bool:
    return any(re.fullmatch(rf"rank[_-]?0{{0,4}}{rank}", name) for rank in question.ranks)


def _literal(name: str, *, node: str = "") -> Concept:
    data = name.encode()
    ends = rb"(?![0-9])" if name[-1:].isdigit() else rb""
    begins = rb"(?<![a-z0-9])" if name[:1].isascii() and name[:1].isalnum() else rb""
    return Concept(re.compile(begins + re.escape(data) + ends, re.IGNORECASE), (data,), node=node)


def unit_pattern(word: str, number: str) -> re.Pattern[bytes]:
    """What finds a counted unit in a line: "worker 13", "worker_013" and, by its first letter, "w13".

    Args:
        number: empty finds any, and has it as its first group.
    """
    digits = rb"0{0,6}" + (number.lstrip("0") or "0").encode() if number else rb"([0-9]{1,6})"
    data = re.escape(word.encode())
    head = rb"(?:" + data + rb"[^a-z0-9]{0,4}|(?<![a-z0-9])" + data[:1] + rb")"
    return re.compile(head + digits + rb"(?![0-9])", re.IGNORECASE)


def _counted(word: str, number: str) -> Concept:
    if UNITS.fullmatch(f"{word} {number}"):
        short = tuple(f"{word[0]}{'0' * zeros}{number.lstrip('0')}".encode() for zeros in range(4))
        return Concept(unit_pattern(word, number), (word.encode(), *short), extra=True)
    data = word.encode()
    pattern = re.escape(data) + rb"[^a-z0-9]{0,4}0{0,6}" + number.lstrip("0").encode() + rb"(?![0-9])"
    return Concept(re.compile(pattern, re.IGNORECASE), (data,), extra=True)


def _number(number: str) -> Concept:
    data = number.encode()
    if b":" in data:  # a time of day: "14:03" is all of that minute
        return Concept(re.compile(rb"(?<![0-9:])" + re.escape(data)), (data,))
    return Concept(
        re.compile(rb"(?<![0-9])(?<![0-9][.:,])0{0,6}" + re.escape(data) + rb"(?![0-9])(?![.:][0-9])"), (data,)
    )


def _word(stem: str) -> Concept:
    own = stem.removesuffix("s") if len(stem) == SHORT + 1 else stem  # "osts"
    others = sorted(alternatives(stem) - {stem})
    like = Concept(_any_of(others), tuple(text.encode() for text in others)) if others else None
    return Concept(_any_of([own]), (own.encode(),), like, plain=True)


def _any_of(stems: Sequence[str]) -> re.Pattern[bytes]:
    texts = [re.escape(text.encode()) + (rb"s?(?![a-z])" if len(text) <= SHORT else rb"") for text in stems]
    return re.compile(rb"(?<![a-z])(?:" + b"|".join(texts) + rb")", re.IGNORECASE)
