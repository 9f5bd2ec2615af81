"""Flow logs of clouds by the forms that their vendors document; what they cannot carry is told."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmarks.flow_sets import Layout, simulate
from core.errors import UnreadableFlows
from core.flows.analyse import analyse
from core.flows.table import table_from
from core.flows.topology import Topology
from sources.flows.flow_files import read_flows
from sources.flows.records import Records

AWS_5 = (
    "version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start end"
    " action log-status vpc-id subnet-id instance-id tcp-flags type pkt-srcaddr pkt-dstaddr region az-id"
    " flow-direction traffic-path"
)
AWS_ROW = (
    "5 123456789010 eni-0a {src} {dst} 4000 5000 6 100 100000 1700000000 1700000060 {action} {status} "
    "vpc-1 subnet-1 i-01 3 IPv4 10.0.0.1 10.0.0.2 us-east-1 use1-az1 egress 1"
)
AWS_2 = "2 123456789010 eni-0a 10.0.0.1 10.0.0.2 4000 5000 6 100 100000 1700000000 1700000060 ACCEPT OK"
FLOW = {
    "start_us": 1_700_000_000_000_000, "end_us": 1_700_000_060_000_000, "src": "10.0.0.1", "dst": "10.0.0.2",
    "sport": 4000, "dport": 5000, "proto": 6, "packets": 100, "bytes": 100_000,
}  # fmt: skip


def read(tmp_path: Path, content: str | bytes, name: str = "flows") -> Records:
    """The records of a file with that content."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_flows(path)


def rows(records: Records) -> list[dict[str, Any]]:
    """The records without what not all clouds tell."""
    return records.frame.select(list(FLOW)).to_dicts()


def row_of_aws(src: str = "10.0.0.1", dst: str = "10.0.0.2", action: str = "ACCEPT", status: str = "OK") -> str:
    return AWS_ROW.format(src=src, dst=dst, action=action, status=status)


def test_custom_fields_of_aws_are_read_by_their_names(tmp_path: Path) -> None:
    """Version 5: the packet's own addresses before the interface's; what was rejected or skipped is told."""
    lines = [AWS_5, row_of_aws(src="10.0.9.9"), row_of_aws(action="REJECT")]
    lines += [f"5 123456789010 eni-0b {'- ' * 7}1700000060 1700000120 - SKIPDATA" + " -" * 11]
    found = read(tmp_path, "\n".join(lines) + "\n")

    assert rows(found) == [FLOW]
    assert found.frame["tcp_flags"].to_list() == [3]
    assert any("1 records tell of traffic that was rejected" in one for one in found.remarks)
    assert any("1 intervals are missing" in one for one in found.remarks)


@pytest.mark.parametrize("stamp", ["", "2023-11-14T22:14:20.000Z "], ids=["plain", "cloudwatch"])
def test_the_default_format_of_aws_needs_no_header(tmp_path: Path, stamp: str) -> None:
    """As CloudWatch exports it, with a time before each record or without."""
    assert rows(read(tmp_path, f"{stamp}{AWS_2}\n" * 2)) == [FLOW, FLOW]


def test_parquet_of_aws_is_told_by_its_columns(tmp_path: Path) -> None:
    """With underscores in their names, and numbers in their types."""
    names = [name.replace("-", "_") for name in AWS_5.split()]
    frame = pl.DataFrame([row_of_aws().split()], schema=names, orient="row")
    numbers = ["srcport", "dstport", "protocol", "packets", "bytes", "start", "end", "tcp_flags"]
    frame.with_columns(pl.col(numbers).cast(pl.Int64)).write_parquet(tmp_path / "hour")

    assert rows(read_flows(tmp_path / "hour")) == [FLOW]


