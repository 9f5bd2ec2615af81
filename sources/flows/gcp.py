"""VPC Flow Logs of Google Cloud by their documented fields, as Cloud Logging exports them.

(cloud.google.com/vpc/docs/about-flow-logs-records) An object a line, or an array, with the record in jsonPayload.
Both ends report a flow, each by the name of its machine; packets are sampled, and bytes are as sampled or scaled up.
"""

import io
from pathlib import Path

import polars as pl

from core.errors import UnreadableFlows
from sources.flows.records import DOCS, TOLD, Records, counted
from sources.named_files import read_given

MARK = b'"jsonPayload"'  # stands in the first entry of Cloud Logging
MAX_BYTES = 4 << 30  # an entry takes 1 to 2 kB
_END = pl.Struct({"vm_name": pl.String})
_PAYLOAD = pl.Struct(
    {
        "connection": pl.Struct(
            {
                "src_ip": pl.String, "dest_ip": pl.String,
                "src_port": pl.Int64, "dest_port": pl.Int64, "protocol": pl.Int64,
            }
        ),
        "start_time": pl.String, "end_time": pl.String, "bytes_sent": pl.String, "packets_sent": pl.String,
        "reporter": pl.String, "src_instance": _END, "dest_instance": _END,
    }
)  # fmt: skip
SAMPLED = "VPC Flow Logs of Google Cloud are made of sampled packets"


def read_entries(path: Path) -> Records:
    """The records among the entries of a log; other entries are counted; a last line that is cut off is left out.

    Raises:
        UnreadableFlows: it is too large, broken, or has no flow.
    """
    data, cut = read_given(path, MAX_BYTES).strip(), False
    schema = {"jsonPayload": _PAYLOAD}
    if data.startswith(b"["):
        rows = pl.read_json(io.BytesIO(data), schema=schema)
    else:
        cut = not data.endswith(b"}")
        rows = pl.read_ndjson(io.BytesIO(data[: data.rfind(b"\n") + 1] if cut else data), schema=schema)
    flat = rows.select(pl.col("jsonPayload").struct.unnest()).with_columns(pl.col("connection").struct.unnest())
    good = pl.col("src_ip").is_not_null() & pl.col("start_time").is_not_null() & pl.col("bytes_sent").is_not_null()
    kept = flat.filter(good)
    if not len(kept):
        raise UnreadableFlows(f"{path} is a log of Google Cloud, and no entry is a flow", DOCS)
    machine = pl.when(pl.col("reporter").str.starts_with("SRC")).then(_machine("src")).otherwise(_machine("dest"))
    frame = kept.select(
        _time("start_time").alias("start_us"),
        _time("end_time").alias("end_us"),
        pl.col("src_ip").alias("src"),
        pl.col("dest_ip").alias("dst"),
        pl.col("src_port").fill_null(0).alias("sport"),
        pl.col("dest_port").fill_null(0).alias("dport"),
        pl.col("protocol").fill_null(0).alias("proto"),
        pl.col("bytes_sent").cast(pl.Int64, strict=False).alias("bytes"),
        pl.col("packets_sent").cast(pl.Int64, strict=False).fill_null(1).alias("packets"),
        machine.alias("switch"),
    )
    left = len(flat) - len(kept)
    cut_off = counted(int(cut), "entry at the end of the file is cut off")
    return Records(frame, (TOLD, SAMPLED, *counted(left, "entries are no flows"), *cut_off))


def _machine(end: str) -> pl.Expr:
    """Who reported: the machine at one end, else that end."""
    address = pl.col("src_ip" if end == "src" else "dest_ip")
    return pl.coalesce(pl.col(f"{end}_instance").struct.field("vm_name"), address)


def _time(column: str) -> pl.Expr:
    """Microseconds of a time as RFC 3339 writes it, with up to nine digits behind the second."""
    return pl.col(column).str.to_datetime(time_unit="us", time_zone="UTC", strict=False).cast(pl.Int64)
