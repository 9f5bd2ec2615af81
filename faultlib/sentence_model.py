"""Any sentence-transformers model: by its folder, or by its name when it was downloaded before."""

import json
import os
from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from faultlib.embedding import EmbeddingUnavailable, Vectors

HINT = "Install firstfault[sentence] with torch, and give the folder of a model (docs/how-to/patterns.md)."
# never the network: neither for a model nor to ask for a newer one; read when the packages are imported
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
# how long vectors are, in config.json of a dense module, a pooling and a transformer
_SIZES = ("out_features", "word_embedding_dimension", "embedding_dimension", "hidden_size")
_CHUNK = 1 << 20  # bytes read at once while files are hashed

Encode = Callable[[str], Vectors]


class SentenceModel:
    """A sentence-transformers model on the CPU, in one thread; its files are read at once, torch at the first text.

    Texts are embedded one at a time, so that the vector of a text does not depend on its neighbours.
    """

    def __init__(self, name_or_path: str) -> None:
        """Find the model and what it is.

        Raises:
            EmbeddingUnavailable: there is no such model on this machine.
        """
        self._folder = _folder(name_or_path)
        self._encode: Encode | None = None
        self.name = self._folder.name if Path(name_or_path).is_dir() else name_or_path
        self.dimensions = _dimensions(self._folder)
        self.digest = _digest(self._folder)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32 of shape (texts, dimensions), rows of length 1.

        Raises:
            EmbeddingUnavailable: a package is missing, or the folder holds no such model.
        """
        encode = self._encode = self._encode or _load(self._folder)
        rows = [encode(text) for text in texts]
        return np.array(rows, np.float32).reshape(len(rows), self.dimensions)


def _folder(name_or_path: str) -> Path:
    """The folder of a model; a name is looked up among what was downloaded before."""
    if Path(name_or_path).is_dir():
        return Path(name_or_path).resolve()
    os.environ.update(_OFFLINE)
    try:
        hub: Any = import_module("huggingface_hub")  # by name: heavy, and only who asks for a name needs it
    except ImportError as missing:
        raise EmbeddingUnavailable(f"A model by name needs a package: {missing}.", HINT) from missing
    name = name_or_path if "/" in name_or_path else f"sentence-transformers/{name_or_path}"
    try:
        return Path(hub.snapshot_download(name, local_files_only=True))
    except (OSError, ValueError) as missing:
        raise EmbeddingUnavailable(f"There is no embedding model {name_or_path!r} on this machine.", HINT) from missing


def _load(folder: Path) -> Encode:
    os.environ.update(_OFFLINE)
    try:
        torch: Any = import_module("torch")  # by name: these two are an extra, and heavy
        package: Any = import_module("sentence_transformers")
    except ImportError as missing:
        raise EmbeddingUnavailable(f"A sentence-transformers model needs a package: {missing}.", HINT) from missing
    torch.set_num_threads(1)  # 41 ms a text with one, 370 ms and more with two (docs/LOG.md)
    try:
        model = package.SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    except (OSError, ValueError, RuntimeError, KeyError, AttributeError) as broken:
        raise EmbeddingUnavailable(f"{folder.name} holds no sentence-transformers model: {broken}.", HINT) from broken

    def encode(text: str) -> Vectors:
        known = text.encode("utf-8", "replace").decode()  # half a surrogate pair, as JSON may hold it, is no text
        vector = np.asarray(model.encode([known], batch_size=1, show_progress_bar=False)[0], np.float64)
        return np.asarray(vector / np.linalg.norm(vector), np.float32)

    return encode


def _dimensions(folder: Path) -> int:
    """Numbers in a vector, as the last module of the model that says so has it."""
    found = 0
    try:
        for module in json.loads((folder / "modules.json").read_bytes()):
            config = folder / module["path"] / "config.json"
            known = json.loads(config.read_bytes()) if config.is_file() else {}
            found = next((int(known[name]) for name in _SIZES if name in known), found)
    except (OSError, ValueError, TypeError, KeyError) as broken:
        raise EmbeddingUnavailable(f"{folder.name} holds no sentence-transformers model: {broken}.", HINT) from broken
    if found < 1:
        raise EmbeddingUnavailable(f"{folder.name} does not say how long its vectors are.", HINT)
    return found


def _digest(folder: Path) -> str:
    """Sixteen hexadecimal digits over names and contents of all files; of a downloaded model they are links."""
    total = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        total.update(f"{path.relative_to(folder).as_posix()} {path.stat().st_size}\n".encode())
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                total.update(chunk)
    return total.hexdigest()[:16]
