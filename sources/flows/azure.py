"""Flow logs of Azure by their documented form: of virtual networks (version 4) and of security groups (version 2).

(learn.microsoft.com/azure/network-watcher: vnet-flow-logs-overview, nsg-flow-logs-overview) A JSON object with records;
each flow is a text of fields with commas. A flow is told when it begins, every five minutes and when it ends, with the
bytes of both directions since it was told last; when a first packet was sent within that time nobody tells.
"""

import io
from pathlib import Path

import polars as pl

from core.errors import UnreadableFlows
from sources.flows.records import DOCS, TOLD, Records, counted, none_of
from sources.named_files import read_given

MARKS = b"flowRecords", b"flowTuples", b"FlowLogFlowEvent", b"NetworkSecurityGroupFlowEvent"
MAX_BYTES = 1 << 30  # a file holds an hour of one network interface
_ENDS = ("time", "src", "dst", "sport", "dport", "proto", "direction")
_SUMS = ("packets", "bytes", "packets_back", "bytes_back")
_OF_NETWORKS = (*_ENDS, "state", "encryption", *_SUMS)
_OF_GROUPS = (*_ENDS, "decision", "state", *_SUMS)  # of version 1, without bytes, only up to the decision
_BEGIN, _DENIED = "B", "D"
_PROTOCOLS = {"T": 6, "U": 17}
_KEY = ("switch", "src", "dst", "sport", "dport", "proto")


def read_records(path: Path) -> Records:
    """The flows of a log, each direction of its own.

    Raises:
        UnreadableFlows: it is broken or cut off, or of a version without bytes.
    """
    rows = pl.read_json(io.BytesIO(read_given(path, MAX_BYTES)), infer_schema_length=None)
    records = rows.select(pl.col("records").explode()).unnest("records") if "records" in rows.columns else rows
    if "flowRecords" in records.columns:
        tuples, fields, scale = _of_networks(records), _OF_NETWORKS, 1_000
    elif "properties" in records.columns:
        tuples, fields, scale = _of_groups(records), _OF_GROUPS, 1_000_000
    else:
        raise UnreadableFlows(f"{path} is JSON of Azure, but no flow log", DOCS)
    flows = tuples.with_columns(pl.col("tuple").str.split(",").list.to_struct(fields=fields)).unnest("tuple")
    if len(flows) and flows["state"].is_null().all():
        raise UnreadableFlows(f"{path} is of version 1, which has no bytes", "Turn on version 2 of the flow log.")
    verdict = pl.col("decision" if fields is _OF_GROUPS else "state")
    allowed = flows.filter(verdict.ne_missing(_DENIED))
    frame = _directions(_timed(allowed, scale))
    denied = len(flows) - len(allowed)
    nothing = () if len(frame) else none_of("flow with bytes").remarks
    return Records(frame, (TOLD, *nothing, *counted(denied, "flows were denied, and are left out")))


def _of_networks(records: pl.DataFrame) -> pl.DataFrame:
    """Exporter and tuple of each flow of virtual networks."""
    inner = records.select(
        _exporter(records, "macAddress", "targetResourceID"), pl.col("flowRecords").struct.field("flows")
    )
    groups = inner.explode("flows").select("switch", pl.col("flows").struct.field("flowGroups")).explode("flowGroups")
    return groups.select("switch", pl.col("flowGroups").struct.field("flowTuples").alias("tuple")).explode("tuple")


def _of_groups(records: pl.DataFrame) -> pl.DataFrame:
    """Exporter and tuple of each flow of security groups."""
    inner = records.select(
        _exporter(records, "macAddress", "resourceId"), pl.col("properties").struct.field("flows").alias("rules")
    )
    flows = inner.explode("rules").select("switch", pl.col("rules").struct.field("flows")).explode("flows")
    return flows.select("switch", pl.col("flows").struct.field("flowTuples").alias("tuple")).explode("tuple")


def _exporter(records: pl.DataFrame, *names: str) -> pl.Expr:
    """Who tells: an interface, and the network or group whose log it is, for both may have one."""
    columns = [pl.col(name).cast(pl.String).fill_null("") for name in names if name in records.columns]
    parts = [expr.str.split("/").list.last() for expr in columns] or [pl.lit("")]
    return pl.concat_str(parts, separator=" ").str.strip_chars().alias("switch")


def _timed(flows: pl.DataFrame, scale: int) -> pl.DataFrame:
    """Flows with numbers: each since the same one was told before, or from its own time on.

    Args:
        scale: microseconds of a unit of their times.
    """
    numbers = ("time", "sport", "dport", *_SUMS)
    proto = pl.col("proto").replace(_PROTOCOLS).cast(pl.Int64, strict=False)
    typed = flows.with_columns(*(pl.col(name).cast(pl.Int64, strict=False) for name in numbers), proto)
    times = typed.with_columns(end_us=pl.col("time") * scale).sort("end_us", maintain_order=True)
    before = pl.col("end_us").shift(1).over(_KEY)
    since = pl.when(pl.col("state") == _BEGIN).then(pl.col("end_us")).otherwise(pl.coalesce(before, pl.col("end_us")))
    return times.with_columns(start_us=since)


def _directions(flows: pl.DataFrame) -> pl.DataFrame:
    """A record for each direction that carried bytes."""
    there = flows.select("start_us", "end_us", *_KEY, "packets", "bytes")
    turned = {"src": "dst", "dst": "src", "sport": "dport", "dport": "sport"}
    turned |= {"packets_back": "packets", "bytes_back": "bytes"}
    back = flows.drop("packets", "bytes").rename(turned).select(there.columns)
    return pl.concat([there, back]).filter(pl.col("bytes") > 0)
