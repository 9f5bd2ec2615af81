# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""A plain data-parallel training script: one file, the logging module, rank 0 talks."""

import argparse
import json
import logging
import math
import os
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F  # noqa: N812
from corpus import Shards, batches
from noise import slow_batch, start_noise
from optimizer import AdamW
from stacks import dump_stacks_when_ended

logger = logging.getLogger("train_lm")


class TrainConfig:
    """Settings of the training, from config.json; unknown keys are refused."""

    def __init__(self, hidden: int = 96, layers: int = 2, vocab: int = 64, length: int = 48) -> None:
        self.hidden, self.layers, self.vocab, self.length = hidden, layers, vocab, length


def build_parameters(config: TrainConfig) -> dict[str, Any]:
    """A residual MLP over embeddings of the last token and a running mean of the ones before."""
    shapes = {"embed.weight": (config.vocab, config.hidden), "head.weight": (config.vocab, config.hidden)}
    for layer in range(config.layers):
        shapes[f"blocks.{layer}.up.weight"] = (2 * config.hidden, 2 * config.hidden)
        shapes[f"blocks.{layer}.down.weight"] = (config.hidden, 2 * config.hidden)
    return {name: (torch.randn(shape) * 0.05).requires_grad_() for name, shape in shapes.items()}


def compute_loss(parameters: dict[str, Any], config: TrainConfig, batch: Any) -> Any:
    """Next-token loss of a batch."""
    x = parameters["embed.weight"][batch[:, :-1]]
    for layer in range(config.layers):
        mean = x.cumsum(1) / torch.arange(1, x.size(1) + 1)[None, :, None]
        up = F.relu(torch.cat([x, mean], -1) @ parameters[f"blocks.{layer}.up.weight"].T)
        x = x + up @ parameters[f"blocks.{layer}.down.weight"].T
    logits = x @ parameters["head.weight"].T
    return F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


def average_gradients(grads: list[Any], world: int, group: Any) -> None:
    """One all-reduce a bucket."""
    for first in range(0, len(grads), 3):
        bucket = torch.cat([grad.flatten() for grad in grads[first : first + 3]])
        dist.all_reduce(bucket, group=group)
        for grad, part in zip(
            grads[first : first + 3], bucket.split([g.numel() for g in grads[first : first + 3]]), strict=True
        ):
            grad.copy_((part / world).view_as(grad))


def save(folder: Path, step: int, parameters: dict[str, Any], optimizer: AdamW, rank: int, group: Any) -> None:
    """Every rank keeps its random state; the first one the model as well."""
    path = folder / f"step-{step}" / f"rank{rank}.pt"
    path.parent.mkdir(parents=True, exist_ok=True)
    # <save>
    torch.save(
        {"model": dict(parameters), "optim": optimizer.state(), "rng": torch.get_rng_state(), "step": step}, path
    )
    logger.debug("rank %d finished writing %s", rank, path)
    dist.barrier(group=group)
    if rank == 0:
        (folder / "LATEST").write_text(str(step), encoding="utf-8")
        logger.info("Saved checkpoint for step %d to %s", step, path.parent)


def resume(folder: Path, parameters: dict[str, Any], rank: int) -> int:
    """Step of the latest checkpoint, whose tensors are taken over."""
    latest = folder / "LATEST"
    if not latest.exists():
        return 0
    step = int(latest.read_text(encoding="utf-8"))
    logger.info("Resuming rank %d from step %d", rank, step)
    state = torch.load(folder / f"step-{step}" / "rank0.pt", weights_only=True)
    for name, parameter in parameters.items():
        if state["model"][name].shape != parameter.shape:
            raise RuntimeError(
                f"Error(s) in loading state_dict for LM:\n\tsize mismatch for {name}: copying a param with shape "
                f"{state['model'][name].shape} from checkpoint, the shape in current model is {parameter.shape}."
            )
        with torch.no_grad():
            parameter.copy_(state["model"][name])
    return step


