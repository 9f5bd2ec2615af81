"""What real exporters and collectors write: softflowd, nfcapd with nfdump, pmacctd."""

import shutil
import socket
import struct
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.support.patience import PATIENCE
from core.flows.table import table_from
from sources.flows.flow_files import read_flows
from tests.support.flow_frames import packet, pcap

PACKETS, BYTES = 12, 1_000
pytestmark = pytest.mark.slow


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}")


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


@needs("softflowd", "nfcapd", "nfdump")
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
    assert bool(records.remarks) == (ahead > 86_400)


@needs("softflowd")
@pytest.mark.parametrize("version", ["5", "9", "10"])
def test_datagrams_of_softflowd_are_read_without_a_collector(tmp_path: Path, version: str) -> None:
    """NetFlow 5, 9 and IPFIX as they come from the socket, one behind the other in a file."""
    packets(tmp_path / "two.pcap", at := time.time() - 3600)
    exporter = [shutil.which("softflowd") or "", "-r", str(tmp_path / "two.pcap"), "-v", version, "-d", "-c", "none"]
    exporter += ["-p", str(tmp_path / "pid"), "-a", "-n"]

    (tmp_path / "flows").write_bytes(b"".join(_received(exporter, "127.0.0.1:{port}")))

    records = read_flows(tmp_path / "flows")
    table = table_from(records.frame, "flows")
    assert table.addresses == ("10.0.0.1", "10.0.0.2")
    assert (table.bytes.tolist(), table.packets.tolist()) == ([PACKETS * BYTES], [PACKETS])
    assert int(table.end[0] - table.start[0]) == pytest.approx(0.005e6 * (PACKETS - 1), abs=2_000)
    assert table.start[0] / 1e6 == pytest.approx(at, abs=2)  # version 9 tells the hour in whole seconds
    assert records.remarks == ()


@needs("pmacctd")
def test_samples_of_pmacctd_are_read(tmp_path: Path) -> None:
    """sFlow as a real agent sends it; each sample is a record."""
    packets(tmp_path / "two.pcap", time.time() - 3600)
    settings = tmp_path / "pmacctd.conf"
    settings.write_text(
        f"pcap_savefile: {tmp_path / 'two.pcap'}\npcap_savefile_wait: true\nplugins: sfprobe\n"
        "sfprobe_agentip: 10.9.9.9\nsfprobe_receiver: 127.0.0.1:PORT\n"
    )

    datagrams = _received([shutil.which("pmacctd") or "", "-f", str(settings)], settings=settings)

    now = time.time()
    records = read_flows(pcap(tmp_path / "sent.pcap", [(now, packet("10.9.9.9", payload=data)) for data in datagrams]))
    (size,) = set(records.frame["bytes"].to_list())
    assert BYTES <= size <= BYTES + 18  # it may count the headers and the checksum of Ethernet
    assert PACKETS - 2 <= len(records.frame) <= PACKETS  # it may end before its last datagram is full
    assert set(records.frame["switch"].to_list()) == {"10.9.9.9"}


def _received(command: list[str], receiver: str = "", *, settings: Path | None = None) -> list[bytes]:
    """The datagrams that a program sends to a socket of ours."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind(("127.0.0.1", 0))
        port = line.getsockname()[1]
        if settings is not None:
            settings.write_text(settings.read_text().replace("PORT", str(port)))
        with subprocess.Popen(
            [*command, *([receiver.format(port=port)] if receiver else [])], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as running:  # fmt: skip
            line.settimeout(PATIENCE)
            found = [line.recv(65_535)]
            line.settimeout(3)
            with suppress(TimeoutError):
                while True:
                    found.append(line.recv(65_535))
            running.terminate()
    return found


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
