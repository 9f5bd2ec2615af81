"""Captures of packets: messages of the finest grain, or the datagrams that exporters sent."""

import random
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from core.errors import UnreadableFlows
from core.flows.table import table_from
from sources.flows.flow_files import read_flows
from tests.support.flow_frames import TCP, packet, pcap, pcapng

AT = 1_700_000_000.5
MESSAGES = [
    (AT, packet(payload=bytes(1000))),
    (AT + 0.001, packet(payload=bytes(500))),
    (AT + 0.0015, packet("10.0.0.2", "10.0.0.1", ports=(5000, 4000))),
    (AT + 0.1, packet(payload=bytes(300))),
]
LENGTHS = [14 + 28 + size for size in (1000, 500, 0, 300)]


def rows(path: Path) -> list[dict[str, Any]]:
    return read_flows(path).frame.sort("start_us").to_dicts()


@pytest.mark.parametrize(
    "write",
    [
        pcap,
        lambda path, packets: pcap(path, packets, order=">"),
        lambda path, packets: pcap(path, packets, nanoseconds=True),
        lambda path, packets: pcap(path, packets, held=60),
        pcapng,
        lambda path, packets: pcapng(path, packets, order=">"),
        lambda path, packets: pcapng(path, packets, resolution=9),
    ],
    ids=["pcap", "other order", "nanoseconds", "headers alone", "pcapng", "pcapng, other order", "pcapng, nanoseconds"],
)
def test_packets_are_messages_in_every_form_of_a_capture(tmp_path: Path, write: Callable[..., Path]) -> None:
    """A message ends with two milliseconds of silence, each direction is its own, and bytes are those on the wire."""
    first, back, second = rows(write(tmp_path / "capture", MESSAGES))

    assert (first["bytes"], first["packets"]) == (LENGTHS[0] + LENGTHS[1], 2)
    assert (first["start_us"], first["end_us"]) == (int(AT * 1e6), int(AT * 1e6) + 1_000)
    assert (first["src"], first["dst"], first["sport"], first["dport"], first["proto"]) == (
        "10.0.0.1", "10.0.0.2", 4000, 5000, 17,
    )  # fmt: skip
    assert (back["src"], back["bytes"]) == ("10.0.0.2", LENGTHS[2])
    assert (second["start_us"], second["bytes"]) == (int((AT + 0.1) * 1e6), LENGTHS[3])


@pytest.mark.parametrize("tags", [0, 1, 2])
@pytest.mark.parametrize(("src", "dst"), [("10.0.0.1", "10.0.0.2"), ("fd00::1", "fd00::2")])
def test_tags_and_both_kinds_of_addresses_are_read(tmp_path: Path, tags: int, src: str, dst: str) -> None:
    """Flags of TCP are kept: they tell a hang from an end."""
    frames = [(AT, packet(src, dst, bytes(100), proto=TCP, tags=tags, flags=flags)) for flags in (0x02, 0x11)]

    (row,) = rows(pcap(tmp_path / "capture", frames))

    assert (row["src"], row["dst"], row["sport"], row["proto"], row["tcp_flags"]) == (src, dst, 4000, TCP, 0x13)


def test_what_a_host_shows_as_one_packet_counts_as_many(tmp_path: Path) -> None:
    """Cards join and cut packets: 60 kB is no single packet on a wire, or a capture looks like samples."""
    (row,) = rows(pcap(tmp_path / "capture", [(AT, packet(payload=bytes(60_000)))]))

    assert row["packets"] == 7


def test_a_capture_that_is_cut_off_is_read_up_to_there(tmp_path: Path) -> None:
    """And says so."""
    for write in (pcap, pcapng):
        path = write(tmp_path / "capture", MESSAGES)
        path.write_bytes(path.read_bytes()[:-7])

        records = read_flows(path)

        assert len(records.frame) == 2
        assert "cut off" in records.remarks[0]


def test_packets_of_another_kind_are_counted(tmp_path: Path) -> None:
    """ARP is no flow; link types that nobody knows are told."""
    frames = [*MESSAGES, (AT, bytes(12) + b"\x08\x06" + bytes(40))]
    assert read_flows(pcap(tmp_path / "capture", frames)).remarks == (
        "1 of 5 packets are neither IPv4 nor IPv6, or cut off in their headers",
    )
    assert "link type 147" in read_flows(pcap(tmp_path / "capture", MESSAGES, link=147)).remarks[0]


