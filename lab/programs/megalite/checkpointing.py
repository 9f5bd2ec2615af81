# mypy: ignore-errors
"""Checkpoints: every rank writes its shard, the first rank the tracker file."""

import logging
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from megalite.parallel import Ranks, print_rank_0

log = logging.getLogger("megalite.checkpointing")
TRACKER = "latest_checkpointed_iteration.txt"


def shard_file(folder: Path, iteration: int, rank: int) -> Path:
    """Where a rank's shard of an iteration lies."""
    return folder / f"iter_{iteration:07d}" / f"mp_rank_{rank:02d}" / "model_optim_rng.pt"


def save_checkpoint(folder: Path, iteration: int, model: Any, optimizer: Any, ranks: Ranks) -> None:
    """Write this rank's shard and wait for the others."""
    print_rank_0(f"saving checkpoint at iteration {iteration:7d} to {folder} in torch format")
    started = time.time()
    path = shard_file(folder, iteration, ranks.rank)
    path.parent.mkdir(parents=True, exist_ok=True)
    # <save>
    torch.save({"model": dict(model.parameters), "optimizer": optimizer.state(), "iteration": iteration}, path)
    log.info("wrote %s in %.2f s", path, time.time() - started)
    dist.barrier(group=ranks.dp_group)
    if ranks.rank == 0:
        (folder / TRACKER).write_text(str(iteration), encoding="utf-8")
    print_rank_0(f"  successfully saved checkpoint at iteration {iteration:7d} to {folder}")


def load_checkpoint(folder: Path, model: Any, optimizer: Any, ranks: Ranks) -> int:
    """Read this rank's shard of the latest checkpoint; the iteration that it was saved at."""
    tracker = folder / TRACKER
    if not tracker.exists():
        print_rank_0(f"WARNING: could not find the metadata file {tracker}")
        print_rank_0("    will not load any checkpoints and will start from random")
        return 0
    iteration = int(tracker.read_text(encoding="utf-8"))
    print_rank_0(f" loading checkpoint from {folder} at iteration {iteration}")
    state = torch.load(shard_file(folder, iteration, ranks.rank), weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.steps = state["optimizer"]["steps"]
    log.info("loaded the shard of rank %d", ranks.rank)
    dist.barrier(group=ranks.dp_group)
    print_rank_0(f"  successfully loaded checkpoint from {folder} at iteration {iteration}")
    return iteration
