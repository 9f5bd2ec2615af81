# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""Data-parallel training that logs one JSON object a line (structlog); every rank talks."""

import math
import os
import socket
import sys
import time
from datetime import timedelta
from typing import Any

import structlog
import torch
import torch.distributed as dist
from corpus import Shards, batches
from noise import slow_batch, start_noise
from options import arguments
from stacks import dump_stacks_when_ended
from tinylm import LMConfig, TinyLM, average_gradients, descend, next_token_loss


def configure() -> Any:
    """JSON on standard output; rank and host in every line."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
            structlog.processors.format_exc_info,
            structlog.processors.EventRenamer("msg"),
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stdout),
    )
    structlog.contextvars.bind_contextvars(rank=int(os.environ["RANK"]), node=socket.gethostname())
    return structlog.get_logger()


def save(args: Any, iteration: int, model: Any, rank: int, group: Any, log: Any) -> None:
    """Every rank keeps a copy."""
    path = args.output_dir / f"step-{iteration}" / f"rank{rank}.pt"
    path.parent.mkdir(parents=True, exist_ok=True)
    log.info("saving checkpoint", path=str(path))
    # <save>
    torch.save(model.state_dict(), path)
    log.info("checkpoint saved", path=str(path))
    dist.barrier(group=group)


def train(args: Any, log: Any) -> None:
    """The whole job of one rank."""
    config = LMConfig.load(args.config)
    dist.init_process_group("gloo", timeout=timedelta(seconds=args.init_timeout))
    group = dist.new_group(timeout=timedelta(seconds=args.timeout))
    rank, world = dist.get_rank(), dist.get_world_size()
    log.info("process group ready", world_size=world, backend="gloo", torch=torch.__version__)
    start_noise(rank, int(os.environ["LOCAL_RANK"]))
    torch.manual_seed(3)
    model = TinyLM(config)
    parameters = list(model.parameters())
    log.info("model built", parameters=sum(parameter.numel() for parameter in parameters), **vars(config))
    log.info("loading data", path=args.data_dir)
    data = batches(Shards(args.data_dir, "train", config.length, rank, world), 4, args.workers, args.loader_timeout)
    for iteration in range(1, args.max_steps + 1):
        began = time.perf_counter()
        # <step>
        batch = next(data)
        time.sleep(args.step_ms / 1000)
        loss = next_token_loss(model, batch)
        loss.backward()
        grads = [parameter.grad for parameter in parameters]
        # <grads>
        own = float(torch.cat([grad.flatten() for grad in grads]).norm())
        if not math.isfinite(own):
            raise FloatingPointError(f"non-finite gradient norm {own} on rank {rank} at step {iteration}")
        norm = average_gradients(grads, group)
        # <update>
        descend(parameters, args.learning_rate)
        slow_batch(rank, iteration)
        seconds = round(time.perf_counter() - began, 3)
        log.info("step", step=iteration, loss=round(loss.item(), 4), grad_norm=round(norm, 4), seconds=seconds)
        if iteration % args.save_every == 0:
            save(args, iteration, model, rank, group, log)
    dist.barrier(group=group)
    log.info("training finished", steps=args.max_steps)
    dist.destroy_process_group()


def main() -> None:
    """Log what goes wrong as one line."""
    args = arguments()
    torch.set_num_threads(1)
    dump_stacks_when_ended()
    log = configure()
    try:
        train(args, log)
    except Exception:  # as such programs do: whatever it is, it goes to the log with its traceback
        log.exception("training failed")
        sys.exit(1)


if __name__ == "__main__":
    main()
