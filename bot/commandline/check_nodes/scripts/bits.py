# ruff: noqa: T201 - a program of its own, whose output is its answer
# mypy: ignore-errors
"""One training step of fixed weights and data: what it ran on, and the hash of its gradients.

Gradients, for a flipped low bit of one leaves the loss and the weights after Adam as they were. One thread: the
order of additions, and so the bits, differ with their number.
"""

import hashlib
import json


def main() -> None:
    """One step."""
    import torch  # noqa: PLC0415 on the nodes only

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(mode=True)
    cuda = torch.cuda.is_available()
    device = torch.device("cuda" if cuda else "cpu")
    generator = torch.Generator().manual_seed(1234)
    data = torch.randn(64, 128, generator=generator).to(device)
    weights = [torch.randn(128, 128, generator=generator).div(11).to(device).requires_grad_() for _ in range(6)]
    value = data
    for weight in weights:
        value = torch.tanh(value @ weight)
    value.square().mean().backward()
    digest = hashlib.sha256(b"".join(weight.grad.cpu().numpy().tobytes() for weight in weights)).hexdigest()
    kind = torch.cuda.get_device_name() if cuda else torch.backends.cpu.get_cpu_capability()
    print(json.dumps({"kind": f"{kind}, torch {torch.__version__}", "digest": digest}), flush=True)


if __name__ == "__main__":
    main()
