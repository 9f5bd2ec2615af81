# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""DeepSpeed's engine, ZeRO stage 1, on CPU."""

import os
import time
from datetime import timedelta

import deepspeed
import torch
from corpus import Shards, batches
from deepspeed.utils.logging import logger, set_log_level_from_string
from noise import slow_batch, start_noise
from options import arguments
from stacks import dump_stacks_when_ended
from tinylm import LMConfig, TinyLM, next_token_loss

BATCH = 4  # chosen: small, for a busy CPU


def main() -> None:
    """The whole job of one rank."""
    args = arguments()
    set_log_level_from_string("info")  # by itself it says no more than warnings
    torch.set_num_threads(1)
    dump_stacks_when_ended()
    config = LMConfig.load(args.config)
    deepspeed.init_distributed("gloo", timeout=timedelta(seconds=args.timeout))
    rank, world = deepspeed.comm.get_rank(), deepspeed.comm.get_world_size()
    start_noise(rank, int(os.environ["LOCAL_RANK"]))
    torch.manual_seed(0)
    model = TinyLM(config)
    settings = {
        "train_micro_batch_size_per_gpu": BATCH,
        "optimizer": {"type": "AdamW", "params": {"lr": args.learning_rate, "torch_adam": True}},
        "zero_optimization": {"stage": 1},
        "steps_per_print": 10,
    }
    engine, *_ = deepspeed.initialize(model=model, model_parameters=list(model.parameters()), config=settings)
    data = batches(Shards(args.data_dir, "train", config.length, rank, world), BATCH, args.workers, args.loader_timeout)
    for iteration in range(1, args.max_steps + 1):
        # <step>
        batch = next(data)
        time.sleep(args.step_ms / 1000)
        loss = next_token_loss(engine, batch)
        engine.backward(loss)
        engine.step()
        slow_batch(rank, iteration)
        logger.info(f"[Rank {rank}] step {iteration}/{args.max_steps} | loss {loss.item():.4f}")
        if iteration % args.save_every == 0:
            engine.save_checkpoint(str(args.output_dir), tag=f"global_step{iteration}")
    logger.info(f"[Rank {rank}] training finished")


if __name__ == "__main__":
    main()
