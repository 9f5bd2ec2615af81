# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""A small language model, and the mean of its gradients over all ranks."""

import json
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn


class LMConfig:
    """The model as config.json describes it; unknown keys are refused."""

    def __init__(self, hidden: int = 64, layers: int = 2, vocab: int = 64, length: int = 48) -> None:
        self.hidden, self.layers, self.vocab, self.length = hidden, layers, vocab, length

    @classmethod
    def load(cls, path: str) -> "LMConfig":
        """Read config.json."""
        return cls(**json.loads(Path(path).read_text(encoding="utf-8")))


class Block(nn.Module):
    """A causal convolution and an MLP, added to what came in."""

    def __init__(self, config: LMConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.hidden)
        self.mix = nn.Conv1d(config.hidden, config.hidden, 4, groups=config.hidden)
        self.up = nn.Linear(config.hidden, 4 * config.hidden)
        self.down = nn.Linear(4 * config.hidden, config.hidden)

    def forward(self, x: Any) -> Any:
        """Tokens see the three before them."""
        past = nn.functional.pad(self.norm(x).transpose(1, 2), (3, 0))
        return x + self.down(nn.functional.gelu(self.up(self.mix(past).transpose(1, 2))))


class TinyLM(nn.Module):
    """Embedding, blocks, and a head."""

    def __init__(self, config: LMConfig) -> None:
        super().__init__()
        self.embed = nn.Embedding(config.vocab, config.hidden)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.hidden)
        self.head = nn.Linear(config.hidden, config.vocab, bias=False)

    def forward(self, tokens: Any) -> Any:
        """Logits of the next tokens."""
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def next_token_loss(model: Any, batch: Any) -> Any:
    """Mean cross entropy of the next token."""
    logits = model(batch[:, :-1])
    return nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


def average_gradients(grads: list[Any], group: Any) -> float:
    """Mean over the ranks of a group in one all-reduce; the norm."""
    flat = torch.cat([grad.flatten() for grad in grads])
    dist.all_reduce(flat, group=group)
    flat /= dist.get_world_size(group)
    for grad, part in zip(grads, flat.split([grad.numel() for grad in grads]), strict=True):
        grad.copy_(part.view_as(grad))
    return float(flat.norm())


def descend(parameters: list[Any], rate: float) -> None:
    """One step of plain gradient descent."""
    with torch.no_grad():
        for parameter in parameters:
            parameter.sub_(parameter.grad, alpha=rate)
            parameter.grad = None
