"""AWS VPC flow logs by their documented columns: a header, then fields separated by spaces, "-" for what is not known.

Each network interface reports for itself, so both ends of a flow do; whole seconds, summed over an interval.
"""

from pathlib import Path

import polars as pl

from sources.flows.records import Records

NEEDED = {"srcaddr", "dstaddr", "start", "end", "bytes"}
TOLD = "flow logs of a cloud are sums over an interval: jobs and shares of bytes, no steps"


def is_header(line: str) -> bool:
    """Whether a first line names the columns of a flow log."""
    return set(line.split()) >= NEEDED


def read_vpc(path: Path) -> Records:
    """The records of a flow log that have data."""
    rows = pl.read_csv(path, separator=" ", null_values="-", infer_schema_length=None)
    names = {"srcaddr": "src", "dstaddr": "dst", "srcport": "sport", "dstport": "dport", "protocol": "proto"}
    names |= {"interface-id": "switch", "tcp-flags": "tcp_flags", "packets": "packets", "bytes": "bytes"}
    kept = [pl.col(column).alias(name) for column, name in names.items() if column in rows.columns]
    times = [(pl.col(column) * 1_000_000).alias(f"{column}_us") for column in ("start", "end")]
    return Records(rows.filter(pl.col("bytes").is_not_null()).select(*times, *kept), (TOLD,))
