# ruff: noqa: INP001 - scripts, copied to a node as they are
# mypy: ignore-errors
"""A loop on top of Accelerate."""

import logging
import os
import time
from datetime import timedelta

import torch
from accelerate import Accelerator
from accelerate.logging import get_logger
from accelerate.utils import InitProcessGroupKwargs, set_seed
from corpus import Shards, batches
from noise import slow_batch, start_noise
from options import arguments
from stacks import dump_stacks_when_ended
from tinylm import LMConfig, TinyLM, next_token_loss
from tqdm.auto import tqdm

logger = get_logger("train_clm", log_level="INFO")


def main() -> None:
    """The whole job of one rank."""
    args = arguments()
    logging.basicConfig(
        format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S", level=logging.INFO
    )
    torch.set_num_threads(1)
    dump_stacks_when_ended()
    config = LMConfig.load(args.config)
    patience = InitProcessGroupKwargs(backend="gloo", timeout=timedelta(seconds=args.timeout))
    accelerator = Accelerator(cpu=True, kwargs_handlers=[patience])
    rank, world = accelerator.process_index, accelerator.num_processes
    logger.info(accelerator.state, main_process_only=False)
    start_noise(rank, int(os.environ["LOCAL_RANK"]))
    set_seed(7)
    model = TinyLM(config)
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=args.learning_rate))
    data = batches(Shards(args.data_dir, "train", config.length, rank, world), 4, args.workers, args.loader_timeout)
    logger.info("***** Running training *****")
    logger.info("  Total optimization steps = %d", args.max_steps)
    bar = tqdm(range(args.max_steps), disable=not accelerator.is_local_main_process)
    for iteration in range(1, args.max_steps + 1):
        # <step>
        batch = next(data)
        time.sleep(args.step_ms / 1000)
        loss = next_token_loss(model, batch)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        slow_batch(rank, iteration)
        bar.update(1)
        logger.info("step %d/%d: loss %.4f", iteration, args.max_steps, loss.item(), main_process_only=False)
    accelerator.end_training()


if __name__ == "__main__":
    main()
