"""What a hostile exporter or file cannot do: end in a traceback, or take more time than its bytes are worth."""

import struct
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sources.flows.flow_files import read_flows
from sources.flows.netflow import MAX_FIELDS, MAX_TEMPLATES, NetFlow
from sources.flows.sflow import Samples
from tests.support.flow_frames import pcapng

FLOW = ((8, 4), (12, 4), (7, 2), (11, 2), (22, 4), (1, 8))  # fields of a flow, and their bytes
RECORD = bytes([10, 0, 0, 1, 10, 0, 0, 2]) + bytes(8) + struct.pack(">Q", 99)


def of(kind: int, body: bytes) -> bytes:
    """A set."""
    return struct.pack(">HH", kind, 4 + len(body)) + body


def template(fields: tuple[tuple[int, int], ...]) -> bytes:
    return of(2, struct.pack(">HH", 301, len(fields)) + b"".join(struct.pack(">HH", *field) for field in fields))


def message(*sets: bytes) -> bytes:
    """A datagram of IPFIX."""
    return struct.pack(">HHIII", 10, 16 + len(b"".join(sets)), 1_700_000_000, 1, 7) + b"".join(sets)


def test_an_exporter_that_never_started_is_no_overflow(tmp_path: Path) -> None:
    """The start of an exporter may have as many bytes as a template says."""
    options = of(3, struct.pack(">HHHHH", 300, 1, 1, 160, 64))
    path = tmp_path / "flows"
    path.write_bytes(message(options, of(300, b"\xff" * 64), template(FLOW), of(301, RECORD)))

    assert read_flows(path).frame["bytes"].to_list() == [99]


def test_a_block_that_is_too_short_for_a_packet_is_left_out(tmp_path: Path) -> None:
    """At the end of a file there is nothing behind it."""
    path = pcapng(tmp_path / "flows", [])
    path.write_bytes(path.read_bytes() + struct.pack("<III", 6, 12, 12))

    assert not len(read_flows(path).frame)


def test_more_templates_than_an_exporter_has_are_counted() -> None:
    """Each takes a frame of its own: a million of them took minutes."""
    flows = NetFlow()
    for number in range(MAX_TEMPLATES + 10):
        fields = (*FLOW, (1_000 + number, 1))
        flows.add(message(template(fields), of(301, RECORD + b"\0")), "")

    records = flows.records()

    assert records is not None
    assert len(records.frame) == MAX_TEMPLATES
    assert [remark for remark in records.remarks if f"10 templates came after the first {MAX_TEMPLATES:,}" in remark]


def test_a_template_of_more_fields_than_a_record_has_room_for_is_not_kept() -> None:
    """Fields of no bytes cost a record nothing, and each set of four bytes was asked for all of them."""
    flows = NetFlow()
    flows.add(message(template((*FLOW, *((2_000 + number, 0) for number in range(MAX_FIELDS)))), of(301, RECORD)), "")

    assert flows.records() is None
    assert not flows.templates


def test_samples_that_claim_the_ones_behind_them_are_read_once() -> None:
    """A thousand samples of 64 bytes, each of which says that all others are records of its own."""
    count = 1_000
    samples = [
        struct.pack(">II", 1, 56) + bytes(28) + struct.pack(">III", count - number, 2, 16) + bytes(16)
        for number in range(count)
    ]
    found = Samples()

    found.add(b"\0\0\0\5\0\0\0\1" + bytes([1, 1, 1, 1]) + struct.pack(">IIII", 0, 0, 0, count) + b"".join(samples), 0)

    assert len(found.heads) <= count


def test_columns_that_nobody_wants_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A column of equal rows costs a file nothing, and gigabytes when it is read."""
    path, read = tmp_path / "flows", list[Any]()
    names = {"srcaddr": "10.0.0.1", "dstaddr": "10.0.0.2", "start": 1, "end": 2, "bytes": 3, "log_status": "OK"}
    pl.DataFrame({name: [value] for name, value in names.items()} | {"huge": ["x"]}).write_parquet(path)
    whole = pl.read_parquet

    def noted(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
        read.append(columns)
        return whole(path, columns=columns)

    monkeypatch.setattr(pl, "read_parquet", noted)

    assert len(read_flows(path).frame) == 1
    assert read == [list(names)]
