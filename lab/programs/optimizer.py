# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""AdamW in plain tensor operations (torch's own takes seconds to import, which small jobs feel)."""

import math
from typing import Any

import torch


class AdamW:
    """Decoupled weight decay, one state a parameter."""

    def __init__(self, parameters: list[Any], rate: float, decay: float = 0.1) -> None:
        self.parameters = parameters
        self.rate = rate
        self.decay = decay
        self.steps = 0
        self.first = [torch.zeros_like(parameter) for parameter in parameters]
        self.second = [torch.zeros_like(parameter) for parameter in parameters]

    def step(self, rate: float) -> None:
        """One update with the gradients that the parameters hold."""
        self.steps += 1
        correction = math.sqrt(1 - 0.95**self.steps) / (1 - 0.9**self.steps)
        with torch.no_grad():
            for parameter, first, second in zip(self.parameters, self.first, self.second, strict=True):
                first.mul_(0.9).add_(parameter.grad, alpha=0.1)
                second.mul_(0.95).addcmul_(parameter.grad, parameter.grad, value=0.05)
                parameter.mul_(1 - rate * self.decay)
                parameter.addcdiv_(first, second.sqrt().add_(1e-8), value=-rate * correction)

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    def state(self) -> dict[str, Any]:
        """What a checkpoint needs."""
        return {"steps": self.steps, "exp_avg": self.first, "exp_avg_sq": self.second}
