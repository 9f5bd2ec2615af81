"""Synthetic training logs of any size, seeded: what one rank of a large job prints, clean or as dirty as real ones.

    python -m benchmarks.generate rank.log --mb 256
    python -m benchmarks.generate dirty.log --mb 64 --dirty

The mix follows real logs (logs.md): some start-up lines, then iterations with a report, timers, data loading and a
few lines of many components, of which few are common and most are rare; a traceback at the end. The dirty log adds
stacked labels, progress bars in one line, colours, bytes that are no text, lines of 14,000 characters, and one line in
twenty that masking cannot collapse.
"""

import argparse
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate, count, product
from pathlib import Path

NCCL = "{host}:{pid}:{pid} [{int1}] NCCL"
START = (
    "W{glog} torch/distributed/run.py:{int4}] Setting OMP_NUM_THREADS for each process to be {int1}",
    f"{NCCL} INFO Bootstrap : Using eth0:{{ip}}<0>",
    f"{NCCL} INFO cudaDriverVersion {{int5}}",
    f"{NCCL} INFO comm {{hex}} rank {{int3}} nranks {{int4}} cudaDev {{int1}} busId {{int5}} - Init START",
    *(f"{NCCL} INFO Channel {{int2}}/{{int1}} : {{int3}}[{{int1}}] -> {{int3}}[{{int1}}] via P2P/CUMEM",) * 16,
    f"{NCCL} INFO Connected all rings",
    "> initialized tensor model parallel with size {int1}",
    "[{iso}] [INFO] [agent] Rendezvous complete: restart_count={int1} master_addr={ip} master_port={port}",
    "    train:      {int9}",
    "time to initialize megatron (seconds): {float3}",
    "  successfully loaded checkpoint from {path} [ t {int1}/{int1}, p {int1}/{int1} ] at iteration {int6}",
)
REPORT = (
    " [{iso}] iteration {step}/  100000 | consumed samples: {int9} | elapsed time per iteration (ms): {float1} | "
    "learning rate: {sci} | global batch size:  1024 | lm loss: {sci} | loss scale: 1.0 | grad norm: {float3} | "
    "number of nan iterations:   0 |"
)
STEP = (
    *("[{iso}] [INFO] [trainer.py:{int3}:train_step] step={int6} microbatch {int2}/{int2} forward in {float2} ms",) * 2,
    *("[{iso}] [DEBUG] [dist_comm] allreduce bucket {int2} bytes={int9} busbw={float2} GB/s stream={hex}",) * 3,
    *("[{iso}] [DEBUG] [pipeline] recv_forward from stage {int1} shape ({int4}, {int1}, {int4}) took {float3} ms",) * 2,
    "[{iso}] [INFO] [data_loader] worker {int2} fetched batch {int7} from shard {path} in {float2} ms, queue {int2}",
    "[{iso}] [DEBUG] [timers] rank {int3} forward-backward: {float2} ms, optimizer: {float2} ms",
    REPORT,
)
WATCHDOG = (
    "[rank{int3}]:[E{glog} ProcessGroupNCCL.cpp:{int4}] [Rank {int3}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum={int7}, OpType=ALLREDUCE, NumelIn={int9}, Timeout(ms)=600000) ran for {int6} milliseconds"
)
END = (
    WATCHDOG,
    "Traceback (most recent call last):",
    '  File "/opt/megatron/pretrain_gpt.py", line {int3}, in <module>',
    "    pretrain(train_valid_test_datasets_provider, model_provider)",
    "RuntimeError: CUDA error: an illegal memory access was encountered",
    f"{NCCL} WARN NET/IB : Got completion from peer {{ip}}<{{port}}> with status=12 vendor err 129",
    "[{iso}] [ERROR] [api] failed (exitcode: -6) local_rank: {int1} (pid: {pid}) of binary: /usr/bin/python",
)
DIRT = (
    "\x1b[36m(train_fn pid={pid})\x1b[0m \x1b[1;31mstep {int6}\x1b[0m done in {float2} s",
    "\r".join(
        " {int2}%|" + "\u2588" * n + " " * (10 - n) + "| {int2}/{int3} [00:{int2}<{int2}:{int2}]" for n in range(10)
    ),
    "[{iso}] caf\udce9 na\udcefve {int3} \u4e2d\u6587\u65e5\u5fd7 {float2}",
    "export PATH=" + ":".join(f"/opt/part{n}/bin" for n in range(40)) + " {int3}\0",
)
RARE = (
    "[{iso}] [INFO] pod=trainer-{name}-{name} scheduled after {int3} s",
    "[{iso}] sample text: {word} {word} {word} {word} {word} {word} {word} {word} of {int4}",
    "[{iso}] key {word}.{word}.{word} = {word}",
)
COMPONENTS = (
    "ckpt.writer storage.lustre comm.rdma sched.agent gpu.dcgm net.roce data.shuffle optim.zero model.moe host.mem"
)
VERBS = "acquired released flushed scheduled rejected retried completed dropped merged evicted synced validated"
NOUNS = (
    "lease buffer shard queue bucket expert lock snapshot socket heartbeat barrier replica page cursor handle stream"
)
TAILS = ("after {int3} attempts", "in {float2} ms", "at address {hex}", "from {ip}:{port}", "id={uuid}", "digest {sha}")
ENDLESS = 14_000  # characters of the longest real lines
LINES_A_STEP = range(4, 12)  # of rarer kinds, besides those of STEP


