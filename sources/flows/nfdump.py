"""Records of nfdump: its JSON, and nfcapd files through the program itself.

Only JSON keeps milliseconds and whole numbers: ``-o csv`` prints whole seconds, and ``%byt`` "1.1 M".
"""

import io
import os
import shutil
import subprocess
from pathlib import Path

import polars as pl

from core.errors import UnreadableFlows
from sources.flows.records import Records, ahead_of, none_of
from sources.named_files import read_given

MAX_BYTES = 4 << 30  # of JSON, of which a record takes 500
MAGIC = b"\x0c\xa5", b"\xa5\x0c"  # of nfcapd files, in both byte orders
_LETTERS = "FSRPAUEC"  # TCP flags from the lowest bit on; nfdump prints them from the highest
_TIME = "%Y-%m-%dT%H:%M:%S%.f"


def read_nfcapd(path: Path) -> Records:
    """The records of a file that nfcapd wrote, as nfdump tells them.

    Raises:
        UnreadableFlows: nfdump is not installed, or the file is broken.
    """
    program = shutil.which("nfdump")
    if program is None:
        raise UnreadableFlows(
            f"{path} is of nfcapd, and nfdump is not installed",
            f"Install nfdump, or turn it into JSON where it is: TZ=UTC nfdump -r {path.name} -o json > flows.json",
        )
    run = subprocess.run(  # noqa: S603 no shell; the path is one argument
        [program, "-r", str(path.absolute()), "-o", "json"],
        capture_output=True,
        check=False,
        env={**os.environ, "TZ": "UTC"},  # it prints local time
    )
    complaint = run.stderr.decode(errors="replace").strip().split("\n")[0]
    empty = b'"first"' not in run.stdout
    if run.returncode or (empty and complaint):
        raise UnreadableFlows(f"nfdump cannot read {path}: {complaint or 'it ended by itself'}", "Export it again.")
    if empty:
        return none_of("records")
    records = _records(run.stdout, str(path))
    complaints = (f"nfdump says of the file: {complaint}",) if complaint else ()
    return Records(records.frame, (*records.remarks, *complaints))


def read_json(path: Path) -> Records:
    """The records of ``nfdump -o json``; its times have no zone and are taken as UTC (TZ=UTC nfdump ...)."""
    return _records(read_given(path, MAX_BYTES), str(path))


def _records(text: bytes, name: str) -> Records:
    text = text.strip()
    if not text.startswith(b"["):
        lines = text.split(b"\n", 1)[0].rstrip().endswith(b"}")  # newer ones: an object a line
        text = text if lines else b"[" + text.rstrip(b",") + b"]"  # with -q: objects and commas
    if text in (b"", b"[]"):
        return none_of("records")
    if text.startswith(b"["):
        rows = pl.read_json(io.BytesIO(text), infer_schema_length=None)
    else:
        rows = pl.read_ndjson(io.BytesIO(text), infer_schema_length=None)
    missing = {"first", "last", "in_bytes"} - set(rows.columns)
    if missing:
        raise UnreadableFlows(
            f"{name} is JSON, but not of nfdump: it has no {', '.join(sorted(missing))}", "docs/how-to/flows.md"
        )
    frame = rows.select(
        _time("first").alias("start_us"),
        _time("last").alias("end_us"),
        _either(rows, ["src4_addr", "src6_addr"], "").alias("src"),
        _either(rows, ["dst4_addr", "dst6_addr"], "").alias("dst"),
        _either(rows, ["src_port"], 0).alias("sport"),
        _either(rows, ["dst_port"], 0).alias("dport"),
        _either(rows, ["proto"], 0).alias("proto"),
        pl.col("in_bytes").alias("bytes"),
        _either(rows, ["in_packets"], 1).alias("packets"),
        _flags(rows).alias("tcp_flags"),
        _either(rows, ["ip4_router", "ip6_router"], "").alias("switch"),
    )
    return Records(frame, _clock(rows))


def _time(column: str) -> pl.Expr:
    return pl.col(column).str.to_datetime(_TIME, time_unit="us").cast(pl.Int64)


def _either(rows: pl.DataFrame, columns: list[str], otherwise: str | int) -> pl.Expr:
    return pl.coalesce([pl.col(column) for column in columns if column in rows.columns] + [pl.lit(otherwise)])


def _flags(rows: pl.DataFrame) -> pl.Expr:
    """Flags as a number, also those in letters: ``...AP.S.``."""
    if "tcp_flags" not in rows.columns or rows.schema["tcp_flags"] != pl.String:
        return _either(rows, ["tcp_flags"], 0)
    texts = rows["tcp_flags"].drop_nulls().unique().to_list()
    numbers = [sum(1 << bit for bit, letter in enumerate(_LETTERS) if letter in text) for text in texts]
    return pl.col("tcp_flags").replace_strict(texts, numbers, default=0, return_dtype=pl.UInt8)


def _clock(rows: pl.DataFrame) -> tuple[str, ...]:
    """What is to be told of the clock of the exporter."""
    if "received" not in rows.columns:
        return ()
    return ahead_of(rows.select((_time("last") - _time("received")).median() / 1e6).item())
