"""Texts as vectors: what the library asks of an embedding model, and the shipped fake."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.errors import FirstfaultError

Vectors = NDArray[np.float32]


class EmbeddingUnavailable(FirstfaultError):
    """The embedding model is not installed, or is not the one that was expected."""


class Embedder(Protocol):
    """A model that turns texts into vectors of length 1; the same text always gives the same vector.

    name: which model, for people. digest: changes when its vectors change; both stand with each stored vector.
    """

    name: str
    digest: str
    dimensions: int

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32 of shape (texts, dimensions), rows of length 1.

        Raises:
            EmbeddingUnavailable: the model cannot be loaded.
        """


class WordHash:
    """The shipped fake: words hashed into buckets. Knows equal words, no meaning."""

    name = "word-hash"
    digest = "1"
    dimensions = 64

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32 of shape (texts, 64), rows of length 1."""
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in text.lower().split() or [""]:
                row[blake2b(word.encode(), digest_size=2).digest()[0] % self.dimensions] += 1
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)
