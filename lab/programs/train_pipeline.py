# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""Pipeline x data parallel training: stage s of pipeline d is rank d * STAGES + s; every rank talks."""

import logging
import os
import sys
import time
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from corpus import Shards, batches
from noise import slow_batch, start_noise
from options import arguments
from stacks import dump_stacks_when_ended
from tinylm import Block, LMConfig, average_gradients, descend
from torch import nn

STAGES = 4  # a rank each
BATCH = 4  # chosen: small, for a busy CPU


class Stage(nn.Module):
    """The part of the model that one rank holds: embedding first, head last."""

    def __init__(self, config: LMConfig, stage: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(config.vocab, config.hidden) if stage == 0 else None
        self.block = Block(config)
        self.head = nn.Linear(config.hidden, config.vocab) if stage == STAGES - 1 else None

    def forward(self, x: Any, targets: Any) -> Any:
        """Hidden states, or the loss."""
        hidden = self.block(x if self.embed is None else self.embed(x))
        if self.head is None:
            return hidden
        return nn.functional.cross_entropy(self.head(hidden).flatten(0, 1), targets.flatten())


class Rank:
    """One stage of one pipeline."""

    def __init__(self, args: Any) -> None:
        self.args, self.config = args, LMConfig.load(args.config)
        dist.init_process_group("gloo", timeout=timedelta(seconds=args.timeout))
        self.rank, world = dist.get_rank(), dist.get_world_size()
        self.pipeline, self.stage = divmod(self.rank, STAGES)
        pipelines = world // STAGES
        groups = [dist.new_group([STAGES * pipe + stage for pipe in range(pipelines)]) for stage in range(STAGES)]
        self.group = groups[self.stage]
        self.log = logging.getLogger(f"dp{self.pipeline}.pp{self.stage}")
        self.log.info("stage %d of %d in pipeline %d of %d", self.stage, STAGES, self.pipeline, pipelines)
        start_noise(self.rank, int(os.environ["LOCAL_RANK"]))
        torch.manual_seed(self.stage)
        self.module = Stage(self.config, self.stage)
        self.parameters = list(self.module.parameters())
        shards = Shards(args.data_dir, "train", self.config.length, self.pipeline, pipelines)
        self.data = batches(shards, BATCH, args.workers, args.loader_timeout)

    def receive(self, peer: int) -> Any:
        """Hidden states or their gradient from a neighbour."""
        tensor = torch.empty(BATCH, self.config.length, self.config.hidden)
        dist.recv(tensor, peer)
        return tensor

    def step(self, iteration: int) -> float | None:
        """Forward, backward and update of this stage; the last one knows the loss."""
        rank = self.rank
        # <step>
        batch = next(self.data)
        time.sleep(self.args.step_ms / 1000 / STAGES)
        first, last = self.stage == 0, self.stage == STAGES - 1
        inputs = batch[:, :-1] if first else self.receive(rank - 1).requires_grad_()
        out = self.module(inputs, batch[:, 1:])
        if last:
            out.backward()
        else:
            dist.send(out.detach(), rank + 1)
            out.backward(self.receive(rank + 1))
        if not first:
            dist.send(inputs.grad, rank - 1)
        average_gradients([parameter.grad for parameter in self.parameters], self.group)
        descend(self.parameters, self.args.learning_rate)
        slow_batch(rank, iteration)
        return float(out) if last else None

    def run(self) -> None:
        """All iterations."""
        total = self.args.max_steps
        for iteration in range(1, total + 1):
            began = time.perf_counter()
            loss = self.step(iteration)
            shown = "" if loss is None else f" lm loss: {loss:.6E} |"
            spent = (time.perf_counter() - began) * 1000
            self.log.info(
                " iteration %8d/%8d | elapsed time per iteration (ms): %.1f |%s", iteration, total, spent, shown
            )


def main() -> None:
    """The whole job of one rank."""
    args = arguments()
    torch.set_num_threads(1)
    dump_stacks_when_ended()
    rank = os.environ["RANK"]
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO,
        format=f"[%(asctime)s] [%(levelname)s] [%(name)s] [rank {rank}] %(message)s",
    )  # fmt: skip
    Rank(args).run()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
