# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""FSDP2 training with torchtitan's kind of console: one coloured line every few steps, checkpoints by DCP."""

import logging
import os
import time
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from corpus import Shards, batches
from noise import slow_batch, start_noise
from options import arguments
from stacks import dump_stacks_when_ended
from tinylm import LMConfig, TinyLM, next_token_loss
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.elastic.multiprocessing.errors import record
from torch.distributed.fsdp import fully_shard

RED, GREEN, YELLOW, CYAN, BLUE, RESET = (f"\033[{code}m" for code in (31, 32, 33, 36, 34, 39))
logger = logging.getLogger()


def init_logger() -> None:
    """Everything on standard error, with the program's name in front."""
    logger.setLevel(logging.INFO)
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("[titan] %(asctime)s - %(name)s - %(levelname)s - %(message)s"))
    logger.addHandler(handler)


class Trainer:
    """Sharded model, optimizer and data of one rank."""

    def __init__(self, args: Any) -> None:
        config = LMConfig.load(args.config)
        dist.init_process_group("gloo", timeout=timedelta(seconds=args.timeout))
        self.args, self.rank, self.world = args, dist.get_rank(), dist.get_world_size()
        start_noise(self.rank, int(os.environ["LOCAL_RANK"]))
        logger.info("Building device mesh with parallelism: dp_shard=%d", self.world)
        mesh = init_device_mesh("cpu", (self.world,), mesh_dim_names=("dp_shard",))
        torch.manual_seed(0)
        self.model = TinyLM(config)
        size = sum(parameter.numel() for parameter in self.model.parameters())
        logger.info("%sModel tinylm debugmodel %ssize: %s total parameters%s", BLUE, RED, f"{size:,}", RESET)
        for block in self.model.blocks:
            fully_shard(block, mesh=mesh)
        fully_shard(self.model, mesh=mesh)
        logger.info("Applied FSDP to the model")
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.learning_rate, foreach=False)
        shards = Shards(args.data_dir, "train", config.length, self.rank, self.world)
        self.data = batches(shards, 4, args.workers, args.loader_timeout)

    def train_step(self, iteration: int) -> None:
        """Forward, backward, clip, update."""
        rank, began = self.rank, time.perf_counter()
        # <step>
        batch = next(self.data)
        time.sleep(self.args.step_ms / 1000)
        loss = next_token_loss(self.model, batch)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0, foreach=False).full_tensor().item()
        self.optimizer.step()
        self.optimizer.zero_grad()
        slow_batch(rank, iteration)
        speed = round(batch.numel() / (time.perf_counter() - began))
        logger.info(
            "%sstep: %2d  %sloss: %7.4f  %sgrad_norm: %7.4f  %stps: %s%s",
            RED, iteration, GREEN, loss.item(), YELLOW, norm, CYAN, f"{speed:,}", RESET,
        )  # fmt: skip

    def save(self, iteration: int) -> None:
        """A sharded checkpoint, a file a rank."""
        logger.info("Saving the checkpoint (or staging if async is enabled).")
        began = time.perf_counter()
        dcp.save({"model": self.model.state_dict()}, checkpoint_id=str(self.args.output_dir / f"step-{iteration}"))
        logger.info("Finished saving the checkpoint in %.2f seconds.", time.perf_counter() - began)

    @record
    def train(self) -> None:
        """All iterations."""
        logger.info("Training starts at step 1, total steps %d", self.args.max_steps)
        for iteration in range(1, self.args.max_steps + 1):
            self.train_step(iteration)
            if iteration % self.args.save_every == 0:
                self.save(iteration)
        logger.info("Training completed")


def main() -> None:
    """The whole job of one rank."""
    args = arguments()
    torch.set_num_threads(1)
    dump_stacks_when_ended()
    init_logger()
    logger.info("Starting job: TinyLM debug training")
    Trainer(args).train()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
