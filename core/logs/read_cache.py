"""Files that were read, written behind their own rows: a job that was read once needs not be read again."""

import json
import os
import zlib
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.logs.array_store import Cells, Heap, Stored
from core.logs.file_rows import COLUMNS, FileRows, Rows, Tally
from core.logs.narrow import Narrow

_MAGIC = b"firstfault-rows-1"
_DIGEST_BYTES, _SIZE_BYTES = 16, 8  # 128 bits are enough against damage; a number of 64 bits
_END_BYTES = _SIZE_BYTES + _DIGEST_BYTES + len(_MAGIC)
_TALLY = ("prefix", "message", "heads", "rows", "first", "last")

_Place = list[Any]  # start, kind and length of an array in the heap


def write_kept(files: Sequence[FileRows], heap: Heap) -> int:
    """Write down where all is, behind the rows; the descriptor of the file that then holds everything.

    Args:
        heap: that of the rows, which keeps nothing in memory.
    """
    numbers: dict[str, int] = {}
    document = {"files": [_file(file, heap, numbers) for file in files], "texts": list(numbers)}
    index = zlib.compress(json.dumps(document).encode(), 1)
    digest = blake2b(index, digest_size=_DIGEST_BYTES).digest()
    return heap.seal(index + len(index).to_bytes(_SIZE_BYTES, "little") + digest + _MAGIC)


def read_kept(descriptor: int) -> tuple[FileRows, ...] | None:
    """The files; None when that is not what was written. The open file is closed with the last of them."""
    heap = Heap.of_file(descriptor)
    size = os.fstat(descriptor).st_size
    end = os.pread(descriptor, _END_BYTES, max(0, size - _END_BYTES))
    length = int.from_bytes(end[:_SIZE_BYTES], "little")
    if not end.endswith(_MAGIC) or length > size - _END_BYTES:
        return None
    index = os.pread(descriptor, length, size - _END_BYTES - length)
    if blake2b(index, digest_size=_DIGEST_BYTES).digest() != end[_SIZE_BYTES : _SIZE_BYTES + _DIGEST_BYTES]:
        return None
    document = json.loads(zlib.decompress(index))
    texts = np.array(document["texts"], object)
    return tuple(_read_file(entry, heap, texts) for entry in document["files"])


def _file(file: FileRows, heap: Heap, numbers: dict[str, int]) -> dict[str, Any]:
    texts = np.array([numbers.setdefault(text, len(numbers)) for text in file.texts], np.uint32)
    return {
        "name": file.name,
        "size": file.size,
        "lines": file.lines,
        "undecodable": file.undecodable,
        "problem": file.problem,
        "capped": file.capped,
        "prefixes": [prefix.decode("latin-1") for prefix in file.prefixes],
        "texts": _put(texts, heap),
        "tally": [_put(getattr(file.tally, name), heap) for name in _TALLY],
        "parts": [[_column(getattr(part, name), heap) for name in COLUMNS] for part in file.parts],
    }


def _read_file(entry: dict[str, Any], heap: Heap, texts: NDArray[Any]) -> FileRows:
    return FileRows(
        name=entry["name"],
        size=entry["size"],
        lines=entry["lines"],
        undecodable=entry["undecodable"],
        problem=entry["problem"],
        prefixes=tuple(prefix.encode("latin-1") for prefix in entry["prefixes"]),
        texts=tuple(texts[_stored(entry["texts"], heap)[:]].tolist()),
        parts=tuple(Rows(*_columns(part, heap)) for part in entry["parts"]),
        tally=Tally(*(_stored(place, heap)[:] for place in entry["tally"])),
        capped=tuple(entry["capped"]),
    )


def _column(column: Narrow, heap: Heap) -> list[Any]:
    above = None if column.above is None else _place(column.above)
    return [column.size, column.slope, _put(column.least, heap), above]


def _columns(part: list[list[Any]], heap: Heap) -> Iterable[Narrow]:
    for size, slope, least, above in part:
        yield Narrow(size, slope, _stored(least, heap)[:], None if above is None else _stored(above, heap))


def _put(array: NDArray[Any], heap: Heap) -> _Place:
    return _place(heap.put(array))


def _place(cells: Cells) -> _Place:
    if not isinstance(cells, Stored):
        raise TypeError("only what lies in the file can be found there again")
    return [cells.start, cells.kind.str, len(cells)]


def _stored(place: _Place, heap: Heap) -> Stored:
    start, kind, count = place
    return Stored(heap, start, np.dtype(kind), count)