@pytest.mark.slow
def test_bytes_of_any_kind_end_in_a_sentence(tmp_path: Path) -> None:
    """Captures and datagrams of which some bytes are others."""
    chance = random.Random(18)
    whole = [
        pcap(tmp_path / "a", MESSAGES).read_bytes(),
        pcapng(tmp_path / "b", MESSAGES).read_bytes(),
        pcap(tmp_path / "c", [(AT, packet(payload=data)) for data in (v9(), sflow(), v5(), ipfix())]).read_bytes(),
        v9() + v9(),
        ipfix() * 2,
        v5() * 2,
    ]
    path = tmp_path / "changed"
    read = 0
    for turn in range(600):
        data = bytearray(chance.choice(whole))
        for _ in range(chance.randrange(1, 6)):
            data[chance.randrange(len(data))] = chance.choice((0, 1, 255, chance.randrange(256)))
        path.write_bytes(data[: chance.randrange(1, len(data) + 1)] if turn % 3 == 0 else data)
        with suppress(UnreadableFlows):
            table_from(read_flows(path).frame, "changed")
            read += 1
    assert read > 200


def v5(count: int = 2, interval: int = 0) -> bytes:
    """NetFlow of version 5: UDP of 1,000 bytes that ended a second before it was sent."""
    head = struct.pack(">HHIIIIBBH", 5, count, 60_000, int(AT), 500_000_000, 0, 0, 0, interval)
    record = struct.pack(
        ">4s4s4sHHIIIIHHBBBB8x",
        b"\x0a\0\0\1",
        b"\x0a\0\0\2",
        b"",
        1,
        2,
        7,
        1000,
        58_000,
        59_000,
        4000,
        5000,
        0,
        0x1B,
        6,
        0,
    )
    return head + record * count


FIELDS = ((8, 4), (12, 4), (7, 2), (11, 2), (4, 1), (6, 1), (1, 3), (2, 4))
BODY = b"\x0a\0\0\1\x0a\0\0\2" + struct.pack(">HHBB", 4000, 5000, 6, 0x1B) + (1000).to_bytes(3) + (7).to_bytes(4)


def template(name: int, fields: tuple[tuple[int, int], ...]) -> bytes:
    """A template for a set of templates."""
    return struct.pack(">HH", name, len(fields)) + b"".join(struct.pack(">HH", *one) for one in fields)


def of_sets(sets: list[tuple[int, bytes]]) -> bytes:
    """Sets with their lengths."""
    return b"".join(struct.pack(">HH", kind, 4 + len(body)) + body for kind, body in sets)


def v9(sets: list[tuple[int, bytes]] | None = None) -> bytes:
    """NetFlow of version 9: the same flow."""
    fields = (*FIELDS, (22, 4), (21, 4))
    times = struct.pack(">II", 58_000, 59_000)
    sets = sets or [(0, template(300, fields)), (300, (BODY + times) * 2 + b"\0\0")]
    return struct.pack(">HHIIII", 9, 3, 60_000, int(AT), 0, 7) + of_sets(sets)


def ipfix(sets: list[tuple[int, bytes]] | None = None) -> bytes:
    """IPFIX: the same flow, with times in milliseconds."""
    fields = (*FIELDS, (152, 8), (153, 8))
    times = struct.pack(">QQ", int(AT * 1000) - 2_000, int(AT * 1000) - 1_000)
    held = of_sets(sets or [(2, template(300, fields)), (300, (BODY + times) * 2)])
    return struct.pack(">HHIII", 10, 16 + len(held), int(AT), 0, 7) + held


def sflow() -> bytes:
    """sFlow: a sample of one packet in 64, of 1,042 bytes, and counters."""
    head = packet(payload=bytes(1000))[:128]
    raw = struct.pack(">IIII", 1, 1042, 4, len(head)) + head
    record = struct.pack(">II", 1, len(raw)) + raw
    sample = struct.pack(">IIIIIIII", 1, 1, 64, 640, 0, 1, 2, 1) + record
    counters = struct.pack(">II", 2, 8) + bytes(8)
    return (
        struct.pack(">II4sIIII", 5, 1, b"\x0a\x09\x09\x09", 0, 1, 1000, 2)
        + counters
        + struct.pack(">II", 1, len(sample))
        + sample
    )


