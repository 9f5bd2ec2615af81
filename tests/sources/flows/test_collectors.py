"""What real collectors write: softflowd reads packets, nfcapd stores its NetFlow, nfdump tells it to us."""

import shutil
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest

from core.flows.table import table_from
from sources.flows.read import read_flows

PACKETS, BYTES = 12, 1_000
PATIENCE = 20  # seconds for programs that take one
needed = ("softflowd", "nfcapd", "nfdump")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(any(shutil.which(name) is None for name in needed), reason=f"needs {', '.join(needed)}"),
]


def packets(path: Path, at: float) -> None:
    """A capture of two hosts: UDP of 1,000 bytes, five milliseconds apart."""
    frames = []
    for number in range(PACKETS):
        payload = bytes(BYTES - 28)
        udp = struct.pack(">HHHH", 4000, 5000, 8 + len(payload), 0) + payload
        ip = struct.pack(
            ">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), number, 0, 64, 17, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
        )
        frame = bytes(12) + b"\x08\x00" + ip + udp
        moment = at + 0.005 * number
        head = struct.pack("<IIII", int(moment), int(moment % 1 * 1e6), len(frame), len(frame))
        frames.append(head + frame)
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1) + b"".join(frames))


def test_packets_come_through_softflowd_and_nfcapd(tmp_path: Path) -> None:
    """One flow with its bytes, packets and milliseconds; a capture of the past is told to be ahead."""
    packets(tmp_path / "two.pcap", at := time.time() - 3600)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "flows").mkdir()
    collector = subprocess.Popen(
        [shutil.which("nfcapd") or "", "-w", tmp_path / "flows", "-p", str(port), "-b", "127.0.0.1"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        _wait_for(port)
        exporter: list[str] = [
            shutil.which("softflowd") or "",
            "-r",
            str(tmp_path / "two.pcap"),
            "-n",
            f"127.0.0.1:{port}",
            "-v",
            "9",
            "-d",
        ]
        exporter += ["-p", str(tmp_path / "pid"), "-c", "none"]
        subprocess.run(exporter, check=True, capture_output=True, timeout=PATIENCE)
        time.sleep(0.5)  # nothing tells when nfcapd has taken the datagram from its socket
    finally:
        collector.terminate()
        collector.communicate(timeout=PATIENCE)
    (stored,) = (path for path in (tmp_path / "flows").iterdir() if "current" not in path.name)

    records = read_flows(stored)

    table = table_from(records.frame, stored.name)
    assert table.addresses == ("10.0.0.1", "10.0.0.2")
    assert (table.bytes.tolist(), table.packets.tolist()) == ([PACKETS * BYTES], [PACKETS])
    assert int(table.end[0] - table.start[0]) == pytest.approx(0.005e6 * (PACKETS - 1), abs=2_000)
    ahead = table.start[0] / 1e6 - at
    assert bool(records.told) == (ahead > 86_400)


def _wait_for(port: int) -> None:
    """Until the collector has its port: nobody else can bind it then."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                return
        time.sleep(0.05)
    raise TimeoutError(port)
