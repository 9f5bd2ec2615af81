"""Floods of what training prints: ranks, nodes, iterations, tables, dumps and metrics, each far too often."""

import json
import random
from collections.abc import Callable
from pathlib import Path

BYTES = 20_000_000
END = "RuntimeError: CUDA error: an illegal memory access was encountered\n"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_RANKS, _NODES, _WORDS = 16_000, 2_000, 600
_FILES = 2_000  # of metrics
_TOKEN = 9_000  # characters

Flood = Callable[[Path, random.Random], None]


def filled(job: Path, line: Callable[[int], str], name: str = "logs/train.log", size: int = BYTES) -> None:
    """Write one file of so many bytes, a line for each number, and an error at its end."""
    with (job / name).open("w") as file:
        written = number = 0
        while written < size:
            written += file.write(line(number) + "\n")
            number += 1
        file.write(END)


def word(draw: random.Random, least: int = 4, most: int = 10) -> str:
    """A word of so many letters that means nothing."""
    return "".join(draw.choices(_LETTERS, k=draw.randint(least, most)))


def _words(draw: random.Random, number: int) -> list[str]:
    return [f"{word(draw)} {word(draw)}" for _ in range(number)]


def _stamp(second: int) -> str:
    return f"2026-11-{21 + second // 86400 % 8} {second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}"


def _rank_tracebacks(job: Path, draw: random.Random) -> None:
    said = ("Traceback (most recent call last):", '  File "train.py", line 3, in main', "    step()")

    def block(number: int) -> str:
        every = (*said, f"RuntimeError: {word(draw)} {word(draw)}")
        return "\n".join(f"[rank{number % _RANKS}]: {text}" for text in every)

    filled(job, block)


def _same_tracebacks(job: Path, draw: random.Random) -> None:
    head = f'Traceback (most recent call last):\n  File "{word(draw)}.py", line 3, in <module>\n    main()\n'
    filled(job, lambda number: f"{head}ValueError: bad sample {number}")


def _heads_behind_bars(job: Path, draw: random.Random) -> None:
    frame = f'  File "{word(draw)}.py", line 3, in main'
    filled(job, lambda number: f"{number % 100}%| Traceback (most recent call last):\n{frame}")


