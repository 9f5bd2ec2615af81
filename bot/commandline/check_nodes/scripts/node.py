# ruff: noqa: T201, SLF001, BLE001 - a program of its own, whose output is its answer
# mypy: ignore-errors
"""On a node: loads torch once, then runs each test that a line of JSON asks for in a fresh process.

A fresh process, for after a rendezvous that timed out the next one of the same process fails with a healthy partner
too. Loaded once, for a test takes a second and torch many more on a busy machine. A line of JSON answers: ``ready``, a
result under the number of the test, and ``over`` when its process is gone.
"""

import hashlib
import json
import os
import signal
import sys
import time
from datetime import timedelta

GATHERS, ENOUGH_S = 6, 3.0  # the fastest of so many counts, for a busy machine delays some; or of so many seconds


def main() -> None:
    """Answer until nobody asks any more."""
    import torch.distributed  # noqa: PLC0415 on the nodes only

    say(ready=torch.__version__)
    for line in iter(sys.stdin.readline, ""):
        wanted = json.loads(line)
        child = os.fork()
        if child == 0:
            answer(wanted)
            os._exit(0)
        say(test=wanted["test"], over=ended(child, wanted["limit"]))


def ended(child: int, seconds: float) -> str:
    """How a process ended; after so many seconds it is ended."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        gone, status = os.waitpid(child, os.WNOHANG)
        if gone:
            return "" if status == 0 else f"its process ended with {os.waitstatus_to_exitcode(status)}"
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return f"it did not end within {seconds:.0f} s"


def answer(wanted: dict) -> None:
    """Run a test; what torch.distributed raises has failed, and of all else nobody knows whose fault it is."""
    try:
        say(test=wanted["test"], **{"bits": bits, "serve": serve, "join": join}[wanted["kind"]](wanted))
    except RuntimeError as error:
        say(test=wanted["test"], failed=str(error)[:200])
    except Exception as error:
        say(test=wanted["test"], unknown=f"{type(error).__name__}: {error}"[:200])


def serve(wanted: dict) -> dict:
    """The first of two: it says on which port the other one finds it."""
    import torch.distributed as dist  # noqa: PLC0415

    limit = timedelta(seconds=wanted["seconds"])
    store = dist.TCPStore("localhost", 0, 2, is_master=True, timeout=limit, wait_for_workers=False)
    say(test=wanted["test"], port=store.port)
    return gather(store, 0, wanted)


def join(wanted: dict) -> dict:
    """The gather of the second of two nodes, which finds the first at its address."""
    import torch.distributed as dist  # noqa: PLC0415

    limit = timedelta(seconds=wanted["seconds"])
    return gather(dist.TCPStore(wanted["host"], wanted["port"], 2, is_master=False, timeout=limit), 1, wanted)


def gather(store: object, place: int, wanted: dict) -> dict:
    """All-gathers between two nodes: seconds of the fastest, and whether each brought what was sent."""
    import torch  # noqa: PLC0415
    import torch.distributed as dist  # noqa: PLC0415

    limit, nccl = timedelta(seconds=wanted["seconds"]), wanted["backend"] == "nccl"
    if nccl:
        dist.init_process_group("nccl", store=store, rank=place, world_size=2, timeout=limit)
        group = dist.group.WORLD
    else:
        options = dist.ProcessGroupGloo._Options()
        options._devices = [dist.ProcessGroupGloo.create_device(hostname=wanted["own"])]
        options._timeout = limit
        group = dist.ProcessGroupGloo(store, place, 2, options)
    count = int(wanted["megabytes"] * 262_144)
    mine = torch.arange(count, dtype=torch.float32, device="cuda" if nccl else "cpu") % 1021 + place
    best, right, taken = float("inf"), True, 0.0
    for _ in range(GATHERS):  # the first one opens connections
        both = [torch.zeros_like(mine), torch.zeros_like(mine)]
        start = time.monotonic()
        group.allgather([both], [mine]).wait()
        if nccl:
            torch.cuda.synchronize()
        seconds = time.monotonic() - start
        best, taken = min(best, seconds), taken + seconds
        right = right and all(torch.equal(part - mine, torch.full_like(mine, r - place)) for r, part in enumerate(both))
        enough = torch.tensor([float(taken > ENOUGH_S)], device=mine.device)
        either = [torch.zeros_like(enough), torch.zeros_like(enough)]
        group.allgather([either], [enough]).wait()  # both stop at the same one
        if sum(either).item():
            break
    return {"seconds": best, "right": right}


def bits(_wanted: dict) -> dict:
    """One training step of fixed weights and data: what it ran on, and the hash of its gradients.

    Gradients, for a flipped low bit of one leaves the loss and the weights after Adam as they were. One thread: the
    order of additions, and so the bits, differ with their number.
    """
    import torch  # noqa: PLC0415

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(mode=True)
    cuda = torch.cuda.is_available()
    device = torch.device("cuda" if cuda else "cpu")
    generator = torch.Generator().manual_seed(1234)
    data = torch.randn(64, 128, generator=generator).to(device)
    weights = [torch.randn(128, 128, generator=generator).div(11).to(device).requires_grad_() for _ in range(6)]
    value = data
    for weight in weights:
        value = torch.tanh(value @ weight)
    value.square().mean().backward()
    digest = hashlib.sha256(b"".join(weight.grad.cpu().numpy().tobytes() for weight in weights)).hexdigest()
    kind = torch.cuda.get_device_name() if cuda else torch.backends.cpu.get_cpu_capability()
    return {"on": f"{kind}, torch {torch.__version__}", "digest": digest}


def say(**what: object) -> None:
    """A line of JSON."""
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
