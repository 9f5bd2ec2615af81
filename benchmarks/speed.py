"""All goals of speed in one run, and how cost grows with size: `make bench-speed`, four minutes on two free cores.

    python -m benchmarks.speed                          print the tables
    python -m benchmarks.speed --write benchmarks/results/speed.md    and write them into a document

A clean and a dirty log of 100 MB are generated; drain3 reads the whole of each, so do our reader (on one thread, and on
two that read a copy each) and ``grep -cE``. The larger sizes are the same log so many times over, the smaller ones its
beginning. Each number is the best of some runs, each a process of its own (benchmarks/parsing.py).

The clock of drain3, which has one thread, is its CPU seconds: on a free machine they are the same, and on a busy one a
rival that had to wait would flatter us.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import generate
from benchmarks.parsing import EngineRun, machine, measured_apart
from benchmarks.quality.report import marks, table, write

BYTES = 100_000_000
TIMES = (0.1, 0.3, 1, 3, 10)
RUNS = 3  # drain3, which takes half a minute, runs once
GOALS = (
    ("CPU, x drain3 a core", 100, "x"),  # stretch: 150
    ("wall on two cores, x drain3", 200, "x"),
    ("of grep -cE, a core", 30, " %"),
)


def main() -> None:
    """Generate, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the tables into this document")
    parser.add_argument("--seed", type=int, default=1, help="of the generated logs (1)")
    options = parser.parse_args()
    began, load = time.perf_counter(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        parts = list(_parts(Path(folder), options.seed))
    took = time.perf_counter() - began
    parts.append(
        f"Measured on {machine()}, in {took:.0f} s; load average {load:.1f} before and {os.getloadavg()[0]:.1f} after"
        " (above 0 others used the machine before; above 2, meanwhile)."
    )
    text = "\n\n".join(parts)
    print(text)
    if options.write:
        write(options.write, f"\n{text}\n", *marks("speed"))


def _parts(folder: Path, seed: int) -> Iterator[str]:
    growth: list[tuple[str, ...]] = []
    for kind in ("clean", "dirty"):
        log = folder / f"{kind}.log"
        generate.write(log, BYTES, dirty=kind == "dirty", seed=seed)
        drain3 = measured_apart("drain3", log, log.stat().st_size)
        rows = {engine: _best(engine, log) for engine in ("kernel", "kernel, 2 threads", "grep -cE")}
        yield f"**{kind}**, {log.stat().st_size / 1e6:.0f} MB, {rows['kernel']['lines']:,} lines:"
        yield _engines(drain3, rows)
        yield _goals(drain3, rows)
        growth += [_cost(kind, _resized(log, times)) for times in TIMES]
        log.unlink()
    yield "How the cost of our reader grows, on one thread:"
    yield table(("log", "MB", "lines", "messages", "CPU s", "CPU s a GB", "peak MB"), growth)


def _engines(drain3: EngineRun, rows: dict[str, EngineRun]) -> str:
    lines = [
        (
            engine,
            f"{row['bytes'] / 1e6:.0f}",
            f"{row['cpu']:.2f}",
            f"{row['wall']:.2f}",
            f"{_a_core(row) / 1e6:.1f}",
            f"{_a_core(row) / _a_core(drain3):.1f}",
            f"{_by_clock(row) / _a_core(drain3):.1f}",
        )
        for engine, row in {"drain3": drain3, **rows}.items()
    ]
    head = ("engine", "read MB", "CPU s", "wall s", "MB/s a core", "x drain3, CPU", "x drain3, wall")
    return table(head, lines)


def _goals(drain3: EngineRun, rows: dict[str, EngineRun]) -> str:
    measured = (
        _a_core(rows["kernel"]) / _a_core(drain3),
        _by_clock(rows["kernel, 2 threads"]) / _a_core(drain3),
        100 * _a_core(rows["kernel"]) / _a_core(rows["grep -cE"]),
    )
    lines = [
        (name, f"{goal}{unit}", f"{found:.0f}{unit}", "reached" if found >= goal else "missed")
        for (name, goal, unit), found in zip(GOALS, measured, strict=True)
    ]
    return table(("goal", "at least", "measured", ""), lines, texts=(0, 3))


def _cost(kind: str, log: Path) -> tuple[str, ...]:
    size, row = log.stat().st_size, _best("kernel", log)
    log.unlink()
    return (
        kind,
        f"{size / 1e6:.0f}",
        f"{row['lines']:,}",
        f"{row['distinct']:,}",
        f"{row['cpu']:.3f}",
        f"{row['cpu'] / size * 1e9:.2f}",
        f"{row['rss'] / 1e6:.0f}",
    )


def _resized(log: Path, times: float) -> Path:
    """The log so many times over, or its beginning."""
    resized = log.with_suffix(f".{times}.log")
    text = log.read_bytes()
    with resized.open("wb") as file:
        for _ in range(max(1, int(times))):
            file.write(memoryview(text)[: int(len(text) * min(times, 1))])
    return resized


def _best(engine: str, log: Path) -> EngineRun:
    runs = [measured_apart(engine, log, log.stat().st_size) for _ in range(RUNS)]
    return min(runs, key=lambda run: run["wall"] if "threads" in engine else run["cpu"])


def _a_core(row: EngineRun) -> float:
    return row["bytes"] / row["cpu"]


def _by_clock(row: EngineRun) -> float:
    return row["bytes"] / row["wall"]


if __name__ == "__main__":
    main()