def test_files_are_packed_as_clouds_deliver_them(tmp_path: Path) -> None:
    """Also cut off: what it still holds is read, and that it is cut off is told."""
    text = f"{AWS_5}\n" + "".join(f"{row_of_aws(dst=f'10.0.0.{n % 250}')}\n" for n in range(20_000))
    packed = gzip.compress(text.encode())

    assert len(read(tmp_path, packed, "a.log.gz").frame) == 20_000
    broken = read(tmp_path, packed[: len(packed) // 2], "b.log.gz")
    assert 0 < len(broken.frame) < 20_000
    assert any("b.log.gz" in one for one in broken.remarks)


def test_a_last_record_that_is_cut_off_does_not_count(tmp_path: Path) -> None:
    """Half a number is another number."""
    found = read(tmp_path, f"{AWS_2}\n{AWS_2[:80]}")

    assert (len(found.frame), found.remarks[-1]) == (1, "1 record at the end of the file is cut off")


def entry(reporter: str = "SRC", **more: object) -> dict[str, Any]:
    """An entry as Cloud Logging exports it: 64-bit numbers are texts."""
    connection = {"src_ip": "10.0.0.1", "src_port": 4000, "dest_ip": "10.0.0.2", "dest_port": 5000, "protocol": 6}
    payload = {
        "bytes_sent": "100000", "connection": connection, "end_time": "2023-11-14T22:14:20.000000000Z",
        "packets_sent": "100", "reporter": reporter, "rtt_msec": "1", "start_time": "2023-11-14T22:13:20Z",
        "src_instance": {"project_id": "p", "region": "r", "vm_name": "node-1", "zone": "z"},
        "dest_instance": {"project_id": "p", "region": "r", "vm_name": "node-2", "zone": "z"},
    }  # fmt: skip
    return {
        "insertId": "1", "jsonPayload": payload | more, "logName": "projects/p/logs/compute.googleapis.com%2Fvpc_flows",
        "resource": {"labels": {"subnetwork_name": "s"}, "type": "gce_subnetwork"},
    }  # fmt: skip


@pytest.mark.parametrize("form", ["lines", "array"])
def test_entries_of_google_are_read(tmp_path: Path, form: str) -> None:
    """Both ends report; each is an exporter by the name of its machine."""
    two = [entry(), entry("DEST")]
    found = read(tmp_path, json.dumps(two, indent=1) if form == "array" else "\n".join(map(json.dumps, two)) + "\n")

    assert rows(found) == [FLOW, FLOW]
    assert found.frame["switch"].to_list() == ["node-1", "node-2"]
    assert "sampled packets" in found.remarks[1]


def test_entries_of_google_that_are_no_flows_are_counted(tmp_path: Path) -> None:
    """A line that is cut off, and another log's entry."""
    lines = [json.dumps(entry()), json.dumps({"jsonPayload": {"message": "hello"}}), json.dumps(entry())[:200]]
    found = read(tmp_path, "\n".join(lines))

    assert rows(found) == [FLOW]
    assert found.remarks[2:] == ("1 entries are no flows", "1 entry at the end of the file is cut off")


def network(*tuples: str) -> str:
    """A flow log of a virtual network, version 4."""
    groups = [{"rule": "DefaultRule_AllowInternetOutBound", "flowTuples": list(tuples)}]
    record = {
        "time": "2023-11-14T22:14:20.5Z", "flowLogVersion": 4, "flowLogGUID": "66aa66aa", "macAddress": "112233445566",
        "category": "FlowLogFlowEvent", "targetResourceID": "/subscriptions/s/virtualNetworks/vnet01",
        "operationName": "FlowLogFlowEvent",
        "flowRecords": {"flows": [{"aclID": "00000000-1234", "flowGroups": groups}]},
    }  # fmt: skip
    return json.dumps({"records": [record]})


def group(*tuples: str, version: int = 2) -> str:
    """A flow log of a network security group."""
    flows = [{"rule": "DefaultRule_AllowVnetInBound", "flows": [{"mac": "112233445566", "flowTuples": list(tuples)}]}]
    record = {
        "time": "2023-11-14T22:14:20.5Z", "systemId": "a", "macAddress": "112233445566",
        "category": "NetworkSecurityGroupFlowEvent", "resourceId": "/SUBSCRIPTIONS/S/NETWORKSECURITYGROUPS/NSG",
        "operationName": "NetworkSecurityGroupFlowEvents", "properties": {"Version": version, "flows": flows},
    }  # fmt: skip
    return json.dumps({"records": [record]})


ENDS = "10.0.0.1,10.0.0.2,4000,5000"


@pytest.mark.parametrize(
    "content",
    [
        network(
            f"1700000000000,{ENDS},6,O,B,NX,0,0,0,0",
            f"1700000060000,{ENDS},6,O,C,NX,100,100000,50,3300",
            "1700000060000,10.0.0.9,10.0.0.2,1,2,6,I,D,NX,0,0,0,0",
        ),
        group(
            f"1700000000,{ENDS},T,O,A,B,,,,",
            f"1700000060,{ENDS},T,O,A,C,100,100000,50,3300",
            "1700000060,10.0.0.9,10.0.0.2,1,2,T,I,D,B,,,,",
        ),
    ],
    ids=["virtual-network", "security-group"],
)
def test_both_directions_of_a_flow_of_azure_are_records(tmp_path: Path, content: str) -> None:
    """From when the flow was told last to when it is told; what was denied is left out."""
    found = read(tmp_path, content)
    turned = {"src": FLOW["dst"], "dst": FLOW["src"], "sport": 5000, "dport": 4000, "packets": 50, "bytes": 3300}

    assert rows(found) == [FLOW, FLOW | turned]
    assert found.remarks[-1] == "1 flows were denied, and are left out"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (group(f"1700000000,{ENDS},T,O,A", version=1), "version 1, which has no bytes"),
        (network(f"1700000000000,{ENDS},6,O,E,NX,1,2,3,4")[:-40], "broken or cut off"),
        (json.dumps({"jsonPayload": {"message": "hello"}}), "no entry is a flow"),
        (gzip.compress(gzip.compress(AWS_2.encode())), "no file of flow records"),
    ],
    ids=["version-1", "cut-off", "no-flow", "packed-twice"],
)
def test_what_has_no_flows_is_told(tmp_path: Path, content: str | bytes, says: str) -> None:
    """Each with a hint, and under the name that was asked for."""
    with pytest.raises(UnreadableFlows, match=says) as caught:
        read(tmp_path, content, "hour.json.gz")

    assert caught.value.hint
    assert "hour.json.gz" in caught.value.message


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (network(f"1700000000000,{ENDS},6,O,B,NX,0,0,0,0"), "no flow with bytes"),
        (f"{AWS_5}\n{row_of_aws(action='REJECT')}\n", "no record with data"),
    ],
    ids=["no-bytes", "rejected"],
)
def test_a_quiet_hour_is_no_error(tmp_path: Path, content: str, says: str) -> None:
    """It has no record, which is told."""
    found = read(tmp_path, content)

    assert not len(found.frame)
    assert any(says in remark for remark in found.remarks)


