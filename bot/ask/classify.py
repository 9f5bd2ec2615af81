"""What a question wants to know, learnt from labelled questions: linear, over meaning and letters.

Meaning is the vector of the fault library's embedding model; letters catch what it does not know, as names of tools.
Without the model letters alone decide. The scores are margins, above 0 where the classifier would say yes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.ask.english import labelled, mended
from core.cache import ByteCache
from faultlib.embedding import Embedder, EmbeddingUnavailable

# Chosen by cross-validation over the labelled questions (questions.md): letters and words beside meaning
MEANING = 1.5  # weight of the vector
STRICTNESS = 0.5  # C of the classifier
SURE, LEAST = 0.0, -0.45  # margins: of an intent that is meant, and below which a question says nothing that is known


@dataclass(frozen=True, slots=True)
class IntentGuess:
    """An intent, and how far it is on its side of the border."""

    intent: str
    margin: float


class Classifier:
    """Fitted to labelled questions when it is made; the same questions always give the same guesses."""

    def __init__(
        self,
        embedder: Embedder | None = None,
        cache: ByteCache | None = None,
        questions: Sequence[tuple[str, str]] | None = None,
    ) -> None:
        """cache: keeps the vectors of the labelled questions, which take some seconds to make."""
        from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 sklearn takes a second
        from sklearn.pipeline import make_union  # noqa: PLC0415
        from sklearn.svm import LinearSVC  # noqa: PLC0415

        texts, intents = zip(*(questions or labelled()), strict=True)
        self._known = frozenset(word for text in texts for word in text.split())
        self._embedder = embedder
        self._letters: Any = make_union(
            TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True),
            TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\b\w+\b"),  # noqa: S106 words, no secret
        ).fit(texts)
        self._fitted: Any = LinearSVC(C=STRICTNESS, random_state=0).fit(
            self._features(texts, _vectors(texts, embedder, cache)), intents
        )

    def guesses(self, plain: str) -> tuple[IntentGuess, ...]:
        """All intents, the likeliest first; ``plain``: as ``bot.ask.english`` writes a question."""
        text = [mended(plain, self._known)]
        margins = self._fitted.decision_function(self._features(text, _vectors(text, self._embedder, None)))[0]
        pairs = zip(self._fitted.classes_.tolist(), margins.tolist(), strict=True)
        return tuple(IntentGuess(*pair) for pair in sorted(pairs, key=lambda pair: -pair[1]))

    def _features(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> Any:
        from scipy.sparse import csr_matrix, hstack  # noqa: PLC0415

        return hstack([self._letters.transform(texts), csr_matrix(MEANING * vectors)]).tocsr()


def _vectors(texts: Sequence[str], embedder: Embedder | None, cache: ByteCache | None) -> NDArray[np.float32]:
    """A row a text; zeros where there is no embedding model."""
    if embedder is None:
        return np.zeros((len(texts), 1), np.float32)
    key = blake2b("\n".join((embedder.digest, *texts)).encode(), digest_size=20).hexdigest()
    kept = cache.get(key) if cache else None
    if kept is not None and len(kept) == len(texts) * embedder.dimensions * np.float32().itemsize:
        return np.frombuffer(kept, np.float32).reshape(len(texts), -1)
    try:
        vectors = embedder.embed(texts)
    except EmbeddingUnavailable:
        return np.zeros((len(texts), embedder.dimensions), np.float32)
    if cache:
        cache.put(key, vectors.tobytes())
    return vectors


def prepare_questions(embedder: Embedder, cache: ByteCache) -> None:
    """Keep the vectors of the labelled questions: making them takes longer than everything else of a first reply."""
    _vectors([text for text, _ in labelled()], embedder, cache)


@cache
def by_letters() -> Classifier:
    """The classifier without an embedding model."""
    return Classifier()
