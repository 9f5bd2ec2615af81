"""What a question wants to know, learnt from labelled questions: linear, over letters and words.

The scores are margins, above 0 where the classifier would say yes. Vectors of meaning beside letters were tried: on the
questions of four other authors letters alone see as many right (.69 and .68, docs/LOG.md), and need no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from bot.ask.english import labelled, mended
from bot.ask.terms import stem_of

STRICTNESS = 0.5  # C of the classifier; from .2 to 1 it sees other authors' questions alike within .015 (docs/LOG.md)
SURE, LEAST = 0.0, -0.45  # margins: of an intent that is meant, and below which a question says nothing that is known
# An intent far ahead of the next one is right as often below SURE as one above it that is not: .71 to .84, .58 to .69
# of the labelled questions, held out.
ALMOST, AHEAD = -0.3, 0.35


@dataclass(frozen=True, slots=True)
class IntentGuess:
    """An intent, and how far it is on its side of the border."""

    intent: str
    margin: float


def is_sure(guesses: Sequence[IntentGuess]) -> bool:
    """Whether the first intent surely is the question's: by its margin, or as it is far ahead of the next one."""
    first, second = guesses[:2]
    return first.margin >= SURE or (first.margin >= ALMOST and first.margin - second.margin >= AHEAD)


class Classifier:
    """Fitted to labelled questions when it is made; the same questions always give the same guesses."""

    def __init__(self, questions: Sequence[tuple[str, str]] | None = None) -> None:
        """questions: with the intent of each; None: those of questions.toml."""
        from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 sklearn takes a second
        from sklearn.pipeline import make_union  # noqa: PLC0415
        from sklearn.svm import LinearSVC  # noqa: PLC0415

        texts, intents = zip(*(questions or labelled()), strict=True)
        self._known = frozenset(word for text in texts for word in text.split())
        self._stems = frozenset(map(stem_of, self._known))
        self._letters: Any = make_union(
            TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True),
            TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\b\w+\b"),  # noqa: S106 words, no secret
        )
        self._fitted: Any = LinearSVC(C=STRICTNESS, random_state=0).fit(self._letters.fit_transform(texts), intents)

    def knows(self, word: str) -> bool:
        """Whether a labelled question has the word, or one that it is a slip or another form of."""
        return mended(word, self._known) in self._known or stem_of(word) in self._stems

    def mend(self, plain: str) -> str:
        """A question with its slips mended to words of labelled questions."""
        return mended(plain, self._known)

    def guesses(self, plain: str) -> tuple[IntentGuess, ...]:
        """All intents, the likeliest first; ``plain``: as ``bot.ask.english`` writes a question."""
        margins = self._fitted.decision_function(self._letters.transform([mended(plain, self._known)]))[0]
        pairs = zip(self._fitted.classes_.tolist(), margins.tolist(), strict=True)
        return tuple(IntentGuess(*pair) for pair in sorted(pairs, key=lambda pair: -pair[1]))


@cache
def learnt() -> Classifier:
    """The classifier that all questions are read by, fitted when the first one is asked."""
    return Classifier()
