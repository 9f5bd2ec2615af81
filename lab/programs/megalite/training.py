# mypy: ignore-errors
"""The training loop."""

import argparse
import logging
import math
import os
import sys
import time
from datetime import UTC, datetime
from typing import Any

import torch
import torch.distributed as dist
from corpus import Shards, batches
from noise import slow_batch, start_noise
from optimizer import AdamW
from stacks import dump_stacks_when_ended

from megalite.arguments import model_config, parse_args, print_args
from megalite.checkpointing import load_checkpoint, save_checkpoint
from megalite.model import GPTModel
from megalite.parallel import Ranks, initialize, print_rank_0, print_rank_last

log = logging.getLogger("megalite.training")


def now() -> str:
    """The local time as the iteration lines have it."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


def check_grad_norm(norm: float, ranks: Ranks, iteration: int) -> None:
    """Stop before a gradient that is no number reaches the other ranks."""
    if not math.isfinite(norm):
        raise ValueError(
            f"Rank {ranks.rank}: found NaN in local grad norm in backward pass before data-parallel communication "
            f"collective. Device: {ranks.local_rank}, node: {ranks.host}, iteration: {iteration}"
        )


def allreduce_gradients(grads: list[Any], ranks: Ranks) -> float:
    """Mean of the gradients over the data-parallel ranks; the norm."""
    flat = torch.cat([grad.flatten() for grad in grads])
    dist.all_reduce(flat, group=ranks.dp_group)
    flat /= ranks.dp_size
    offset = 0
    for grad in grads:
        grad.copy_(flat[offset : offset + grad.numel()].view_as(grad))
        offset += grad.numel()
    return float(flat.norm())


def train_step(job: Any, args: argparse.Namespace, ranks: Ranks, iteration: int) -> tuple[float, float]:
    """Forward, backward, reduce, update: the loss and the gradient norm."""
    rank = ranks.rank
    job.optimizer.zero_grad()
    # <step>
    sample = next(job.train)
    time.sleep(args.step_ms / 1000)
    loss = job.model.loss(sample[:, :-1], sample[:, 1:])
    loss.backward()
    grads = [parameter.grad for parameter in job.model.parameters.values()]
    # <grads>
    check_grad_norm(float(torch.cat([grad.flatten() for grad in grads]).norm()), ranks, iteration)
    norm = allreduce_gradients(grads, ranks)
    # <update>
    job.optimizer.step(args.lr * min(1.0, iteration / 5))
    slow_batch(rank, iteration)
    mean = loss.detach().clone()
    dist.all_reduce(mean, group=ranks.dp_group)
    return float(mean) / ranks.dp_size, norm


def evaluate(job: Any, args: argparse.Namespace, ranks: Ranks, iteration: int) -> None:
    """Loss on the validation shards."""
    print_rank_0(f"Evaluating on {args.eval_iters * args.micro_batch_size * ranks.dp_size} samples")
    total = torch.zeros(1)
    with torch.no_grad():
        for index in range(args.eval_iters):
            print_rank_0(f"Evaluating iter {index + 1}/{args.eval_iters}")
            # <evaluate>
            sample = next(job.valid)
            total += job.model.loss(sample[:, :-1], sample[:, 1:])
    dist.all_reduce(total, group=ranks.dp_group)
    mean = float(total) / ranks.dp_size / args.eval_iters
    text = (
        f" validation loss at iteration {iteration} | lm loss value: {mean:.6E} | lm loss PPL: {math.exp(mean):.6E} | "
    )
    print_rank_last("-" * len(text) + "\n" + text + "\n" + "-" * len(text))


def train(job: Any, args: argparse.Namespace, ranks: Ranks, start: int) -> None:
    """All iterations."""
    print_rank_0(f"[before the start of training step] datetime: {now()[:19]} ")
    for iteration in range(start + 1, args.train_iters + 1):
        began = time.time()
        loss, norm = train_step(job, args, ranks, iteration)
        consumed = iteration * args.micro_batch_size * ranks.dp_size
        print_rank_last(
            f" [{now()}] iteration {iteration:8d}/{args.train_iters:8d} | consumed samples: {consumed:12d} | "
            f"elapsed time per iteration (ms): {(time.time() - began) * 1000:.1f} | learning rate: {args.lr:.6E} | "
            f"global batch size: {args.micro_batch_size * ranks.dp_size:5d} | lm loss: {loss:.6E} | loss scale: 1.0 | "
            f"grad norm: {norm:.3f} | number of skipped iterations:   0 | number of nan iterations:   0 |"
        )
        if iteration % 10 == 0:
            log.info("iteration %d: forward-backward %.1f ms", iteration, (time.time() - began) * 1000)
        if iteration % args.eval_interval == 0:
            evaluate(job, args, ranks, iteration)
        if iteration % args.save_interval == 0:
            save_checkpoint(args.save, iteration, job.model, job.optimizer, ranks)
    print_rank_0(f"[after training is done] datetime: {now()[:19]} ")


def pretrain() -> None:
    """The whole job of one rank."""
    args = parse_args()
    rank_name = os.environ["RANK"]
    logging.basicConfig(
        level=logging.INFO,
        stream=sys.stderr,
        format=f"%(asctime)s [%(levelname)s] [rank{rank_name}] %(name)s: %(message)s",
    )
    logging.captureWarnings(capture=True)
    torch.set_num_threads(1)
    dump_stacks_when_ended()
    config = model_config(args.config)
    if rank_name == "0":
        print_args(args)
    ranks = initialize(args.tensor_model_parallel_size, args.init_timeout_seconds, args.distributed_timeout_seconds)
    start_noise(ranks.rank, ranks.local_rank)
    torch.manual_seed(args.seed)
    print_rank_0("building GPT model ...")
    model = GPTModel(config, ranks.tp_group, args.tensor_model_parallel_size)
    optimizer = AdamW(list(model.parameters.values()), args.lr)
    count = sum(parameter.numel() for parameter in model.parameters.values())
    log.info(
        " > number of parameters on tensor model parallel rank %d: %d",
        ranks.rank % args.tensor_model_parallel_size,
        count,
    )
    start = load_checkpoint(args.load, model, optimizer, ranks) if args.load else 0
    print_rank_0(f"[after model and optimizer are built] datetime: {now()[:19]} ")
    print_rank_0("> building train and validation datasets for GPT ...")
    train_shards = Shards(args.data_path, "train", config.seq_length, ranks.dp_rank, ranks.dp_size)
    valid_shards = Shards(args.data_path, "valid", config.seq_length, ranks.dp_rank, ranks.dp_size)
    job = argparse.Namespace(
        model=model,
        optimizer=optimizer,
        train=batches(train_shards, args.micro_batch_size, args.num_workers, args.dataloader_timeout),
        valid=batches(valid_shards, args.micro_batch_size, 0),
    )
    print_rank_0("> finished creating GPT datasets ...")
    train(job, args, ranks, start)
    log.info("rank %d leaves after iteration %d", ranks.rank, args.train_iters)
    dist.barrier(group=ranks.dp_group)
    dist.destroy_process_group()
