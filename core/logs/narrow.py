"""Columns in few bytes: of each block of rows the least value, of each row how far it is above that.

Neighbours are alike: of 39 bytes a row 9 are left, and a column that holds one value costs next to nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from core.logs.array_store import Cells

BLOCK_ROWS = 1 << 8  # the bytes of so many usual lines are counted in 16 bits
_SHIFT = BLOCK_ROWS.bit_length() - 1
_KINDS = (np.uint8, np.uint16, np.uint32, np.int64)

Put = Callable[[NDArray[Any]], Cells]


@dataclass(frozen=True, slots=True, eq=False)
class Narrow:
    """A column of whole numbers.

    slope: what is added a row; line numbers rise by one. least: int64 a block. above: an unsigned number a row; None
    where all are zero.
    """

    size: int
    slope: int
    least: NDArray[np.int64]
    above: Cells | None

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, key: slice) -> NDArray[np.int64]: ...
    @overload
    def __getitem__(self, key: NDArray[Any]) -> NDArray[np.int64]: ...
    def __getitem__(self, key: slice | NDArray[Any]) -> NDArray[np.int64]:
        values = self._run(*key.indices(self.size)[:2]) if isinstance(key, slice) else self.least[key >> _SHIFT]
        if self.above is not None:
            values += self.above[key]
        if self.slope:
            values += self.slope * (np.arange(*key.indices(self.size)[:2]) if isinstance(key, slice) else key)
        return values

    def _run(self, start: int, stop: int) -> NDArray[np.int64]:
        if stop <= start:
            return np.zeros(0, np.int64)
        first = start >> _SHIFT
        runs = np.repeat(self.least[first : ((stop - 1) >> _SHIFT) + 1], BLOCK_ROWS)
        return runs[start - (first << _SHIFT) : stop - (first << _SHIFT)]

    def raised(self, by: int) -> "Narrow":
        """The column with the same number added to every value."""
        return replace(self, least=_slim(self.least + by))


def narrow(values: NDArray[Any], put: Put, *, slope: int = 0) -> Narrow:
    """The column of these values.

    Args:
        put: where its array goes.
        slope: what to take off a row.
    """
    size = len(values)
    if not size:
        return Narrow(0, slope, np.zeros(0, np.int64), None)
    lowest, highest = int(values.min()), int(values.max())
    if not slope and highest - lowest <= np.iinfo(np.uint8).max:
        all_least = np.broadcast_to(np.int64(lowest), -(-size // BLOCK_ROWS))
        return Narrow(size, 0, all_least, put((values - lowest).astype(np.uint8)) if highest > lowest else None)
    wide = values.astype(np.int64)
    if slope:
        wide -= slope * np.arange(size)
    least = _slim(np.minimum.reduceat(wide, np.arange(0, size, BLOCK_ROWS)))
    wide -= np.repeat(least, BLOCK_ROWS)[:size]
    highest = int(wide.max())
    if not highest:
        return Narrow(size, slope, least, None)
    kind = next(kind for kind in _KINDS if highest <= np.iinfo(kind).max)
    return Narrow(size, slope, least, put(wide.astype(kind)))


def _slim(least: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same numbers; where all are equal, one of them in memory."""
    return np.broadcast_to(least[:1].copy(), least.shape) if len(least) and (least == least[0]).all() else least