def run_validation(
    parameters: dict[str, Any], config: TrainConfig, valid: Any, step: int, group: Any, world: int
) -> None:
    """Mean loss of a few validation batches."""
    losses = []
    with torch.no_grad():
        for _ in range(2):
            # <evaluate>
            losses.append(compute_loss(parameters, config, next(valid)))  # noqa: PERF401 - a fault may stand before it
    total = sum(losses) / len(losses)
    dist.all_reduce(total, group=group)
    logger.info("Validation at step %d: loss=%.4f ppl=%.2f", step, float(total) / world, math.exp(float(total) / world))


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--config", required=True)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--resume-from", type=Path)
    parser.add_argument("--max-steps", type=int, default=60)
    parser.add_argument("--eval-every", type=int, default=20)
    parser.add_argument("--save-every", type=int, default=25)
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--loader-timeout", type=float, default=0)
    parser.add_argument("--init-timeout", type=float, default=25)
    parser.add_argument("--timeout", type=float, default=12)
    parser.add_argument("--step-ms", type=float, default=110)
    return parser.parse_args()


def main() -> None:
    """The whole job of one rank."""
    args = arguments()
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    local_rank, host = int(os.environ["LOCAL_RANK"]), os.environ["NODE_NAME"]
    logging.basicConfig(
        level=logging.INFO if rank == 0 else logging.WARNING,
        format=f"%(asctime)s - {host} - %(levelname)s - %(name)s - %(message)s",
        datefmt="%m/%d/%Y %H:%M:%S",
    )
    logging.captureWarnings(capture=True)
    torch.set_num_threads(1)
    dump_stacks_when_ended()
    config = TrainConfig(**json.loads(Path(args.config).read_text(encoding="utf-8")))
    logger.info("Starting: world size %d, args %s", world, vars(args))
    dist.init_process_group("gloo", timeout=timedelta(seconds=args.init_timeout))
    group = dist.new_group(timeout=timedelta(seconds=args.timeout))
    logger.warning("Process rank: %d, local rank: %d, device: cpu, distributed training: True", rank, local_rank)
    start_noise(rank, local_rank)
    torch.manual_seed(17)
    parameters = build_parameters(config)
    logger.info("Model has %d parameters", sum(p.numel() for p in parameters.values()))
    optimizer = AdamW(list(parameters.values()), args.learning_rate)
    start = resume(args.resume_from, parameters, rank) if args.resume_from else 0
    logger.info("Loading datasets from %s", args.data_dir)
    train = batches(Shards(args.data_dir, "train", config.length, rank, world), 4, args.workers, args.loader_timeout)
    valid = batches(Shards(args.data_dir, "valid", config.length, rank, world), 4, 0)
    logger.info("***** Running training ***** max steps %d", args.max_steps)
    for iteration in range(start + 1, args.max_steps + 1):
        began = time.time()
        optimizer.zero_grad()
        # <step>
        batch = next(train)
        time.sleep(args.step_ms / 1000)
        loss = compute_loss(parameters, config, batch)
        loss.backward()
        grads = [parameter.grad for parameter in parameters.values()]
        # <grads>
        local_norm = float(torch.cat([grad.flatten() for grad in grads]).norm())
        if not math.isfinite(local_norm):
            raise FloatingPointError(
                f"non-finite gradient norm {local_norm} on rank {rank} ({host}) at step {iteration}"
            )
        average_gradients(grads, world, group)
        # <update>
        optimizer.step(args.learning_rate * min(1.0, iteration / 8))
        slow_batch(rank, iteration)
        logger.info(
            "step %d/%d | loss %.4f | grad_norm %.3f | %.1f ms/step",
            iteration, args.max_steps, float(loss), local_norm, (time.time() - began) * 1000,
        )  # fmt: skip
        if iteration % args.eval_every == 0:
            run_validation(parameters, config, valid, iteration, group, world)
        if iteration % args.save_every == 0:
            save(args.output_dir, iteration, parameters, optimizer, rank, group)
    dist.barrier(group=group)
    logger.info("Training completed after %d steps", args.max_steps)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
