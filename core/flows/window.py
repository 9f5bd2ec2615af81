"""A rolling window over flow records that come piece by piece: what is old is forgotten, and so is what is too much."""

import polars as pl

from core.flows.table import FlowTable, table_from

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
