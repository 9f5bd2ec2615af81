"""AWS VPC flow logs, versions 2 to 5, by their documented columns.

(docs.aws.amazon.com/vpc/latest/userguide/flow-log-records.html) A header and fields separated by spaces, "-" for what
is not known; the default format without a header, as CloudWatch exports it; Parquet, whose columns have underscores.
Each network interface reports for itself, so both ends of a flow do; whole seconds, summed over an interval.
"""

import io
import re
from pathlib import Path

import polars as pl

from sources.flows.records import TOLD, Records, counted, none_of
from sources.named_files import read_given

NEEDED = {"srcaddr", "dstaddr", "start", "end", "bytes"}
MAX_BYTES = 4 << 30  # thirty million records take 3.5 GB
_DEFAULT = (
    *("version", "account-id", "interface-id", "srcaddr", "dstaddr", "srcport", "dstport", "protocol", "packets"),
    *("bytes", "start", "end", "action", "log-status"),
)
_STAMPED = "timestamp"  # of CloudWatch, before the record
_BARE = re.compile(r"(?P<stamp>\d{4}-\d\d-\d\dT[\d:.]{8,20}Z )?2 (?:\d{12}|unknown) eni-\w{1,32} (?:\S{1,45} ){10}\w+$")
_NAMES = {
    "src": ("srcaddr",),
    "dst": ("dstaddr",),
    "sport": ("srcport",),
    "dport": ("dstport",),
    "proto": ("protocol",),
    "packets": ("packets",),
    "bytes": ("bytes",),
    "tcp_flags": ("tcp-flags",),
    "switch": ("interface-id",),
}
# Behind a gateway, and of a pod, the interface's own address stands in srcaddr, the packet's in pkt-srcaddr (version 3)
_OF_PACKET = {"src": "pkt-srcaddr", "dst": "pkt-dstaddr"}
_TEXTS = ("src", "dst", "switch")
_READ = {*(name for (name,) in _NAMES.values()), *_OF_PACKET.values(), "start", "end", "action", "log-status"}


def is_header(line: str) -> bool:
    """Whether a first line names the columns of a flow log."""
    return set(line.split()) >= NEEDED


def is_bare(line: str) -> bool:
    """Whether a first line is a record of the default format."""
    return _BARE.match(line.strip()) is not None


def is_table(columns: list[str]) -> bool:
    """Whether these are the columns of a flow log in Parquet."""
    return {name.replace("_", "-") for name in columns} >= NEEDED


def read_text(path: Path) -> Records:
    """The records of a flow log that have data; a last line that was cut off is left out, and told.

    Raises:
        UnreadableFlows: it is too large.
    """
    data = read_given(path, MAX_BYTES)
    whole = data.rfind(b"\n") + 1
    rest = data[whole:]
    cut = bool(rest.strip()) and not rest.rstrip().endswith((b" OK", b" NODATA", b" SKIPDATA"))
    if cut:
        data = data[:whole]
    first = data.split(b"\n", 1)[0].decode(errors="replace")
    bare = _BARE.match(first.strip())
    columns = None if bare is None else [*([_STAMPED] if bare["stamp"] else []), *_DEFAULT]
    rows = pl.read_csv(
        io.BytesIO(data), separator=" ", null_values="-", infer_schema=False, has_header=bare is None,
        new_columns=columns, quote_char=None,
    )  # fmt: skip
    found = _records(rows)
    return Records(found.frame, (*found.remarks, *counted(int(cut), "record at the end of the file is cut off")))


def read_table(path: Path) -> Records:
    """The records of a flow log in Parquet."""
    columns = {name: name.replace("_", "-") for name in pl.read_parquet_schema(path)}
    wanted = [
        name for name, column in columns.items() if column in _READ
    ]  # equal rows of any others cost a file nothing
    return _records(pl.read_parquet(path, columns=wanted).rename({name: columns[name] for name in wanted}))


def _records(rows: pl.DataFrame) -> Records:
    status, action = _column(rows, "log-status"), _column(rows, "action")
    skipped = int((rows.select(status).to_series() == "SKIPDATA").sum())
    refused = int((rows.select(action).to_series() == "REJECT").sum())
    kept = rows.filter(pl.col("bytes").is_not_null() & action.ne_missing("REJECT"))
    own = {of: pl.coalesce(_column(rows, name), pl.col(_NAMES[of][0])) for of, name in _OF_PACKET.items()}
    wanted = [
        (own.get(of, pl.col(names[0])).cast(pl.String if of in _TEXTS else pl.Int64, strict=False)).alias(of)
        for of, names in _NAMES.items()
        if names[0] in rows.columns
    ]
    times = [(pl.col(name).cast(pl.Int64, strict=False) * 1_000_000).alias(f"{name}_us") for name in ("start", "end")]
    sentences = (
        TOLD,
        *(() if len(kept) else none_of("record with data").remarks),
        *counted(refused, "records tell of traffic that was rejected, and are left out"),
        *counted(skipped, "intervals are missing, because their records were skipped (SKIPDATA)"),
    )
    return Records(kept.select(*times, *wanted), sentences)


def _column(rows: pl.DataFrame, name: str) -> pl.Expr:
    return pl.col(name).cast(pl.String) if name in rows.columns else pl.lit(None, pl.String).alias(name)
