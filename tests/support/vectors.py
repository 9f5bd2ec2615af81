"""Random vectors, the same ones each time (more of them begin with the fewer), and a Chroma index over them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from benchmarks.support.patience import PATIENCE
from faultlib.chroma_thread import ChromaIndex
from faultlib.embedding import Vectors
from faultlib.index import ExactIndex, Snapshot


def unit(count: int, dimensions: int = 64, seed: int = 7) -> Vectors:
    vectors = np.random.default_rng(seed).normal(size=(count, dimensions))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def snapshot(count: int, dimensions: int = 64, version: int = 1) -> Snapshot:
    return Snapshot(
        tuple(f"p-{number:05d}" for number in range(count)),
        tuple(f"{version}:random" for _ in range(count)),
        unit(count, dimensions, seed=7 + version),
    )


@contextmanager
def settled(folder: Path, held: Snapshot, probe_seconds: float = PATIENCE) -> Iterator[ChromaIndex]:
    """An index over these vectors once it is ready."""
    index = ChromaIndex(folder, sync_after=20, probe_seconds=probe_seconds)
    try:
        index.load(held)
        assert index.settle(PATIENCE)
        yield index
    finally:
        index.close()


def assert_like_exact(index: ChromaIndex, held: Snapshot, queries: int = 10) -> None:
    exact = ExactIndex()
    exact.load(held)
    for query in unit(queries, held.matrix.shape[1], seed=99):
        found, expected = index.nearest(query, 5), exact.nearest(query, 5)
        assert [name for name, _ in found] == [name for name, _ in expected]
        assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-5)
