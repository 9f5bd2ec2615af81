"""What was found in a job is remembered between diagnoses, as long as nothing that it depends on has changed."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.cache import ByteCache


@dataclass(frozen=True, slots=True)
class Memory:
    """Remembers what was computed from one thing, which is told by its key."""

    cache: ByteCache
    key: str

    def of(self, question: str, compute: Callable[[], bytes]) -> bytes:
        """The answer to a question about that thing, computed but once."""
        key = blake2b(f"{self.key}\n{question}".encode(), digest_size=20).hexdigest()
        cached = self.cache.get(key)
        if cached is None:
            cached = compute()
            self.cache.put(key, cached)
        return cached

    def arrays(self, question: str, compute: Callable[[], Sequence[NDArray[Any]]]) -> tuple[NDArray[Any], ...]:
        """As ``of``, for an answer that is arrays."""
        stream = io.BytesIO(self.of(question, lambda: _bytes_of(compute())))
        count = int(np.load(stream))
        return tuple(np.load(stream) for _ in range(count))


def _bytes_of(arrays: Sequence[NDArray[Any]]) -> bytes:
    stream = io.BytesIO()
    for array in (np.array(len(arrays)), *arrays):
        np.save(stream, array, allow_pickle=False)
    return stream.getvalue()
