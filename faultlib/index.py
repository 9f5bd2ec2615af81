"""Vectors, searched: what the library asks of an index, and the exact one that always works."""

from dataclasses import dataclass, field
from hashlib import sha256
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from faultlib.embedding import Vectors

Vector = NDArray[np.float32]
Scored = tuple[tuple[str, float], ...]  # pattern ids with their cosine, the most similar first

_DIGITS = 6  # of a cosine: beyond them float32 sums differ with the order of their parts


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The vectors that the database holds now: row n of ``matrix`` is of ``ids[n]``. ids are sorted.

    keys: what each vector was made of (version of the pattern, digest of the model); another key, another vector.
    """

    ids: tuple[str, ...]
    keys: tuple[str, ...]
    matrix: Vectors
    stamp: str = field(init=False)

    def __post_init__(self) -> None:
        text = "\n".join(f"{name} {key}" for name, key in zip(self.ids, self.keys, strict=True))
        object.__setattr__(self, "stamp", sha256(text.encode()).hexdigest()[:32])


NOTHING = Snapshot((), (), np.zeros((0, 1), np.float32))


class VectorIndex(Protocol):
    """Finds the vectors that point the same way. The database tells it the truth; it never holds more."""

    kind: str

    @property
    def state(self) -> str:
        """How it is, in words for people."""

    def load(self, snapshot: Snapshot) -> None:
        """Answer from this snapshot from now on."""

    def nearest(self, vector: Vector, limit: int) -> Scored:
        """The ``limit`` most similar ones; equal ones by id."""

    def settle(self, seconds: float) -> bool:
        """Wait until what was loaded is worked in; False when it took longer."""

    def close(self) -> None:
        """Let go of files and threads."""


class ExactIndex:
    """Compares with every vector: 19 ms at 100,000 of them (PERFORMANCE.md, section 3)."""

    kind = "exact"
    state = "exact search"

    def __init__(self) -> None:
        self._snapshot = NOTHING

    def load(self, snapshot: Snapshot) -> None:
        """Answer from this snapshot from now on."""
        self._snapshot = snapshot

    def nearest(self, vector: Vector, limit: int) -> Scored:
        """The ``limit`` most similar ones; equal ones by id."""
        return ranked(self._snapshot.ids, cosines(self._snapshot, vector), limit)

    def settle(self, seconds: float) -> bool:  # noqa: ARG002 - there is nothing to wait for
        """True: there is nothing to work in."""
        return True

    def close(self) -> None:
        """Nothing to let go of."""


def cosines(snapshot: Snapshot, vector: Vector) -> NDArray[np.float64]:
    """The cosine of each vector of the snapshot with this one; all have length 1."""
    if not snapshot.ids:
        return np.zeros(0)
    return np.asarray(snapshot.matrix @ vector, np.float64)


def ranked(ids: tuple[str, ...], scores: NDArray[np.float64], limit: int) -> Scored:
    """The best ``limit`` with six digits, equal ones by id."""
    rounded = np.round(scores, _DIGITS)
    if limit < len(ids):
        edge = np.partition(rounded, len(ids) - limit)[len(ids) - limit] if limit > 0 else np.inf
        places = np.flatnonzero(rounded >= edge)
    else:
        places = np.arange(len(ids))
    best = sorted(places.tolist(), key=lambda place: (-rounded[place], ids[place]))
    return tuple((ids[place], float(rounded[place])) for place in best[: max(0, limit)])
