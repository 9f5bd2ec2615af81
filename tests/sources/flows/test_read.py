"""Files of flow records, told by their content; what is broken is told."""

import json
import os
import shutil
import struct
from pathlib import Path

import polars as pl
import pytest

from benchmarks.flow_sets import Layout, simulate
from core.errors import BadTopology, UnreadableFlows
from core.flows.table import table_from
from sources.flows.flow_files import read_flows, read_topology
from sources.flows.nfdump import read_nfcapd

RECORD = {
    "type": "FLOW", "first": "2026-11-22T04:00:00.522", "last": "2026-11-22T04:00:01.864",
    "received": "2026-11-22T04:00:05.000",
    "in_packets": 18, "in_bytes": 13655, "proto": 6, "tcp_flags": "...AP.S.", "src_port": 60424, "dst_port": 9091,
    "src4_addr": "10.0.0.1", "dst4_addr": "10.0.0.2", "ip4_router": "10.9.9.9",
}  # fmt: skip


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return simulate(Layout(steps=6))[0]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_the_contract_is_read_as_it_is(frame: pl.DataFrame, tmp_path: Path, kind: str) -> None:
    """Parquet and CSV, whatever the file is called; columns that nobody knows are ignored."""
    path = tmp_path / "capture"
    more = frame.with_columns(vlan=pl.lit(7))
    (more.write_parquet if kind == "parquet" else more.write_csv)(path)

    table, expected = table_from(read_flows(path).frame, "capture"), table_from(frame, "made up")

    assert table.addresses == expected.addresses
    assert table.switches == expected.switches
    for column in ("start", "end", "src", "dst", "sport", "dport", "bytes", "packets", "flags", "switch"):
        assert (getattr(table, column) == getattr(expected, column)).all()


@pytest.mark.parametrize("form", ["array", "lines", "commas"])
def test_json_of_nfdump_is_read_in_all_its_forms(tmp_path: Path, form: str) -> None:
    """An array, an object a line (newer ones), objects with commas (-q); milliseconds and flags are kept."""
    path = tmp_path / "flows.json"
    two = [RECORD, RECORD | {"src_port": 1, "tcp_flags": "......S."}]
    pretty = [json.dumps(record, indent=1) for record in two]
    path.write_text(
        {"array": json.dumps(two), "lines": "\n".join(map(json.dumps, two)), "commas": ",\n".join(pretty) + "\n"}[form]
    )

    records = read_flows(path)

    rows = records.frame.to_dicts()
    assert [row["sport"] for row in rows] == [60424, 1]
    assert [row["tcp_flags"] for row in rows] == [0b11010, 0b10]
    assert rows[0]["end_us"] - rows[0]["start_us"] == 1_342_000
    assert (rows[0]["src"], rows[0]["dst"], rows[0]["switch"]) == ("10.0.0.1", "10.0.0.2", "10.9.9.9")
    assert records.remarks == ()


def test_a_clock_that_is_ahead_is_told_and_not_shifted(tmp_path: Path) -> None:
    """softflowd that reads a capture of the past writes flows 2^32 ms ahead of when they are received."""
    path = tmp_path / "flows.json"
    ahead = RECORD | {"first": "2027-01-10T21:02:48.000", "last": "2027-01-10T21:02:49.000"}
    path.write_text(json.dumps([ahead, ahead]))

    records = read_flows(path)

    (told,) = records.remarks
    assert "49.7 days" in told
    assert "2^32 ms" in told
    assert records.frame["start_us"].to_list() == [1_799_614_968_000_000] * 2


def test_flow_logs_of_aws_are_read_by_their_header(tmp_path: Path) -> None:
    """Whole seconds; intervals without data are left out."""
    path = tmp_path / "vpc.log"
    head = "version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start end"
    head += " action log-status"
    path.write_text(
        f"{head}\n2 1 eni-a 10.0.0.1 10.0.0.2 4000 5000 6 100 100000 1700000000 1700000060 ACCEPT OK\n"
        "2 1 eni-b - - - - - - - 1700000000 1700000060 - NODATA\n"
    )

    table = table_from(read_flows(path).frame, "vpc.log")

    assert (len(table), table.addresses, table.switches) == (1, ("10.0.0.1", "10.0.0.2"), ("eni-a",))
    assert (table.start[0], table.end[0]) == (1_700_000_000_000_000, 1_700_000_060_000_000)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"hello\nworld\n", "no file of flow records"),
        (b"\0\1\2\3", "no file of flow records"),
        (b"PAR1 and then nothing", "broken or cut off"),
        (b'[{"first": 1}]', "not of nfdump"),
        (b'[{"first": "2026', "broken or cut off"),
        (b"start_us,end_us,src,dst,bytes\n1,2,a,b,many\n", "another type"),
        (b"start_us,end_us,src,dst\n1,2,a,b\n", "no column bytes"),
        (json.dumps([RECORD | {"in_packets": {"a": 1}}] * 2).encode(), "objects or lists in packets"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, content: bytes, says: str) -> None:
    """Each with a hint."""
    path = tmp_path / "flows"
    path.write_bytes(content)

    with pytest.raises(UnreadableFlows, match=says) as caught:
        table_from(read_flows(path).frame, "flows")

    assert caught.value.hint


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b"start_us,end_us,src,dst,bytes\n",
        struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1),
        b"version srcaddr dstaddr protocol packets bytes start end log-status\n2 - - - - - 170 171 NODATA\n",
    ],
    ids=["no entry", "no row", "no packet", "no data"],
)
def test_a_whole_file_with_nothing_in_it_is_no_error(tmp_path: Path, content: bytes) -> None:
    """A collector writes one in each quiet minute."""
    path = tmp_path / "flows"
    path.write_bytes(content)

    records = read_flows(path)

    assert not len(table_from(records.frame, "flows"))


