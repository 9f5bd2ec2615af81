"""Flow records by connection: each process group has its own TCP connection or queue pair.

Every switch on a path exports the same flow. It is counted once, as the switch saw it that the sender is attached to;
the other copies stay, for they locate queues.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import UnreadableFlows
from core.flows.table import UNKNOWN, FlowTable, Ints
from core.flows.topology import Topology

Bools = NDArray[np.bool_]

ROCE_PORT = 4791  # the destination port of RoCEv2, in both directions; the source port stands for the queue pair
ACK = 150  # bytes a packet at most, of a record without data (docs/how-to/flows.md: 55 to 66 % of the records)
MANY = 65_535  # addresses: two of them and two ports are one number of 64 bits
FIN_RST = 0b101  # TCP flags that end a connection
PUSH = 0b1000  # and that of a packet which its program wants to be delivered at once
BARE = (
    80  # bytes a packet at most without anything of the program in it: headers of Ethernet, IPv6 and TCP with options
)
COPY_US = 1_000  # microseconds: one exporter's records of one direction never overlap; what does is a copy


@dataclass(frozen=True)
class Connections:
    """Connections between two addresses, and the flow records of each, sorted by time.

    Attributes:
        a, b: (connections) the two ends, places in ``addresses``, a <= b.
        aport, bport: (connections) their ports.
        offset: (connections + 1) where the records of each begin.
        start, end: (records) microseconds since 1970.
        back: (records) whether b sent it.
        bytes, packets, flags, switch: (records) as in the table.
        counted: (records) as the sender's own switch saw it.
        data: (records) not only acknowledgements.
        sent: (connections, 2) bytes of data from a and from b, each counted once.
        copies: records that came twice from an exporter without a name, and were left out.
    """

    addresses: tuple[str, ...]
    switches: tuple[str, ...]
    a: Ints
    b: Ints
    aport: Ints
    bport: Ints
    offset: Ints
    start: Ints
    end: Ints
    back: Bools
    bytes: Ints
    packets: Ints
    flags: NDArray[np.uint8]
    switch: NDArray[np.int32]
    counted: Bools
    data: Bools
    sent: Ints
    copies: int

    def __len__(self) -> int:
        """The number of connections."""
        return len(self.a)

    def ends(self, connection: int) -> tuple[int, int]:
        """The addresses that a connection joins: a, b."""
        return int(self.a[connection]), int(self.b[connection])

    def rows(self, connection: int) -> slice:
        """The records of a connection."""
        return slice(int(self.offset[connection]), int(self.offset[connection + 1]))

    def all_rows(self, chosen: Ints) -> tuple[slice | Ints, Ints]:
        """The records of some connections, one behind the other, and of each its place in ``chosen``."""
        count = np.diff(self.offset)[chosen]
        turn = np.repeat(np.arange(len(chosen)), count)
        if len(chosen) and (np.diff(chosen) == 1).all():  # as those of most jobs: nothing has to be copied
            return slice(int(self.offset[chosen[0]]), int(self.offset[chosen[-1] + 1])), turn
        before = np.cumsum(count) - count
        return (self.offset[chosen] - before)[turn] + np.arange(len(turn)), turn

    def messages(self, rows: slice | Ints) -> Bools:
        """Whether some records hold something of a program: more than headers, or a packet that it pushed."""
        filled: Bools = (self.bytes[rows] > BARE * self.packets[rows]) | ((self.flags[rows] & PUSH) > 0)
        return filled

    def only(self, chosen: Ints) -> "Connections":
        """Some connections with their records; ``addresses`` and ``switches`` stay as they are."""
        offset = np.append(0, np.cumsum(np.diff(self.offset)[chosen]))
        rows = self.all_rows(chosen)[0]
        return Connections(
            self.addresses, self.switches, self.a[chosen], self.b[chosen], self.aport[chosen], self.bport[chosen],
            offset, self.start[rows], self.end[rows], self.back[rows], self.bytes[rows], self.packets[rows],
            self.flags[rows], self.switch[rows], self.counted[rows], self.data[rows], self.sent[chosen], self.copies,
        )  # fmt: skip

    def of_rows(self) -> Ints:
        """(records) the connection of each."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.offset))


def find_connections(table: FlowTable, topology: Topology) -> Connections:
    """Sort the records of a table by connection and time; the order of its rows changes nothing."""
    keys, codes, back = _connection_codes(table)
    order = _order(table, codes, back)
    codes, back = codes[order], back[order]
    start, end = table.start[order], table.end[order]
    size, packets = table.bytes[order], table.packets[order]
    flags, switch = table.flags[order], table.switch[order]
    del order
    copies = 0
    if len(table) and not (switch != UNKNOWN).any():
        first = ~_copies(codes, back, start, end, size)
        copies = int((~first).sum())
        if copies:
            codes, back, start, end = codes[first], back[first], start[first], end[first]
            size, packets, flags, switch = size[first], packets[first], flags[first], switch[first]
    offset = np.searchsorted(codes, np.arange(len(keys) + 1))
    lanes = codes * 2 + back
    a, b, aport, bport = _ends(keys, len(table.addresses))
    data = size > ACK * packets
    chosen = _exporters(lanes, switch, size, table, topology, np.stack([a, b], 1).ravel())
    counted = switch == chosen[lanes] if len(lanes) else np.zeros(0, bool)
    # exact in a float: a sum of bytes stays below 2^53
    sent = np.bincount(lanes[data & counted], size[data & counted].astype(float), 2 * len(keys)).astype(np.int64)
    return Connections(
        table.addresses, table.switches, a, b, aport, bport, offset, start, end, back, size, packets, flags, switch,
        counted, data, sent.reshape(-1, 2), copies,
    )  # fmt: skip


