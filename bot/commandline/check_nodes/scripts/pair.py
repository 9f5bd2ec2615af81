# ruff: noqa: T201, SLF001 - a program of its own, whose output is its answer
# mypy: ignore-errors
"""An all-gather between two nodes, its time and content: RANK, HOST, OWN ADDRESS, PORT, MEGABYTES, SECONDS, BACKEND.

A line of JSON when it is ready, and one with the result. A fresh process a pair: after a rendezvous that timed out, the
next one of the same process fails with a healthy partner too.
"""

import json
import sys
import time
from datetime import timedelta


def main() -> None:
    """The rank of one node, once."""
    import torch  # noqa: PLC0415 on the nodes only
    import torch.distributed as dist  # noqa: PLC0415

    rank, host, own, port, megabytes, seconds, backend = sys.argv[1:8]
    place, limit = int(rank), timedelta(seconds=float(seconds))
    print(json.dumps({"ready": True}), flush=True)
    store = dist.TCPStore(host, int(port), 2, place == 0, timeout=limit)
    device = torch.device("cuda" if backend == "nccl" else "cpu")
    if backend == "gloo":
        options = dist.ProcessGroupGloo._Options()
        options._devices = [dist.ProcessGroupGloo.create_device(hostname=own)]
        options._timeout = limit
        group = dist.ProcessGroupGloo(store, place, 2, options)
    else:
        dist.init_process_group(backend, store=store, rank=place, world_size=2, timeout=limit)
        group = dist.group.WORLD
    count = int(float(megabytes) * 262_144)
    mine = torch.arange(count, dtype=torch.float32, device=device) % 1021 + place
    best, right = float("inf"), True
    for _ in range(3):  # the first one opens connections
        both = [torch.zeros_like(mine), torch.zeros_like(mine)]
        start = time.monotonic()
        group.allgather([both], [mine]).wait()
        if backend == "nccl":
            torch.cuda.synchronize()
        best = min(best, time.monotonic() - start)
        right = right and all(torch.equal(part - mine, torch.full_like(mine, r - place)) for r, part in enumerate(both))
    print(json.dumps({"seconds": best, "right": right}), flush=True)


if __name__ == "__main__":
    main()
