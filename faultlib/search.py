"""Which patterns read like a text: their vectors, kept beside them in the database, and the index over them."""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

import numpy as np

from faultlib.database import Database
from faultlib.embedding import Embedder, EmbeddingUnavailable
from faultlib.errors import LibraryUnavailable
from faultlib.index import NOTHING, Scored, Snapshot, Vector, VectorIndex, cosines, ranked
from faultlib.pattern import Pattern, Status
from faultlib.records import pattern_of

CONFIRMED = (Status.APPROVED,)
_Made = dict[tuple[str, int], Vector]  # by id and version


class Search:
    """Vectors are made when a pattern changes and, if that failed, at the next search that needs them."""

    def __init__(self, database: Database, embedder: Embedder, index: VectorIndex) -> None:
        self.index = index
        self._database = database
        self._embedder = embedder
        self._seen: tuple[int, int] | None = None  # state of the database that ``_confirmed`` was read in
        self._confirmed = NOTHING

    def warm(self) -> None:
        """Tell the index what is there already; makes no vector, so it loads no model."""
        with suppress(EmbeddingUnavailable):  # told at the first search
            self._confirmed, _ = self._snapshot(CONFIRMED, {})
            self.index.load(self._confirmed)

    def nearest(self, query: str | Vector, limit: int, statuses: Sequence[Status]) -> Scored:
        """The most similar patterns with their cosine."""
        snapshot = self._current(statuses)
        vector = self._vector(query)
        if tuple(statuses) == CONFIRMED:
            return self.index.nearest(vector, limit)
        return ranked(snapshot.ids, cosines(snapshot, vector), limit)

    def similarities(self, query: str | Vector, statuses: Sequence[Status]) -> Mapping[str, float]:
        """The cosine of every pattern that has a vector."""
        snapshot = self._current(statuses)
        return dict(ranked(snapshot.ids, cosines(snapshot, self._vector(query)), len(snapshot.ids)))

    def likeness(self, query: str, ids: Collection[str]) -> Mapping[str, float]:
        """The cosine of these confirmed patterns only; without any, no model is loaded."""
        if not ids:
            return {}
        made = self._make([item for item in self._missing(CONFIRMED) if item[0] in ids])
        snapshot, _ = self._snapshot(CONFIRMED, made)
        scored = ranked(snapshot.ids, cosines(snapshot, self._vector(query)), len(snapshot.ids))
        return {name: cosine for name, cosine in scored if name in ids}

    def embed(self, statuses: Sequence[Status], only: str = "") -> int:
        """Make the vectors that are missing, or of another model: all, or that of one pattern; how many were made.

        Raises:
            EmbeddingUnavailable: there is no model to make them with.
        """
        return len(self._make(self._missing(statuses, only)))

    def vectors_by_model(self) -> Mapping[str, int]:
        """How many vectors each model made."""
        return dict(self._database.rows("SELECT model, count(*) FROM vectors GROUP BY model ORDER BY model"))

    def _vector(self, query: str | Vector) -> Vector:
        vector = self._embedder.embed([query])[0] if isinstance(query, str) else np.asarray(query, np.float32)
        if vector.shape != (self._embedder.dimensions,):
            raise ValueError(f"a vector of {vector.shape}, not of {self._embedder.dimensions} numbers")
        length = float(np.linalg.norm(vector))
        return np.asarray(vector / length, np.float32) if length else vector

    def _current(self, statuses: Sequence[Status]) -> Snapshot:
        """The vectors of these statuses; those of confirmed patterns are read again only when something changed."""
        confirmed = tuple(statuses) == CONFIRMED
        if confirmed and self._seen == self._database.state():
            return self._confirmed
        made: _Made = {}
        with suppress(EmbeddingUnavailable):  # then those that have a vector are found
            made = self._make(self._missing(statuses))
        state = self._database.state()
        snapshot, complete = self._snapshot(statuses, made)
        if confirmed:
            self._seen = state if complete else None
            if snapshot.stamp != self._confirmed.stamp:
                self.index.load(snapshot)
            self._confirmed = snapshot
        return snapshot

    def _snapshot(self, statuses: Sequence[Status], made: _Made) -> tuple[Snapshot, bool]:
        """What the database holds, with what was just made; and whether every pattern has its vector."""
        size = self._embedder.dimensions * np.dtype(np.float32).itemsize
        rows = self._database.rows(
            "SELECT p.id, p.version, v.vector FROM patterns p LEFT JOIN vectors v ON v.pattern = p.id"
            " AND v.version = p.version AND v.digest = ? AND length(v.vector) = ?"
            " WHERE p.status IN (SELECT value FROM json_each(?)) ORDER BY p.id",
            (self._embedder.digest, size, json.dumps(statuses)),
        )
        have = [
            (name, version, made[name, version] if stored is None else np.frombuffer(stored, "<f4"))
            for name, version, stored in rows
            if stored is not None or (name, version) in made
        ]
        snapshot = Snapshot(
            tuple(name for name, _, _ in have),
            tuple(f"{version}:{self._embedder.digest}" for _, version, _ in have),
            np.array([vector for _, _, vector in have], np.float32).reshape(len(have), self._embedder.dimensions),
        )
        return snapshot, len(have) == len(rows)

    def _missing(self, statuses: Sequence[Status], only: str = "") -> list[tuple[str, int, Pattern]]:
        size = self._embedder.dimensions * np.dtype(np.float32).itemsize
        rows = self._database.rows(
            "SELECT p.id, p.version, b.body FROM patterns p"
            " JOIN versions b ON b.pattern = p.id AND b.version = p.version"
            " WHERE p.status IN (SELECT value FROM json_each(?)) AND ? IN ('', p.id)"
            " AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.pattern = p.id AND v.version = p.version"
            " AND v.digest = ? AND length(v.vector) = ?) ORDER BY p.id",
            (json.dumps(statuses), only, self._embedder.digest, size),
        )
        return [(name, version, pattern_of(self._database, name, body)) for name, version, body in rows]

    def _make(self, missing: Sequence[tuple[str, int, Pattern]]) -> _Made:
        """Vectors of these patterns; kept in the database if it can be written."""
        if not missing:
            return {}
        vectors = self._embedder.embed([pattern.words() for _, _, pattern in missing])
        with suppress(LibraryUnavailable), self._database.writing():
            for (name, version, _), vector in zip(missing, vectors, strict=True):
                self._database.run(
                    "INSERT INTO vectors (pattern, version, model, digest, vector) VALUES (?, ?, ?, ?, ?)"
                    " ON CONFLICT (pattern) DO UPDATE SET version = excluded.version, model = excluded.model,"
                    " digest = excluded.digest, vector = excluded.vector",
                    (name, version, self._embedder.name, self._embedder.digest, vector.astype("<f4").tobytes()),
                )
        return {(name, version): vector for (name, version, _), vector in zip(missing, vectors, strict=True)}
