"""How fast logs are read, as a multiple of drain3 on the same file in the same run.

    python -m benchmarks.parsing               256 MB of clean and 64 MB of dirty synthetic logs: two minutes
    python -m benchmarks.parsing --mb 1000     a gigabyte, as benchmarks/results/speed.md
    python -m benchmarks.parsing --logs a.log  a file of yours

Each row is a process of its own, so that its CPU seconds and memory are its own. CPU seconds are user and system time
of all threads; starting Python, importing and compiling are not in them, reading the file (from the page cache) is.
drain3 and the reference engine take minutes a GB: they get the first megabytes, as their row says.

drain3 has the masks of core.logs.lines as its own masking instructions and gives template ids; that is less than what
our engines do (labels, carriage returns, colours, typed slots, places, times).
"""

import argparse
import io
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, TypedDict, cast

from benchmarks import generate
from benchmarks.quality.report import write
from core.job import LogFile
from core.logs.array_store import Heap
from core.logs.columns import Engine
from core.logs.lines import _HEX, _IP, _NUM, _TS, Format  # the specification's own patterns, which nobody else needs
from core.logs.log_files import read_files
from core.logs.scan import FileScan, scan_blocks, scan_file

YEAR = 2026
SAMPLE_BYTES = {"drain3": 8_000_000, "reference": 8_000_000}
RUNS = {"kernel": 5, "kernel, 2 threads": 5, "grep -cE": 5}  # the best of so many; the others run once
PATTERN = "error|fail|Traceback"


class EngineRun(TypedDict):
    """One run of one engine."""

    bytes: int
    cpu: float
    wall: float
    rss: int
    lines: int
    distinct: int


def main() -> None:
    """Generate, measure, print."""
    options = _arguments()
    if options.measure:
        print(json.dumps(ENGINES[options.measure](options.logs[0], options.bytes)))
        return
    text = tables(options)
    print(text)
    if options.write:
        write(options.write, f"{text}\n\nMeasured on {machine()}.", BEGIN, END)


BEGIN, END = "<!-- parsing:begin -->", "<!-- parsing:end -->"


def tables(options: argparse.Namespace) -> str:
    """A table for the clean and the dirty log."""
    with tempfile.TemporaryDirectory() as folder:
        return "\n".join(_table(title, path) for title, path in _logs(options, Path(folder)))


def machine() -> str:
    """What the numbers were measured on: processor, cores, Python."""
    names = [
        line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line
    ]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def _logs(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Path]]:
    if options.logs:
        yield from ((path.name, path) for path in options.logs)
        return
    for kind, megabytes in (("clean", options.mb), ("dirty", options.mb / 4)):
        path = folder / f"{kind}.log"
        generate.write(path, int(megabytes * 1e6), dirty=kind == "dirty", seed=options.seed)
        yield f"{kind}, seed {options.seed}", path


def _table(title: str, path: Path) -> str:
    size = path.stat().st_size
    rows: dict[str, EngineRun] = {}
    for engine in ENGINES:
        sample = min(size, SAMPLE_BYTES.get(engine, size))
        runs = [measured_apart(engine, path, sample) for _ in range(RUNS.get(engine, 1))]
        rows[engine] = min(runs, key=lambda run: run["cpu"])
    baseline = rows["drain3"]["bytes"] / rows["drain3"]["cpu"]
    lines = [f"\n{title}: {size / 1e6:.0f} MB, {rows['kernel']['lines'] * 1e6 / size:.0f} lines a MB\n"]
    lines.append("| engine | read | CPU s | MB/s a core | x drain3 | MB/s wall | RSS MB | distinct |")
    lines.append("|---|---|---|---|---|---|---|---|")
    for engine, row in rows.items():
        speed = row["bytes"] / row["cpu"]
        lines.append(
            f"| {engine} | {row['bytes'] / 1e6:.0f} MB | {row['cpu']:.3f} | {speed / 1e6:.1f} | {speed / baseline:.1f} "
            f"| {row['bytes'] / row['wall'] / 1e6:.1f} | {row['rss'] / 1e6:.0f} | {row['distinct'] or ''} |"
        )
    return "\n".join(lines)


