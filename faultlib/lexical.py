"""Likeness of log-like texts by their words: rare words count more, what masks replaced counts nothing."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import fsum, log, sqrt
from typing import Self

from core.logs.lines import mask

_SLOT = re.compile(r"<(?:\*|[A-Z]+)>")
_WORD = re.compile(r"[^\W\d_]\w*|\d+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_STOP = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "been", "by", "did", "do", "for", "from", "had", "has", "have", "in",
    "into", "is", "it", "its", "not", "of", "on", "or", "that", "the", "their", "them", "then", "there", "this", "to",
    "was", "were", "which", "while", "who", "with",
})  # fmt: skip


class Lexicon:
    """How rare each word is among some texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        known = [words_of(text) for text in texts]
        self._texts = max(len(known), 1)
        self._holding = Counter(word for words in known for word in words)

    @classmethod
    def counted(cls, texts: int, holding: Mapping[str, int]) -> Self:
        """The same, of texts that somebody else has counted: how many, and how many hold each word."""
        lexicon = cls(())
        lexicon._texts, lexicon._holding = max(texts, 1), Counter(holding)
        return lexicon

    def rarity(self, word: str) -> float:
        """0.7 and more; a word that no text has is as rare as one that a single text has."""
        return log(1 + self._texts / max(self._holding[word], 1))

    def similarity(self, one: str, other: str) -> float:
        """0..1: the cosine of the two texts over their words, each as heavy as it is rare."""
        here, there = words_of(one), words_of(other)
        lengths = sqrt(_dot(self, here, here)) * sqrt(_dot(self, there, there))
        return min(_dot(self, here, there) / (lengths or 1), 1.0)


@lru_cache(maxsize=1 << 13)  # the patterns of a library, at every job
def words_of(text: str) -> Mapping[str, float]:
    """The words of a text and how heavy each is by its count: identifiers whole and in parts, typed numbers kept."""
    found: Counter[str] = Counter()
    for line in text.split("\n"):
        masked = _SLOT.sub(" ", mask(line.encode("utf-8", "replace")).decode("utf-8", "replace"))
        for word in _WORD.findall(masked):
            parts = _PART.findall(word)
            found.update({word.lower(), *(part.lower() for part in parts)} - _STOP)
    return {word: 1 + log(count) for word, count in sorted(found.items())}


def _dot(lexicon: Lexicon, one: Mapping[str, float], other: Mapping[str, float]) -> float:
    return fsum(one[word] * other[word] * lexicon.rarity(word) ** 2 for word in one if word in other)
