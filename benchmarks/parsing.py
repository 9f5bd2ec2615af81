"""How fast logs are read, as a multiple of drain3 on the same file in the same run.

    python -m benchmarks.parsing               256 MB of clean and 64 MB of dirty synthetic logs: two minutes
    python -m benchmarks.parsing --mb 1000     the sizes of PERFORMANCE.md
    python -m benchmarks.parsing --logs a.log  a file of yours

Each row is a process of its own, so that its CPU seconds and memory are its own. CPU seconds are user and system time
of all threads; starting Python, importing and compiling are not in them, reading the file (from the page cache) is.
drain3 and the reference engine take minutes a GB: they get the first megabytes, as their row says.

drain3 has the masks of core.lines as its own masking instructions and gives template ids; that is less than what our
engines do (labels, carriage returns, colours, typed slots, places, times).
"""

import argparse
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

from benchmarks import generate
from core.job import LogFile
from core.lines import VARIABLES
from core.scan import FileScan, scan_blocks, scan_file, scan_files

YEAR = 2026
SAMPLE_BYTES = {"drain3": 8_000_000, "reference": 8_000_000}
RUNS = {"kernel": 5, "kernel, 2 threads": 5, "grep -cE": 5}  # the best of so many; the others run once
PATTERN = "error|fail|Traceback"


def main() -> None:
    """Generate, measure, print."""
    options = _arguments()
    if options.measure:
        print(json.dumps(ENGINES[options.measure](options.logs[0], options.bytes)))
        return
    with tempfile.TemporaryDirectory() as folder:
        for title, path in _logs(options, Path(folder)):
            print(_table(title, path), flush=True)


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
    rows = {}
    for engine in ENGINES:
        sample = min(size, SAMPLE_BYTES.get(engine, size))
        runs = [_measured_apart(engine, path, sample) for _ in range(RUNS.get(engine, 1))]
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


def _measured_apart(engine: str, path: Path, sample: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.parsing", "--measure", engine, "--bytes", str(sample), "--logs", str(path)]
    # waiting threads of OpenBLAS, which numpy starts, would count as CPU seconds
    done = subprocess.run(command, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}, stdout=subprocess.PIPE, check=True)
    return cast(dict[str, Any], json.loads(done.stdout))


# --- engines ------------------------------------------------------------------------------------------------------


def _drain3(path: Path, size: int) -> dict[str, Any]:
    from drain3 import TemplateMiner  # noqa: PLC0415  # each engine imports its own
    from drain3.masking import MaskingInstruction  # noqa: PLC0415
    from drain3.template_miner_config import TemplateMinerConfig  # noqa: PLC0415

    settings = TemplateMinerConfig()
    settings.profiling_enabled = False
    settings.masking_instructions = [
        MaskingInstruction(f"(?a:{pattern.decode()})", name) for name, pattern in VARIABLES.items()
    ]
    miner = TemplateMiner(None, settings)

    def mine() -> dict[str, Any]:
        count = 0
        with path.open("rb") as file:
            for line in io.BytesIO(file.read(size)):
                miner.add_log_message(line.decode("utf-8", "replace"))
                count += 1
        return {"lines": count, "distinct": len(miner.drain.clusters)}

    return _measure(mine, size)


def _reference(path: Path, size: int) -> dict[str, Any]:
    return _measure(lambda: _told(scan_file(_file(path, size), (), YEAR, scan_blocks)), size)


def _kernel(path: Path, size: int) -> dict[str, Any]:
    from core.kernel import scan_blocks_fast  # noqa: PLC0415  # each engine imports its own

    scan_blocks_fast([], _nothing())
    return _measure(lambda: _told(scan_file(_file(path, size), (), YEAR, scan_blocks_fast)), size)


def _kernel_threads(path: Path, size: int) -> dict[str, Any]:
    """Two threads, each with the whole file."""
    from core.kernel import scan_blocks_fast  # noqa: PLC0415  # each engine imports its own

    scan_blocks_fast([], _nothing())
    files = [_file(path, size)] * 2
    scan = partial(scan_files, files, (), YEAR, workers=2, engine=scan_blocks_fast)
    return _measure(lambda: _told(scan()[0]), 2 * size)


def _grep(path: Path, size: int) -> dict[str, Any]:
    command = ["grep", "-cE", PATTERN, str(path)]
    environment = os.environ | {"LC_ALL": "C"}
    run = partial(subprocess.run, command, env=environment, stdout=subprocess.DEVNULL, check=True)
    return _measure(lambda: run() and {"lines": 0, "distinct": None}, size, resource.RUSAGE_CHILDREN)


ENGINES: dict[str, Callable[[Path, int], dict[str, Any]]] = {
    "drain3": _drain3,
    "reference": _reference,
    "kernel": _kernel,
    "kernel, 2 threads": _kernel_threads,
    "grep -cE": _grep,
}
