"""Which patterns answer a question in a person's words, or that none does.

People and logs have other words for the same thing (``concepts.toml``), and other forms of the same word. So a pattern
is scored by what it means and by how much of the question its words cover, rare words counting more. When even the
best pattern is too far, nothing like it is known: a pattern of something else costs the reader more than none.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from math import log

from faultlib.lexical import words_of
from faultlib.pattern import Entry, Pattern, Status

# benchmarks.quality.recall_asked, docs/LOG.md: of the questions that this was chosen on .40 loses one answer of 55, .41
# three; of the others it loses none, and of 35 that nobody can answer 22 are told nothing (2 before).
MEANING, COVERED = 0.6, 0.4
KNOWN = 0.4  # the least score of the best pattern; below it nothing like the question is known
KNOWN_BY_WORDS = 0.35  # the same without an embedding model
ALSO = 0.2  # of the patterns after it
_ENDINGS = ("ings", "ing", "ied", "ies", "ers", "er", "ed", "es", "s", "e")
_STEM = 3  # letters that are left of a word at least
# Words of questions that say nothing of a fault, beside those that no text is told by.
_TALK = frozenset({
    "after", "all", "any", "before", "but", "can", "cannot", "could", "does", "during", "get", "gets", "got", "how",
    "i", "if", "just", "me", "my", "no", "now", "off", "one", "only", "other", "our", "out", "same", "should", "since",
    "so", "still", "than", "then", "there", "too", "two", "up", "us", "very", "we", "what", "when", "why", "will",
    "would", "you", "your",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """A pattern that may answer. score: 0..1, of ``semantic`` (None: no model) and ``covered``, both 0..1."""

    entry: Entry
    score: float
    semantic: float | None
    covered: float

    @property
    def because(self) -> str:
        """The numbers in a sentence."""
        meaning = "" if self.semantic is None else f", {self.semantic:.2f} alike by meaning"
        return f"{self.covered:.2f} of the question in its words{meaning}."


def find(words: str, entries: Iterable[Entry], semantic: Mapping[str, float], *, limit: int) -> tuple[Found, ...]:
    """Approved patterns that answer a question, the best first; none is an answer.

    Args:
        entries: all patterns of the library; how rare a word is depends on all of them.
        semantic: cosine of question and pattern by pattern id. Empty where there is no embedding model.
    """
    asked = terms_of(words)
    approved = [entry for entry in entries if entry.status is Status.APPROVED]
    terms_of_patterns = [terms_of(_text(entry.pattern)) for entry in approved]
    rarity = _rarity(asked, terms_of_patterns)
    scored = [
        _score(entry, there, rarity, semantic)
        for entry, there in zip(approved, terms_of_patterns, strict=True)
        if asked
    ]
    ordered = sorted(scored, key=lambda found: (-found.score, found.entry.id))
    if not ordered or ordered[0].score < (KNOWN if semantic else KNOWN_BY_WORDS):
        return ()
    return tuple(found for found in ordered[:limit] if found.score >= ALSO)


@lru_cache(maxsize=1 << 13)  # the patterns of a library, at every question
def terms_of(text: str) -> frozenset[str]:
    """Stems of the words of a text, and the things (in quotes) that some of its words stand for."""
    lowered = text.lower()
    things = {f"“{thing}”" for thing, spoken in _concepts().items() if spoken.search(lowered)}
    return frozenset({_stem(word) for word in words_of(text) if word not in _TALK} | things)


def _text(pattern: Pattern) -> str:
    return "\n".join((pattern.words(), pattern.subtype, pattern.fix, pattern.id.replace("-", " ")))


def _rarity(asked: AbstractSet[str], documents: Iterable[AbstractSet[str]]) -> Mapping[str, float]:
    """How rare each term of the question is among the patterns: 0.7 and more."""
    texts = list(documents)
    holding = Counter(term for there in texts for term in asked & there)
    return {term: log(1 + len(texts) / max(holding[term], 1)) for term in sorted(asked)}


def _score(entry: Entry, there: AbstractSet[str], rarity: Mapping[str, float], semantic: Mapping[str, float]) -> Found:
    covered = sum(weight for term, weight in rarity.items() if term in there) / sum(rarity.values())
    if not semantic:
        return Found(entry, round(covered, 4), None, round(covered, 4))
    alike = min(max(semantic.get(entry.id, 0.0), 0.0), 1.0)
    return Found(entry, round(MEANING * alike + COVERED * covered, 4), round(alike, 4), round(covered, 4))


def _stem(word: str) -> str:
    """A word without its ending, so that other forms of it are the same: ``throttl`` of throttled and throttling."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            left = word.removesuffix(ending)
            return left[:-1] if len(left) > _STEM and left[-1] == left[-2] else left
    return word


@cache
def _concepts() -> Mapping[str, re.Pattern[str]]:
    """A pattern for each thing: any of its words, whole."""
    concepts = tomllib.loads(files("faultlib").joinpath("concepts.toml").read_text(encoding="utf-8"))
    return {
        thing: re.compile(rf"(?<!\w)(?:{'|'.join(map(_spoken, words))})(?!\w)") for thing, words in concepts.items()
    }


def _spoken(words: str) -> str:
    return re.escape(words).replace(r"\*", r"\w{0,24}").replace(r"\ ", "[ _-]")
