"""NetFlow v5 and v9 (RFC 3954) and IPFIX (RFC 7011): from datagrams or files of them to records, many at a time."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from struct import error, unpack_from

import numpy as np
import polars as pl
from numpy.typing import NDArray

from core.errors import UnreadableFlows
from sources.flows.addresses import MAPPED, named
from sources.flows.headers import number
from sources.flows.records import Records, ahead_of
from sources.named_files import read_given

V5, V9, IPFIX = 5, 9, 10  # versions, the first number of a datagram
HEADER = {V5: 24, V9: 20, IPFIX: 16}  # bytes
VARIABLE = 0xFFFF  # the length of a field whose length stands in the record
MAX_BYTES = 4 << 30  # of a file, of which a record takes 50
MAX_RECORD = 4_096  # bytes: of real templates a tenth
MAX_FIELDS = 512  # of a template: of eight bytes each they fill a record
MAX_TEMPLATES = 1_024  # different ones; an exporter has a handful, and each takes a frame of its own
MAX_WAITING = 1 << 18  # sets before their template: half an hour (RFC 7011, 8.4) of 150 datagrams a second
_LATEST_MS = 4_102_444_800_000  # milliseconds from 1970 to 2100: later starts of an exporter are broken numbers
_EPOCH = 2_208_988_800  # seconds from 1900, where NTP begins, to 1970
_SOURCE, _TARGET, _SOURCE_6, _TARGET_6 = 8, 12, 27, 28  # fields, by IANA's registry of IPFIX
_BYTES, _PACKETS, _SPORT, _DPORT, _PROTO, _FLAGS = (1, 85), (2, 86), (7,), (11,), (4,), (6,)  # of the same
_UPTIME, _BOOTED = (22, 21), 160  # first and last packet in milliseconds since the exporter's start; when that was
_TIMES = ((154, 155), (156, 157), (152, 153), (150, 151))  # microseconds, nanoseconds, milliseconds, seconds
# Fields of a record of version 5, which has no template: 0 is not read.
_OF_5 = (
    *((8, 4), (12, 4), (0, 8), (2, 4), (1, 4), (22, 4), (21, 4), (7, 2), (11, 2)),
    *((0, 1), (6, 1), (4, 1), (0, 9)),
)

Fields = tuple[tuple[int, int], ...]  # field and bytes
Matrix = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Template:
    """The fields of a record, its bytes, and what it is for; one object for all exporters that say the same."""

    fields: Fields
    width: int
    is_flow: bool
    has_start: bool  # of the exporter

    @classmethod
    def of(cls, fields: Fields) -> "Template":
        """The template of some fields: of a flow with both addresses and bytes, or of something else."""
        names = {of for of, _ in fields}
        is_flow = bool({_SOURCE, _SOURCE_6} & names and {_TARGET, _TARGET_6} & names and names.intersection(_BYTES))
        return cls(fields, sum(size for _, size in fields), is_flow, _BOOTED in names)


@dataclass(frozen=True)
class _Set:
    """Records of one template in one datagram."""

    records: bytes
    booted: int  # microseconds since 1970, when the exporter's uptime was zero
    exported: int  # microseconds since 1970
    exporter: str


@dataclass
class NetFlow:
    """What datagrams of exporters hold; they are added one by one in the order of their arrival."""

    templates: dict[tuple[str, int, int], Template] = field(default_factory=dict)
    sets: dict[Template, list[_Set]] = field(default_factory=dict)
    waiting: list[tuple[tuple[str, int, int], _Set]] = field(default_factory=list)
    known: dict[Fields, Template] = field(default_factory=dict)
    started: dict[tuple[str, int], int] = field(default_factory=dict)
    sampled: set[int] = field(default_factory=set)
    broken: int = 0
    refused: int = 0  # templates beyond MAX_TEMPLATES
    crowded: int = 0  # sets beyond MAX_WAITING

    def add(self, data: bytes, exporter: str) -> None:
        """Take the sets of a datagram; one that is cut off or makes no sense is counted."""
        try:
            version = unpack_from(">H", data)[0]
            if version == V5:
                self._five(data, exporter)
            elif version in (V9, IPFIX):
                self._templated(data, exporter, version)
            else:
                self.broken += 1
        except error:
            self.broken += 1

    def records(self) -> Records | None:
        """All records that were added, and what is to be told of them; None where there are none."""
        lost = self.crowded + sum(not self._resolve(key, waiting) for key, waiting in self.waiting)
        self.waiting = []
        frames = [_decoded(template, sets) for template, sets in self.sets.items()]
        if not frames:
            return None
        frame = pl.concat(frames)
        sentences = [
            (self.broken, "datagrams of NetFlow are broken or cut off"),
            (lost, "sets of records came without a template that can be read"),
            (self.refused, f"templates came after the first {MAX_TEMPLATES:,} different ones, and were left out"),
        ]
        says = [f"{count:,} {what}" for count, what in sentences if count]
        if self.sampled:
            says.append(f"the exporter takes one packet of {max(self.sampled)}: bytes are as sampled")
        late = ahead_of(float(((frame["end_us"] - frame["exported"]) / 1e6).median() or 0.0))  # type: ignore[arg-type]
        return Records(named(frame.drop("exported")), (*says, *late))

    def _five(self, data: bytes, exporter: str) -> None:
        count, uptime, seconds, nanoseconds = unpack_from(">HIII", data, 2)
        interval = unpack_from(">H", data, 22)[0] & 0x3FFF
        body = data[HEADER[V5] : HEADER[V5] + 48 * count]
        if len(body) < 48 * count:
            raise error
        if interval > 1:
            self.sampled.add(interval)
        exported = seconds * 1_000_000 + nanoseconds // 1_000
        if body:
            template = self.known.setdefault(_OF_5, Template.of(_OF_5))
            self.sets.setdefault(template, []).append(_Set(body, exported - uptime * 1_000, exported, exporter))

    def _templated(self, data: bytes, exporter: str, version: int) -> None:
        seconds = unpack_from(">I", data, 8 if version == V9 else 4)[0]
        domain = unpack_from(">I", data, 16 if version == V9 else 12)[0]
        exported = seconds * 1_000_000
        uptime = unpack_from(">I", data, 4)[0] * 1_000 if version == V9 else None
        booted = self.started.get((exporter, domain), 0) if uptime is None else exported - uptime
        for kind, body in _sets(data, version):
            if kind in (0, 2):
                self._learn(body, exporter, domain)
            elif kind in (1, 3):
                self._learn_options(body, (exporter, domain), ipfix=version == IPFIX)
            elif kind > 255:
                booted = self.started.get((exporter, domain), booted)
                flow_set = _Set(body, booted, exported, exporter)
                if not self._resolve((exporter, domain, kind), flow_set):
                    self._wait((exporter, domain, kind), flow_set)

    def _wait(self, key: tuple[str, int, int], flow_set: _Set) -> None:
        if len(self.waiting) < MAX_WAITING:
            self.waiting.append((key, flow_set))
        else:
            self.crowded += 1

    def _resolve(self, key: tuple[str, int, int], flow_set: _Set) -> bool:
        """Put a set to those of its template; whether that is known."""
        template = self.templates.get(key)
        if template is None:
            return False
        if template.has_start:
            self._start(key, template.fields, flow_set.records)
        elif template.is_flow and len(flow_set.records) >= template.width:
            self.sets.setdefault(template, []).append(flow_set)
        return True

    def _learn(self, body: bytes, exporter: str, domain: int) -> None:
        at = 0
        while at + 4 <= len(body):
            name, count = unpack_from(">HH", body, at)
            if name < 256:
                return  # padding
            at = self._fields(body, at + 4, count, (exporter, domain, name))

    def _learn_options(self, body: bytes, of: tuple[str, int], *, ipfix: bool) -> None:
        """Templates of what is no flow: the exporter's start, its sampling."""
        at = 0
        while at + 6 <= len(body):
            name, first, second = unpack_from(">HHH", body, at)
            if name < 256:
                return
            count = first if ipfix else (first + second) // 4
            at = self._fields(body, at + 6, count, (*of, name))

    def _fields(self, body: bytes, at: int, count: int, key: tuple[str, int, int]) -> int:
        fields = []
        for _ in range(count):
            of, size = unpack_from(">HH", body, at)
            at += 4
            if of & 0x8000:  # a vendor's own
                at += 4
                of = 0
            fields.append((of, size))
        fixed = len(fields) <= MAX_FIELDS and all(size != VARIABLE for _, size in fields)
        if fixed and 0 < sum(size for _, size in fields) <= MAX_RECORD:
            self._keep(key, tuple(fields))
        return at

    def _keep(self, key: tuple[str, int, int], fields: Fields) -> None:
        template = self.known.get(fields)
        if template is None:
            if len(self.known) >= MAX_TEMPLATES:
                self.refused += 1
                self.templates.pop(key, None)  # what follows is no longer of the one before
                return
            template = self.known[fields] = Template.of(fields)
        self.templates[key] = template

    def _start(self, key: tuple[str, int, int], fields: Fields, body: bytes) -> None:
        place = [of for of, _ in fields].index(_BOOTED)
        at, size = sum(size for _, size in fields[:place]), fields[place][1]
        started = int.from_bytes(body[at : at + size])
        if len(body) >= at + size and started < _LATEST_MS:
            self.started[key[:2]] = started * 1_000


