"""The claims and lines of an item as passages: their words, who speaks, and what the item says of when and where."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from bot.note.evidence import Item
from bot.note.evidence import Kind as ItemKind
from bot.note.tokens import Edge, Kind, Token, tokens
from bot.note.words import stem
from bot.wording import moment

_CLAIM_ENDS = re.compile(r"(?<=[.!?])\s+(?=[A-Z\d])")
_PIECES = re.compile(r"(?<=[.!?;])\s+")
_QUOTE = re.compile(
    r"(?:(?P<voice>[\w.-]+) (?:logged|says|said|reports|reported)(?: of [\w.-]+)?:? )?"
    r"\u201c(?P<quote>[^\u201d]*)\u201d"
)
_RANK = re.compile(r"\[?\brank\s?(\d+)\b", re.IGNORECASE)
_PRONOUN = re.compile(r"\b[Ii]ts?\b")
_ACTS = re.compile(r"(?i)\b(?:ranks?|controller|scheduler|peers?|torchrun|(?:the|a) (?:task|process|daemon))\b")
_NOBODY_ELSE = re.compile(
    r"(?i)\b(?:others?|peers?|controller|scheduler|successful|jobs|nodes|ranks?|theirs|them|launcher|torchrun)\b"
)


@dataclass(frozen=True)
class Passage:
    """One claim or one line: its words, who speaks, and what its item says of when and where."""

    text: str
    held: tuple[Token, ...]
    line: bool
    nodes: frozenset[str] = frozenset()  # "on node-01" may be added: it is about this node alone
    ranks: frozenset[str] = frozenset()
    voices: frozenset[str] = frozenset()  # who logged it
    iterations: frozenset[str] = frozenset()
    clock: str = ""
    stage: str = ""
    quotes: tuple[tuple[str, frozenset[str]], ...] = ()  # what "this" of "node-01 logged this" stands for, and whose

    @cached_property
    def segments(self) -> tuple[int, ...]:
        """Which part each word belongs to."""
        number, found = 0, []
        for token in self.held:
            number += token.edge is not Edge.NONE
            found.append(number)
        return tuple(found)

    def denied(self, place: int, *, upto: int | None = None) -> bool:
        """Whether there is a "not" in the part of a word, or in what of it stands before ``upto``."""
        own = self.segments[place]
        inside = (at for at, segment in enumerate(self.segments) if segment == own and (upto is None or at < upto))
        return any(self.held[at].kind is Kind.NEGATION for at in inside)


def passages(item: Item, names: frozenset[str], *, trusted: bool) -> tuple[Passage, ...]:
    """The claims of an item sentence by sentence, what they quote, and its lines."""
    found = [*_claims(item, names), *(() if trusted else (*_quotes(item, names), *_lines(item, names)))]
    return tuple(
        replace(
            passage,
            iterations=frozenset(map(str, item.iterations)) if item.kind is ItemKind.EVENT else frozenset(),
            clock=f"{moment(item.clock):%H:%M:%S.%f}" if item.clock is not None and item.count == 1 else "",
            stage=stem(item.stage.split()[0]) if item.stage else "",
        )
        for passage in found
    )


def _claims(item: Item, names: frozenset[str]) -> Iterator[Passage]:
    """Whole claims, their sentences, and the parts of these."""
    sole = _sole(item)
    whole = [part for claim in item.claims for part in (claim, *_CLAIM_ENDS.split(claim), *_PIECES.split(claim))]
    for text in dict.fromkeys(whole):
        for form in resolved(text, names):
            held = tokens(form, names)
            own = {token.text for token in held if token.text in names} or sole
            alone = frozenset(own) if len(own) == 1 and not _NOBODY_ELSE.search(form) else frozenset[str]()
            quotes = tuple(_spoken(item, names)) if " logged this" in form else ()
            yield Passage(form, held, line=False, nodes=alone, quotes=quotes)


def _quotes(item: Item, names: frozenset[str]) -> Iterator[Passage]:
    """What claims quote, as lines of whom they quote."""
    for claim in item.claims:
        for match in _QUOTE.finditer(claim):
            voice = frozenset({match["voice"]} if match["voice"] else ())
            yield Passage(match["quote"], tokens(match["quote"], names), line=True, nodes=voice & names, voices=voice)


def _lines(item: Item, names: frozenset[str]) -> Iterator[Passage]:
    for text, place in zip(item.lines, item.places, strict=False):
        held = tokens(text, names)
        voices = _writers(place, names) or _sole(item)
        file = re.sub(r"\.log.*$", "", place.split(":")[0].rpartition("/")[2])
        strangers = {token.text for token in held if token.text in names} - voices
        yield Passage(
            text,
            held,
            line=True,
            nodes=frozenset() if strangers else voices,
            ranks=frozenset(_RANK.findall(text)[:1]),
            voices=voices | {file},
        )


def _sole(item: Item) -> frozenset[str]:
    """The node of an item that has one."""
    return frozenset(item.nodes) if len(item.nodes) == 1 else frozenset()


def _spoken(item: Item, names: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    for text, place in zip(item.lines, item.places, strict=False):
        yield " ".join(text.split()), _writers(place, names) or frozenset(item.nodes)


def _writers(place: str, names: frozenset[str]) -> frozenset[str]:
    """The nodes that the place of a line names."""
    return frozenset(name for name in names if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", place))


def resolved(text: str, names: frozenset[str]) -> Iterator[str]:
    """The text, and with the only node that it names instead of "it"."""
    yield text
    own = {token.text for token in tokens(text, names) if token.text in names}
    if len(own) == 1 and not _ACTS.search(text):
        (node,) = own
        yield _PRONOUN.sub(lambda match: f"{node}'s" if match[0].lower() == "its" else node, text)