def measured_apart(engine: str, path: Path, sample: int) -> EngineRun:
    """What an engine takes for the first bytes of a file, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.parsing", "--measure", engine, "--bytes", str(sample)]
    # waiting threads of OpenBLAS, which numpy starts, would count as CPU seconds
    done = subprocess.run(
        [*command, "--logs", str(path)],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        check=True,
    )
    return cast(EngineRun, json.loads(done.stdout))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--mb", type=float, default=256, help="millions of bytes of the clean log; dirty a quarter (256)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the generated logs (1)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the tables into this document")
    parser.add_argument("--logs", type=Path, nargs="+", help="measure these files instead")
    parser.add_argument("--measure", choices=ENGINES, help=argparse.SUPPRESS)  # one engine, in a process of its own
    parser.add_argument("--bytes", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


# --- engines: how much there was to do, how long it took ----------------------------------------------------------


def _drain3(path: Path, size: int) -> EngineRun:
    from drain3 import TemplateMiner  # noqa: PLC0415  # each engine imports its own
    from drain3.masking import MaskingInstruction  # noqa: PLC0415
    from drain3.template_miner_config import TemplateMinerConfig  # noqa: PLC0415

    settings = TemplateMinerConfig()
    settings.profiling_enabled = False
    masks = ((_TS, "TS"), (_HEX, "HEX"), (_IP, "IP"), (_NUM, "NUM"))
    settings.masking_instructions = [MaskingInstruction(f"(?a:{mask.decode()})", name) for mask, name in masks]
    miner = TemplateMiner(None, settings)

    def mine() -> tuple[int, int]:
        count = 0
        with path.open("rb") as file:
            for line in io.BytesIO(file.read(size)):
                miner.add_log_message(line.decode("utf-8", "replace"))
                count += 1
        return count, len(miner.drain.clusters)

    return _measure(mine, size)


def _reference(path: Path, size: int) -> EngineRun:
    return _measure(lambda: _counts(scan_file(_file(path, size), (), YEAR, scan_blocks)), size)


def _kernel(path: Path, size: int) -> EngineRun:
    engine = _compiled()
    return _measure(lambda: _read([_file(path, size)], 1, engine), size)


def _kernel_threads(path: Path, size: int) -> EngineRun:
    """Two threads, each with the whole file."""
    engine, files = _compiled(), [_file(path, size)] * 2
    return _measure(lambda: _read(files, 2, engine), 2 * size)


def _read(files: Sequence[LogFile], workers: int, engine: Engine) -> tuple[int, int]:
    """As a diagnosis does it: messages too, and the rows on disk."""
    first = read_files(files, (), YEAR, workers=workers, engine=engine, heap=Heap(0))[0]
    return first.lines, len(first.texts)


def _grep(path: Path, size: int) -> EngineRun:
    command = ["grep", "-cE", PATTERN, str(path)]

    def search() -> tuple[int, int]:
        subprocess.run(command, env=os.environ | {"LC_ALL": "C"}, stdout=subprocess.DEVNULL, check=True)
        return 0, 0

    return _measure(search, size, resource.RUSAGE_CHILDREN)


def _compiled() -> Engine:
    """The kernel, loaded or compiled."""
    from core.logs.kernel import scan_blocks_fast  # noqa: PLC0415  # each engine imports its own

    scan_blocks_fast([], Format())
    return scan_blocks_fast


def _measure(work: Callable[[], tuple[int, int]], size: int, who: int = resource.RUSAGE_SELF) -> EngineRun:
    before, started = resource.getrusage(who), time.perf_counter()
    lines, distinct = work()
    wall, after = time.perf_counter() - started, resource.getrusage(who)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "bytes": size,
        "cpu": cpu,
        "wall": wall,
        "rss": after.ru_maxrss * 1024,
        "lines": lines,
        "distinct": distinct,
    }


def _file(path: Path, size: int) -> LogFile:
    def beginning() -> BinaryIO:
        with path.open("rb") as file:
            return io.BytesIO(file.read(size))

    def whole() -> BinaryIO:
        return path.open("rb", buffering=0)

    return LogFile(path.name, size, "", whole if size == path.stat().st_size else beginning)


def _counts(scan: FileScan) -> tuple[int, int]:
    return sum(chunk.lines for chunk in scan.chunks), sum(len(chunk.bodies) for chunk in scan.chunks)


ENGINES: dict[str, Callable[[Path, int], EngineRun]] = {
    "drain3": _drain3,
    "reference": _reference,
    "kernel": _kernel,
    "kernel, 2 threads": _kernel_threads,
    "grep -cE": _grep,
}


if __name__ == "__main__":
    main()