def test_half_a_packet_is_no_empty_capture(tmp_path: Path) -> None:
    """The file is broken."""
    path = tmp_path / "flows"
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1) + bytes(9))

    with pytest.raises(UnreadableFlows, match="no whole packet"):
        read_flows(path)


def test_a_parquet_file_cut_off_is_told(frame: pl.DataFrame, tmp_path: Path) -> None:
    """Its end holds what it is."""
    path = tmp_path / "flows.parquet"
    frame.write_parquet(path)
    path.write_bytes(path.read_bytes()[:2_000])

    with pytest.raises(UnreadableFlows, match="broken or cut off"):
        read_flows(path)


def test_rows_without_sense_are_counted(frame: pl.DataFrame) -> None:
    """An end before its start, a time beyond 2100 and a missing address cost their rows only."""
    bad = frame.head(3).with_columns(
        pl.Series("end_us", [0, 2**62, 1_800_000_001_000_000]), pl.Series("src", ["10.0.0.1", "10.0.0.1", None])
    )

    table = table_from(pl.concat([frame.with_columns(pl.col("src").cast(pl.String)), bad]), "made up")

    assert (len(table), table.left_out) == (len(frame), 3)


def test_nfcapd_files_need_nfdump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the hint has the command for where it is."""
    path = tmp_path / "nfcapd.202611220400"
    path.write_bytes(b"\x0c\xa5\x02\x00" + bytes(100))
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(UnreadableFlows, match="nfdump is not installed") as caught:
        read_flows(path)

    assert "-o json" in caught.value.hint


def test_a_broken_nfcapd_file_is_told_in_nfdumps_words(tmp_path: Path) -> None:
    """The real program reads it, and says why not."""
    if shutil.which("nfdump", path=os.defpath + ":/usr/bin") is None:
        pytest.skip("nfdump is not installed")
    path = tmp_path / "nfcapd.202611220400"
    path.write_bytes(b"\x0c\xa5\x01\x00" + bytes(100))  # of version 1, and shorter than its head

    with pytest.raises(UnreadableFlows, match="nfdump cannot read"):
        read_nfcapd(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no JSON"),
        ("[]", "not of the schema"),
        ('{"schema": "firstfault.topology/1", "servers": [{"name": "a"}]}', "another form"),
        (
            json.dumps(
                {
                    "schema": "firstfault.topology/1",
                    "servers": [{"name": "a", "nics": ["1"]}, {"name": "b", "nics": ["1"]}],
                }
            ),
            "two servers",
        ),
    ],
)
def test_a_topology_without_sense_is_told(tmp_path: Path, text: str, says: str) -> None:
    """Each with a hint."""
    path = tmp_path / "topology.json"
    path.write_text(text)

    with pytest.raises(BadTopology, match=says) as caught:
        read_topology(path)

    assert caught.value.hint


def test_a_small_file_that_unfolds_is_not_unfolded(tmp_path: Path) -> None:
    """Equal rows cost parquet nothing: forty million are a file of kilobytes, and gigabytes in memory."""
    path = tmp_path / "flows.parquet"
    pl.DataFrame({"bytes": [1]}).lazy().select(pl.lit(1).repeat_by(40_000_000).explode().alias("bytes")).sink_parquet(
        path
    )
    assert path.stat().st_size < 1 << 20

    with pytest.raises(UnreadableFlows, match=r"40,000,000 records"):
        read_flows(path)


def test_a_table_of_too_many_columns_is_not_read(tmp_path: Path) -> None:
    """A million of them took a gigabyte."""
    path = tmp_path / "flows.csv"
    path.write_text("start_us,end_us,src,dst,bytes," + ",".join(f"c{n}" for n in range(5000)) + "\n", encoding="ascii")

    with pytest.raises(UnreadableFlows, match="columns"):
        read_flows(path)


def test_impossible_bytes_are_left_out(frame: pl.DataFrame) -> None:
    """More than a link can carry in an hour: their sum was no number, and a library warned of it."""
    huge = frame.with_columns(bytes=pl.when(pl.int_range(pl.len()) < 3).then(2**63 - 1).otherwise(pl.col("bytes")))

    assert table_from(huge, "made up").left_out == 3
