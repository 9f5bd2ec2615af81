"""A text as the words that carry what it claims, in their order, with what stands between them."""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from bot.note.mentions import digits, in_milliseconds, is_id
from bot.note.words import stem, words

_PIECE = re.compile(
    r"(?<!\w)-\d[\d.]*\b|[A-Za-z0-9](?:[\w.:/+-]*[A-Za-z0-9])?(?:['\u2019][a-z]{1,2}\b)?|[^\sA-Za-z0-9]"
)
_NOT = re.compile(r"(?i)n['\u2019]t\b|(?<=can)not\b")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_JOINED = re.compile(r"(?i)\b(ranks?|iterations?)(?=\d)")
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)(ms|s|min|h)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LEVELS = frozenset({"DEBUG", "INFO", "WARN", "WARNING", "ERROR", "FATAL", "CRITICAL"})
_NO_EDGE = frozenset("'\u2019`*")
_DIGIT = re.compile(r"\d")


class Kind(StrEnum):
    """What a word does in a sentence."""

    WORD = "word"
    TYPED = "typed"  # a name, a number, a signal, somebody who acts: what a preposition binds
    PREPOSITION = "preposition"
    NEGATION = "negation"
    LIMIT = "limit"  # or, if, only, at most, likely: what is weaker or stronger without it
    QUOTE = "quote"


class Edge(StrEnum):
    """What stands before a word."""

    NONE = ""
    PART = "part"  # a comma, "and": a part ends here
    STOP = "stop"  # other punctuation: nothing before it governs what follows
    UNDER = "under"  # "that", "which", "because": the part before governs what follows


@dataclass(frozen=True, slots=True)
class Token:
    """A word in its stem, a name, or a number. passive: "was killed". determined: "the", "its" stands before it."""

    text: str
    kind: Kind
    edge: Edge = Edge.NONE
    passive: bool = False
    determined: bool = False
    possessive: bool = False


@lru_cache(maxsize=4_000)
def tokens(text: str, names: frozenset[str]) -> tuple[Token, ...]:
    """The words that count; articles, auxiliaries, pronouns and ids of evidence do not."""
    plain = _THOUSANDS.sub("", _JOINED.sub(r"\1 ", _NOT.sub(" not", digits(text))))
    found: list[Token] = []
    edge, passive, determined = Edge.NONE, False, False
    lists = words().order
    pieces = _PIECE.findall(plain)
    for piece, behind in zip(pieces, [*pieces[1:], "."], strict=False):
        lower = piece.lower()
        ends = lower in lists.light - lists.determiners and not behind[-1].isalnum()  # "the others never did"
        own = re.sub(r"['\u2019]s?$", "", piece)
        if not piece[-1].isalnum():
            edge = edge if piece in _NO_EDGE or edge is Edge.STOP else Edge.PART if piece == "," else Edge.STOP
        elif lower in lists.under:
            edge = edge or Edge.UNDER
        elif lower in lists.joins or piece in _LEVELS:
            edge = edge or (Edge.STOP if piece in _LEVELS else Edge.PART)
        elif (lower in lists.light and not ends) or is_id(piece):
            passive = lower in lists.copulas or (passive and lower not in lists.determiners)
            determined = lower in lists.determiners or (determined and not passive)
        else:
            kind = _kind(own, lower, names)
            edge = edge or (Edge.PART if lower in lists.parting else Edge.NONE)
            done = passive and lower.endswith("ed")
            token = Token(_shape(own, lower, names), kind, edge, done, determined, own != piece)
            if token.text in names and found and found[-1].text == "node" and not edge:
                found[-1] = replace(token, edge=found[-1].edge)  # "node node-01"
            elif not _merged(found, token, lower):
                found.append(token)
            edge, determined = Edge.NONE, False
            passive = passive and kind is Kind.NEGATION
    return tuple(found)


def _merged(found: list[Token], token: Token, raw: str) -> bool:
    """Whether it is the unit of the number before it: "9 s", "9 seconds" and "9000ms" are one."""
    if not found or token.edge or not _NUMBER.fullmatch(found[-1].text):
        return False
    amount = in_milliseconds(found[-1].text, raw)
    if amount:
        last = found.pop()
        found.append(Token(amount, Kind.TYPED, last.edge, determined=last.determined))
    return bool(amount)


def _shape(own: str, lower: str, names: Collection[str]) -> str:
    if own in names:
        return own
    if own[:1].lower() + own[1:] in names:
        return own[:1].lower() + own[1:]
    if match := _AMOUNT.fullmatch(lower):
        return in_milliseconds(match[1], match[2])
    lists = words().order
    as_it_is = _DIGIT.search(own) or lower in lists.prepositions or lower in lists.limits or stem(lower) in lists.actors
    return lower if as_it_is else stem(lower)


def _kind(own: str, lower: str, names: Collection[str]) -> Kind:
    lists = words().order
    if lower.startswith("quoted-"):
        return Kind.QUOTE
    if words().negation.fullmatch(lower):
        return Kind.NEGATION
    if lower in lists.prepositions:
        return Kind.PREPOSITION
    if lower in lists.limits:
        return Kind.LIMIT
    if lower in lists.pronouns:
        return Kind.TYPED
    named = own in names or _DIGIT.search(own) or stem(lower) in lists.actors
    coded = any(map(str.isupper, own[1:])) or (own.isupper() and len(own) > 1)
    return Kind.TYPED if named or coded else Kind.WORD
