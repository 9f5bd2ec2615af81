# mypy: ignore-errors
"""All groups of a plan as gloo groups of one job: ``python gloo_job.py PLAN RANK TRIALS RESULTS STORE``.

A run trains a small layer on data of its own seed; in trial t rank t adds NaN to a gradient in half of the runs.
A row of RESULTS is a run, with the exit code that a job of its own would have had.
"""

import json
import random
import sys
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist

plan_file, rank_word, trials, results, store = sys.argv[1:6]
plan, rank = json.loads(Path(plan_file).read_text(encoding="utf-8")), int(rank_word)
world = len(plan["nodes"])
torch.set_num_threads(1)
dist.init_process_group(
    "gloo", store=dist.FileStore(store, world), rank=rank, world_size=world, timeout=timedelta(seconds=180)
)
places = {node: place for place, node in enumerate(plan["nodes"])}
groups = [(one["name"], [places[node] for node in one["nodes"]]) for one in plan["groups"]]
joined = [(name, members, dist.new_group(members)) for name, members in groups]
rows = []
for trial in range(int(trials)):
    for name, members, group in joined:
        for run in range(1, plan["runs"] + 1):
            if rank not in members:
                continue
            torch.manual_seed(run)
            layer, data = torch.nn.Linear(8, 8), torch.randn(4, 8)
            layer(data).square().mean().backward()
            gradient = layer.weight.grad
            if rank == trial % world and random.Random(f"{trial} {name} {run}").random() < 0.5:
                gradient[0, 0] = float("nan")
            dist.all_reduce(gradient, group=group)
            layer.weight.data -= 0.1 * gradient
            if rank == members[0]:
                rows.append(f"{trial},{name},{run},{int(bool(layer(data).sum().isnan()))}")
Path(f"{results}.{rank}").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
dist.barrier()
