"""Chroma, as a plain collection of vectors in a folder; the only file that imports chromadb.

Embedded, without a server, telemetry and embedding function (open advisories; PERFORMANCE.md, section 3). ``add``
ignores an id that is known, so everything is an upsert. Only one process may have a folder open: ``background`` sees to
that.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from core.safe_import import elsewhere
from faultlib.embedding import Vectors
from faultlib.errors import IndexUnavailable
from faultlib.index import Scored, Vector, ranked

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.collection_configuration import CreateCollectionConfiguration
    from chromadb.api.models.Collection import Collection as ChromaCollection

NAME = "patterns"
SEARCH_WIDTH = 2_000  # neighbours looked at: the same five as exact search for 50 of 50 queries on 10,000 random
# vectors, 15 ms each; with Chroma's 100 it was 3 of 100, and 62 of 100 on 2,000
SYNC_AFTER = 1_000  # Chroma's own: so many changes until it writes its graph to disk
_SPARE = 16  # more than asked for, so that up to so many equal scores at the edge are ordered by id, as exactly


class Collection:
    """Vectors by id in a Chroma of our own."""

    def __init__(self, folder: Path, *, sync_after: int = SYNC_AFTER) -> None:
        with _translated():
            self._client = _client(folder)
            self._collection = _collection(self._client, sync_after)

    def count(self) -> int:
        """How many vectors there are."""
        with _translated():
            return self._collection.count()

    def upsert(self, ids: Sequence[str], vectors: Vectors) -> None:
        """Add them, or put them in the place of those with the same ids."""
        with _translated():
            self._collection.upsert(ids=list(ids), embeddings=np.ascontiguousarray(vectors, np.float32))

    def delete(self, ids: Sequence[str]) -> None:
        """Delete the vectors of these ids."""
        with _translated():
            self._collection.delete(ids=list(ids))

    def nearest(self, vector: Vector, limit: int) -> Scored:
        """The most similar ones with their cosine."""
        with _translated():
            found = self._collection.query(
                query_embeddings=vector[np.newaxis], n_results=max(0, limit) + _SPARE, include=["distances"]
            )
        ids, distances = found["ids"][0], (found["distances"] or [[]])[0]
        if len(ids) != len(distances):
            raise IndexUnavailable("Chroma answered with ids and no distances.")
        return ranked(tuple(ids), 1.0 - np.asarray(distances, np.float64), limit)

    def close(self) -> None:
        """Let go of the folder; what was upserted stays."""
        with _translated():
            self._client.close()


def version() -> str:
    """Chroma's version; an index of another one is not trusted."""
    try:
        return metadata.version("chromadb")
    except metadata.PackageNotFoundError as error:
        raise IndexUnavailable("Chroma is not installed.", "pip install chromadb") from error


def _client(folder: Path) -> "Client":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    path = folder.absolute()
    with elsewhere():  # it reads .env of the working directory when it is loaded, and with each of its Settings
        import chromadb  # noqa: PLC0415 - two seconds, paid by those who search with it
        from chromadb.config import Settings  # noqa: PLC0415

        settings = Settings(anonymized_telemetry=False)
    return cast("Client", chromadb.PersistentClient(path=str(path), settings=settings))


def _collection(client: "Client", sync_after: int) -> "ChromaCollection":
    graph: CreateCollectionConfiguration = {
        "hnsw": {"space": "cosine", "ef_search": SEARCH_WIDTH, "sync_threshold": sync_after}
    }
    return client.get_or_create_collection(NAME, embedding_function=None, configuration=graph)


@contextmanager
def _translated() -> Iterator[None]:
    """Whatever Chroma raises means one thing to us: search without it."""
    try:
        yield
    except ImportError as error:
        raise IndexUnavailable("Chroma is not installed.", "pip install chromadb") from error
    except _foreign() as error:
        raise IndexUnavailable(f"Chroma failed: {error}") from error


def _foreign() -> tuple[type[Exception], ...]:
    """What Chroma raises; asked only when something was raised, so that chromadb is loaded by then or never."""
    import chromadb.errors  # noqa: PLC0415

    return chromadb.errors.ChromaError, RuntimeError, ValueError, TypeError, KeyError, OSError
