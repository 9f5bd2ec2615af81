"""Ways to make a lie of a true claim: its words, put together so that they mean another thing."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from bot.note.evidence import EvidenceList, Item, Kind

_PIECES = re.compile(r"(?<=[.;!?])\s+")
_HEAD = re.compile(r"^.*?(?:ERROR|WARNING|INFO)\s+|^\S*\d\d:\d\d:\d\d\S*\s+|^\[rank\d+\]:\s+")
_NAMED = re.compile(
    r"\b(?:[\w]+-\d\d(?:-\d\d)?|[Rr]ank \d[\d,]*|iteration \d[\d,]*|SIG[A-Z]+|[A-Z]\w+Error|Xid \d+|"
    r"\d[\d,.]*(?: ?m?s\b)?|the controller|the scheduler|controller|scheduler|torchrun|(?:its|a|their) peers?|peers|"
    r"the other \d[\d,]* nodes|other nodes|the others|\d+ successful jobs?|ranks|nodes|the task|task)\b"
)
_BINDS = r"after|before|by|from|to|of|on|within|for|in|at|with"
_NOT = re.compile(r"\b(?:not|never|no|nobody|nothing|without)\b ?", re.IGNORECASE)
_DOING = re.compile(r"\b([a-z]{3,}(?:ing|ed)) ((?:\w[\w.-]* ?){1,3})")
OPPOSITES = {
    "after": "before", "before": "after", "to": "from", "from": "to", "with": "without", "without": "with", "within":
    "after", "down": "up", "up": "down", "lost": "found", "failed": "succeeded", "first": "last", "last": "first",
    "closed": "opened", "ended": "began", "behind": "ahead of", "rose": "fell", "never": "always", "all": "none of",
    "every": "no", "other": "same", "stopped": "started", "killed": "started", "silent": "on", "refused": "accepted",
    "during": "before", "on": "before", "once": "always", "complained": "ended", "waited": "worked", "of": "from",
}  # fmt: skip


@dataclass(frozen=True)
class Piece:
    """A claim's part, or a log line without its clock; and its item."""

    text: str
    item: Item
    line: bool = False
    node: str = ""


Maker = Callable[[Random, Piece, tuple[Piece, ...], tuple[str, ...]], Iterator[tuple[str, tuple[str, ...]]]]


def pieces_of(evidence: EvidenceList) -> Iterator[Piece]:
    """The parts of all claims, and the lines."""
    for item in evidence.items:
        if item.kind is Kind.JOB:
            continue
        for claim in item.claims:
            yield from (Piece(part, item) for part in _PIECES.split(claim) if len(part) > 12)
        for line, place in zip(item.lines, item.places, strict=False):
            node = next((name for name in evidence.names if f"/{name}/" in place), "")
            yield Piece(_HEAD.sub("", line)[:200], item, line=True, node=node)


def _named(text: str) -> list[re.Match[str]]:
    return list(_NAMED.finditer(text))


def _exchanged(text: str, one: re.Match[str], other: re.Match[str]) -> str:
    return f"{text[: one.start()]}{other[0]}{text[one.end() : other.start()]}{one[0]}{text[other.end() :]}"


def _lead(piece: Piece) -> list[str]:
    """The ways in which a line is told."""
    return ["", f"{piece.node} logged that "] if piece.line and piece.node else [""]


