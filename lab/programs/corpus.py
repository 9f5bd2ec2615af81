# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""Text shards and a byte tokenizer, read by data loader workers."""

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

log = logging.getLogger("corpus")


def load_tokenizer(folder: str) -> dict[str, int]:
    """Token of each character; what the vocabulary does not know is token 0."""
    vocabulary: dict[str, int] = json.loads((Path(folder) / "tokenizer.json").read_text(encoding="utf-8"))
    return vocabulary


class Shards:
    """Samples of one rank: each is a window of one of its shards, opened when first needed."""

    def __init__(self, folder: str, split: str, length: int, rank: int, world: int) -> None:
        manifest = json.loads((Path(folder) / "manifest.json").read_text(encoding="utf-8"))
        self.files = [Path(folder) / name for name in manifest[split]][rank::world]
        self.vocabulary = load_tokenizer(folder)
        self.length = length
        self.open_files: dict[Path, Any] = {}

    def __len__(self) -> int:
        return 100_000

    def __getitem__(self, index: int) -> Any:
        path = self.files[index // 16 % len(self.files)]
        if path not in self.open_files:
            log.info("opening shard %s", path)
            self.open_files[path] = self._read(path)
        tokens = self.open_files[path]
        # <sample>
        start = index * 37 % (len(tokens) - self.length - 1)
        return torch.from_numpy(tokens[start : start + self.length + 1])

    def _read(self, path: Path) -> Any:
        with path.open(encoding="utf-8") as file:
            text = " ".join(json.loads(line)["text"] for line in file)
        return np.array([self.vocabulary.get(letter, 0) for letter in text], dtype=np.int64)


def batches(shards: Shards, batch: int, workers: int, patience: float = 0) -> Any:
    """Batches of samples without end; ``patience``: seconds until the loader gives up on a worker."""
    loader = DataLoader(
        shards,
        batch_size=batch,
        num_workers=workers,
        drop_last=True,
        timeout=patience if workers else 0,
        multiprocessing_context="fork" if workers else None,
        prefetch_factor=2 if workers else None,
    )
    return iter(loader)
