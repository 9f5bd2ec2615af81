"""A sentence as its parts: quotes, and clauses that each say one thing."""

import re
from dataclasses import dataclass
from itertools import count

QUOTED = "quoted-"  # and a number: the word that stands for a quote
_QUOTE = re.compile(
    r"\u201c([^\u201d]*)\u201d|\"([^\"]*)\"|`([^`]*)`|\u2018([^\u2019]*)\u2019|(?<![\w\u2019])'([^']+)'(?!\w)"
)
_MARKED = re.compile(rf"(?<![\w-]){QUOTED}\d+(?![\w-])")
_HALF_QUOTE = re.compile(r"[\u201c\u201d\"`\u00ab\u00bb\u201e]")
_CITES = re.compile(r"\s*[\[(]\s*([EINPCDJL]\d{1,4}(?:\s*,\s*[EINPCDJL]\d{1,4})*)\s*[\])](?=\s*[.!?]?\s*$)")
_SPLIT = re.compile(
    r"(?<=[.!?])\s+(?=[A-Z\d])|\s*;\s+|\s+\u2013\s+|\s+-\s+|,\s+(?:(?:and|but|while|so|then|which|who|because)\s+)?"
    r"|\s+(?:while|whereas|because|but|although)\s+"
)
_AND = re.compile(r"\s+and\s+")
_VERB = re.compile(
    r"(?i)\b(?:is|are|was|were|had|has|have|did|does|logged|lost|went|fail(?:ed|s)?|stopped|waited|waits?|timed|closed|ended|reported"
    r"|says?|said|never|reached|died|became|ran|saw|came|shows?|looks?|could|kept|completed|complained|found|killed|named"
    r"|fell|falls|broke|hit|[a-z]{2,}ed|points?|wrote|waiting|marked|blames?)\b"
)
_FRAGMENT = 2  # a part with fewer plain words says nothing by itself: it belongs to its neighbour
_WORD = re.compile(r"(?<![\w-])[A-Za-z]+(?![\w-])")


@dataclass(frozen=True, slots=True)
class Parts:
    """A sentence taken apart. bare: the sentence without its quotes; whole, marked: with a word for each quote."""

    bare: str
    quotes: tuple[str, ...]
    clauses: tuple[str, ...]
    unbalanced: bool
    whole: str
    marked: tuple[str, ...]

    @property
    def joints(self) -> str:
        """What stands between the clauses: "so", "because"."""
        rest = self.bare
        for clause in self.clauses:
            rest = rest.replace(clause, " | ", 1)
        return rest


def take_apart(text: str) -> Parts:
    """Quotes, and clauses of what is left."""
    quotes = tuple(next(group for group in match if group) for match in _QUOTE.findall(text) if any(match))
    bare = _QUOTE.sub(" ", text)
    number = count()
    marked = _QUOTE.sub(lambda match: f" {QUOTED}{next(number)} " if any(match.groups()) else " ", text)
    return Parts(bare, quotes, _clauses(bare), _HALF_QUOTE.search(bare) is not None, marked, _clauses(marked))


def unmarked(clause: str) -> str:
    """A clause without the words that stand for its quotes."""
    return _MARKED.sub(" ", clause)


def without_cites(text: str) -> tuple[str, tuple[str, ...]]:
    """A sentence without the ids at its end, and these ids: "it stopped [E1, N1]." is how some models cite."""
    match = _CITES.search(text)
    if match is None:
        return text, ()
    ids = tuple(part.strip() for part in match[1].split(","))
    return (text[: match.start()] + text[match.end() :]).rstrip(), ids


def halves(clause: str) -> tuple[str, str] | None:
    """The two sides of an "and" when each is a sentence of its own, with a verb."""
    for match in _AND.finditer(clause):
        left, right = clause[: match.start()], clause[match.end() :]
        if _VERB.search(left) and _VERB.search(right) and not (_is_fragment(left) or _is_fragment(right)):
            return left, right
    return None


def _clauses(text: str) -> tuple[str, ...]:
    parts = [part.strip() for part in _SPLIT.split(text) if part and part.strip(" .!?,;:")]
    merged: list[str] = []
    for part in parts:
        if merged and (_is_fragment(merged[-1]) or _is_fragment(part)):
            merged[-1] += ", " + part
        else:
            merged.append(part)
    return tuple(merged)


def _is_fragment(part: str) -> bool:
    return len(_WORD.findall(part)) < _FRAGMENT or _VERB.search(part) is None
