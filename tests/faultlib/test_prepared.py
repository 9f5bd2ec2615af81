"""Vectors that are made at setup: used as they are, and nothing is lost without them."""

from pathlib import Path

import numpy as np
import pytest

from faultlib import minilm
from faultlib.embedding import Vectors
from faultlib.minilm import DIMENSIONS, MiniLM, key_of
from faultlib.prepared_vectors import prepared_vectors, store_vectors

TEXT = "why did it die"


@pytest.fixture
def vector() -> Vectors:
    return np.linspace(0, 1, DIMENSIONS, dtype=np.float32)


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that says so when it is loaded."""

    def load() -> minilm.Encode:
        raise LookupError("the model was loaded")

    monkeypatch.setattr(minilm, "_load", load)


@pytest.mark.usefixtures("unloaded")
def test_what_was_made_needs_no_model(tmp_path: Path, vector: Vectors) -> None:
    """Bit for bit what was stored; any other text is embedded."""
    file = tmp_path / "made" / "vectors.npz"
    store_vectors({key_of(TEXT): vector}, file)
    model = MiniLM(prepared=file)

    assert model.embed([TEXT, TEXT]).tolist() == [vector.tolist()] * 2
    with pytest.raises(LookupError, match="the model was loaded"):
        model.embed(["which node"])
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.usefixtures("unloaded")
def test_vectors_of_another_model_are_not_used(
    tmp_path: Path, vector: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other weights make other vectors, so their key is another."""
    file = tmp_path / "vectors.npz"
    store_vectors({key_of(TEXT): vector}, file)
    monkeypatch.setattr(MiniLM, "digest", "of other weights")

    with pytest.raises(LookupError, match="the model was loaded"):
        MiniLM(prepared=file).embed([TEXT])


@pytest.mark.parametrize(
    "content", [None, b"", b"PK\x03\x04 cut off", b"\x80\x04N."], ids=["none", "empty", "cut", "pickle"]
)
def test_a_file_that_cannot_be_read_costs_only_time(tmp_path: Path, content: bytes | None) -> None:
    """Nobody has run make setup, or it was killed: the model makes the vectors."""
    file = tmp_path / "vectors.npz"
    if content is not None:
        file.write_bytes(content)

    assert prepared_vectors(file) == {}


def test_a_vector_of_another_length_is_not_used(tmp_path: Path) -> None:
    """It cannot be of this model."""
    file = tmp_path / "vectors.npz"
    store_vectors({key_of(TEXT): np.ones(3, np.float32)}, file)

    assert MiniLM(prepared=file).embed([TEXT]).shape == (1, DIMENSIONS)
