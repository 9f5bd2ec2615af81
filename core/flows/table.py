"""The columnar contract: one row a flow record, as exported. Every reader ends here, every step starts here.

And a rolling window over records that come piece by piece.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from core.errors import UnreadableFlows

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

UNKNOWN = -1  # the code of an exporter that the record does not name

# column: type in the frame. Missing optional ones are filled; more columns are ignored.
REQUIRED: dict[str, Any] = {
    "start_us": pl.Int64,
    "end_us": pl.Int64,
    "src": pl.String,
    "dst": pl.String,
    "bytes": pl.Int64,
}
OPTIONAL: dict[str, tuple[Any, Any]] = {
    "sport": (pl.UInt16, 0),
    "dport": (pl.UInt16, 0),
    "proto": (pl.UInt8, 0),
    "packets": (pl.Int64, 1),
    "tcp_flags": (pl.UInt8, 0),
    "switch": (pl.String, ""),
}
_MOST = 1 << 48  # bytes of a record: an hour and a half at 400 Gbit/s
_FIRST, _LAST = 0, 4_102_444_800_000_000  # microseconds: 1970 to 2100


@dataclass(frozen=True, slots=True)
class FlowTable:
    """Flow records as columns of one length.

    Attributes:
        start, end: first and last packet, microseconds since 1970.
        src, dst: places in ``addresses``, which are sorted.
        bytes, packets: of this direction.
        flags: OR of the TCP flags, 0 when unknown.
        switch: place in ``switches``, -1 when unknown.
        left_out: rows that could not be used (no address, an end before its start, a time before 1970 or after 2100).
    """

    start: Ints
    end: Ints
    src: Codes
    dst: Codes
    sport: NDArray[np.uint16]
    dport: NDArray[np.uint16]
    proto: NDArray[np.uint8]
    bytes: Ints
    packets: Ints
    flags: NDArray[np.uint8]
    switch: Codes
    addresses: tuple[str, ...]
    switches: tuple[str, ...]
    left_out: int = 0

    def __len__(self) -> int:
        """The number of records."""
        return len(self.start)


def table_from(frame: pl.DataFrame, name: str) -> FlowTable:
    """The table of a frame with the columns of the contract, in the frame's order.

    Raises:
        UnreadableFlows: a required column is missing, or a column holds something else than its type.
    """
    missing = [column for column in REQUIRED if column not in frame.columns]
    if missing:
        raise UnreadableFlows(
            f"{name} has no column {', '.join(missing)}",
            f"Flow records need {', '.join(REQUIRED)} (docs/how-to/flows.md); this file has"
            f" {', '.join(frame.columns[:12])}.",
        )
    frame = _typed(frame, name)
    good = _usable(frame)
    left_out = len(frame) - int(good.sum())
    if left_out:
        frame = frame.filter(good)
    addresses, src, dst = _coded(frame, ("src", "dst"))
    switches, switch = _coded(frame, ("switch",))
    if switches and not switches[0]:  # the empty text sorts first
        switches, switch = switches[1:], switch - 1
    ints = {column: frame[column].to_numpy() for column in ("start_us", "end_us", "bytes", "packets")}
    return FlowTable(
        ints["start_us"], ints["end_us"], src, dst,
        frame["sport"].to_numpy(), frame["dport"].to_numpy(), frame["proto"].to_numpy(),
        ints["bytes"], ints["packets"], frame["tcp_flags"].to_numpy(), switch, addresses, switches, left_out,
    )  # fmt: skip


def _typed(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    kinds = REQUIRED | {column: kind for column, (kind, _) in OPTIONAL.items()}
    # polars casts the parts of an object one by one, and what comes out is an object again
    if objects := [column for column in kinds if column in frame.columns and frame.schema[column].is_nested()]:
        raise UnreadableFlows(
            f"{name} holds objects or lists in {', '.join(objects)}",
            "docs/how-to/flows.md has the type of each column.",
        )
    wanted = []
    for column, kind in kinds.items():
        if column not in frame.columns:
            wanted.append(pl.lit(OPTIONAL[column][1], kind).alias(column))
        elif kind == pl.String and isinstance(frame.schema[column], pl.Categorical | pl.Enum):
            wanted.append(pl.col(column))  # codes already: a text a row would cost gigabytes
        else:
            wanted.append(pl.col(column).cast(kind))
    try:
        frame = frame.select(wanted)
    except pl.exceptions.PolarsError as error:
        reason = str(error).split("\n")[0]
        raise UnreadableFlows(
            f"{name} holds values of another type than the contract: {reason}",
            "docs/how-to/flows.md has the type of each column.",
        ) from error
    return frame.with_columns(
        pl.col("packets").fill_null(1),
        pl.col("switch").fill_null(""),
        *(pl.col(column).fill_null(0) for column in ("sport", "dport", "proto", "tcp_flags")),
    )


def _usable(frame: pl.DataFrame) -> pl.Series:
    good = (
        pl.col("src").is_not_null()
        & pl.col("dst").is_not_null()
        & pl.col("start_us").is_between(_FIRST, _LAST)
        & pl.col("end_us").is_between(_FIRST, _LAST)
        & (pl.col("end_us") >= pl.col("start_us"))
        & pl.col("bytes").is_between(0, _MOST)
    )
    return frame.select(good.fill_null(value=False).alias("good"))["good"]


def _coded(frame: pl.DataFrame, columns: tuple[str, ...]) -> tuple[Any, ...]:
    """The distinct texts of some columns, sorted, and each column as places in them; no text a row is made."""
    series = [_categories(frame[column]) for column in columns]
    texts = sorted({text for _, names in series for text in names.values()})
    place = {text: number for number, text in enumerate(texts)}
    codes = []
    for physical, names in series:
        lookup = np.zeros(max(names, default=0) + 1, np.int32)
        for code, text in names.items():
            lookup[code] = place[text]
        codes.append(lookup[physical])
    return tuple(texts), *codes


def _categories(column: pl.Series) -> tuple[NDArray[np.uint32], dict[int, str]]:
    """A column as codes, and the text of each code that occurs."""
    if column.dtype == pl.String:
        column = column.cast(pl.Categorical)
    codes = column.to_physical().to_numpy()
    row = np.full(int(codes.max(initial=0)) + 1, -1)  # one that has the code; polars' unique takes five times as long
    row[codes] = np.arange(len(codes))
    distinct = np.flatnonzero(row >= 0)
    return codes, dict(zip(distinct.tolist(), column.gather(row[distinct]).cast(pl.String).to_list(), strict=True))


MOST = 5_000_000  # records that are held: 10 million take 1.9 GB to judge (docs/LOG.md)
US = 1_000_000  # microseconds of a second


class Window:
    """The last seconds of a stream of records; pieces are forgotten whole.

    Args:
        seconds: from the last packet of what is held to that of the oldest piece, at most.
        most: records that are held, at most; of a larger piece the last ones.
    """

    def __init__(self, seconds: float, most: int = MOST) -> None:
        self._reach, self._most = round(seconds * US), most
        self._pieces: list[tuple[int, pl.DataFrame]] = []  # when the last packet of each was seen, and its records

    def add(self, records: pl.DataFrame, name: str) -> bool:
        """Take the records of a piece with a name; whether some had to go because there were too many.

        Raises:
            UnreadableFlows: they are not of the contract (core/flows/table.py).
        """
        table = table_from(records, name)
        if len(table):
            self._pieces.append((int(table.end.max()), records.tail(self._most)))
        self._pieces.sort(key=lambda piece: piece[0])
        newest = self._pieces[-1][0] if self._pieces else 0
        self._pieces = [piece for piece in self._pieces if newest - piece[0] < self._reach]
        over = len(table) > self._most
        while sum(len(frame) for _, frame in self._pieces) > self._most:
            del self._pieces[0]
            over = True
        return over

    def __len__(self) -> int:
        """Records that are held."""
        return sum(len(frame) for _, frame in self._pieces)

    def table(self) -> FlowTable | None:
        """All that is held; None where that is nothing."""
        if not self._pieces:
            return None
        return table_from(pl.concat([frame for _, frame in self._pieces], how="diagonal_relaxed"), "the window")
