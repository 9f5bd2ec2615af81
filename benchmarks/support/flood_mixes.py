"""Floods that mix: counts that fall, levels in noise, labels by the thousand, reports of exits, stacks, folders."""

import json
import random
from pathlib import Path

from benchmarks.support.flood_shapes import END, Flood, filled, word

_RANKS = 100_000  # labels of srun
_FOLDERS, _FILES = 40, 50  # within each other, and files of each
_NESTED = 400  # exceptions, each raised while the one before was handled
_KEYS = 40_000  # names of counters


def _stamp(second: int) -> str:
    return f"2026-11-{21 + second // 86_400 % 8} {second // 3_600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}"


def _falling_counts(job: Path, draw: random.Random) -> None:
    """One rank whose iteration is any number, each time."""
    filled(job, lambda number: f"{_stamp(number // 9)} [rank0] iteration {draw.randrange(100_000)} loss=0.1")


def _levels_in_noise(job: Path, draw: random.Random) -> None:
    """A measure that is twice its median for half of the run, which before was anything."""
    filled(
        job,
        lambda number: (
            f"{_stamp(number // 9)} iteration {number} loss={2.0 if number > 170_000 else draw.choice((0.01, 1.0))}"
        ),
    )


def _srun_labels(job: Path, draw: random.Random) -> None:
    filled(job, lambda number: f"{number % _RANKS}: {word(draw)} iteration {number // _RANKS} of {draw.randrange(9)}")


def _exits(job: Path, draw: random.Random) -> None:
    """Reports of exits, each of thousands of tasks."""

    def line(number: int) -> str:
        tasks = ",".join(f"{first}-{first + 3}" for first in range(number % 7, 16_000, 9))
        return f"srun: error: node{number}: tasks {tasks}: Exited with exit code {draw.randrange(1, 200)}"

    filled(job, line)


def _nested_tracebacks(job: Path, draw: random.Random) -> None:
    def chain(_: int) -> str:
        one = f'Traceback (most recent call last):\n  File "{word(draw)}.py", line 3, in {word(draw)}\n    main()\n'
        joint = "\n\nDuring handling of the above exception, another exception occurred:\n\n"
        return joint.join(f"{one}{word(draw).title()}Error: {word(draw)}" for _ in range(_NESTED))

    filled(job, chain)


def _small_records(job: Path, draw: random.Random) -> None:
    """Records of JSON, each of another rank, another kind and another second."""
    filled(
        job,
        lambda number: json.dumps(
            {"t": _stamp(number), "rank": number % 16_000, "step": number // 64, "msg": word(draw), "v": draw.random()}
        ),
    )


def _counters(job: Path, draw: random.Random) -> None:
    keys = [f"{word(draw)}_{number}" for number in range(_KEYS)]
    filled(
        job,
        lambda number: (
            f"{_stamp(number // 9)} [rank{number % 8}] step {number // 8}: "
            + " ".join(f"{draw.choice(keys)}={draw.random():.4f}" for _ in range(4))
        ),
    )


def _thread_dumps(job: Path, draw: random.Random) -> None:
    """What py-spy prints, for thousands of processes."""

    def dump(number: int) -> str:
        frames = "\n".join(f"    {word(draw)} ({word(draw)}.py:{draw.randrange(999)})" for _ in range(12))
        return f'Process {number}: python train.py --rank {number}\nThread {number} (active): "MainThread"\n{frames}'

    filled(job, dump)


def _deep_folders(job: Path, draw: random.Random) -> None:
    folder = job / "logs"
    for depth in range(_FOLDERS):
        folder /= f"d{depth}"
        folder.mkdir()
        for number in range(_FILES):
            text = "".join(f"{_stamp(n)} {word(draw)} {word(draw)}\n" for n in range(4))
            (folder / f"{word(draw)}-{number}.log").write_text(text + (END if not number else ""))


def _wrapped_twice(job: Path, draw: random.Random) -> None:
    """A collector's JSON of a collector's lines of a logger's pairs, each with a name of its own."""

    def line(number: int) -> str:
        said = f"level=info rank={number % 512} step={number // 512} msg={word(draw)}"
        inner = f"{_stamp(number // 9).replace(' ', 'T')}Z stdout F {said}"
        return json.dumps(
            {"log": inner + "\n", "stream": "stdout", "time": f"{_stamp(number // 9).replace(' ', 'T')}Z"}
        )

    filled(job, line)


def _reports_of_the_slowest(job: Path, draw: random.Random) -> None:
    filled(
        job,
        lambda number: (
            f"{_stamp(number // 9)} iteration {number // 9} {word(draw)} slowest rank {draw.randrange(16_000)}"
            f" took {draw.random():.3f} s, fastest rank {draw.randrange(16_000)} {draw.random():.3f} s"
        ),
    )


def _collectives(job: Path, draw: random.Random) -> None:
    """NCCL's watchdogs of sixteen thousand ranks, each with a number of its own."""
    filled(
        job,
        lambda number: (
            f"[rank{number % 16_000}]:[E1121 03:00:{number % 60:02}.1 ProcessGroupNCCL.cpp:616] [Rank {number % 999}]"
            f" Watchdog caught collective operation timeout: WorkNCCL(SeqNum={draw.randrange(10**6)}, OpType=ALLREDUCE,"
            f" NumelIn={draw.randrange(10**9)}, Timeout(ms)=600000) ran for 600{number % 1000:03} milliseconds."
        ),
    )


MIXES: dict[str, Flood] = {
    "falling_counts": _falling_counts,
    "levels_in_noise": _levels_in_noise,
    "srun_labels": _srun_labels,
    "exits": _exits,
    "nested_tracebacks": _nested_tracebacks,
    "small_records": _small_records,
    "counters": _counters,
    "thread_dumps": _thread_dumps,
    "deep_folders": _deep_folders,
    "wrapped_twice": _wrapped_twice,
    "slowest": _reports_of_the_slowest,
    "collectives": _collectives,
}
