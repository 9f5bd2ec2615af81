"""A column of the rows of a job that nobody holds: what is asked of it is read from the files that hold these rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Places = slice | NDArray[np.intp]
ReadPart = Callable[[int, Places], NDArray[Any]]  # number of a part, and which of its rows


@dataclass(frozen=True, slots=True, eq=False)
class KnownValues:
    """Values of some rows, sorted, that are in memory."""

    rows: NDArray[np.intp]
    values: NDArray[Any]


class Column(np.lib.mixins.NDArrayOperatorsMixin):
    """One value a row. ``column[row]``, ``column[rows]`` and slices read what they name; arithmetic reads it all."""

    def __init__(
        self, starts: NDArray[np.int64], kind: type[np.generic], read: ReadPart, known: KnownValues | None = None
    ) -> None:
        """Make a column of parts.

        Args:
            starts: first row of each part, and the number of all rows.
            kind: of the values.
            read: gives rows of a part.
            known: rows that need not be read.
        """
        self._starts, self._kind, self._read = starts, np.dtype(kind), read
        self._known = known if known is not None and len(known.rows) else None

    @property
    def dtype(self) -> np.dtype[Any]:
        """Kind of the values."""
        return self._kind

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self._run(*key.indices(len(self)))
        if isinstance(key, int | np.integer):
            return self._one(int(key))
        rows = np.asarray(key)
        if rows.dtype == np.bool_:
            return self._picked(np.flatnonzero(rows))
        below = rows < 0
        rows = np.where(below, rows + len(self), rows) if below.any() else rows
        picked = self._picked(rows.reshape(-1).astype(np.intp, copy=False))
        return picked.reshape(rows.shape) if rows.ndim else picked[0]

    def _one(self, row: int) -> Any:
        """One value: many steps ask for that of one row, and arrays of one take ten times as long."""
        row = row + len(self) if row < 0 else row
        if self._known is not None:
            place = int(self._known.rows.searchsorted(row))
            if place < len(self._known.rows) and self._known.rows[place] == row:
                return self._kind.type(self._known.values[place])
        return self._read_row(row)

    def _read_row(self, row: int) -> Any:
        part = int(self._starts.searchsorted(row, side="right")) - 1
        at = row - int(self._starts[part])
        return self._kind.type(self._read(part, slice(at, at + 1))[0])

    def parts(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """First row and values of each part, in order: all of the column, but never at once."""
        for number in range(len(self._starts) - 1):
            first, stop = int(self._starts[number]), int(self._starts[number + 1])
            yield first, self._run(first, stop, 1)

    def tolist(self) -> list[Any]:
        """All values."""
        values: list[Any] = self[:].tolist()
        return values

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        arrays = [entry[:] if isinstance(entry, Column) else entry for entry in inputs]
        return getattr(ufunc, method)(*arrays, **options)

    def _run(self, start: int, stop: int, step: int) -> NDArray[Any]:
        if step != 1:
            return self._picked(np.arange(start, stop, step))
        values = np.empty(max(0, stop - start), self._kind)
        at = start
        while at < stop:
            number = int(np.searchsorted(self._starts, at, side="right")) - 1
            first, end = int(self._starts[number]), min(stop, int(self._starts[number + 1]))
            values[at - start : end - start] = self._read(number, slice(at - first, end - first))
            at = end
        return values

    def _picked(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        if self._known is None or not len(rows):
            return self._read_rows(rows)
        places = self._known.rows.searchsorted(rows)
        np.minimum(places, len(self._known.rows) - 1, out=places)
        values = self._known.values[places].astype(self._kind, copy=False)
        unknown = self._known.rows[places] != rows
        if unknown.any():
            missed = np.flatnonzero(unknown)
            values[missed] = self._read_rows(rows[missed])
        return values

    def _read_rows(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        values = np.empty(len(rows), self._kind)
        if not len(rows):
            return values
        number = np.searchsorted(self._starts, rows, side="right") - 1
        if number[0] == number[-1] and (number == number[0]).all():
            places = rows - self._starts[number[0]]
            values[:] = self._read(int(number[0]), _as_slice(places))
            return values
        order = np.argsort(number, kind="stable")
        for places in np.split(order, np.flatnonzero(np.diff(number[order])) + 1):
            part = int(number[places[0]])
            values[places] = self._read(part, rows[places] - self._starts[part])
        return values


class Computed(Column):
    """A column that a function gives for rows, of whatever parts."""

    def __init__(
        self, starts: NDArray[np.int64], kind: type[np.generic], of_rows: Callable[[NDArray[np.intp]], NDArray[Any]]
    ) -> None:
        """Make a column.

        Args:
            starts: first row of each part, and the number of all rows.
            kind: of the values.
            of_rows: gives the values of rows.
        """
        super().__init__(starts, kind, self._of_part)
        self._of_rows = of_rows

    def _of_part(self, part: int, at: Places) -> NDArray[Any]:
        first, stop = self._starts[part], self._starts[part + 1]
        return self._of_rows((np.arange(*at.indices(int(stop - first))) if isinstance(at, slice) else at) + first)

    def _read_row(self, row: int) -> Any:
        return self._kind.type(self._of_rows(np.array([row], np.intp))[0])

    def _read_rows(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        return self._of_rows(rows).astype(self._kind, copy=False)


def _as_slice(places: NDArray[np.intp]) -> Places:
    """The places, as a slice where they follow each other: it is read at once."""
    first, last = int(places[0]), int(places[-1])
    in_a_row = last - first == len(places) - 1 and bool((np.diff(places) == 1).all())
    return slice(first, last + 1) if in_a_row else places
