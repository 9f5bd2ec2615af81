"""Every packet that enters a switch port, as flow records: a record ends with 2 ms of silence, or where it is told to.

Runs inside the namespace of the switches: ``python -m lab.flows.capture RECORDS SECONDS [SILENCE_US SLOT_US]``. Slots
are what an exporter's active time-out comes to: no record goes from one into the next; 0 for none.
"""

import array
import select
import socket
import struct
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ETH_P_ALL = 3  # linux/if_ether.h
SO_TIMESTAMPNS = 35  # asm-generic/socket.h (SO_TIMESTAMPNS_OLD)
SOL_PACKET, PACKET_STATISTICS = 263, 6  # linux/socket.h, linux/if_packet.h
HEAD = 80  # bytes of a packet that are read: Ethernet, IPv4 and TCP
SILENCE_US = 2_000  # chosen: far below a step, far above a round trip of the lab
MSS = 1_448  # bytes: an Ethernet frame of 1,500 without the headers of IPv4 and TCP with time stamps
COLUMNS = ("start_us", "end_us", "src", "dst", "sport", "dport", "bytes", "packets", "tcp_flags", "port")


def main() -> None:
    """Capture until the time is up or the file STOP appears beside the records; then write them."""
    out, until = Path(sys.argv[1]), time.monotonic() + float(sys.argv[2])
    silence, slot = map(int, sys.argv[3:5] or (SILENCE_US, 0))
    ports = {name: number for number, name in socket.if_nameindex()}
    line = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    line.setsockopt(socket.SOL_SOCKET, 33, 256 << 20)  # SO_RCVBUFFORCE
    line.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    line.setblocking(False)  # noqa: FBT003 the socket's own word
    stop = out.with_name("STOP")
    packets = array.array("q")
    while time.monotonic() < until and not stop.exists():
        select.select([line], [], [], 0.2)
        _drain(line, packets, ports)
    headers = np.frombuffer(packets, np.int64).reshape(-1, 8)
    lost = struct.unpack("II", line.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1]
    names = np.array([[str(port), name] for name, port in ports.items()])
    np.savez(out, records=_records(headers, silence, slot), ports=names, lost=lost)


def _drain(line: socket.socket, packets: "array.array[int]", ports: dict[str, int]) -> None:
    for _ in range(20_000):
        try:
            data, extra, _, where = line.recvmsg(HEAD, 64, socket.MSG_TRUNC)
        except BlockingIOError:
            return
        if where[2] == socket.PACKET_OUTGOING or where[0] not in ports or data[12:14] != b"\x08\x00" or data[23] != 6:
            continue
        seconds, nanoseconds = struct.unpack("ll", extra[0][2][:16])
        length, src, dst = struct.unpack_from("!H8x4s4s", data, 16)
        at = 14 + 4 * (data[14] & 15)
        sport, dport = struct.unpack_from("!HH", data, at)
        payload = length - 4 * (data[14] & 15) - 4 * (data[at + 12] >> 4)
        count = max(1, -(-payload // MSS))
        size = payload + count * (at + 4 * (data[at + 12] >> 4))
        packets.extend(
            (
                seconds * 1_000_000 + nanoseconds // 1_000, int.from_bytes(src), int.from_bytes(dst), sport, dport,
                size, count, ports[where[0]] << 8 | data[at + 13],
            )
        )  # fmt: skip


def _records(packets: NDArray[np.int64], silence: int, slot: int) -> NDArray[np.int64]:
    """(records, COLUMNS) by flow and port."""
    port, flags = packets[:, 7] >> 8, packets[:, 7] & 255
    order = np.lexsort((packets[:, 0], *packets[:, 1:5].T, port))
    packets, port, flags = packets[order], port[order], flags[order]
    key = np.column_stack([packets[:, 1:5], port])
    fresh = np.append(True, (key[1:] != key[:-1]).any(axis=1) | (np.diff(packets[:, 0]) > silence))
    if slot:
        fresh[1:] |= np.diff(packets[:, 0] // slot) > 0
    first = np.flatnonzero(fresh)
    last = np.append(first[1:] - 1, len(packets) - 1)
    return np.column_stack(
        [
            packets[first, 0], packets[last, 0], packets[first, 1:5], np.add.reduceat(packets[:, 5:7], first),
            np.bitwise_or.reduceat(flags, first), port[first],
        ]
    )  # fmt: skip


if __name__ == "__main__":
    main()