def is_netflow(head: bytes) -> bool:
    """Whether bytes begin as a datagram of NetFlow or IPFIX does, with a time between 2000 and 2100."""
    if len(head) < 16 or head[0] or head[1] not in HEADER:
        return False
    seconds = int.from_bytes(head[4:8] if head[1] == IPFIX else head[8:12])
    return 946_684_800 < seconds < 4_102_444_800


def read_netflow(path: Path) -> Records:
    """The records of a file of datagrams one behind the other: IPFIX files (RFC 5655), or what a socket received.

    Raises:
        UnreadableFlows: it holds no records that can be read.
    """
    data = read_given(path, MAX_BYTES)
    found = NetFlow()
    at = 0
    while at + 16 <= len(data) and is_netflow(data[at : at + 16]):
        size = _size(data, at)
        found.add(data[at : at + size], "")
        at += size
    records = found.records()
    if records is None:
        raise UnreadableFlows(
            f"{path} is of NetFlow or IPFIX, but holds no records with a template",
            "Capture for longer: templates come now and then.",
        )
    left = (f"the last {len(data) - at:,} bytes are no NetFlow",) if at < len(data) else ()
    return Records(records.frame, (*records.remarks, *left))


def _size(data: bytes, at: int) -> int:
    """Bytes of the datagram that begins somewhere in a file: version 9 does not tell, its sets do."""
    version, count = unpack_from(">HH", data, at)
    if version == V5:
        return HEADER[V5] + 48 * int(count)
    if version == IPFIX:
        return max(HEADER[IPFIX], int(count))
    end = at + HEADER[V9]
    while end + 4 <= len(data):
        kind, size = unpack_from(">HH", data, end)
        if kind == V9 or size < 4:  # no set is called 9: the next datagram
            break
        end += size
    return end - at