def _connection_codes(table: FlowTable) -> tuple[NDArray[np.uint64], Ints, Bools]:
    """Distinct connections as sorted keys, the place of each row's in them, and whether the higher end sent it."""
    many = np.uint64(max(1, len(table.addresses)))
    if many > MANY:  # no room for two addresses and two ports in 64 bits
        raise UnreadableFlows(
            f"The records are of {int(many):,} addresses",
            f"Up to {MANY:,} are compared at once: filter by job or by pod.",
        )
    src, dst, sport = table.src, table.dst, table.sport
    dport = np.where((table.dport == ROCE_PORT) & (table.proto != 6), sport, table.dport)
    back: Bools = (src > dst) | ((src == dst) & (sport > dport))
    keys = np.where(back, dst, src).astype(np.uint64)  # one column of 64 bits in all: pages are what costs here
    keys *= many
    keys += np.where(back, src, dst).astype(np.uint64)
    for near, far in ((sport, dport), (dport, sport)):
        keys <<= np.uint64(16)
        keys |= np.where(back, far, near)
    distinct: NDArray[np.uint64] = np.unique(keys)
    return distinct, np.searchsorted(distinct, keys), back


def _ends(keys: NDArray[np.uint64], addresses: int) -> tuple[Ints, Ints, Ints, Ints]:
    """The two addresses and the two ports of each connection."""
    pair = (keys >> np.uint64(32)).astype(np.int64)
    ports = (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
    many = max(1, addresses)
    return pair // many, pair % many, ports >> 16, ports & 0xFFFF


def _order(table: FlowTable, codes: Ints, back: Bools) -> Ints:
    """Rows by connection and start; where both are equal, by all else, so that the order of the input is forgotten."""
    order = np.argsort(table.start, kind="stable")  # exporters write nearly by time, which costs little to sort
    few = np.min_scalar_type(codes.max(initial=0))  # numbers of 16 bits are sorted by counting
    order = order[np.argsort(codes[order].astype(few), kind="stable")]
    code, start = codes[order], table.start[order]
    fresh = (code[1:] != code[:-1]) | (start[1:] != start[:-1])
    tied = np.flatnonzero(~np.append(fresh, True) | ~np.append(True, fresh))
    rows = order[tied]
    moment = np.append(0, np.cumsum(fresh))[tied]
    # mostly one flow as several exporters saw it: their number tells them apart, and one number is sorted faster
    copy = (moment * 2 + back[rows]) * (len(table.switches) + 1) + table.switch[rows] + 1
    by_copy = np.argsort(copy, kind="stable")
    rows, copy = rows[by_copy], copy[by_copy]
    same = copy[1:] == copy[:-1]
    alike = np.flatnonzero(np.append(same, False) | np.append(False, same))
    own = rows[alike]
    columns = (table.flags[own], table.packets[own], table.bytes[own], table.end[own], copy[alike])
    rows[alike] = own[np.lexsort(columns)]
    order[tied] = rows
    return order


def _copies(codes: Ints, back: Bools, start: Ints, end: Ints, size: Ints) -> Bools:
    """Rows that tell of the same flow as the row of their lane before: another exporter's, where none has a name."""
    lanes = codes * 2 + back
    order = np.argsort(lanes, kind="stable")
    lane, first, last, sizes = lanes[order], start[order], end[order], size[order]
    same = (lane[1:] == lane[:-1]) & (
        (first[1:] < last[:-1]) | ((first[1:] <= last[:-1] + COPY_US) & (sizes[1:] == sizes[:-1]))
    )
    copied = np.zeros(len(lanes), bool)
    copied[order[1:][same]] = True
    return copied


def _exporters(
    lanes: Ints, switch: NDArray[np.int32], size: Ints, table: FlowTable, topology: Topology, senders: Ints
) -> NDArray[np.int32]:
    """Of each lane (connection and direction) the exporter that counts: the sender's own, else that with most bytes."""
    places = {name: place for place, name in enumerate(table.switches)}
    own = np.array([places.get(topology.leaf.get(address, ""), UNKNOWN) for address in table.addresses] or [UNKNOWN])
    width = len(table.switches) + 1
    volume = np.bincount(lanes * width + switch + 1, size.astype(float) + 1, len(senders) * width).reshape(-1, width)
    best = (np.argmax(volume, axis=1) - 1).astype(np.int32)
    leaf = own[senders].astype(np.int32)
    present = (leaf != UNKNOWN) & (volume[np.arange(len(senders)), leaf + 1] > 0)
    return np.where(present, leaf, best)