@pytest.mark.parametrize(("datagram", "first"), [(v5, AT - 2), (v9, AT - 2.5), (ipfix, AT - 2)])
def test_a_file_of_datagrams_is_read(tmp_path: Path, datagram: Callable[[], bytes], first: float) -> None:
    """Versions 5, 9 and IPFIX; times come from the exporter's uptime or are its own."""
    path = tmp_path / "flows"
    path.write_bytes(datagram() * 3)

    records = read_flows(path)

    assert len(records.frame) == 6
    row = records.frame.to_dicts()[0]
    assert (row["start_us"], row["end_us"]) == (int(first * 1e6), int(first * 1e6) + 1_000_000)
    assert (row["src"], row["dst"], row["sport"], row["dport"]) == ("10.0.0.1", "10.0.0.2", 4000, 5000)
    assert (row["proto"], row["tcp_flags"], row["bytes"], row["packets"]) == (6, 0x1B, 1000, 7)
    assert records.remarks == ()


def test_records_that_come_before_their_template_are_not_lost(tmp_path: Path) -> None:
    """Exporters send templates now and then; what never gets one is told."""
    (_, learnt), (_, body) = (0, template(300, (*FIELDS, (22, 4), (21, 4)))), (300, BODY + bytes(8))
    path = tmp_path / "flows"
    path.write_bytes(v9([(300, body)]) + v9([(301, body)]) + v9([(0, learnt)]))

    records = read_flows(path)

    assert len(records.frame) == 1
    assert records.remarks == ("1 sets of records came without a template that can be read",)


def test_fields_of_vendors_and_of_varying_length_do_no_harm(tmp_path: Path) -> None:
    """The first are passed over by their length; sets with the others are told."""
    vendor = struct.pack(">HH", 300, 9) + b"".join(struct.pack(">HH", *one) for one in FIELDS)
    vendor += struct.pack(">HHI", 0x8000 | 5, 6, 9)
    varying = template(301, (*FIELDS, (82, 0xFFFF)))
    path = tmp_path / "flows"
    path.write_bytes(ipfix([(2, vendor), (300, BODY + bytes(6)), (2, varying), (301, BODY + b"\2ab")]))

    records = read_flows(path)

    assert [row["bytes"] for row in records.frame.to_dicts()] == [1000]
    assert records.remarks == ("1 sets of records came without a template that can be read",)


def test_an_exporter_that_samples_is_told(tmp_path: Path) -> None:
    """Its bytes are left as they are."""
    path = tmp_path / "flows"
    path.write_bytes(v5(interval=0x4000 | 100))

    records = read_flows(path)

    assert records.remarks == ("the exporter takes one packet of 100: bytes are as sampled",)
    assert records.frame["bytes"].to_list() == [1000, 1000]


def test_datagrams_in_a_capture_are_read_as_what_they_tell(tmp_path: Path) -> None:
    """What reached a collector: each exporter has the address that it sent from."""
    frames = [(AT, packet("10.9.9.1", payload=ipfix())), (AT, packet("10.9.9.2", payload=ipfix()))]

    found = rows(pcap(tmp_path / "capture", frames))

    assert [row["switch"] for row in found] == ["10.9.9.1"] * 2 + ["10.9.9.2"] * 2
    assert {row["bytes"] for row in found} == {1000}


def test_samples_of_sflow_are_records_of_one_packet(tmp_path: Path) -> None:
    """At the time when they arrived, and not scaled up; the agent is the exporter."""
    path = pcap(tmp_path / "capture", [(AT, packet("10.9.9.1", ports=(6343, 6343), payload=sflow()))])

    records = read_flows(path)

    (row,) = records.frame.to_dicts()
    assert (row["start_us"], row["end_us"], row["bytes"], row["packets"]) == (int(AT * 1e6), int(AT * 1e6), 1042, 1)
    assert (row["src"], row["dst"], row["switch"]) == ("10.0.0.1", "10.0.0.2", "10.9.9.9")
    assert any("one packet of 64" in says for says in records.remarks)