def summed(frame: pl.DataFrame) -> str:
    """The same traffic in sums of a minute, as both ends of each flow report them."""
    minute = (pl.col("start_us") // 60_000_000) * 60_000_000
    ends = ["src", "dst", "sport", "dport"]
    one = frame.filter(pl.col("switch") == pl.col("switch").first().over(ends)).with_columns(minute=minute)
    sums = one.group_by([*ends, "minute"], maintain_order=True).agg(pl.col("bytes", "packets").sum())
    lines = [AWS_5.split(" vpc-id", maxsplit=1)[0]]
    for row in sums.iter_rows(named=True):
        lines += [_line(row, end) for end in (row["src"], row["dst"])]
    return "\n".join(lines) + "\n"


def _line(row: Mapping[str, Any], end: str) -> str:
    start = row["minute"] // 1_000_000
    what = f"{row['src']} {row['dst']} {row['sport']} {row['dport']} 6 {row['packets']} {row['bytes']}"
    return f"2 123456789010 eni-{end.replace('.', '')} {what} {start} {start + 59} ACCEPT OK"


def test_sums_of_a_minute_give_jobs_and_no_steps(tmp_path: Path) -> None:
    """Two minutes of a job with steps of half a second: who trains together is told, and why there are no steps."""
    frame, _, _ = simulate(Layout(dp=4, pp=2, steps=240))
    table = table_from(read(tmp_path, summed(frame)).frame, "made up")
    (job,) = (answer := analyse(table, Topology())).jobs

    assert len(job.nics) == 8
    assert len(job.timeline) == 0
    assert job.findings == ()
    assert "timeline" in {one.step for one in answer.skipped}