class _Values:
    """What stands in a template's braces, drawn when it is asked for."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._now = datetime(2026, 11, 21, 3, 55, tzinfo=UTC)
        self._step = 0
        self._constant = {"host": "gpu-0719", "pid": str(draw.randrange(1000, 99999))}
        self._words = [
            "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randrange(3, 10))) for _ in range(5000)
        ]
        self._makers: dict[str, Callable[[], str]] = {
            "glog": lambda: f"{self._tick():%m%d %H:%M:%S.%f}{draw.randrange(1000):03}",
            "iso": lambda: f"{self._tick():%Y-%m-%d %H:%M:%S,%f}"[:-3],
            "step": lambda: f"{self._step:8}",
            "sci": lambda: f"{draw.random() * 10:.6E}",
            "hex": lambda: f"0x{draw.getrandbits(47):x}",
            "ip": lambda: f"10.{draw.randrange(256)}.{draw.randrange(256)}.{draw.randrange(256)}",
            "port": lambda: str(draw.randrange(1024, 65536)),
            "path": lambda: (
                f"/mnt/lustre/job-{draw.randrange(10**6)}/iter_{self._step:07}/shard-{draw.randrange(10**4):05}"
            ),
            "sha": lambda: f"{draw.getrandbits(160):040x}",
            "uuid": lambda: "-".join(f"{draw.getrandbits(4 * n):0{n}x}" for n in (8, 4, 4, 4, 12)),
            "word": lambda: draw.choice(self._words),
            "name": lambda: "".join(draw.choices("bcdfghjklmnpqrstvwxz", k=6)),
        }

    def __getitem__(self, kind: str) -> str:
        if kind in self._constant:
            return self._constant[kind]
        if kind in self._makers:
            return self._makers[kind]()
        digits = int(kind[-1])
        if kind.startswith("int"):
            return str(self._draw.randrange(10**digits))
        return f"{self._draw.random() * 1000:.{digits}f}"

    def next_step(self) -> None:
        self._step += 1

    def _tick(self) -> datetime:
        self._now += timedelta(microseconds=self._draw.randrange(20_000))
        return self._now


def lines(*, dirty: bool, seed: int) -> Iterator[str]:
    """An endless job: start-up, then iterations."""
    draw = random.Random(seed)  # noqa: S311  # not for secrets
    values = _Values(draw)
    kinds = [
        f"[{{iso}}] [INFO] [{component}] {noun} {verb} {tail}"
        for component, verb, noun, tail in product(COMPONENTS.split(), VERBS.split(), NOUNS.split(), TAILS)
    ]
    kinds = draw.sample(kinds, 260)
    weights = list(accumulate(1 / (place + 1) for place in range(len(kinds))))  # few are common, as words in a language
    labels = [f"{task}: [rank{task}]:" for task in range(8)] if dirty else [""]
    yield from (template.format_map(values) for template in START)
    for _ in count():
        values.next_step()
        step = [*STEP, *draw.choices(kinds, cum_weights=weights, k=draw.choice(LINES_A_STEP))]
        if dirty:
            step += [*draw.sample(DIRT, 2), draw.choice(RARE)]
        for template in step:
            yield draw.choice(labels) + template.format_map(values)
        if dirty and values["int2"] == "7":
            yield "argument " * (ENDLESS // 9)


def write(path: Path, size: int, *, dirty: bool = False, seed: int = 1) -> None:
    """Write a log of about so many bytes that ends with a failure."""
    values = _Values(random.Random(seed))  # noqa: S311  # not for secrets
    with path.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        written = 0
        for line in lines(dirty=dirty, seed=seed):
            written += file.write(line + "\n")
            if written >= size:
                break
        file.writelines(template.format_map(values) + "\n" for template in END)


def main() -> None:
    """Write one file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--mb", type=float, default=256, help="millions of bytes (256)")
    parser.add_argument("--dirty", action="store_true", help="labels, progress bars, colours, bytes that are no text")
    parser.add_argument("--seed", type=int, default=1, help="another seed is another job (1)")
    options = parser.parse_args()
    write(options.path, int(options.mb * 1e6), dirty=options.dirty, seed=options.seed)


if __name__ == "__main__":
    main()
