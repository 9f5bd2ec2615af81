# mypy: ignore-errors
"""Process groups: tensor-parallel ranks are neighbours, data-parallel ranks are a stride apart."""

import logging
import os
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch.distributed as dist

from megalite import __version__

log = logging.getLogger("megalite.parallel")


@dataclass
class Ranks:
    """Where this process stands."""

    rank: int
    local_rank: int
    world: int
    tp_group: Any = None
    dp_group: Any = None
    dp_rank: int = 0
    dp_size: int = 1
    host: str = ""


def print_rank_0(text: str) -> None:
    """Print on the first rank."""
    if os.environ.get("RANK", "0") == "0":
        print(text, flush=True)  # noqa: T201


def print_rank_last(text: str) -> None:
    """Print on the last rank."""
    if int(os.environ["RANK"]) == int(os.environ["WORLD_SIZE"]) - 1:
        print(text, flush=True)  # noqa: T201


def initialize(tp_size: int, init_seconds: float, seconds: float) -> Ranks:
    """Join the job; training groups have a shorter time-out than the set-up."""
    started = time.time()
    print_rank_0("> initializing torch distributed ...")
    dist.init_process_group("gloo", timeout=timedelta(seconds=init_seconds))
    ranks = Ranks(dist.get_rank(), int(os.environ["LOCAL_RANK"]), dist.get_world_size(), host=os.environ["NODE_NAME"])
    log.info("joined as rank %d of %d on %s, pid %d", ranks.rank, ranks.world, ranks.host, os.getpid())
    versions = [None] * ranks.world
    dist.all_gather_object(versions, __version__)
    if versions[0] != __version__:
        raise RuntimeError(
            f"version mismatch: rank {ranks.rank} on {ranks.host} runs megalite {__version__}, rank 0 {versions[0]}"
        )
    patience = timedelta(seconds=seconds)
    if tp_size > 1:
        for first in range(0, ranks.world, tp_size):
            group = dist.new_group(list(range(first, first + tp_size)), timeout=patience)
            ranks.tp_group = group if first <= ranks.rank < first + tp_size else ranks.tp_group
    for offset in range(tp_size):
        group = dist.new_group(list(range(offset, ranks.world, tp_size)), timeout=patience)
        ranks.dp_group = group if ranks.rank % tp_size == offset else ranks.dp_group
    ranks.dp_rank, ranks.dp_size = ranks.rank // tp_size, ranks.world // tp_size
    print_rank_0(f"> initialized tensor model parallel with size {tp_size}")
    print_rank_0("> initialized pipeline model parallel with size 1")
    print_rank_0(f"time to initialize megalite (seconds): {time.time() - started:.3f}")
    return ranks
