# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""Data-parallel training with loguru; every rank tells how long it read, computed and waited."""

import math
import os
import socket
import sys
import time
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from corpus import Shards, batches
from loguru import logger
from noise import slow_batch, start_noise
from options import arguments
from stacks import dump_stacks_when_ended
from tinylm import LMConfig, TinyLM, average_gradients, descend, next_token_loss


class Trainer:
    """Model, data and process group of one rank."""

    def __init__(self, args: Any) -> None:
        config = LMConfig.load(args.config)
        dist.init_process_group("gloo", timeout=timedelta(seconds=args.init_timeout))
        self.args, self.rank, self.world = args, dist.get_rank(), dist.get_world_size()
        self.group = dist.new_group(timeout=timedelta(seconds=args.timeout))
        torch.manual_seed(4)
        self.model = TinyLM(config)
        self.parameters = list(self.model.parameters())
        size = sum(parameter.numel() for parameter in self.parameters)
        logger.info("rank {} of {} on {}, {} parameters", self.rank, self.world, socket.gethostname(), size)
        start_noise(self.rank, int(os.environ["LOCAL_RANK"]))
        shards = Shards(args.data_dir, "train", config.length, self.rank, self.world)
        self.data = batches(shards, 8, args.workers, args.loader_timeout)

    def step(self, iteration: int) -> str:
        """One update; what to say about it."""
        rank, group = self.rank, self.group
        began = time.perf_counter()
        # <step>
        batch = next(self.data)
        read = time.perf_counter()
        time.sleep(self.args.step_ms / 1000)
        loss = next_token_loss(self.model, batch)
        loss.backward()
        grads = [parameter.grad for parameter in self.parameters]
        computed = time.perf_counter()
        # <grads>
        own = float(torch.cat([grad.flatten() for grad in grads]).norm())
        if not math.isfinite(own):
            raise FloatingPointError(f"non-finite gradient norm {own} on rank {rank} at step {iteration}")
        norm = average_gradients(grads, group)
        # <update>
        descend(self.parameters, self.args.learning_rate)
        slow_batch(rank, iteration)
        spent = (
            f"data_time={read - began:.3f} forward_backward_time={computed - read:.3f} "
            f"allreduce_time={time.perf_counter() - computed:.3f}"
        )
        return f"loss={loss.item():.4f} grad_norm={norm:.3f} {spent}"

    def save(self, iteration: int) -> None:
        """Every rank keeps a copy, and says so."""
        path = self.args.output_dir / f"step-{iteration}" / f"rank{self.rank}.pt"
        path.parent.mkdir(parents=True, exist_ok=True)
        # <save>
        torch.save(self.model.state_dict(), path)
        logger.info("snapshot {} written", path)
        dist.barrier(group=self.group)

    def run(self) -> None:
        """All iterations."""
        for iteration in range(1, self.args.max_steps + 1):
            logger.info("step={}/{} {}", iteration, self.args.max_steps, self.step(iteration))
            if iteration % self.args.save_every == 0:
                self.save(iteration)
        dist.barrier(group=self.group)
        logger.success("done after {} steps", self.args.max_steps)


@logger.catch(onerror=lambda _: sys.exit(1))
def main() -> None:
    """The whole job of one rank."""
    args = arguments()
    torch.set_num_threads(1)
    dump_stacks_when_ended()
    Trainer(args).run()
    dist.destroy_process_group()


if __name__ == "__main__":
    logger.remove()
    logger.add(sys.stderr, level="DEBUG", backtrace=False, diagnose=False)
    main()