def _sets(data: bytes, version: int) -> Iterator[tuple[int, bytes]]:
    at = HEADER[version]
    end = min(len(data), unpack_from(">H", data, 2)[0]) if version == IPFIX else len(data)
    while at + 4 <= end:
        kind, size = unpack_from(">HH", data, at)
        if size < 4 or at + size > len(data):
            raise error
        yield kind, data[at + 4 : at + size]
        at += size


def _decoded(template: Template, sets: list[_Set]) -> pl.DataFrame:
    """The records of a template of flows, all at once; each set holds one at least."""
    width = template.width
    counts = np.array([len(flow_set.records) // width for flow_set in sets])
    joined = b"".join(flow_set.records[: count * width] for flow_set, count in zip(sets, counts.tolist(), strict=True))
    matrix = np.frombuffer(joined, np.uint8).reshape(-1, width)
    places: dict[int, tuple[int, int]] = {}
    at = 0
    for of, size in template.fields:
        places.setdefault(of, (at, size))
        at += size
    booted = np.repeat(np.array([flow_set.booted for flow_set in sets], np.int64), counts)
    exported = np.repeat(np.array([flow_set.exported for flow_set in sets], np.int64), counts)
    start, end = (_times(matrix, places, booted, exported, which) for which in (0, 1))
    exporters = pl.Series("switch", np.repeat([flow_set.exporter for flow_set in sets], counts), pl.String)
    columns: dict[str, object] = {"start_us": start, "end_us": end}
    for name, short, long in (("src", _SOURCE, _SOURCE_6), ("dst", _TARGET, _TARGET_6)):
        columns |= _address(matrix, places, name, short, long)
    wanted = (
        ("sport", _SPORT, np.uint16), ("dport", _DPORT, np.uint16), ("proto", _PROTO, np.uint8),
        ("bytes", _BYTES, np.int64), ("packets", _PACKETS, np.int64), ("tcp_flags", _FLAGS, np.uint8),
    )  # fmt: skip
    for name, fields, kind in wanted:
        columns[name] = _first(matrix, places, fields, 1 if name == "packets" else 0).astype(kind)
    return pl.DataFrame({**columns, "switch": exporters.cast(pl.Categorical), "exported": exported})


def _first(
    matrix: Matrix, places: dict[int, tuple[int, int]], fields: tuple[int, ...], otherwise: int
) -> NDArray[np.int64]:
    for of in fields:
        if of in places:
            return _number(matrix, places, of)
    return np.full(len(matrix), otherwise, np.int64)


def _number(matrix: Matrix, places: dict[int, tuple[int, int]], of: int) -> NDArray[np.int64]:
    at, size = places[of]
    return number(matrix, np.full(len(matrix), at), size).astype(np.int64)


def _times(
    matrix: Matrix,
    places: dict[int, tuple[int, int]],
    booted: NDArray[np.int64],
    exported: NDArray[np.int64],
    which: int,
) -> NDArray[np.int64]:
    """First (0) or last (1) packets in microseconds since 1970, from the finest field that there is."""
    for fields in _TIMES:
        if fields[which] in places:
            value = _number(matrix, places, fields[which])
            if fields[0] in (154, 156):
                return ((value >> 32) - _EPOCH) * 1_000_000 + ((value & 0xFFFFFFFF) * 1_000_000 >> 32)
            return value * (1_000 if fields[0] == 152 else 1_000_000)
    if _UPTIME[which] in places:
        return booted + _number(matrix, places, _UPTIME[which]) * 1_000
    return exported


def _address(
    matrix: Matrix, places: dict[int, tuple[int, int]], name: str, short: int, long: int
) -> dict[str, NDArray[np.uint64]]:
    """The two halves of an address (sources/flows/addresses.py)."""
    if short in places:
        low = _number(matrix, places, short).astype(np.uint64) | np.uint64(MAPPED << 32)
        return {f"high_{name}": np.zeros(len(matrix), np.uint64), f"low_{name}": low}
    at = np.full(len(matrix), places[long][0])
    return {f"high_{name}": number(matrix, at, 8), f"low_{name}": number(matrix, at + 8, 8)}