def _swap(
    _: Random, piece: Piece, __: tuple[Piece, ...], ___: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Two named things of a claim change places."""
    found = _named(piece.text)
    for place, one in enumerate(found):
        for other in found[place + 1 : place + 4]:
            between = piece.text[one.end() : other.start()]
            if one[0].casefold() != other[0].casefold() and not re.fullmatch(r"\W*(?:and )?", between):
                yield from ((lead + _exchanged(piece.text, one, other), (piece.item.id,)) for lead in _lead(piece))


def _around(
    _: Random, piece: Piece, __: tuple[Piece, ...], ___: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What stands on both sides of a preposition changes places."""
    for bind in re.finditer(rf"\b(?:{_BINDS})\b", piece.text):
        left = [one for one in _named(piece.text) if one.end() < bind.start()]
        right = [one for one in _named(piece.text) if one.start() > bind.end()]
        if left and right and left[-1][0].casefold() != right[0][0].casefold():
            yield _exchanged(piece.text, left[-1], right[0]), (piece.item.id,)


def _another(
    dice: Random, piece: Piece, pieces: tuple[Piece, ...], names: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A named thing becomes another one of its sort, from another claim."""
    for one in _named(piece.text):
        sort = _sort(one[0], names)
        others = {two[0] for part in pieces for two in _named(part.text) if _sort(two[0], names) == sort} | {
            name for name in names[:4] if sort == "node"
        }
        others = {other for other in others if other.casefold() != one[0].casefold() and "peer" not in other + one[0]}
        for other in sorted(others)[:40] and dice.sample(sorted(others), min(2, len(others))):
            yield piece.text[: one.start()] + other + piece.text[one.end() :], (piece.item.id,)


def _sort(name: str, names: tuple[str, ...]) -> str:
    if name in names:
        return "node"
    if name.startswith("SIG"):
        return "signal"
    if name.endswith("Error"):
        return "exception"
    match = re.match(r"(?i)rank|iteration|xid|\d", name)
    return ("number" if match[0].isdigit() else match[0].lower()) if match else "actor"


def _denied(
    dice: Random, piece: Piece, _: tuple[Piece, ...], __: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A "not" is left out, or put in."""
    for lead in _lead(piece):
        for match in _NOT.finditer(piece.text):
            yield lead + piece.text[: match.start()] + piece.text[match.end() :], (piece.item.id,)
        gaps = [match.start() for match in re.finditer(r"(?<=[a-z\d]) (?=[a-z])", piece.text)]
        for gap in dice.sample(gaps, min(3, len(gaps))):
            word = dice.choice(("never", "not", "no"))
            yield f"{lead}{piece.text[:gap]} {word}{piece.text[gap:]}", (piece.item.id,)


def _opposite(
    _: Random, piece: Piece, __: tuple[Piece, ...], ___: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A verb or a preposition becomes its opposite."""
    for lead in _lead(piece):
        for word, instead in OPPOSITES.items():
            for match in re.finditer(rf"\b{word}\b", piece.text):
                yield lead + piece.text[: match.start()] + instead + piece.text[match.end() :], (piece.item.id,)


def _spliced(
    dice: Random, piece: Piece, pieces: tuple[Piece, ...], _: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The head of one claim goes on with the tail of another."""
    others = [other for other in pieces if other.item is not piece.item and other.item.kind is not Kind.CHECK]
    heads = [match.start() for match in re.finditer(r"(?<=\w\w) (?=\w)", piece.text)][1:]
    for other in dice.sample(others, min(4, len(others))):
        tails = [match.end() for match in re.finditer(r"(?<=\w) (?=\w)", other.text)]
        if heads and tails:
            head, tail = piece.text[: dice.choice(heads)], other.text[dice.choice(tails) :]
            if re.search(r"(?:[,;:.]| and| but)$", head) or re.match(r"(?:and|but)\b", tail):
                continue  # both may be true by themselves
            yield f"{head} {tail}", (piece.item.id, other.item.id)


def _joined(
    dice: Random, piece: Piece, pieces: tuple[Piece, ...], _: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Two whole claims of which one explains or follows the other, or leans on it."""
    others = [
        other
        for other in pieces
        if other.item is not piece.item and other.item.kind is not Kind.CHECK and not other.line
    ]
    for other in dice.sample(others, min(3, len(others))):
        left, right = piece.text.rstrip(".;"), other.text.rstrip(".;")
        joint = dice.choice((" because ", ", so ", " after ", " until ", ", which caused that ", ", and therefore "))
        yield f"{left}{joint}{right[:1].lower()}{right[1:]}", (piece.item.id, other.item.id)
    for other in others:
        if not re.search(r"\b(?:did(?! not)|its|theirs|they|the others?)\b", other.text):
            continue
        right = other.text.rstrip(".;")
        yield f"{piece.text.rstrip('.;')}; {right[:1].lower()}{right[1:]}", (piece.item.id, other.item.id)


def _attributed(
    dice: Random, piece: Piece, _: tuple[Piece, ...], names: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A line of one node is another one's."""
    others = [name for name in names if name != piece.node and name not in piece.text]
    if not piece.line or not others:
        return
    words = piece.text.split()
    for other in dice.sample(others, min(2, len(others))):
        quote = " ".join(words[: dice.randint(3, 8)]).strip("\u2026")
        theirs = zip(piece.item.lines, piece.item.places, strict=False)
        if any(quote in line and f"/{other}/" in place for line, place in theirs):
            continue
        yield f"{other} logged \u201c{quote}\u201d", (piece.item.id,)
        yield f"{other} logged that {piece.text}", (piece.item.id,)
        yield f"The log of {other} shows \u201c{quote}\u201d", (piece.item.id,)
        yield f"{piece.text} on {other}", (piece.item.id,)


def _acting(
    dice: Random, piece: Piece, _: tuple[Piece, ...], names: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Somebody does what somebody else did, or what was done to it."""
    actors = [*sorted(piece.item.nodes)[:2], *names[:2], "the task", "rank 3", "its peers", "the job"]
    for match in _DOING.finditer(piece.text):
        verb, what = match[1], match[2].strip()
        past = re.sub(r"ing$", "ed", verb).replace("sended", "sent")
        for actor in dice.sample(sorted(set(actors)), 3):
            if actor not in what and not piece.text[: match.start()].rstrip().endswith(actor):
                yield f"{actor} {past} {what}", (piece.item.id,)
                yield f"{what} {past} {actor}", (piece.item.id,)
                yield f"{actor} was {past}", (piece.item.id,)
                yield f"{what.replace('it', actor)} was {past} by {actor}", (piece.item.id,)


def _cut_short(
    _: Random, piece: Piece, __: tuple[Piece, ...], ___: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A claim ends or begins where what is left says more, or a preposition binds another thing."""
    text = piece.text
    for lead in _lead(piece):
        for no in re.finditer(r"\b(?:not|never|No|no)\b", text):
            for bind in re.finditer(r" (?:within|after|in|from|against|on|of|to|at)\b", text):
                if no.end() < bind.start() and not re.search("[,;:.]", text[no.end() : bind.start()]):
                    yield lead + text[: bind.start()], (piece.item.id,)
        for limit in re.finditer(r" (?:at most|that any|or |so far|but )", text):
            yield lead + text[: limit.start()], (piece.item.id,)
        for begin in re.finditer(r"\b(?:not|never|no|nobody|No|\d+ of|could not|stopped|or) ", text):
            yield lead + text[begin.end() :], (piece.item.id,)
        for bind in re.finditer(rf"\b(?:{_BINDS}) ", text):
            later = [one for one in _named(text) if one.start() > bind.end() and text[bind.end() : one.start()].strip()]
            for one in later[:3]:
                short = text[: bind.end()] + text[one.start() :]
                if not re.fullmatch(r"(?:the|a|an|its|their|any)", text[bind.end() : one.start()].strip()):
                    yield lead + short, (piece.item.id,)
                    yield lead + text[: bind.end()] + one[0], (piece.item.id,)


KINDS: dict[str, Maker] = {
    "two things change places": _swap,
    "swapped around a preposition": _around,
    "another thing of its sort": _another,
    "a not dropped or put in": _denied,
    "the opposite word": _opposite,
    "head and tail of two claims": _spliced,
    "two claims joined": _joined,
    "another node's line": _attributed,
    "somebody else does it": _acting,
    "cut short": _cut_short,
}
