# mypy: ignore-errors
"""A language model whose MLP is split over the ranks of a tensor-parallel group."""

from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F  # noqa: N812


@dataclass
class ModelConfig:
    """What the configuration file may say of the model."""

    hidden_size: int = 64
    ffn_hidden_size: int = 256
    num_layers: int = 2
    seq_length: int = 64
    vocab_size: int = 64


class CopyToModelParallelRegion(torch.autograd.Function):
    """Identity forward, all-reduce backward."""

    @staticmethod
    def forward(ctx: Any, x: Any, group: Any) -> Any:
        """Nothing to do but to remember the group."""
        ctx.group = group
        return x

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Sum over the group."""
        grad = grad.contiguous()
        dist.all_reduce(grad, group=ctx.group)
        return grad, None


class ReduceFromModelParallelRegion(torch.autograd.Function):
    """All-reduce forward, identity backward."""

    @staticmethod
    def forward(ctx: Any, x: Any, group: Any) -> Any:
        """Sum over the group."""
        del ctx
        x = x.contiguous()
        dist.all_reduce(x, group=group)
        return x

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Each rank's part takes the whole gradient."""
        del ctx
        return grad, None


class GPTModel:
    """Parameters by name, and the loss."""

    def __init__(self, config: ModelConfig, tp_group: Any, tp_size: int) -> None:
        self.config = config
        self.group = tp_group
        wide, part = config.hidden_size, config.ffn_hidden_size // tp_size
        shapes = {"word_embeddings": (config.vocab_size, wide), "position_embeddings": (config.seq_length, wide)}
        for layer in range(config.num_layers):
            shapes[f"layers.{layer}.query_key_value"] = (3 * wide, wide)
            shapes[f"layers.{layer}.dense"] = (wide, wide)
            shapes[f"layers.{layer}.dense_h_to_4h"] = (part, wide)
            shapes[f"layers.{layer}.dense_4h_to_h"] = (wide, part)
        self.parameters = {name: (torch.randn(shape) * 0.02).requires_grad_() for name, shape in shapes.items()}

    def loss(self, tokens: Any, labels: Any) -> Any:
        """Mean cross entropy of the next token."""
        p = self.parameters
        x = p["word_embeddings"][tokens] + p["position_embeddings"][: tokens.size(1)]
        for layer in range(self.config.num_layers):
            x = x + self._attention(F.layer_norm(x, x.shape[-1:]), layer)
            x = x + self._mlp(F.layer_norm(x, x.shape[-1:]), layer)
        logits = F.layer_norm(x, x.shape[-1:]) @ p["word_embeddings"].T
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())

    def _attention(self, x: Any, layer: int) -> Any:
        q, k, v = (x @ self.parameters[f"layers.{layer}.query_key_value"].T).chunk(3, dim=-1)
        mixed = F.scaled_dot_product_attention(q[:, None], k[:, None], v[:, None], is_causal=True)[:, 0]
        return mixed @ self.parameters[f"layers.{layer}.dense"].T

    def _mlp(self, x: Any, layer: int) -> Any:
        if self.group is not None:
            x = CopyToModelParallelRegion.apply(x, self.group)
        out = F.gelu(x @ self.parameters[f"layers.{layer}.dense_h_to_4h"].T)
        out = out @ self.parameters[f"layers.{layer}.dense_4h_to_h"].T
        return out if self.group is None else ReduceFromModelParallelRegion.apply(out, self.group)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over the tensors of a checkpoint; every shape must fit."""
        wrong = [
            f"\tsize mismatch for {name}: copying a param with shape {state[name].shape} from checkpoint, "
            f"the shape in current model is {own.shape}."
            for name, own in self.parameters.items()
            if state[name].shape != own.shape
        ]
        if wrong:
            raise RuntimeError("Error(s) in loading state_dict for GPTModel:\n" + "\n".join(wrong))
        with torch.no_grad():
            for name, own in self.parameters.items():
                own.copy_(state[name])
