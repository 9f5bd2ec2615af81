"""A file of flow records, its kind told by its content, as a frame in the contract; and its topology."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import polars as pl

from core.errors import BadTopology, FirstfaultError, UnreadableFlows, UnreadableLog
from core.flows.table import OPTIONAL, REQUIRED
from core.flows.topology import Topology, topology_from
from sources.flows import aws, azure, gcp, netflow, nfdump, pcap
from sources.flows.records import Records
from sources.named_files import read_given
from sources.unpack import is_packed, open_log

HEAD = 4_096  # bytes that tell a kind of file
MAX_TOPOLOGY = 256 << 20  # bytes; 100,000 NICs take 20 MB
MAX_RECORDS = 30_000_000  # take 6 GB: 10 million take 1.9 (docs/LOG.md)
MAX_COLUMNS, MAX_NAME = 4_096, 64  # columns, and bytes of a name
MAX_UNPACKED, PIECE = 4 << 30, 1 << 20  # bytes of a packed file, and of what is unpacked at once
_CUT = "Cut it by time or by pod."
KINDS = (
    "Parquet, CSV, captures of packets (pcap), NetFlow, IPFIX, nfdump's JSON, nfcapd files (where nfdump is installed)"
    " and flow logs of clouds are (docs/how-to/flows.md)."
)


def read_flows(path: Path) -> Records:
    """The records of a file, which may be packed.

    Raises:
        UnreadableFlows: it is missing, broken, empty or of no known kind.
    """
    head = _head(path)
    return _unpacked(path) if is_packed(head) else _read(path, head)


def _head(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise UnreadableFlows(
                f"{path} is a folder", "Name a file of it; --follow reads a folder that a collector fills."
            )
        if path.exists() and not path.is_file():  # readers of columns go back and forth in it
            raise UnreadableFlows(f"{path} is no regular file", "Name a file of flow records.")
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise UnreadableFlows(f"{path} cannot be read: {error.strerror}", "Name a file of flow records.") from error
    if not head:
        raise UnreadableFlows(f"{path} is empty", "docs/how-to/flows.md tells how to capture flow records.")
    return head


def _read(path: Path, head: bytes) -> Records:
    reader = _reader(head)
    if reader is None:
        raise UnreadableFlows(f"{path} is no file of flow records that is known", KINDS)
    try:
        return reader(path)
    except FirstfaultError:
        raise
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        reason = str(error).strip().split("\n")[0]
        raise UnreadableFlows(f"{path} is broken or cut off: {reason}", "Export it again.") from error


def _unpacked(path: Path) -> Records:
    """The records of a packed file; of one that is cut off those that it still gives, and that it is."""
    with TemporaryDirectory() as folder:
        plain, sentences = Path(folder) / path.stem, list[str]()
        try:
            with open_log(lambda: path.open("rb"), path.name) as packed, plain.open("wb") as copy:
                _copy(packed, copy, str(path))
        except UnreadableLog as trouble:
            sentences = [trouble.message]
        try:
            found = _read(plain, _head(plain))  # packed twice is no kind that is known
        except UnreadableFlows as trouble:
            raise UnreadableFlows(trouble.message.replace(str(plain), str(path)), trouble.hint) from trouble
        return Records(found.frame, (*found.remarks, *sentences))


def _copy(packed: BinaryIO, copy: BinaryIO, name: str) -> None:
    room = MAX_UNPACKED
    while piece := packed.read(PIECE):
        room -= len(piece)
        if room < 0:
            raise UnreadableFlows(f"{name} unpacks to more than {MAX_UNPACKED:,} bytes", _CUT)
        copy.write(piece)


def read_topology(path: Path) -> Topology:
    """The topology of a JSON file.

    Raises:
        BadTopology: it is missing, no JSON, or no topology.
    """
    try:
        return topology_from(json.loads(read_given(path, MAX_TOPOLOGY)))
    except OSError as error:
        raise BadTopology(
            f"{path} cannot be read: {error.strerror}", "Name a topology.json (docs/how-to/flows.md)."
        ) from error
    except (ValueError, RecursionError) as error:
        raise BadTopology(f"{path} is no JSON: {error}", "Name a topology.json (docs/how-to/flows.md).") from error


def _reader(head: bytes) -> Callable[[Path], Records] | None:
    first = head.split(b"\n")[0].decode(errors="replace")
    columns = set(first.strip().split(","))
    kinds = (
        (head.startswith(b"PAR1"), _parquet),
        (head.startswith(nfdump.MAGIC), nfdump.read_nfcapd),
        (pcap.is_capture(head), pcap.read_capture),
        (netflow.is_netflow(head), netflow.read_netflow),
        (gcp.MARK in head, gcp.read_entries),
        (any(mark in head for mark in azure.MARKS), azure.read_records),
        (head.lstrip().startswith((b"{", b"[")), nfdump.read_json),
        (aws.is_header(first) or aws.is_bare(first), aws.read_text),
        (len(columns) > 1 and bool(columns & {*REQUIRED, *OPTIONAL}), _csv),
    )
    return next((reader for fits, reader in kinds if fits), None)


def _parquet(path: Path) -> Records:
    length = int(
        pl.scan_parquet(path).select(pl.len()).collect().item()
    )  # its end tells; equal rows cost a file nothing
    if length > MAX_RECORDS:
        raise UnreadableFlows(f"{path} holds {length:,} records, and at most {MAX_RECORDS:,} are read", _CUT)
    columns = list(pl.read_parquet_schema(path))
    return aws.read_table(path) if aws.is_table(columns) else Records(pl.read_parquet(path, columns=_wanted(columns)))


def _csv(path: Path) -> Records:
    with path.open("rb") as file:
        if file.readline(MAX_COLUMNS * MAX_NAME).count(b",") >= MAX_COLUMNS:
            raise UnreadableFlows(
                f"{path} has more than {MAX_COLUMNS:,} columns", "docs/how-to/flows.md has the ten that are read."
            )
    return Records(pl.read_csv(path, columns=_wanted(pl.read_csv(path, n_rows=0).columns)))


def _wanted(columns: Iterable[str]) -> list[str]:
    """The columns of the contract that a file has."""
    names = set(columns)
    return [column for column in (*REQUIRED, *OPTIONAL) if column in names]