def _named_peers(job: Path, draw: random.Random) -> None:
    """A hung job whose four logs say for which of 2,000 nodes they wait, in 600 ways."""
    nodes = [f"node-{number:04}" for number in range(_NODES)]
    ranks = {node: [rank] for rank, node in enumerate(nodes)}
    (job / "job.json").write_text(
        json.dumps({"job_id": job.name, "status": "FAILED", "nodes": nodes, "node_ranks": ranks, "world_size": _NODES})
    )
    words = _words(draw, _WORDS)

    def line(number: int) -> str:
        if number < 200:
            return f"{_stamp(number)} iteration {number}: loss 0.1"
        return f"{_stamp(number // 20 + 300)} {words[number % _WORDS]} still open, outstanding: {draw.choice(nodes)}"

    for node in nodes[:4]:
        filled(job, line, f"logs/{node}.log", BYTES // 4)


def _iterations(job: Path, draw: random.Random) -> None:
    filled(
        job,
        lambda number: (
            f"{_stamp(number // 30)} [rank{number % 64}] iteration {draw.randrange(100_000)}/100000"
            f" loss={draw.random():.4f}"
        ),
    )


def _step_words(job: Path, draw: random.Random) -> None:
    filled(job, lambda number: f"{_stamp(number // 30)} {word(draw)} {word(draw)} step {number // 50} loss=0.1")


def _tables(job: Path, draw: random.Random) -> None:
    """A table of devices of 300 columns, whose head has other names each time."""

    def line(number: int) -> str:
        head = not number % 20
        return " ".join(
            ["# gpu" if head else "0", *(word(draw) if head else str(draw.randrange(99)) for _ in "x" * 300)]
        )

    filled(job, line)


def _stack_dumps(job: Path, draw: random.Random) -> None:
    def dump(number: int) -> str:
        frames = (f'  File "/opt/{word(draw)}.py", line {draw.randrange(999)} in {word(draw)}' for _ in range(8))
        return "\n".join([f"Thread 0x{number:016x} (most recent call first):", *frames, ""])

    filled(job, dump)


def _metric_files(job: Path, draw: random.Random) -> None:
    (job / "metrics").mkdir()
    (job / "logs" / "rank_0.log").write_text(f"step 1\nstep 2\n{END}")
    for number in range(_FILES):
        with (job / "metrics" / f"m{number}.csv").open("w") as file:
            written, time = file.write("time,node,metric,value\n"), 1_700_000_000
            while written < BYTES // _FILES:
                written += file.write(f"{time},node-{number % 500},power,{draw.random():.4f}\n")
                time += 15


def _jumps(job: Path, draw: random.Random) -> None:
    """Clocks that say any second of sixteen years."""
    filled(
        job,
        lambda number: (
            f"20{draw.randrange(10, 26)}-{draw.randrange(1, 13):02}-{draw.randrange(1, 28):02}"
            f" {draw.randrange(24):02}:{draw.randrange(60):02}:{draw.randrange(60):02},123 INFO step {number}"
        ),
    )


def _rank_values(job: Path, draw: random.Random) -> None:
    keys = [word(draw) for _ in range(300)]

    def line(number: int) -> str:
        pairs = " ".join(f"{keys[(number + place * 7) % 300]}={draw.random():.4f}" for place in range(8))
        return f"{_stamp(number // 512)} [rank{number % 512}]: step {number // 512}: {pairs}"

    filled(job, line)


def _many_nodes(job: Path, draw: random.Random) -> None:
    words = _words(draw, 3_000)

    def line(number: int) -> str:
        return f"{_stamp(number)} iteration {number} loss 0.1\n{_stamp(number)} {draw.choice(words)}"

    for number in range(2 * _NODES):
        filled(job, line, f"logs/node-{number:04}.log", BYTES // 2 // _NODES)


def _spans(job: Path, draw: random.Random) -> None:
    """Work of 1,500 names that each of 64 ranks begins and ends."""
    words = _words(draw, 1_500)

    def line(number: int) -> str:
        does = "finished" if number // 64 % 2 else "started"
        return f"{_stamp(number // 30)} [rank{number % 64}]: {words[number // 128 % 1_500]} {does}"

    filled(job, line)


def _tokens(job: Path, draw: random.Random) -> None:
    filled(job, lambda _: "".join(draw.choices("abcdefgh0123_-./=:", k=_TOKEN)))


def _device_errors(job: Path, draw: random.Random) -> None:
    filled(
        job,
        lambda number: (
            f"{_stamp(number // 30)} node-{number % 3_000} kernel: NVRM: Xid (PCI:{number % 65_536:04x}:00:00):"
            f" {draw.randrange(1, 150)}, pid={number}, name={word(draw)}, Ch {number:08x}"
        ),
    )


def _bars(job: Path, draw: random.Random) -> None:
    def bar(number: int) -> str:
        parts = (
            f"Epoch {number}: {done}%|{'#' * (done // 10)}| {done}/100, loss={draw.random():.3f}" for done in range(100)
        )
        return "\r".join(parts)

    filled(job, bar)


def _slowed(job: Path, draw: random.Random) -> None:
    """A job that becomes three times slower, with 3,500 messages of how long something took."""
    words = _words(draw, 3_500)

    def line(number: int) -> str:
        slow = number >= 4_000
        now = _stamp(2_000 + (number - 4_000) * 3 // 2 if slow else number // 2)
        step, took = (1.5, 5 * draw.random()) if slow else (0.5, draw.random())
        own = f"{draw.choice(words)} took {took:.3f} s"
        return f"{now} [rank0]: iteration {number} time {step} s\n{now} [rank{number % 64}]: {own}"

    filled(job, line)


def _repeated(job: Path, draw: random.Random) -> None:
    """A job that stands still, and 512 ranks that say so in 3,500 ways."""
    words = _words(draw, 3_500)

    def line(number: int) -> str:
        if number < 3_000:
            return f"{_stamp(number)} [rank{number % 64}]: iteration {number}"
        return f"{_stamp(number // 20 + 3_000)} [rank{number % 512}]: {draw.choice(words)} not there yet {number}"

    filled(job, line)


SHAPES: dict[str, Flood] = {
    "rank_tracebacks": _rank_tracebacks,
    "same_tracebacks": _same_tracebacks,
    "heads_behind_bars": _heads_behind_bars,
    "named_peers": _named_peers,
    "iterations": _iterations,
    "step_words": _step_words,
    "tables": _tables,
    "stack_dumps": _stack_dumps,
    "metric_files": _metric_files,
    "jumps": _jumps,
    "rank_values": _rank_values,
    "many_nodes": _many_nodes,
    "spans": _spans,
    "tokens": _tokens,
    "device_errors": _device_errors,
    "bars": _bars,
    "slowed": _slowed,
    "repeated": _repeated,
}
